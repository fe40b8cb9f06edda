"""Makes an input that shows a bug small: removes whatever the bug does not need.

A `Reduction` holds the smallest failing value so far. Steps try smaller candidates, coarse ones
first, and are repeated until none fails. `reduce_lines` and `reduce_text` are the steps for lists
of lines and for texts (GLSL, NIR, shader_tests: lines, blocks in braces, tokens, numbers);
languages with a syntax tree have their own steps.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")
Rewrite: TypeAlias = "Callable[[str], Iterable[str]]"
_TOKEN = re.compile(r"[%&$@!]?\w+(?:\.\w+)*|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"\b\d[\w.]*")


@dataclass
class Reduction(Generic[T]):
    """One reduction; `value` is the smallest failing value so far."""

    value: T
    fails: Callable[[T], bool]
    key: Callable[[T], Any] = lambda value: value
    """what two candidates that are the same have in common"""
    limit: int = 20_000
    seconds: float = float("inf")
    shrinking: bool = False
    """candidates whose key is not shorter (or as long, and lower) are refused"""
    tried: int = 0
    known: dict[Any, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    @property
    def spent(self) -> bool:
        return self.tried >= self.limit or time.monotonic() >= self._end

    def accept(self, candidate: T) -> bool:
        """Continue with `candidate` if it is new and fails, too; each candidate is judged once."""
        key, now = self.key(candidate), self.key(self.value)
        if key == now or self.spent:
            return False
        if self.shrinking and (len(key), key) >= (len(now), now):
            return False
        answer = self.known.get(key)
        if answer is None:
            self.tried += 1
            answer = self.known[key] = self.fails(candidate)
        if answer:
            self.value = candidate
        return answer

    def exhaust(self, rewrite: Callable[[T], Iterable[T]]) -> bool:
        """Apply a rewrite wherever the result still fails; returns whether it did anywhere.

        After a success the next candidates are made from the new value, from the same place on.
        """
        at, helped = 0, False
        while not self.spent:
            for candidate in islice(rewrite(self.value), at, None):
                if self.accept(candidate):
                    helped = True
                    break
                at += 1
            else:
                break
        return helped

    def run(self, *steps: Step[T]) -> bool:
        """Repeat the steps until none of them succeeds; returns whether any did."""
        helped = False
        while not self.spent and sum(step(self) for step in steps):
            helped = True
        return helped


Step: TypeAlias = Callable[[Reduction[T]], bool]


def without_runs(
    split: Callable[[T], Sequence[Any]], join: Callable[[Any], T], largest: int = 1 << 30
) -> Step[T]:
    """Remove runs of pieces: halves first, then shorter ones, from the end."""

    def step(state: Reduction[T]) -> bool:
        pieces, helped = split(state.value), False
        size = min(max(len(pieces) // 2, 1), largest)
        while size and not state.spent:
            at = len(pieces)
            while at > 0:
                start = max(at - size, 0)
                rest = [*pieces[:start], *pieces[at:]]
                if state.accept(join(rest)):
                    pieces, helped = rest, True
                at = start
            size //= 2
        return helped

    return step


def rewriting(rewrite: Callable[[T], Iterable[T]]) -> Step[T]:
    return lambda state: state.exhaust(rewrite)


def reduce_lines(
    lines: Sequence[str],
    fails: Callable[[list[str]], bool],
    limit: int = 1000,
    seconds: float = float("inf"),
) -> list[str]:
    """The shortest list found from which no single line can be removed (delta debugging)."""
    state = Reduction(list(lines), fails, tuple, limit, seconds)
    state.run(without_runs(list, list))
    return state.value


def reduce_text(
    text: str,
    interesting: Callable[[str], bool],
    rewrites: Sequence[Rewrite] = (),
    limit: int = 20_000,
    seconds: float = float("inf"),
) -> Reduction[str]:
    """The shortest text found that still fails; `text` itself must fail."""
    state = Reduction(text, interesting, limit=limit, seconds=seconds, shrinking=True)
    if not interesting(text):
        raise ValueError("the text is not interesting to begin with")
    whole = without_runs(lambda t: t.splitlines(keepends=True), "".join)
    tokens = without_runs(_TOKEN.findall, "".join, largest=16)
    coarse = (whole, *map(rewriting, (_without_blocks, *rewrites)))

    def fine(state: Reduction[str]) -> bool:
        """Apply the fine steps, when no coarse one succeeds any more, because a text has many
        tokens.
        """
        return tokens(state) | state.exhaust(_smaller_numbers)

    state.run(lambda s: s.run(*coarse), fine)
    return state


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Pairs of braces, the longest block first: positions of `{` and of its `}`."""
    stack: list[int] = []
    found: list[tuple[int, int]] = []
    for i, c in enumerate(text):
        if c == "{":
            stack.append(i)
        elif c == "}" and stack:
            found.append((stack.pop(), i))
    return iter(sorted(found, key=lambda pair: pair[0] - pair[1]))


def _without_blocks(text: str) -> Iterator[str]:
    """Candidates without a block: the block is removed with its heading line, emptied, or replaced
    by its content.
    """
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
