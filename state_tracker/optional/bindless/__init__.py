"""ARB_bindless_texture: handles of textures and images in place of units."""

from . import calls
from .residents import Residents

__all__ = ["STATES", "calls"]

STATES = {"bindless": Residents}
