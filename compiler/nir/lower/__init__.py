"""Lowering of special functions for small machines."""

from gallette.compiler.nir.lower.target_machine import Machine

__all__ = ["Machine"]
