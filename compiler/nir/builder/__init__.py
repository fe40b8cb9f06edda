"""Building IR: the builder, addresses, formulas."""

from gallette.compiler.nir.builder.core import Builder

__all__ = ["Builder"]
