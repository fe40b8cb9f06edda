"""What is written while draws wait: who must be executed first, and what is copied."""

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
from gallette.pipe.state import Box, DrawInfo


def buffer(size: int = 64) -> HostResource:
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], size)
    return HostResource(desc, lambda _: None, [np.arange(size, dtype=np.uint8).reshape(1, 1, -1)])


def texture(width: int = 16) -> HostResource:
    desc = ResourceDesc(Target.TEXTURE_2D, FORMATS["R8_UNORM"], width, 16)
    return HostResource(
        desc, lambda _: None, [np.zeros(16 * width, np.uint8).reshape(1, 16, width)]
    )


def given(
    named: Any = (), textures: Any = (), pinned: Any = (), reach: Any = (), plan: Any = None
) -> Any:
    """Something draws are given: resources, the bytes they read, and how they are made alone."""
    return SimpleNamespace(
        kept=[*named, *textures, *pinned],  # so that no others come to lie where they are
        named=frozenset(map(id, named)),
        textures=frozenset(map(id, textures)),
        pinned=frozenset(map(id, pinned)),
        reach=lambda _: reach,
        plan=lambda _: plan,
    )


def waits(one: Any, **info: Any) -> Any:
    return one, DrawInfo(Primitive.TRIANGLES, count=3, **info), None


def test_what_no_draw_names_is_written_as_one_likes() -> None:
    memory, other = Writes(), buffer()
    one = given(named=[buffer()], textures=[texture()])
    memory.note(one)
    assert memory.may_write(other, 0, 64, [waits(one)])
    assert memory.may_write_texels(texture(), 0, Box(0, 0, 0, 4, 4, 1), [waits(one)])
    assert memory.may_read(other)
    assert not memory.written


def test_what_is_pinned_has_the_draws_executed() -> None:
    memory, block, storage, image = Writes(), buffer(), buffer(), texture()
    one = given(named=[block, storage], textures=[image], pinned=[storage, image])
    memory.note(one)
    memory.note_block(block)
    for pinned in (block, storage):
        assert not memory.may_write(pinned, 0, 1, [waits(one)])
        assert not memory.may_read(pinned)
    assert not memory.may_write_texels(image, 0, Box(0, 0, 0, 4, 4, 1), [waits(one)])
    assert not memory.written


def test_bytes_that_are_not_read_are_not_copied() -> None:
    memory, vertices = Writes(), buffer()
    one = given(named=[vertices], reach=[(8, 12, 4)])  # vertices 0 to 2: bytes 8 to 20
    memory.note(one)
    draws = [waits(one)]
    assert memory.may_write(vertices, 20, 64, draws)
    assert memory.may_write(vertices, 0, 8, draws)
    assert not memory.written
    assert memory.may_write(vertices, 19, 20, draws)
    assert memory.written
    assert memory.may_write(vertices, 8, 9, draws)  # read from the copy by now
    history = memory._histories[id(vertices)]
    assert history.ends == [1]
    assert (history.contents(0) == np.arange(64)).all()


def test_indices_are_read_too() -> None:
    memory, indices = Writes(), buffer()
    one = given()
    memory.note(one)
    memory.note_indices(indices)
    draws = [waits(one, index_size=2, index_buffer=indices, index_offset=4, start=3)]
    assert memory.may_write(indices, 16, 64, draws)  # read: 4 + 3 * 2 to 16
    assert memory.may_write(indices, 0, 10, draws)
    assert not memory.written
    assert memory.may_write(indices, 15, 16, draws) and memory.written
    made = memory.seen([*draws, *draws])
    assert made[0][1].index_buffer is not indices and made[1][1].index_buffer is indices
    assert (made[0][1].index_buffer.storage[0] == np.arange(64)).all()


def test_vertices_of_indexed_draws_are_read_wherever_they_are() -> None:
    memory, vertices, indices = Writes(), buffer(), buffer()
    one = given(named=[vertices], reach=[(0, 4, 4)])
    memory.note(one)
    assert memory.may_write(vertices, 63, 64, [waits(one, index_size=1, index_buffer=indices)])
    assert memory.written


def test_draws_that_are_quickly_made_are_not_kept_waiting() -> None:
    memory, vertices, image = Writes(), buffer(), texture()
    one = given(named=[vertices], textures=[image], reach=[(0, 64, 0)], plan=object())
    memory.note(one)
    assert not memory.may_write(vertices, 0, 64, [waits(one)])
    assert not memory.may_write_texels(image, 0, Box(0, 0, 0, 16, 16, 1), [waits(one)])


@pytest.mark.parametrize(("largest", "most"), [(64, 64), (63, 64), (64, 63)])
def test_copies_have_a_size(largest: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writes, "LARGEST", largest)
    monkeypatch.setattr(writes, "MOST", most)
    memory, vertices = Writes(), buffer(64)
    one = given(named=[vertices], reach=[(0, 64, 0)])
    memory.note(one)
    assert memory.may_write(vertices, 0, 64, [waits(one)]) == (largest == most)
    # A second copy would be too much.
    assert not memory.may_write(vertices, 0, 64, [waits(one), waits(one)])


@pytest.mark.parametrize("room", [255, 256])
def test_textures_with_versions_have_a_size(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writes, "LARGEST_TEXTURE", room)
    memory, image = Writes(), texture()
    one = given(textures=[image])
    memory.note(one)
    assert memory.may_write_texels(image, 0, Box(0, 0, 0, 4, 4, 1), [waits(one)]) == (room == 256)
    assert memory.written == (room == 256)


def test_nothing_is_left_when_nothing_waits() -> None:
    memory = Writes()
    vertices, indices, block, image = buffer(), buffer(), buffer(), texture()
    one = given(named=[vertices, block], textures=[image], pinned=[block], reach=[(0, 64, 0)])
    memory.note(one)
    memory.note_indices(indices)
    draws = [waits(one, index_size=1, index_buffer=indices)]
    assert memory.may_write(vertices, 0, 64, draws) and memory.may_write(indices, 0, 64, draws)
    assert memory.may_write_texels(image, 0, Box(0, 0, 0, 4, 4, 1), draws)
    memory.clear()
    fresh = Writes()
    for name in Writes.__slots__:
        assert getattr(memory, name) == getattr(fresh, name), name
