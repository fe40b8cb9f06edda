"""Atomics, storage buffers and images against doing it one lane after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gallette.compiler.nir.interp.intrinsics import combine
from gallette.compiler.nir.ir.intrinsics import ATOMIC_OPS
from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.common.storage import (
    ImageUnit,
    apply_atomic,
    buffer_atomic,
    buffer_load,
    buffer_load_same,
    buffer_store,
    compare_and_swap,
    image_unit,
)
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import ImageView

Array = npt.NDArray[Any]


def lanes_of(op: str, rng: np.random.Generator, count: int, bits: int) -> Array:
    """Operands: small integers (so that wraps and minima happen), or floats' bits."""
    kind = f"u{bits // 8}"
    if op.startswith("f"):
        return (rng.random(count) * 8 - 4).astype(f"f{bits // 8}").view(kind)
    values = rng.integers(0, 7, count).astype(kind)
    values[rng.random(count) < 0.3] ^= values.dtype.type((1 << bits) - 1)
    return values


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("addresses", [1, 3, 500])
@pytest.mark.parametrize("op", ATOMIC_OPS)
def test_atomics_equal_one_lane_after_the_other(op: str, addresses: int, bits: int) -> None:
    rng = np.random.default_rng(addresses + bits)
    memory = lanes_of(op, rng, addresses, bits)
    address = rng.integers(0, addresses, 200)
    data = lanes_of(op, rng, 200, bits)
    expected, old = memory.copy(), []
    for at, value in zip(address.tolist(), data.tolist(), strict=True):
        old.append(int(expected[at]))
        expected[at] = combine(op, int(expected[at]), value, bits)
    got = apply_atomic(op, memory, address, data)
    assert got.tolist() == old
    np.testing.assert_array_equal(memory, expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=30))
def test_compare_and_swap_equals_one_lane_after_the_other(
    steps: list[tuple[int, int, int]],
) -> None:
    memory, expected, old = np.zeros(4, np.uint32), [0] * 4, []
    for at, compare, value in steps:
        old.append(expected[at])
        if expected[at] == compare:
            expected[at] = value
    columns = np.array(steps, np.uint32).reshape(-1, 3)
    got = compare_and_swap(
        memory, columns[:, 0].astype(np.intp), columns[:, 1].copy(), columns[:, 2].copy()
    )
    assert got.tolist() == old
    assert memory.tolist() == expected


@pytest.mark.parametrize("changes", [1, 20, 200])
def test_many_lanes_compare_and_swap_at_few_addresses(changes: int) -> None:
    """Address 1 changes so many times, 0 is taken by the first lane, 2 never changes."""
    address = np.arange(900) % 3
    compare = np.where(address == 1, np.arange(900) // 3, 0).astype(np.uint32)
    compare[address == 2] = 7
    value = np.where(compare < changes, compare + 1, compare).astype(np.uint32)
    memory, expected, old = np.zeros(3, np.uint32), [0, 0, 0], []
    for at, if_, then in zip(address.tolist(), compare.tolist(), value.tolist(), strict=True):
        old.append(expected[at])
        if expected[at] == if_:
            expected[at] = then
    assert expected == [1, changes, 0]
    assert compare_and_swap(memory, address, compare, value).tolist() == old
    assert memory.tolist() == expected


def test_a_lock_that_all_lanes_take_is_granted_at_once() -> None:
    memory = np.zeros(1, np.uint32)
    address, compare = np.zeros(100_000, np.intp), np.zeros(100_000, np.uint32)
    value = np.arange(1, 100_001, dtype=np.uint32)
    old = compare_and_swap(memory, address, compare, value)
    assert memory.tolist() == [1]
    assert old.tolist() == [0] + [1] * 99_999


def test_ten_thousand_lanes_count_on_one_address() -> None:
    memory = np.zeros(1, np.uint32)
    old = apply_atomic("iadd", memory, np.zeros(10_000, np.intp), np.ones(10_000, np.uint32))
    assert memory.tolist() == [10_000]
    assert old.tolist() == list(range(10_000))


# -- buffers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_one_offset_of_all_lanes_is_read_as_by_each(bits: int) -> None:
    """Inside, over the end of a range that ends anywhere, before it, and of nothing."""
    data = np.random.default_rng(1).integers(0, 256, 51, np.uint8)
    for offset in (0, 3, 24, 40, 44, 47, 48, 56, 2**31, -4, -8):
        lanes = np.full(3, offset & 0xFFFFFFFF, np.uint32).view(np.int32)
        for where in (data, None):
            same = buffer_load_same(where, offset, 3, bits, 3)
            for one, other in zip(same, buffer_load(where, lanes, 3, bits), strict=True):
                assert one.dtype == other.dtype and np.array_equal(one, other), offset


def test_loads_outside_a_buffer_read_zero() -> None:
    data = np.arange(1, 15, dtype=np.uint8)  # three words and a half
    offset = np.array([0, 8, 12, 16, -4, 2**31 - 4], np.int32)
    first, second = buffer_load(data, offset, 2)
    words = data[:12].view(np.uint32)
    assert first.tolist() == [int(words[0]), int(words[2]), 0, 0, 0, 0]
    assert second.tolist() == [int(words[1]), 0, 0, 0, int(words[0]) * 0, 0]
    assert not buffer_load(None, offset, 1)[0].any()
    assert int(buffer_load(data, np.asarray(np.int32(4)), 1)[0]) == int(words[1])


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_elements_of_any_width(bits: int) -> None:
    data = np.arange(64, dtype=np.uint8)
    size = bits // 8
    loaded = buffer_load(data, np.array([0, size * 3], np.int32), 2, bits)
    view = data.view(f"u{size}")
    assert loaded[0].tolist() == [int(view[0]), int(view[3])]
    assert loaded[1].tolist() == [int(view[1]), int(view[4])]


def test_stores_write_active_lanes_inside_and_the_last_one_wins() -> None:
    data = np.zeros(16, np.uint8)
    offset = np.array([0, 0, 4, 8, 16, -4], np.int32)
    value = np.arange(1, 7, dtype=np.uint32)
    active = np.array([1, 1, 0, 1, 1, 1], np.bool_)
    buffer_store(data, offset, [value], 6, active)
    assert data.view(np.uint32).tolist() == [2, 0, 4, 0]
    buffer_store(data, np.asarray(np.int32(4)), [None, np.float32(1.0)], 6)
    assert data.view(np.float32)[2] == 1.0
    assert data.view(np.uint32)[1] == 0
    buffer_store(None, offset, [value], 6)


def test_buffer_atomics_skip_what_is_outside_or_inactive() -> None:
    data = np.zeros(8, np.uint8)
    offset = np.array([0, 4, 8, 0, 0], np.int32)
    active = np.array([1, 1, 1, 0, 1], np.bool_)
    old = buffer_atomic("iadd", data, offset, np.asarray(np.uint32(5)), 5, active)
    assert old.tolist() == [0, 0, 0, 0, 5]
    assert data.view(np.uint32).tolist() == [10, 5]
    swapped = buffer_atomic(
        "xchg", data, offset, np.asarray(np.uint32(1)), 5, active, compare=np.asarray(np.uint32(10))
    )
    assert swapped.tolist() == [10, 5, 0, 0, 1]
    assert data.view(np.uint32).tolist() == [1, 5]


# -- images ------------------------------------------------------------------------------------


def texture(format: str, target: Target = Target.TEXTURE_2D, **more: Any) -> HostResource:
    desc = ResourceDesc(target, FORMATS[format], 8, more.pop("height", 4), **more)
    return create_resource(desc, ResourceLedger())


def ints(*values: int) -> Array:
    return np.array(values, np.int32)


def view_of(resource: HostResource, **more: Any) -> ImageView:
    more.setdefault("last_layer", resource.desc.array_size - 1)
    return ImageView(resource, resource.desc.format, **more)


def test_what_is_stored_is_loaded() -> None:
    for format in ("R8G8B8A8_UNORM", "R32G32B32A32_FLOAT", "R16G16_SINT", "R11G11B10_FLOAT"):
        resource = texture(format)
        unit = image_unit(view_of(resource))
        assert image_unit(view_of(resource)) is unit
        dtype = resource.desc.format.rgba_dtype
        values = [np.array([1, 0, 1], dtype), np.array([0, 1, 1], dtype)] * 2
        x, y = ints(1, 7, 3), ints(0, 3, 2)
        writes = resource.writes
        unit.store([x, y], values, 3)
        assert resource.writes > writes
        loaded = unit.load([x, y], 3)
        np.testing.assert_array_equal(loaded[0], values[0])
        np.testing.assert_array_equal(loaded[1], values[1])


def test_outside_and_inactive_lanes_touch_nothing() -> None:
    resource = texture("R32_UINT")
    unit = ImageUnit(view_of(resource))
    x, y = ints(-1, 8, 0, 0, 2), ints(0, 0, -1, 4, 2)
    ones = [np.ones(5, np.uint32)] * 4
    unit.store([x, y], ones, 5)
    assert resource.view(0, np.uint32).sum() == 1
    unit.store([ints(1), ints(1)], [np.uint32(9)], 1, np.array([False]))
    assert resource.view(0, np.uint32).sum() == 1
    assert unit.load([x, y], 5)[0].tolist() == [0, 0, 0, 0, 1]


def test_access_qualifiers_hold() -> None:
    resource = texture("R32_UINT")
    resource.storage[0][...] = 1
    sealed = ImageUnit(view_of(resource, writable=False))
    sealed.store([ints(0), ints(0)], [np.uint32(9)], 1)
    assert (resource.storage[0] == 1).all()
    blind = ImageUnit(view_of(resource, readable=False))
    assert not blind.load([ints(0), ints(0)], 1)[0].any()


@pytest.mark.parametrize("format", ["R32_UINT", "R32G32B32A32_UINT", "R16G16B16A16_UINT"])
@pytest.mark.parametrize("given", [1, 2, 4])
def test_components_that_are_not_given_are_zero(given: int, format: str) -> None:
    """Of two lanes, into texels that held something."""
    resource = texture(format)
    resource.storage[0][...] = 0xFF
    unit = ImageUnit(view_of(resource))
    values = [np.array([5, 6], np.uint32) + i for i in range(given)]
    unit.store([ints(1, 3), ints(2, 0)], values, 2)
    used = 1 if format.startswith("R32_") else 4
    wanted = [[5 + lane + i if i < given else 0 for i in range(used)] for lane in range(2)]
    found = np.stack(unit.load([ints(1, 3), ints(2, 0)], 2)[:used], axis=1)
    assert found.tolist() == wanted
    assert unit.load([ints(2), ints(2)], 1)[0][0] == (0xFFFF if "R16" in format else 0xFFFFFFFF)


def test_image_atomics() -> None:
    resource = texture("R32_SINT")
    unit = ImageUnit(view_of(resource))
    x, y = ints(2, 2, 2, 9), ints(1, 1, 1, 1)
    old = unit.atomic("imin", [x, y], ints(-3, 4, -7, -9), 4)
    assert old.view(np.int32).tolist() == [0, -3, -3, 0]
    assert resource.view(0, np.int32)[0, 1, 2] == -7
    old = unit.atomic("xchg", [x, y], ints(1, 2, 3, 4), 4, compare=ints(-7, 5, 1, 0))
    assert old.view(np.int32).tolist() == [-7, 1, 1, 0]
    assert resource.view(0, np.int32)[0, 1, 2] == 3


def test_layers_levels_and_sizes() -> None:
    resource = texture("R8_UINT", Target.TEXTURE_2D_ARRAY, array_size=3, last_level=1)
    whole = ImageUnit(view_of(resource, level=1))
    assert [int(e) for e in whole.size()] == [4, 2, 3]
    whole.store([ints(1), ints(1), ints(2)], [np.uint32(5)], 1)
    assert resource.storage[1][2, 1, 1] == 5
    single = ImageUnit(view_of(resource, level=1, first_layer=2, last_layer=2))
    assert single.load([ints(1), ints(1)], 1)[0].tolist() == [5]
    volume = texture("R8_UINT", Target.TEXTURE_3D, depth=4)
    unit = ImageUnit(view_of(volume, last_layer=3))
    unit.store([ints(0), ints(0), ints(3)], [np.uint32(8)], 1)
    assert volume.storage[0][3, 0, 0] == 8
    assert [int(e) for e in unit.size()] == [8, 4, 4]
    slice_ = ImageUnit(view_of(volume, first_layer=3, last_layer=3))
    assert slice_.load([ints(0), ints(0)], 1)[0].tolist() == [8]


def test_buffer_images() -> None:
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UNORM"], 32)
    resource = create_resource(desc, ResourceLedger())
    view = ImageView(resource, FORMATS["R32_FLOAT"], buffer_offset=8, buffer_size=16)
    unit = ImageUnit(view)
    unit.store([ints(0, 3, 4)], [np.array([1.5, 2.5, 3.5], np.float32)], 3)
    stored = resource.storage[0].reshape(-1).view(np.float32)
    assert stored.tolist() == [0, 0, 1.5, 0, 0, 2.5, 0, 0]
    assert [int(e) for e in unit.size()] == [4]
