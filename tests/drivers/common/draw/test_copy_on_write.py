"""Which writes flush the batch, which copy what pending draws read, and what draws read then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.draw import copy_on_write
from gallette.drivers.common.draw.copy_on_write import CopyOnWrite
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import DrawInfo

INFO = DrawInfo(Primitive.TRIANGLES, count=3)


def buffer(size: int = 16) -> HostResource:
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], size)
    return HostResource(desc, lambda _: None, [np.zeros(size, np.uint8).reshape(1, 1, size)])


def snapshot_of(*readable: HostResource, pinned: Any = (), sampled: Any = ()) -> Any:
    return SimpleNamespace(
        readable=frozenset(map(id, readable)),
        pinned=frozenset(map(id, pinned)),
        sampled=frozenset(map(id, sampled)),
        sampled_by_vertices=frozenset(),
    )


class Batch:
    """Pending draws, and a value that is written before each."""

    def __init__(self) -> None:
        self.copies = CopyOnWrite()
        self.draws: list[Any] = []

    def draw(self, snapshot: Any, info: DrawInfo = INFO) -> None:
        self.copies.note(snapshot)
        if info.index_buffer is not None:
            self.copies.note_indices(info.index_buffer)
        self.draws.append((snapshot, info, b"%d" % len(self.draws)))

    def write(self, resource: HostResource, value: int) -> bool:
        """Whether the batch need not be flushed; then the value is written."""
        if not self.copies.may_write(resource, self.draws):
            return False
        resource.memory[0] = value
        return True

    def read(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        """The draws, with a mapping of copies in place of each snapshot that reads some."""
        monkeypatch.setattr(
            copy_on_write, "SnapshotWithCopies", lambda snapshot, copies, versions: copies
        )
        monkeypatch.setattr(copy_on_write, "stream_of", lambda *args: None)
        return list(self.copies.applied(self.draws))


def test_each_draw_reads_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = buffer(), buffer()
    both, only = snapshot_of(one, two), snapshot_of(two)
    batch, wanted = Batch(), []
    values = {id(one): 0, id(two): 0}
    for step in range(1, 12):
        snapshot = both if step % 3 else only
        batch.draw(snapshot)
        wanted.append({key: value for key, value in values.items() if key in snapshot.readable})
        for each in (one, two)[: step % 3]:
            assert batch.write(each, step)
            values[id(each)] = step
    found = batch.read(monkeypatch)
    assert [row for _, _, row in found] == [row for _, _, row in batch.draws]
    for (snapshot, _, _), (now, _, _), reads in zip(found, batch.draws, wanted, strict=True):
        copies = {} if snapshot is now else snapshot
        for each in (one, two):
            if id(each) in reads:
                assert copies.get(id(each), each).memory[0] == reads[id(each)]


def test_only_what_pending_draws_read_is_copied() -> None:
    vertices, other = buffer(), buffer()
    batch = Batch()
    batch.draw(snapshot_of(vertices))
    assert batch.write(other, 1) and not batch.copies
    assert batch.write(vertices, 1) and batch.copies
    assert batch.copies._bytes == 16
    assert batch.write(vertices, 2)  # no draw since the copy
    batch.draw(snapshot_of(other))
    assert batch.write(vertices, 3)  # none that reads it
    assert batch.copies._bytes == 16
    batch.draw(snapshot_of(vertices))
    assert batch.write(vertices, 4)
    assert batch.copies._bytes == 32


def test_what_draws_write_flushes_the_batch() -> None:
    storage, block = buffer(), buffer()
    batch = Batch()
    batch.draw(snapshot_of(pinned=[storage]))
    batch.copies.note_block(block)
    for resource in (storage, block):
        assert not batch.write(resource, 1)
        assert not batch.copies.may_read(resource)
    assert not batch.copies


def test_memory_that_stays_mapped_flushes_the_batch() -> None:
    vertices = buffer()
    vertices.live = True
    batch = Batch()
    batch.draw(snapshot_of(vertices))
    assert batch.copies.may_read(vertices)
    assert not batch.write(vertices, 1)


def test_textures_are_not_copied() -> None:
    texture = buffer()
    batch = Batch()
    batch.draw(snapshot_of(sampled=[texture]))
    assert batch.copies.may_read(texture) and not batch.write(texture, 1)


def test_indices_are_copied_too(monkeypatch: pytest.MonkeyPatch) -> None:
    indices = buffer()
    info = DrawInfo(Primitive.TRIANGLES, count=2, index_size=2, index_buffer=indices)
    batch = Batch()
    for value in range(1, 5):
        batch.draw(snapshot_of(), info)
        if value < 3:
            assert batch.write(indices, value)
    found = batch.read(monkeypatch)
    assert [int(info.index_buffer.memory[0]) for _, info, _ in found] == [0, 1, 2, 2]
    assert found[2][1] is info and found[0][1].index_size == 2


@pytest.mark.parametrize(("largest", "most", "copies"), [(15, 99, 0), (16, 16, 1), (16, 33, 2)])
def test_copies_have_a_bound(
    largest: int, most: int, copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_on_write, "LARGEST", largest)
    monkeypatch.setattr(copy_on_write, "MOST", most)
    vertices = buffer()
    batch = Batch()
    for number in range(3):
        batch.draw(snapshot_of(vertices))
        assert batch.write(vertices, 1) == (number < copies)


def test_nothing_is_left_after_a_flush() -> None:
    vertices, block = buffer(), buffer()
    batch = Batch()
    batch.draw(snapshot_of(vertices, pinned=[block]))
    assert batch.write(vertices, 1)
    batch.copies.clear()
    fresh = CopyOnWrite()
    for name in set(CopyOnWrite.__slots__) - {"_begun"}:  # calls that hold no resource
        assert getattr(batch.copies, name) == getattr(fresh, name), name
