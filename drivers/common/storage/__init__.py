"""Memory access of shaders besides sampling: storage buffers, images and atomics.

Lanes act in order: where several write to one address the last one wins, and every atomic reads
what the lanes before it wrote. Reads outside return zero, writes outside are dropped.
"""

from __future__ import annotations

from .atomics import apply_atomic, compare_and_swap
from .buffers import buffer_atomic, buffer_load, buffer_load_same, buffer_store
from .images import ImageUnit, image_unit

__all__ = [
    "ImageUnit",
    "apply_atomic",
    "buffer_atomic",
    "buffer_load",
    "buffer_load_same",
    "buffer_store",
    "compare_and_swap",
    "image_unit",
]
