"""The accumulation buffer of the compatibility profile."""

from . import buffer

__all__ = ["buffer"]
