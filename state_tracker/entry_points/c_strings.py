"""Permanent C strings: GL, EGL and GLX own the strings they return."""

from __future__ import annotations

import ctypes
from typing import Any

_KEPT: dict[str, Any] = {}


def c_string(text: str) -> int:
    """The address of a text: always the same, also if two threads ask at once."""
    buffer = _KEPT.get(text) or _KEPT.setdefault(text, ctypes.create_string_buffer(text.encode()))
    return ctypes.addressof(buffer)
