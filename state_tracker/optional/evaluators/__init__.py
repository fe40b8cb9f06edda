"""Evaluators of the compatibility profile: glMap, glEvalCoord, glEvalMesh."""

from .maps import EvaluatorState
from .meshes import MeshState

__all__ = ["STATES"]

STATES = {"evaluators": EvaluatorState, "meshes": MeshState}
