"""What a small machine lacks, said with what it has."""

from gallette.compiler.nir.lower.target_machine import Machine

__all__ = ["Machine"]
