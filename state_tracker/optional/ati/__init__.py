"""ATI_fragment_shader."""

from .shaders import AtiState

__all__ = ["STATES"]

STATES = {"ati": AtiState}
