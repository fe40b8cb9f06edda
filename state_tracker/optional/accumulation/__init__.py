"""The accumulation buffer of the compatibility profile."""

from .buffer import AccumulationBuffer

__all__ = ["STATES"]

STATES = {"accumulation": AccumulationBuffer}
