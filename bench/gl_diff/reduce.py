"""Making a failing program small: take away lines as long as it still fails (delta debugging)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["reduce_lines"]


def reduce_lines(
    lines: Sequence[str], fails: Callable[[list[str]], bool], most_tries: int = 160
) -> list[str]:
    """The shortest list found from which no single line can be taken."""
    kept = list(lines)
    size = max(1, len(kept) // 2)
    tries = 0
    while tries < most_tries:
        at, shrunk = 0, False
        while at < len(kept) and tries < most_tries:
            candidate = kept[:at] + kept[at + size :]
            tries += 1
            if candidate and fails(candidate):
                kept, shrunk = candidate, True
            else:
                at += size
        if not shrunk:
            if size == 1:
                break
            size = max(1, size // 2)
    return kept
