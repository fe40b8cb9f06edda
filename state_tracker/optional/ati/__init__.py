"""ATI_fragment_shader."""

from . import shaders

__all__ = ["shaders"]
