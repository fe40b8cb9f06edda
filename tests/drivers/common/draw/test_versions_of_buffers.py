"""What buffers held when each of the draws that wait was made: copies, streams, indices of then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.draw import writes
from gallette.drivers.common.draw.writes import Writes
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import DrawInfo

INFO = DrawInfo(Primitive.TRIANGLES, count=3)
INDEXED = DrawInfo(Primitive.TRIANGLES, count=3, index_size=2)


def buffer(size: int = 16) -> HostResource:
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], size)
    return HostResource(desc, lambda _: None, [np.zeros((1, 1, size), np.uint8)])


class Given:
    """What was given for draws that read a buffer from byte 4 to 8."""

    def __init__(self, *named: HostResource, plan: Any = None) -> None:
        self.kept = named
        self.named = frozenset(map(id, named))
        self.textures: Any = frozenset()
        self.pinned: Any = frozenset()
        self.made_plan = plan

    def plan(self, mode: Primitive) -> Any:
        return self.made_plan

    def reach(self, which: HostResource) -> Any:
        return [(4, 8, 0)] if id(which) in self.named else []


class Then:
    """In place of `Earlier`: what was given, and the copies."""

    def __init__(self, now: Any, copies: Any, versions: Any) -> None:
        self.now, self.copies, self.versions = now, copies, versions


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What `stream_of` was asked; it answers the last one of `answers`, if there are any."""
    found: list[Any] = []

    def asked(given: Any, mode: Primitive, which: Any, versions: Any) -> Any:
        found.append((given, mode, which, versions))
        return given.stream if hasattr(given, "stream") else None

    monkeypatch.setattr(writes, "stream_of", asked)
    monkeypatch.setattr(writes, "Earlier", Then)
    return found


def write(mine: Writes, which: HostResource, value: int, draws: Any) -> None:
    assert mine.may_write(which, 4, 5, draws)
    which.memory[4] = value


def told(found: Any, which: HostResource) -> list[int]:
    """What each draw reads at byte 4."""
    values = []
    for given, _, _ in found:
        if isinstance(given, Then):
            copies, number = given.copies.get(id(which), (None, 0))
            values.append(int((which.memory if copies is None else copies.contents(number))[4]))
        else:
            values.append(int(which.memory[4]))
    return values


def test_each_draw_reads_what_was_there(streams: list[Any]) -> None:
    one, two = buffer(), buffer()
    both, only = Given(one, two), Given(two)
    mine, draws = Writes(), []
    mine.note(both)  # type: ignore[arg-type]
    mine.note(only)  # type: ignore[arg-type]
    values: Any = {id(one): [], id(two): []}
    current = {id(one): 0, id(two): 0}
    for step in range(1, 9):
        draws.append((both if step % 3 else only, INFO, b"%d" % step))
        for each in (one, two):
            values[id(each)].append(current[id(each)])
        if step % 2:
            written = one if step % 4 == 1 else two
            write(mine, written, step, draws)
            current[id(written)] = step
    assert mine.written
    found: Any = mine.seen(draws)  # type: ignore[arg-type]
    assert [row for _, _, row in found] == [row for _, _, row in draws]
    for each in (one, two):
        reads = [k for k, (given, _, _) in enumerate(draws) if id(each) in given.named]
        assert [told(found, each)[k] for k in reads] == [values[id(each)][k] for k in reads]
    assert found[7][0] is draws[7][0]  # nothing was written since
    assert len({id(given) for given, _, _ in found}) < 8
    copies = next(given.copies[id(one)] for given, _, _ in found if isinstance(given, Then))
    earlier = copies[0].version(copies[1])
    assert copies[0].version(copies[1]) is earlier and earlier.desc is one.desc
    assert earlier.memory.tolist() == copies[0].contents(copies[1]).tolist()


def test_copies_are_made_only_where_somebody_reads(streams: list[Any]) -> None:
    one = buffer()
    given = Given(one)
    mine, draws = Writes(), [(given, INFO, b"")]
    mine.note(given)  # type: ignore[arg-type]
    for low, high, copied in ((0, 4, False), (8, 9, False), (7, 8, True), (4, 5, False)):
        assert mine.may_write(one, low, high, draws)  # type: ignore[arg-type]
        assert mine.written is copied or not copied
        assert (mine._bytes == 16) is (copied or low == 4)
    draws.append((given, INFO, b""))
    assert mine.may_write(one, 3, 5, draws)  # type: ignore[arg-type]
    assert mine._bytes == 32
    mine.clear()
    assert not mine.written and mine._bytes == 0
    assert mine.may_write(one, 4, 5, draws) and mine._bytes == 0  # type: ignore[arg-type]


def test_draws_of_one_buffer_are_a_stream(streams: list[Any]) -> None:
    """Which is made once; draws with indices, and of no instances, are of none."""
    one = buffer()
    given = Given(one)
    calls = [DrawInfo(Primitive.TRIANGLES, start=k) for k in range(4)]
    stream: Any = SimpleNamespace(given="streamed", asked=0)

    def made(info: DrawInfo) -> list[DrawInfo]:
        stream.asked += 1
        return calls if info.count == 3 else []

    stream.calls = made
    given.stream = stream  # type: ignore[attr-defined]
    other, none = (
        DrawInfo(Primitive.TRIANGLES, count=4),
        DrawInfo(Primitive.TRIANGLES, count=3, instance_count=0),
    )
    mine, draws = Writes(), []
    mine.note(given)  # type: ignore[arg-type]
    infos = [INFO, INFO, INFO, other, INDEXED, none, INFO]
    for k, info in enumerate(infos):
        draws.append((given, info, b"%d" % k))
        if k in (0, 2, 5):
            write(mine, one, k + 1, draws)
    found: Any = mine.seen(draws)  # type: ignore[arg-type]
    assert len(streams) == 1 and streams[0][0] is given and streams[0][2] is one
    assert [version[4] for version in streams[0][3]] == [0, 1, 3, 6]
    assert [each[0] == "streamed" for each in found] == [True] * 3 + [False] * 3 + [True]
    assert [found[k][1].start for k in (0, 1, 2, 6)] == [0, 1, 1, 3]
    assert [found[k][1] for k in (3, 4, 5)] == infos[3:6]
    assert [each[2] for each in found] == [b"%d" % k for k in range(7)]
    assert stream.asked == 3
    assert told(found[3:6], one) == [3, 3, 3]


def test_indices_are_those_of_then(streams: list[Any]) -> None:
    one = buffer()
    given = Given()
    info = DrawInfo(
        Primitive.TRIANGLES, count=2, start=1, index_size=2, index_offset=2, index_buffer=one
    )
    mine, draws = Writes(), []
    mine.note_indices(one)
    for k in range(4):
        draws.append((given, info, b""))
        if k < 2:
            write(mine, one, k + 1, draws)
    assert mine.may_write(one, 8, 16, draws) and mine.may_write(one, 0, 4, draws)  # type: ignore[arg-type]
    found: Any = mine.seen(draws)  # type: ignore[arg-type]
    read: Any = [each[1].index_buffer for each in found]
    assert [int(each.memory[4]) for each in read] == [0, 1, 2, 2]
    assert found[2][1] is info and found[3][1] is info
    assert [each[1].index_offset for each in found] == [2] * 4


@pytest.mark.parametrize("most", [1 << 25, 16 * 4, 16 * 3])
def test_a_place_is_written_again_and_again(
    most: int, streams: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As often as there is room for copies."""
    monkeypatch.setattr(writes, "MOST", most)
    one = buffer()
    one.memory[:] = b"\x09" * 16
    given = Given(one)
    mine, draws = Writes(), [(given, INFO, b"first")]
    mine.note(given)  # type: ignore[arg-type]
    data = [bytes([k, k + 1]) for k in (10, 20, 30, 40, 50)]
    done = mine.keep_each(one, 4, data, draws)  # type: ignore[arg-type]
    assert done == {1 << 25: 5, 64: 4, 48: 3}[most]
    assert mine._bytes == 16 * done and mine.written
    draws += [(given, INFO, b"")] * done
    assert told(mine.seen(draws), one) == [9, *(each[0] for each in data[:done])]  # type: ignore[arg-type]
    assert one.memory.tolist() == [9] * 4 + [*data[done - 1]] + [9] * 10


def test_what_is_not_written_again_and_again(
    streams: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, free, pinned = buffer(), buffer(), buffer()
    given = Given(one, pinned)
    mine, draws = Writes(), [(given, INFO, b"")]
    mine.note(given)  # type: ignore[arg-type]
    mine.note_block(pinned)
    pair = [b"ab", b"cd"]
    for which, low, data in (
        (free, 4, pair),  # nobody reads it
        (pinned, 4, pair),  # somebody else does
        (one, 4, [b"ab", b"c"]),  # different places
        (one, 0, pair),  # nobody reads there
        (one, 8, pair),
    ):
        assert mine.keep_each(which, low, data, draws) == 0  # type: ignore[arg-type]
    assert mine._bytes == 0 and not any(one.memory)
    monkeypatch.setattr(writes, "LARGEST", 15)
    assert mine.keep_each(one, 4, pair, draws) == 0  # type: ignore[arg-type]
    monkeypatch.setattr(writes, "LARGEST", 16)
    given.made_plan = object()
    assert mine.keep_each(one, 4, pair, draws) == 0  # type: ignore[arg-type]
    given.made_plan = None
    assert mine.keep_each(one, 4, pair, draws) == 2  # type: ignore[arg-type]
    assert not mine.may_read(pinned) and mine.may_read(one)
