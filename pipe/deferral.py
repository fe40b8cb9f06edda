"""May calls and draws be executed later than they were made? GALLETTE_STREAM=off says no.

Pictures are the same either way: a program that looks wrong with the stream and right without it
has found a bug in it.
"""

from __future__ import annotations

import os

__all__ = ["may_defer"]


def may_defer() -> bool:
    """Is the command stream on, as it is unless GALLETTE_STREAM is `off`?"""
    return os.environ.get("GALLETTE_STREAM", "").lower() not in ("off", "0", "no")
