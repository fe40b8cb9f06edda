"""ARB_vertex_program and ARB_fragment_program."""

from .programs import AssemblyState

__all__ = ["STATES"]

STATES = {"assembly": AssemblyState}
