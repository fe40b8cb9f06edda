"""The variant log: the variants that a context built, and the reason for each. It keeps only the
latest events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

__all__ = ["VariantEvent", "VariantLog"]


@dataclass(frozen=True, slots=True)
class VariantEvent:
    """One line of the variant log: a shader needed a variant that did not exist."""

    shader: str  # the shader's name
    stage: str
    key: str  # the key, printed
    reason: str  # the key fields that differ from the nearest existing variant, in words
    lowered: bool  # a second NIR round on a clone was needed
    seconds: float


class VariantLog(Sequence[VariantEvent]):
    """The latest events of a context, oldest first; bounded, because a program may run
    for weeks.
    """

    __slots__ = ("_events", "total")

    REMEMBERED = 4096

    def __init__(self) -> None:
        self._events: deque[VariantEvent] = deque(maxlen=self.REMEMBERED)
        self.total = 0  # number of events so far

    def append(self, event: VariantEvent) -> None:
        """Add an event."""
        self._events.append(event)
        self.total += 1

    def since(self, total: int) -> list[VariantEvent]:
        """The events after the first `total` ones, if they are still kept."""
        new = min(self.total - total, len(self._events))
        return list(self)[len(self._events) - new :]

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[VariantEvent]:
        return iter(self._events)

    @overload
    def __getitem__(self, index: int) -> VariantEvent: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[VariantEvent]: ...
    def __getitem__(self, index: int | slice) -> VariantEvent | Sequence[VariantEvent]:
        return list(self._events)[index]
