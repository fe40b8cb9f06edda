"""What a small machine lacks, said with what it has."""

from gallette.compiler.nir.lower.machine import Machine

__all__ = ["Machine"]
