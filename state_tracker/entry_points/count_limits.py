"""How many objects one call may name or create; more is GL_OUT_OF_MEMORY, before any work
is done.
"""

from __future__ import annotations

from typing import Final

from .errors import out_of_memory

MOST_NAMES: Final = 1 << 22
"""Names, lists or strings of one call: a table of billions would fill all memory."""

MOST_OBJECTS: Final = 1 << 14
"""Objects that a call creates: a vertex array takes 11 KiB."""

MOST_DRAWS: Final = 1 << 20
"""Draws of one call, each of which takes some microseconds even if it draws nothing."""


def check_count(count: int, most: int, what: str) -> None:
    """Raise GL_OUT_OF_MEMORY for more than `most`."""
    if count > most:
        raise out_of_memory(f"{count} {what} at once; at most {most}")
