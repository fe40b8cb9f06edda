"""Evaluators of the compatibility profile: glMap, glEvalCoord, glEvalMesh."""

from . import maps

__all__ = ["maps"]
