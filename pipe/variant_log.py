"""The variant log: the variants that a context built, and the reason for each. It keeps only the
latest events.
"""

from __future__ import annotations

from collections import deque

from gallette.compiler.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True)
class VariantEvent:
    """One line of the variant log: a shader needed a variant that did not exist."""

    shader: str  # the shader's name
    stage: str
    key: str  # the key, printed
    reason: str  # the key fields that differ from the nearest existing variant, in words
    lowered: bool  # a second NIR round on a clone was needed
    seconds: float


class VariantLog(deque[VariantEvent]):
    """The latest events of a context, oldest first; bounded, because a program may run
    for weeks.
    """

    def __init__(self, kept: int = 4096) -> None:
        super().__init__(maxlen=kept)
        self.total = 0  # number of events so far

    def append(self, event: VariantEvent) -> None:
        """Add an event."""
        super().append(event)
        self.total += 1

    def since(self, total: int) -> list[VariantEvent]:
        """The events after the first `total` ones, if they are still kept."""
        new = min(self.total - total, len(self))
        return list(self)[len(self) - new :]
