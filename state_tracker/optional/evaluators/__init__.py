"""Evaluators of the compatibility profile: glMap, glEvalCoord, glEvalMesh."""

from .maps import EvaluatorState

__all__ = ["STATES"]

STATES = {"evaluators": EvaluatorState}
