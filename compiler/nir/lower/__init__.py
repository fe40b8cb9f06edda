"""What a small machine lacks, said with what it has: `Machine` and the functions it computes."""

from gallette.compiler.nir.lower.machine import Machine, special

__all__ = ["Machine", "special"]
