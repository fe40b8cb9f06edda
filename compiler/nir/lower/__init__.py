"""What machines lack, and the loop that replaces operations by code."""

from gallette.compiler.nir.lower.target_machine import Machine

__all__ = ["Machine"]
