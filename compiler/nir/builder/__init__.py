"""Making IR: the builder, addresses."""

from gallette.compiler.nir.builder.core import Builder

__all__ = ["Builder"]
