"""Making a program small: lines, then shaders, go as long as the same is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable

from gallette.compiler.reduce import reduce_lines, reduce_text

__all__ = ["smaller"]


def smaller(lines: list[str], fails: Callable[[list[str]], bool], seconds: float) -> list[str]:
    """The shortest program found in the time for which `fails` holds, as it does for `lines`."""
    end = time.monotonic() + seconds

    def in_time(some: list[str]) -> bool:
        return time.monotonic() < end and fails(some)

    kept = reduce_lines(lines, in_time, most_tries=400)
    for number, line in enumerate(kept):
        if '"""' not in line or time.monotonic() > end:
            continue

        def with_this(text: str, number: int = number) -> bool:
            return in_time([*kept[:number], text, *kept[number + 1 :]])

        if with_this(line):
            kept[number] = reduce_text(line, with_this, limit=400).text
    return reduce_lines(kept, in_time, most_tries=100)
