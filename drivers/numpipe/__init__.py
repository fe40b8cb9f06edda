"""numpipe: a software driver that treats NumPy as a very wide SIMD machine.

Its own parts are `screen` (the pipe interface and options), `shader` (NIR to generated Python) and
`variants`; memory, sampling, draws, rasterization and output come from `drivers.common`.
"""

from __future__ import annotations

from .screen import NumpipeScreen, create_screen

__all__ = ["NumpipeScreen", "create_screen"]
