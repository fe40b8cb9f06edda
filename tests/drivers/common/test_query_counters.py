"""What queries return of a context's counters: every type of query, every counter, every stream."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from gallette.drivers.common.queries import (
    STREAMS,
    Counters,
    Mark,
    Moments,
    Query,
    RenderCondition,
    Samples,
    StreamCounters,
    Tally,
)
from gallette.pipe.enums import QueryType

COUNTED = [f.name for f in fields(Counters) if f.init and f.name not in ("streams", "nanoseconds")]
STATISTICS = {
    "ia_vertices": "ia_vertices", "ia_primitives": "ia_primitives",
    "vs_invocations": "vs_invocations", "hs_invocations": "hs_invocations",
    "ds_invocations": "ds_invocations", "gs_invocations": "gs_invocations",
    "gs_primitives": "gs_primitives", "c_invocations": "clipper_in",
    "c_primitives": "clipper_out", "ps_invocations": "fs_invocations",
    "cs_invocations": "cs_invocations",
}  # fmt: skip


def counted(step: int) -> Counters:
    """Counters that have counted something else each; the more the larger the step is."""
    found = Counters()
    for number, name in enumerate(COUNTED):
        setattr(found, name, step * (number + 2) ** 2)
    for number, stream in enumerate(found.streams):
        stream.generated = step * (100 + number)
        stream.emitted = step * (200 + number * 3)
        stream.unwritten = 7 * (number == 2) * step
    found.nanoseconds = step * 1000
    return found


class Other:
    """Somebody who counts samples by himself."""

    def __init__(self, samples: int) -> None:
        self.samples_passed = samples

    def report(self, counters: Counters) -> None:
        counters.samples_passed += self.samples_passed
        self.samples_passed = 0


def test_a_snapshot_is_a_copy_of_everything_and_its_time() -> None:
    counters = counted(1)
    first = counters.snapshot()
    for name in COUNTED:
        assert getattr(first, name) == getattr(counters, name) > 0
    assert first.streams == counters.streams and len(first.streams) == STREAMS == 4
    assert all(a is not b for a, b in zip(first.streams, counters.streams, strict=True))
    second = counters.snapshot()
    assert 1000 < first.nanoseconds < second.nanoseconds
    counters.streams[1].generated += 1
    counters.fs_invocations += 1
    assert first.streams[1].generated == 101 and first.fs_invocations + 1 == counters.fs_invocations


def test_nothing_is_counted_at_first() -> None:
    counters = Counters()
    assert {getattr(counters, name) for name in (*COUNTED, "nanoseconds")} == {0}
    assert set(map(repr, counters.streams)) == {repr(StreamCounters(0, 0, 0))}


def test_separate_sample_counters_are_gathered() -> None:
    counters = counted(1)
    before = counters.samples_passed
    others = [Other(5), Other(7)]
    counters.apart += others
    moment = counters.moment(only_samples=True)
    assert isinstance(moment, Samples) and moment.samples_passed == before + 12
    assert counters.samples_passed == before and others[0].samples_passed == 5
    whole = counters.moment(only_samples=False)
    assert isinstance(whole, Counters) and whole.samples_passed == before + 12
    assert counters.samples_passed == before + 12 and others[1].samples_passed == 0
    others[0].samples_passed = 3
    counters.gather()
    assert counters.samples_passed == before + 15


def test_counters_are_set_back() -> None:
    counters, before = counted(3), counted(1)
    counters.apart.append(Other(100))
    counters.restore(before)
    for name in COUNTED:
        assert getattr(counters, name) == getattr(before, name)
    assert counters.streams == before.streams and counters.nanoseconds == 1000


@pytest.mark.parametrize("index", range(STREAMS))
def test_answers_are_differences(index: int) -> None:
    begin, end = counted(1), counted(4)

    def answer(type: QueryType) -> object:
        query = Query(type, index)
        assert query.result() in (0, dict.fromkeys(STATISTICS, 0)) and not query.active
        query.change(True, begin)
        assert query.active and query.begin is begin and query.end is None
        query.change(False, end)
        assert not query.active and query.end is end
        return query.result()

    samples = 3 * (COUNTED.index("samples_passed") + 2) ** 2
    wanted: dict[QueryType, object] = {
        QueryType.OCCLUSION_COUNTER: samples,
        QueryType.OCCLUSION_PREDICATE: 1,
        QueryType.OCCLUSION_PREDICATE_CONSERVATIVE: 1,
        QueryType.PRIMITIVES_GENERATED: 3 * (100 + index),
        QueryType.PRIMITIVES_EMITTED: 3 * (200 + 3 * index),
        QueryType.SO_OVERFLOW_PREDICATE: int(index == 2),
        QueryType.SO_OVERFLOW_ANY_PREDICATE: 1,
        QueryType.TIMESTAMP: 4000,
        QueryType.TIME_ELAPSED: 3000,
        QueryType.PIPELINE_STATISTICS: {
            name: 3 * (COUNTED.index(counter) + 2) ** 2 for name, counter in STATISTICS.items()
        },
    }
    assert wanted.keys() == set(QueryType)
    assert {type: answer(type) for type in QueryType} == wanted
    for type in QueryType:
        assert Query(type).counts_samples == type.name.startswith("OCCLUSION")


def test_queries_between_equal_moments_return_zero() -> None:
    for type in QueryType:
        query = Query(type)
        query.change(True, counted(2))
        query.change(False, counted(2))
        result = query.result()
        nothing = dict.fromkeys(STATISTICS, 0) if isinstance(result, dict) else 0
        assert result == (2000 if type is QueryType.TIMESTAMP else nothing)
        query.change(True, counted(3))  # begun again, what was is forgotten
        assert query.result() in (0, dict.fromkeys(STATISTICS, 0))


def test_a_query_without_a_beginning_counts_from_nothing() -> None:
    query = Query(QueryType.PRIMITIVES_EMITTED, 1)
    query.change(False, counted(2))
    assert query.result() == 2 * 203


def test_conditions_pass_with_samples_or_without() -> None:
    for begin, end, passed in ((1, 1, False), (1, 2, True)):
        query = Query(QueryType.OCCLUSION_PREDICATE)
        query.change(True, counted(begin))
        query.change(False, counted(end))
        assert RenderCondition(query, inverted=False).passes() is passed
        assert RenderCondition(query, inverted=True).passes() is not passed


# -- draws that wait -------------------------------------------------------------------------------


def test_a_tally_counts_samples_per_draw() -> None:
    tally = Tally(6)
    tally.pass_samples(np.array([0, 2, 2, 5]))
    assert tally.samples.tolist() == [1, 0, 2, 0, 0, 1]
    tally.pass_samples(np.array([1, 1, 3]), np.array([10, 20, 5]))
    assert tally.samples.tolist() == [1, 30, 2, 5, 0, 1]
    tally.generate(np.array([4, 4, 0]))
    assert tally.primitives.tolist() == [1, 0, 0, 0, 2, 0]
    tally.first = 2
    tally.pass_samples(np.array([0, 3]))
    assert tally.samples.tolist() == [1, 30, 3, 5, 0, 2]
    tally.count_for([3, 0])
    tally.pass_samples(np.array([0, 0, 1]))
    assert tally.samples.tolist() == [1, 30, 4, 5, 0, 4]
    tally.count_for(1)
    tally.pass_samples(np.array([9, 9, 9]))
    tally.pass_samples(np.array([9, 9]), np.array([4, 5]))
    tally.generate(np.array([7, 7]))
    assert tally.samples.tolist() == [1, 30, 4, 17, 0, 4]
    assert tally.primitives.tolist() == [1, 0, 0, 2, 2, 0]
    tally.count_for(None)
    tally.generate(np.array([0]))
    assert tally.primitives.tolist() == [1, 0, 1, 2, 2, 0]
    assert tally.samples.dtype == tally.primitives.dtype == np.int64


def test_marks_are_known_when_draws_have_been_made() -> None:
    counters = counted(1)
    before = counters.samples_passed
    marks = [Mark(1), Mark(3), Mark(3)]
    assert all((m.samples_passed, m.streams, m.nanoseconds) == (0, (), 0) for m in marks)
    moments = Moments(counters, 4, marks)
    assert counters.tally is not None
    counters.tally.pass_samples(np.array([0, 1, 1, 2, 3, 3, 3]))
    counters.tally.generate(np.array([0, 0, 2, 3]))
    counters.apart.append(Other(1000))
    moments.end()
    assert counters.tally is None
    assert [m.samples_passed - before for m in marks] == [1, 4, 4]
    assert [m.streams[0] for m in marks] == [
        StreamCounters(100 + made, 200, 0) for made in (2, 3, 3)
    ]
    assert all(m.streams[1:] == counters.streams[1:] for m in marks)
    assert counters.samples_passed == before + 7  # what apart is told counts no draw
    times = [m.nanoseconds for m in marks]
    assert times[0] < times[1] == times[2]
    start = moments._before.nanoseconds
    assert times[0] - start == (moments._after - start) // 4
    assert times[1] - start == (moments._after - start) * 3 // 4
