"""What a random program may do: one module for each part of the state space."""

from fuzz.gl_programs.steps import drawing, feedback, objects, settings, transfer

__all__ = ["drawing", "feedback", "objects", "settings", "transfer"]
