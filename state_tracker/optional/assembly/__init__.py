"""ARB_vertex_program and ARB_fragment_program."""

from . import programs

__all__ = ["programs"]
