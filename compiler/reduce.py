"""Shrinks a text while it stays interesting, such as a shader that shows a bug.

`reduce_text(text, interesting)` works on lines, braces and tokens, of which GLSL, NIR text and
shader_tests consist; `rewrites` adds steps for a particular language. `interesting` is called once
per candidate, since its results are cached. The steps run repeatedly, coarse ones first, until none
of them makes the text smaller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Reduction", "reduce_lines", "reduce_text"]

Rewrite: TypeAlias = "Callable[[str], Iterable[str]]"
_TOKEN = re.compile(r"[%&$@!]?\w+(?:\.\w+)*|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"\b\d[\w.]*")


@dataclass
class Reduction:
    """One reduction; `text` is the smallest interesting text so far."""

    text: str
    interesting: Callable[[str], bool]
    limit: int = 20_000
    tried: int = 0
    known: dict[str, bool] = field(default_factory=dict)

    def accept(self, candidate: str) -> bool:
        """Continue with `candidate` if it is new, not larger, and interesting."""
        if candidate == self.text or self.tried >= self.limit:
            return False
        if (len(candidate), candidate) >= (len(self.text), self.text):
            return False
        answer = self.known.get(candidate)
        if answer is None:
            self.tried += 1
            answer = self.known[candidate] = self.interesting(candidate)
        if answer:
            self.text = candidate
        return answer


def reduce_lines(
    lines: Sequence[str], fails: Callable[[list[str]], bool], most_tries: int = 160
) -> list[str]:
    """The shortest list found from which no single line can be taken (delta debugging)."""
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


def reduce_text(
    text: str,
    interesting: Callable[[str], bool],
    rewrites: Sequence[Rewrite] = (),
    limit: int = 20_000,
) -> Reduction:
    """The smallest text found; `text` itself must be interesting."""
    state = Reduction(text, interesting, limit)
    if not interesting(text):
        raise ValueError("the text is not interesting to begin with")
    while state.tried < limit:
        before = state.text
        _without_runs(state, lambda t: t.splitlines(keepends=True))
        for rewrite in (_without_blocks, *rewrites):
            _exhaust(state, rewrite)
        if state.text == before:
            _without_runs(state, _TOKEN.findall, largest=16)
            _exhaust(state, _smaller_numbers)
        if state.text == before:
            break
    return state


def _exhaust(state: Reduction, rewrite: Rewrite) -> None:
    """Apply a rewrite wherever it helps, searching again after each success."""
    again = True
    while again:
        again = any(state.accept(candidate) for candidate in rewrite(state.text))


def _without_runs(
    state: Reduction, split: Callable[[str], list[str]], largest: int = 1 << 30
) -> None:
    """Remove runs of pieces: halves first, then shorter and shorter ones, from the end."""
    pieces = split(state.text)
    size = min(max(len(pieces) // 2, 1), largest)
    while size:
        at = len(pieces)
        while at > 0:
            start = max(at - size, 0)
            rest = pieces[:start] + pieces[at:]
            if state.accept("".join(rest)):
                pieces = rest
            at = start
        size //= 2


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """(position of `{`, position of its `}`), the longest first."""
    stack: list[int] = []
    found: list[tuple[int, int]] = []
    for i, c in enumerate(text):
        if c == "{":
            stack.append(i)
        elif c == "}" and stack:
            found.append((stack.pop(), i))
    return iter(sorted(found, key=lambda pair: pair[0] - pair[1]))


def _without_blocks(text: str) -> Iterator[str]:
    """Remove a block with the line before it, or its content, or only its braces."""
    for start, end in _blocks(text):
        line = text.rfind("\n", 0, start) + 1
        yield text[:line] + text[end + 1 :].lstrip("\n")
        if end > start + 1:
            yield text[: start + 1] + text[end:]
        yield text[:line] + text[start + 1 : end].strip("\n") + text[end + 1 :]


def _smaller_numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        for simple in ("0", "1"):
            if len(match[0]) > 1 or match[0] > simple:
                yield text[: match.start()] + simple + text[match.end() :]
