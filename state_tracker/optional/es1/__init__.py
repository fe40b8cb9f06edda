"""OpenGL ES 1.1: the compatibility profile with fewer functions and enums, and the functions that
only ES 1.1 has.
"""

from . import draw_texture, enums, fixed_point, small_extensions

__all__ = ["draw_texture", "enums", "fixed_point", "small_extensions"]
