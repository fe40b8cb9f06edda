"""Making IR: the builder, copies of what there is, addresses."""

from gallette.compiler.nir.builder.core import Builder, bits_to_float, float_bits

__all__ = ["Builder", "bits_to_float", "float_bits"]
