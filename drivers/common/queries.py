"""Queries, as differences between the context's counters, and conditional rendering.

A query records two moments: snapshots of `Counters`, or something equivalent. When draws are merged
or reordered, a `Tally` records what each of them counted, and a `Mark` between two draws derives
from it what a snapshot there would have held.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.pipe.enums import QueryType

STREAMS = 4
"""Vertex streams a geometry shader can emit to."""


@lazy_dataclass()
class StreamCounters:
    """Primitives of one vertex stream: all, those captured, and those that did not fit."""

    generated: int = 0
    emitted: int = 0
    unwritten: int = 0


class SampleCounter(Protocol):
    """A component that counts samples itself and reports them on request, such as compiled code."""

    @property
    def samples_passed(self) -> int:
        """The number of samples that passed since the last report."""
        ...

    def report(self, counters: Counters) -> None:
        """Add its counts to the counters and reset them."""
        ...


@lazy_dataclass()
class Counters:
    """The counts of a context so far."""

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
    tally: Tally | None = field(default=None, init=False, compare=False)  # while a query needs it
    apart: list[SampleCounter] = field(default_factory=list, init=False, compare=False)

    def moment(self, only_samples: bool) -> Moment:
        """The current counts, perhaps only of the samples that passed."""
        if not only_samples:
            return self.snapshot()
        passed = self.samples_passed
        for other in self.apart:
            passed += other.samples_passed
        return Samples(passed)

    def gather(self) -> None:
        """Add what components with counters of their own have counted since the last call."""
        for other in self.apart:
            other.report(self)

    def snapshot(self) -> Counters:
        """A copy with the current time."""
        self.gather()
        streams = [StreamCounters(s.generated, s.emitted, s.unwritten) for s in self.streams]
        copy = Counters(tuple(streams), *_NUMBERS(self))
        copy.nanoseconds = time.perf_counter_ns()
        return copy

    def restore(self, before: Counters) -> None:
        """Reset the counts to a snapshot."""
        self.gather()
        for name in _NAMES:
            setattr(self, name, getattr(before, name))


Ints = npt.NDArray[np.int64]


class Moment(Protocol):
    """The counts that most queries read; pipeline statistics need whole snapshots."""

    @property
    def samples_passed(self) -> int:
        """The samples that had passed."""
        ...

    @property
    def streams(self) -> tuple[StreamCounters, ...]:
        """The primitives of each stream."""
        ...

    @property
    def nanoseconds(self) -> int:
        """The time of the moment."""
        ...


@lazy_dataclass(eq=False)
class Samples:
    """A moment for queries that read only the number of samples."""

    samples_passed: int
    streams: tuple[StreamCounters, ...] = ()
    nanoseconds: int = 0


class Mark:
    """A moment after a number of pending draws, known when these have been executed."""

    __slots__ = ("draws", "moments", "samples_passed")

    def __init__(self, draws: int) -> None:
        self.draws = draws
        self.samples_passed = 0
        self.moments: Moments | None = None  # set when the draws have been executed

    @property
    def streams(self) -> tuple[StreamCounters, ...]:
        """The primitives of each stream."""
        return () if self.moments is None else self.moments.streams(self.draws)

    @property
    def nanoseconds(self) -> int:
        """The estimated time of the moment, with equal times for all draws."""
        return 0 if self.moments is None else self.moments.nanoseconds(self.draws)


class Tally:
    """The counts of each of several draws: samples that passed, primitives of the first stream."""

    __slots__ = ("_whose", "first", "primitives", "samples")

    def __init__(self, draws: int) -> None:
        self.samples = np.zeros(draws, np.int64)
        self.primitives = np.zeros(draws, np.int64)
        self.first = 0  # the number of the draw that reporters call 0
        self._whose: Ints | int | None = None

    def count_for(self, numbers: Sequence[int] | npt.NDArray[Any] | int | None) -> None:
        """Set how the following counts identify draws: by index into `numbers`, by draw number
        (None), or all as one draw.
        """
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
        """Count samples that passed, per draw (with weights: several at once)."""
        self._add(self.samples, draws, weights)

    def generate(self, draws: npt.NDArray[Any]) -> None:
        """Count generated primitives, per draw."""
        self._add(self.primitives, draws)


class Moments:
    """Counts for queries that begin or end between the draws of a batch.

    The draws are executed together, so the counts at each query's place are computed afterwards
    from counts per draw.
    """

    __slots__ = ("_after", "_before", "_counters", "_draws", "_marks", "_primitives", "_tally")

    def __init__(self, counters: Counters, draws: int, marks: list[Mark]) -> None:
        self._counters, self._marks, self._draws = counters, marks, draws
        self._before = counters.snapshot()
        self._tally: Tally | None = Tally(draws)
        counters.tally = self._tally
        self._after = 0  # nanoseconds
        self._primitives: dict[int, int] = {}  # by the number of preceding draws

    def end(self) -> None:
        """Compute the counts of all marks, after the draws have been executed."""
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
        # Counts that no query needs were not recorded per draw; a total never decreases.
        counters.samples_passed = int(samples[-1])

    def streams(self, draws: int) -> tuple[StreamCounters, ...]:
        """The primitives of each stream after `draws` draws."""
        first, *others = self._before.streams
        generated = first.generated + self._primitives[draws]
        return (StreamCounters(generated, first.emitted, first.unwritten), *others)

    def nanoseconds(self, draws: int) -> int:
        """The estimated time after `draws` draws, with equal times for all."""
        before = self._before.nanoseconds
        return before + (self._after - before) * draws // self._draws


_NAMES = [f.name for f in fields(Counters) if f.init]
_NUMBERS = operator.attrgetter(*[n for n in _NAMES if n not in ("streams", "nanoseconds")])
"""All counters in the order of their declaration; the time is the last one."""

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


@lazy_dataclass(eq=False)
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
        """Begin or end the query at that moment."""
        self.active = begins
        if begins:
            self.begin, self.end = moment, None
        else:
            self.end = moment

    def result(self) -> int | dict[str, int]:
        """The result of a finished query; 0 if it was never begun."""
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


@lazy_dataclass(frozen=True)
class RenderCondition:
    """Draw only if the query's result is non-zero, or zero when inverted."""

    query: Query
    inverted: bool

    def passes(self) -> bool:
        result = self.query.result()
        return bool(result) != self.inverted
