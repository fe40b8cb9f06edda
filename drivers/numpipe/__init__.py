"""numpipe: a software driver that treats NumPy as a very wide SIMD machine.

Its rooms: `screen` and `context` (the pipe interface), `resource` and `texture` (memory and
sampling), `shader` (NIR to generated Python, variants), `draw` (vertices to primitives), `raster`
(primitives to fragments) and `output` (fragments to memory).
"""

from __future__ import annotations

from .screen import NumpipeScreen, create_screen

__all__ = ["NumpipeScreen", "create_screen"]
