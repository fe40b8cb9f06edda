"""Clipping of small draws in machine code: the functions, and the table of planes.

They create the same vertices and pieces as `drivers.common.vertex.clip`, bit for bit.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from .llvm.engine import Function, compile_module
from .shader.clip_code import clip_text
from .shader.layout import Plane

__all__ = ["clip_functions", "clip_planes"]

Array = npt.NDArray[Any]


@functools.lru_cache(maxsize=4)
def clip_functions(cache: Any) -> tuple[Function, Function]:
    """The functions `clip` and `extend`."""
    code = compile_module(clip_text(), ("clip", "extend"), cache)
    return code.function("clip", ctypes.c_void_p), code.function("extend", ctypes.c_void_p)


@functools.lru_cache(maxsize=64)
def clip_planes(numbers: tuple[int, ...], halfz: bool) -> Array:
    """A `Plane` for each number: distances are w - x, w + x, w - y, w + y, z + w (or z),
    w - z.
    """
    table = np.zeros((len(numbers), Plane.SIZE), np.int32)
    for row, plane in enumerate(numbers):
        minus = plane in (0, 2, 5)
        table[row, Plane.BIT] = 1 << plane
        table[row, Plane.ROW] = plane // 2
        table[row, Plane.SIGN] = np.float32(-1.0 if minus else 1.0).view(np.int32)
        table[row, Plane.FROM_W] = not (plane == 4 and halfz)
    return table
