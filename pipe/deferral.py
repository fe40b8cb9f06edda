"""Whether calls and draws may be executed later than they were made: not with GALLETTE_STREAM=off.

Pictures are equal either way: a program that looks wrong with the stream and right without it has
found a bug in the stream.
"""

from __future__ import annotations

import os


def may_defer() -> bool:
    """Whether the command stream is on, which it is unless GALLETTE_STREAM is `off`."""
    return os.environ.get("GALLETTE_STREAM", "").lower() not in ("off", "0", "no")
