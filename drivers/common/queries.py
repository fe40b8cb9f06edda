"""Queries: differences between the context's running counters, and conditional rendering.

A query is two moments: snapshots of `Counters`, or what tells as much. Where draws are executed
together later, in another order perhaps, a `Tally` tells what each of them counted, from which
`Mark`s between them know what a snapshot would have held.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gallette.pipe.enums import QueryType

__all__ = [
    "STREAMS",
    "Apart",
    "Counters",
    "Mark",
    "Moment",
    "Moments",
    "Query",
    "RenderCondition",
    "Samples",
    "StreamCounters",
    "Tally",
]


STREAMS = 4
"""Vertex streams a geometry shader can emit to."""


@dataclass(slots=True)
class StreamCounters:
    """Primitives of one vertex stream: all, those captured, those there was no room for."""

    generated: int = 0
    emitted: int = 0
    unwritten: int = 0


class Apart(Protocol):
    """Somebody who counts for himself."""

    @property
    def samples_passed(self) -> int:
        """How many samples have passed that he has not told of."""
        ...

    def tell(self, counters: Counters) -> None:
        """Add what was counted, and begin anew."""
        ...


@dataclass(slots=True)
class Counters:
    """What has happened in a context so far."""

    streams: tuple[StreamCounters, ...] = field(
        default_factory=lambda: tuple(StreamCounters() for _ in range(STREAMS))
    )
    samples_passed: int = 0
    ia_vertices: int = 0
    ia_primitives: int = 0
    vs_invocations: int = 0
    gs_invocations: int = 0
    gs_primitives: int = 0
    clipper_in: int = 0
    clipper_out: int = 0
    hs_invocations: int = 0
    ds_invocations: int = 0
    fs_invocations: int = 0
    cs_invocations: int = 0
    nanoseconds: int = 0
    tally: Tally | None = field(default=None, init=False, compare=False)  # while somebody asks
    apart: list[Apart] = field(default_factory=list, init=False, compare=False)

    def moment(self, only_samples: bool) -> Moment:
        """What has been counted by now; perhaps only the samples that passed."""
        if not only_samples:
            return self.snapshot()
        passed = self.samples_passed
        for other in self.apart:
            passed += other.samples_passed
        return Samples(passed)

    def gather(self) -> None:
        """Have those who count for themselves tell what they have counted."""
        for other in self.apart:
            other.tell(self)

    def snapshot(self) -> Counters:
        """A copy, stamped with the time."""
        self.gather()
        streams = [StreamCounters(s.generated, s.emitted, s.unwritten) for s in self.streams]
        copy = Counters(tuple(streams), *_NUMBERS(self))
        copy.nanoseconds = time.perf_counter_ns()
        return copy

    def restore(self, before: Counters) -> None:
        """Count as if nothing had happened since a snapshot."""
        self.gather()
        for name in _NAMES:
            setattr(self, name, getattr(before, name))


Ints = npt.NDArray[np.int64]


class Moment(Protocol):
    """What most queries ask of a moment; those of statistics ask for whole snapshots."""

    @property
    def samples_passed(self) -> int:
        """How many samples had passed."""
        ...

    @property
    def streams(self) -> tuple[StreamCounters, ...]:
        """The primitives of each stream."""
        ...

    @property
    def nanoseconds(self) -> int:
        """When it was."""
        ...


@dataclass(slots=True, eq=False)
class Samples:
    """A moment where nobody asks for anything else."""

    samples_passed: int
    streams: tuple[StreamCounters, ...] = ()
    nanoseconds: int = 0


class Mark:
    """A moment behind so many of the draws that wait: known when they have been executed."""

    __slots__ = ("draws", "moments", "samples_passed")

    def __init__(self, draws: int) -> None:
        self.draws = draws
        self.samples_passed = 0
        self.moments: Moments | None = None  # when they have been

    @property
    def streams(self) -> tuple[StreamCounters, ...]:
        """The primitives of each stream."""
        return () if self.moments is None else self.moments.streams(self.draws)

    @property
    def nanoseconds(self) -> int:
        """When it would have been: each draw took as long as the others."""
        return 0 if self.moments is None else self.moments.nanoseconds(self.draws)


class Tally:
    """What each of some draws counted: samples that passed, primitives of the first stream."""

    __slots__ = ("_whose", "first", "primitives", "samples")

    def __init__(self, draws: int) -> None:
        self.samples = np.zeros(draws, np.int64)
        self.primitives = np.zeros(draws, np.int64)
        self.first = 0  # the number of the draw that others call 0
        self._whose: Ints | int | None = None

    def whose(self, numbers: Sequence[int] | npt.NDArray[Any] | int | None) -> None:
        """What comes now identifies its draws by their places here (None: by their numbers), or all
        of it is of one draw."""
        if numbers is None or isinstance(numbers, int):
            self._whose = numbers
        else:
            self._whose = np.asarray(numbers, np.int64)

    def _add(self, counts: Ints, draws: npt.NDArray[Any], weights: Ints | None = None) -> None:
        whose = self._whose
        if isinstance(whose, int):
            counts[self.first + whose] += len(draws) if weights is None else weights.sum()
            return
        if whose is not None:
            draws = whose.take(draws)
        draws = draws + self.first
        if weights is None:
            counts += np.bincount(draws, minlength=len(counts))
        else:
            counts += np.bincount(draws, weights, len(counts)).astype(np.int64)

    def pass_samples(self, draws: npt.NDArray[Any], weights: Ints | None = None) -> None:
        """Samples passed (so many at once), of these draws."""
        self._add(self.samples, draws, weights)

    def generate(self, draws: npt.NDArray[Any]) -> None:
        """Primitives were made, of these draws."""
        self._add(self.primitives, draws)


class Moments:
    """What marks between draws tell when those have been executed."""

    __slots__ = ("_after", "_before", "_counters", "_draws", "_marks", "_primitives", "_tally")

    def __init__(self, counters: Counters, draws: int, marks: list[Mark]) -> None:
        self._counters, self._marks, self._draws = counters, marks, draws
        self._before = counters.snapshot()
        self._tally: Tally | None = Tally(draws)
        counters.tally = self._tally
        self._after = 0  # nanoseconds
        self._primitives: dict[int, int] = {}  # by how many draws come before

    def end(self) -> None:
        """The draws have been executed, or some of them."""
        tally, counters, marks = self._tally, self._counters, self._marks
        assert tally is not None
        counters.gather()
        self._after = time.perf_counter_ns()
        self._tally = counters.tally = None
        self._marks = []
        ends = [mark.draws for mark in marks]
        last = np.array(ends) - 1
        self._primitives = dict(zip(ends, np.cumsum(tally.primitives)[last].tolist(), strict=True))
        samples = np.cumsum(tally.samples) + self._before.samples_passed
        for mark, passed in zip(marks, samples[last].tolist(), strict=True):
            mark.moments, mark.samples_passed = self, passed
        # What no query asked for was not counted one by one, and what is counted is never less.
        counters.samples_passed = int(samples[-1])

    def streams(self, draws: int) -> tuple[StreamCounters, ...]:
        """The primitives of each stream, behind so many draws."""
        first, *others = self._before.streams
        generated = first.generated + self._primitives[draws]
        return (StreamCounters(generated, first.emitted, first.unwritten), *others)

    def nanoseconds(self, draws: int) -> int:
        """When so many draws would have been made, if each took as long as the others."""
        before = self._before.nanoseconds
        return before + (self._after - before) * draws // self._draws


_NAMES = [f.name for f in fields(Counters) if f.init]
_NUMBERS = operator.attrgetter(*[n for n in _NAMES if n not in ("streams", "nanoseconds")])
"""All that are counted, in the order in which they are declared; the time is the last of them."""

_STATISTICS = {
    "ia_vertices": "ia_vertices",
    "ia_primitives": "ia_primitives",
    "vs_invocations": "vs_invocations",
    "hs_invocations": "hs_invocations",
    "ds_invocations": "ds_invocations",
    "gs_invocations": "gs_invocations",
    "gs_primitives": "gs_primitives",
    "c_invocations": "clipper_in",
    "c_primitives": "clipper_out",
    "ps_invocations": "fs_invocations",
    "cs_invocations": "cs_invocations",
}


@dataclass(slots=True, eq=False)
class Query:
    """A query object. `begin` may be None: a timestamp has only an end."""

    type: QueryType
    index: int = 0
    begin: Moment | None = None
    end: Moment | None = None
    active: bool = field(default=False)
    counts_samples: bool = field(init=False)

    def __post_init__(self) -> None:
        self.counts_samples = self.type in _OCCLUSION

    def change(self, begins: bool, moment: Moment) -> None:
        """It begins or ends at that moment."""
        self.active = begins
        if begins:
            self.begin, self.end = moment, None
        else:
            self.end = moment

    def result(self) -> int | dict[str, int]:
        """The finished query's answer; 0 if it never ran."""
        end = self.end
        if end is None:
            return dict.fromkeys(_STATISTICS, 0) if self.type in _STATS else 0
        begin = self.begin or Counters()
        if self.type in _STATS:
            return {
                name: getattr(end, counter) - getattr(begin, counter)
                for name, counter in _STATISTICS.items()
            }
        if self.type is QueryType.OCCLUSION_COUNTER:
            return end.samples_passed - begin.samples_passed
        if self.type in _OCCLUSION:
            return int(end.samples_passed > begin.samples_passed)
        after, before = end.streams[self.index], begin.streams[self.index]
        if self.type is QueryType.PRIMITIVES_GENERATED:
            return after.generated - before.generated
        if self.type is QueryType.PRIMITIVES_EMITTED:
            return after.emitted - before.emitted
        if self.type is QueryType.SO_OVERFLOW_PREDICATE:
            return int(after.unwritten > before.unwritten)
        if self.type is QueryType.SO_OVERFLOW_ANY_PREDICATE:
            pairs = zip(end.streams, begin.streams, strict=True)
            return int(any(after.unwritten > before.unwritten for after, before in pairs))
        if self.type is QueryType.TIMESTAMP:
            return end.nanoseconds
        return end.nanoseconds - begin.nanoseconds


_OCCLUSION = (
    QueryType.OCCLUSION_COUNTER,
    QueryType.OCCLUSION_PREDICATE,
    QueryType.OCCLUSION_PREDICATE_CONSERVATIVE,
)
_STATS = (QueryType.PIPELINE_STATISTICS,)


@dataclass(frozen=True, slots=True)
class RenderCondition:
    """Draw only if the query's result is non-zero, or zero when inverted."""

    query: Query
    inverted: bool

    def passes(self) -> bool:
        result = self.query.result()
        return bool(result) != self.inverted
