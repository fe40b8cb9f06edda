"""What generated code calls, against the same said lane by lane."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.drivers.numpipe.shader import runtime as r

COUNT = 12
LANES = [None, np.array([0, 3, 4, 11]), np.arange(COUNT), np.array([], np.intp), np.array([7])]
NUMBERS = np.arange(100, 100 + COUNT, dtype=np.float32)


def chosen(lanes: Any) -> list[int]:
    return list(range(COUNT)) if lanes is None else lanes.tolist()


def flags(seed: int, size: int) -> Any:
    return np.random.default_rng(seed).random(size) < 0.5


# -- lanes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_lanes_of_a_mask(seed: int) -> None:
    mask = flags(seed, 16) & flags(seed + 9, 16)
    assert r.lanes_of(mask, False).tolist() == [i for i in range(16) if mask[i]]
    quads = [i for i in range(16) if mask[i // 4 * 4 : i // 4 * 4 + 4].any()]
    assert r.lanes_of(mask, True).tolist() == quads


def test_selections_of_selections() -> None:
    ids, index = np.array([4, 6, 9]), np.array([0, 2])
    assert r.sub(None, index) is index
    assert r.sub(ids, None) is ids
    assert r.sub(None, None) is None
    found = r.sub(ids, index)
    assert found is not None and found.tolist() == [4, 9]


def test_values_as_lanes_of_their_own() -> None:
    one = r.full(np.asarray(np.float32(3)), COUNT)
    assert one.tolist() == [3] * COUNT and one.dtype == np.float32
    assert r.full(NUMBERS, COUNT) is NUMBERS
    every = np.arange(2 * COUNT, dtype=np.int32)[::2]
    own = r.full(every, COUNT)
    assert own.flags.c_contiguous and own.tolist() == every.tolist()


@pytest.mark.parametrize("lanes", LANES)
def test_values_of_some_lanes_among_all(lanes: Any) -> None:
    some = NUMBERS[: len(chosen(lanes))]
    found = r.spread(some, COUNT, lanes)
    wanted = [0.0] * COUNT
    for value, lane in zip(some.tolist(), chosen(lanes), strict=True):
        wanted[lane] = value
    assert found.tolist() == wanted and found.dtype == np.float32
    assert r.spread(np.asarray(np.uint32(7)), COUNT, lanes).tolist() == [7] * COUNT


@pytest.mark.parametrize("lanes", LANES)
def test_inputs_that_are_fetched(lanes: Any) -> None:
    bits = NUMBERS.view(np.uint32)
    assert r.fetched(NUMBERS, COUNT, lanes, np.float32).tolist() == NUMBERS[chosen(lanes)].tolist()
    seen = r.fetched(bits, COUNT, lanes, np.dtype(np.float32))
    assert seen.tolist() == NUMBERS[chosen(lanes)].tolist()
    one = r.fetched(np.asarray(np.float32(1)), COUNT, lanes, np.uint32)
    assert one.tolist() == [0x3F800000] * len(chosen(lanes))
    apart = np.arange(2 * COUNT, dtype=np.float32)[::2]
    found = r.fetched(apart, COUNT, lanes, np.float32)
    assert found.flags.c_contiguous and found.tolist() == apart[chosen(lanes)].tolist()


def test_what_all_lanes_share() -> None:
    for value in (np.float32(1.0), NUMBERS[:1] * 0 + 1, np.ones((3, 1), np.float32)):
        assert r.uniform(value, np.float32) == 1.0
        assert r.uniform(value, np.uint32) == 0x3F800000
    assert r.uniform(np.array([5, 6], np.int32), np.int32) == 5
    assert r.viewed(NUMBERS, np.float32) is NUMBERS
    assert r.viewed(NUMBERS, np.uint32).tolist() == NUMBERS.view(np.uint32).tolist()


def test_lanes_that_hold_one_value() -> None:
    found = r.fill(5, 7, np.uint16)
    assert found.tolist() == [7] * 5 and found.dtype == np.uint16


def test_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(r.time, "perf_counter_ns", lambda: (0x1_2345_6789 << 32) | 0xFFFF_FFFE)
    low, high = r.clock()
    assert (int(low), int(high)) == (0xFFFF_FFFE, 0x2345_6789)
    assert low.dtype == high.dtype == np.uint32


@pytest.mark.parametrize(("helper", "alive"), list(product([False, True], repeat=2)))
def test_lanes_that_write_nothing(helper: bool, alive: bool) -> None:
    begun, left = flags(1, COUNT), flags(2, COUNT)
    found = r.helpers(begun if helper else None, left if alive else None, COUNT)
    wanted = [bool((helper and begun[i]) or (alive and not left[i])) for i in range(COUNT)]
    assert found.tolist() == wanted
    for seed, lanes in product(range(6), (None, np.array([1, 2, 9]))):
        live = flags(seed, len(chosen(lanes))) & flags(seed + 7, len(chosen(lanes)))
        goes_on = [on and left[i] for on, i in zip(live, chosen(lanes), strict=True)]
        assert r.idle(live, left if alive else None, lanes) == (alive and not any(goes_on))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("looping", [True, False])
def test_lanes_that_are_killed(looping: bool, first: bool, lanes: Any) -> None:
    size = len(chosen(lanes))
    before = np.ones(COUNT, np.bool_) if first else flags(3, COUNT)
    live = flags(4, size) if looping else None
    for cond in (flags(5, size), np.asarray(np.True_), np.asarray(np.False_)):
        given = None if first else before.copy()
        found = r.kill(given, cond, COUNT, lanes, live)
        wanted = before.copy()
        for i, lane in enumerate(chosen(lanes)):
            if cond[i] if cond.ndim else cond:
                wanted[lane] &= live is not None and not live[i]
        assert found.tolist() == wanted.tolist()


def test_planes_that_are_set() -> None:
    planes = [(1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)]
    found = [[r.plane(planes, i, c) for c in range(4)] for i in range(4)]
    assert found == [[1, 2, 3, 4], [5, 6, 7, 8], [0] * 4, [0] * 4]
    assert {type(v) for row in found for v in row} == {np.float32}


# -- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("extra", [0, 4, 8, 12, 20, 40, 2, -4, -8])
def test_elements_of_blocks(extra: int, dtype: Any) -> None:
    view = np.arange(1, 1 + 40 // dtype().itemsize, dtype=dtype)
    size, last = view.itemsize, view.size

    def element(offset: int) -> int:
        at = (offset + extra) // size
        return int(view[at]) if offset >= 0 and 0 <= at < last else 0

    every = np.arange(-8, 64, 1 if size == 1 else size)
    for offsets in (every, every[every >= 0], every[(every >= 8) & (every < 16)], every[:0]):
        if extra < 0:
            offsets = offsets[offsets >= -extra]  # a load's place in a block is not negative
        for kind in (np.int32, np.int64):
            given = offsets.astype(kind)
            wanted = [element(int(o)) for o in offsets]
            assert r.ubo_lanes(view, given, extra).tolist() == wanted
            assert r.ubo_from(view, r.ubo_places(given, size), extra).tolist() == wanted
            assert [int(r.ubo_scalar(view, o, extra)) for o in given] == wanted
    assert r.ubo_lanes(view[:0], every, extra).tolist() == [0] * every.size


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("stride", [4, 8, 10, 16])
@pytest.mark.parametrize("extra", [0, 4, 8, 2, 40])
def test_elements_of_rows(extra: int, stride: int, dtype: Any) -> None:
    """Of lanes' own rows, told lane by lane or for all at once."""
    view = np.arange(1, 1 + 48 // dtype().itemsize, dtype=dtype)
    for most in (2, 3, 6):
        numbers = np.array([0, 2, 1, most], np.int32)
        for given in (numbers, numbers[3]):
            lanes = SimpleNamespace(system=lambda name, given=given: np.asarray(given))
            found = r.row_element(view, r.rows_of(lanes, stride, view.itemsize), extra)
            wanted = r.ubo_lanes(view, np.atleast_1d(given) * stride, extra)
            assert found.shape == given.shape and found.reshape(-1).tolist() == wanted.tolist()
    nobody = SimpleNamespace(system=lambda name: numbers[:0])
    assert not r.row_element(view, r.rows_of(nobody, stride, view.itemsize), extra).size


def test_blocks_by_number() -> None:
    blocks = [np.arange(n, dtype=np.uint32) + 10 * n for n in (3, 5)]
    assert r.pick_block(blocks, np.int32(0)) is blocks[0]
    assert r.pick_block(blocks, np.int32(1)) is blocks[1]
    for at in (2, -1, 99):
        assert r.pick_block(blocks, np.int32(at)).size == 0
    index = np.array([0, 1, 1, 2, -1, 0, 1])
    offset = np.array([4, 4, 12, 0, 0, 16, 16])
    found = r.ubo_any(blocks, index, offset, 4, 7, np.uint32)
    assert found.tolist() == [32, 52, 54, 0, 0, 0, 0] and found.dtype == np.uint32
    assert r.ubo_any(blocks, index, np.asarray(0), 0, 7, np.uint32).tolist() == [
        30, 50, 50, 0, 0, 30, 50,
    ]  # fmt: skip


# -- rows ----------------------------------------------------------------------------------------

STEPS = [(4, 3), (1, 4)]  # an array of three times four, from row 2 on
ROWS = 15


def row(*indices: int) -> int | None:
    if any(not 0 <= i < n for i, (_, n) in zip(indices, STEPS, strict=True)):
        return None
    at = 2 + sum(i * s for i, (s, _) in zip(indices, STEPS, strict=True))
    return at if at < ROWS - 1 else None


def test_the_row_of_indices() -> None:
    rows = ROWS - 1  # 14 rows: the array is cut off by a row less than it has elements
    for i, j in product(range(-1, 5), range(-1, 6)):
        found = int(r.row_of(2, STEPS, [np.int32(i), np.int32(j)], rows))
        wanted = row(i, j)
        assert found == (rows if wanted is None else wanted)
    assert int(r.row_of(rows, [], [], rows)) == rows
    assert int(r.row_of(rows + 5, [], [], rows)) == rows
    assert int(r.row_of(-1, [], [], rows)) == rows


@pytest.mark.parametrize("lanes", LANES)
def test_rows_are_read(lanes: Any) -> None:
    array = np.arange((ROWS - 1) * COUNT, dtype=np.int32).reshape(ROWS - 1, COUNT) + 1
    some = chosen(lanes)
    rng = np.random.default_rng(len(some))
    for bounds in ((0, 3), (-1, 5)):
        indices = [rng.integers(*bounds, len(some)).astype(np.int32) for _ in STEPS]
        found = r.row_load(array, 2, STEPS, indices, lanes, len(some))
        wanted = [
            0 if (at := row(*map(int, pair))) is None else int(array[at, lane])
            for *pair, lane in zip(*indices, some, strict=True)
        ]
        assert found.tolist() == wanted
    for i, j in ((1, 2), (2, 3), (2, 1), (-1, 0), (0, 4)):
        at = row(i, j)
        found = r.row_load(array, 2, STEPS, [np.int32(i), np.int32(j)], lanes, len(some))
        assert found.tolist() == ([0] * len(some) if at is None else array[at, some].tolist())
        assert found.base is None or found.base is not array


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("looping", [False, True])
@pytest.mark.parametrize("alike", [False, True])
def test_rows_are_written(alike: bool, looping: bool, lanes: Any) -> None:
    some = chosen(lanes)
    rng = np.random.default_rng(len(some) + 50)
    live = flags(8, len(some)) if looping else None
    value: Any = np.asarray(np.int32(7)) if alike else rng.integers(1, 99, len(some), np.int32)
    for places in ("apart", (1, 2), (2, 3), (0, 9)):
        array, wanted = (np.zeros((ROWS - 1, COUNT), np.int32) for _ in range(2))
        if isinstance(places, str):
            indices = [rng.integers(-1, 5, len(some)).astype(np.int32) for _ in STEPS]
        else:
            indices = [np.asarray(np.int32(p)) for p in places]
        r.row_store(array, 2, STEPS, indices, value, lanes, live)
        for k, lane in enumerate(some):
            at = row(*(int(i[k] if i.ndim else i) for i in indices))
            if at is not None and (live is None or live[k]):
                wanted[at, lane] = value[k] if value.ndim else value
        assert (array == wanted).all()


def test_rows_that_all_lanes_share() -> None:
    array = np.arange(1, ROWS, dtype=np.int32)
    for i, j in product(range(-1, 4), range(-1, 5)):
        at = row(i, j)
        one = r.scalar_row_load(array, 2, STEPS, [np.int32(i), np.int32(j)])
        assert int(one) == (0 if at is None else array[at])
        changed = array.copy()
        r.scalar_row_store(changed, 2, STEPS, [np.int32(i), np.int32(j)], np.int32(99))
        assert np.flatnonzero(changed != array).tolist() == ([] if at is None else [at])
    i, j = np.array([0, 1, 2, 2, -1], np.int32), np.array([0, 3, 3, 1, 0], np.int32)
    places = [row(*map(int, pair)) for pair in zip(i, j, strict=True)]
    found = r.scalar_row_load(array, 2, STEPS, [i, j])
    assert found.tolist() == [0 if p is None else array[p] for p in places]
    found = r.scalar_row_load(array, 2, STEPS, [i[:3], np.zeros(3, np.int32)])
    assert found.tolist() == [array[2], array[6], array[10]]


# -- patches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("size", [1, 3, 4])
def test_outputs_of_a_patch(size: int, lanes: Any) -> None:
    some = chosen(lanes)
    array = NUMBERS[None]
    assert r.patch_of(size, COUNT, lanes).tolist() == [i // size for i in some]
    assert r.own_load(array, size, COUNT, lanes).tolist() == [NUMBERS[i // size] for i in some]
    for index in (*range(-1, size + 2), None):
        each = np.arange(len(some)) % (size + 2) - 1 if index is None else np.asarray(index)
        found = r.peer_load(array, each, size, COUNT, lanes)
        numbers = [int(each[k] if each.ndim else each) for k in range(len(some))]
        assert found.tolist() == [
            NUMBERS[lane // size * size + n] if 0 <= n < size else 0
            for n, lane in zip(numbers, some, strict=True)
        ]


def test_slots_by_number() -> None:
    slots = [NUMBERS, np.asarray(np.float32(5)), NUMBERS[::-1]]
    for at in range(-1, 5):
        found = r.slot_select(slots, np.asarray(at), COUNT)
        wanted = [0] * COUNT
        if 0 <= at < 3:
            wanted = np.broadcast_to(slots[at], COUNT).tolist()
        assert found.tolist() == wanted and found.dtype == np.float32
    each = np.arange(COUNT) % 5 - 1
    found = r.slot_select(slots, each, COUNT)
    table = [np.broadcast_to(slot, COUNT) for slot in slots]
    assert found.tolist() == [table[n][i] if 0 <= n < 3 else 0 for i, n in enumerate(each)]


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("looping", [False, True])
@pytest.mark.parametrize("ends", [False, True])
def test_vertices_that_are_emitted(ends: bool, looping: bool, lanes: Any) -> None:
    some = chosen(lanes)
    live = flags(6, len(some)) if looping else None
    rows = [np.stack([NUMBERS + 7 * i, NUMBERS * 0]) for i in range(2)]
    events: list[Any] = []
    r.emit_vertex(events, 3, None if ends else rows, COUNT, lanes, live)
    who = [lane for k, lane in enumerate(some) if live is None or live[k]]
    ((stream, numbers, values),) = events
    assert stream == 3 and numbers.tolist() == who
    if ends:
        assert values is None
        return
    assert [v.tolist() for v in values] == [(NUMBERS[who] + 7 * i).tolist() for i in range(2)]
    for each in rows:
        each[...] = 0  # what is written later is the next vertex's
    assert [v.tolist() for v in values] == [(NUMBERS[who] + 7 * i).tolist() for i in range(2)]


@pytest.mark.parametrize("step", [1, 2])
def test_differences_in_quads(step: int) -> None:
    x = np.random.default_rng(2).integers(0, 99, 16).astype(np.float32)
    coarse, fine = [], []
    for lane in range(16):
        quad, own = lane // 4 * 4, lane % 4
        coarse.append(x[quad + step] - x[quad])
        first = quad + (own & 2 if step == 1 else own & 1)
        fine.append(x[first + step] - x[first])
    assert r.derivative(x, step, True).tolist() == coarse
    assert r.derivative(x, step, False).tolist() == fine


# -- textures ------------------------------------------------------------------------------------


PER_LANE = ("lod", "bias", "compare", "sample_index", "min_lod")


class Unit:
    """Answers with its number and what it was asked."""

    def __init__(self, number: int, dtype: Any = np.float32) -> None:
        self.number, self.dtype = number, dtype
        self.asked: list[tuple[str, int, dict[str, Any]]] = []

    def sample(self, op: str, coords: list[Any], count: int, **more: Any) -> list[Any]:
        self.asked.append((op, count, more))
        assert all(c.shape == (count,) and c.flags.c_contiguous for c in coords)
        added = coords[0] + sum(more.get(key, 0) for key in PER_LANE)
        added = added + (more["offset"][0] if "offset" in more else 0)
        return [(added + 100 * self.number + i).astype(self.dtype) for i in range(4)]


def test_one_texture_for_all_lanes() -> None:
    units = [Unit(1), None, Unit(3)]
    apart = np.arange(2 * COUNT, dtype=np.float32)[::2]
    found = r.sample(units, np.int32(2), "tex", [apart, np.asarray(np.float32(0))], COUNT,
                     np.float32, quads=True)  # fmt: skip
    assert [f.tolist() for f in found] == [(apart + 300 + i).tolist() for i in range(4)]
    assert units[2] is not None and units[2].asked == [("tex", COUNT, {"quads": True})]
    for at in (1, 3, -1):
        found = r.sample(units, np.int32(at), "tex", [apart], COUNT, np.float32)
        assert [f.tolist() for f in found] == [[v] * COUNT for v in (0, 0, 0, 1)]
        assert {f.dtype for f in found} == {np.dtype(np.float32)}
    found = r.sample(units, np.int32(0), "tex", [NUMBERS], COUNT, np.float32)
    assert [f.tolist() for f in found] == [(NUMBERS + 100 + i).tolist() for i in range(4)]
    bits = r.sample([Unit(0, np.uint32)], 0, "tex", [apart], COUNT, np.float32)
    assert [b.view(np.uint32).tolist() for b in bits] == [(apart + i).tolist() for i in range(4)]


@pytest.mark.parametrize("quads", [False, True])
@pytest.mark.parametrize("key", PER_LANE)
def test_a_texture_for_each_lane(key: str, quads: bool) -> None:
    units = [Unit(1), None, Unit(3)]
    index = np.array([0, 0, 2, 2, 1, 0, 7, -1, 2, 2, 2, 2])
    at, lod, shift = NUMBERS, np.arange(COUNT) * 1000.0, np.arange(COUNT) * 50.0
    found = r.sample(units, index, "txl", [at, np.asarray(np.float32(0))], COUNT, np.float32,
                     quads=quads, offset=[shift, np.asarray(0.0)], **{key: lod})  # fmt: skip
    for lane in range(COUNT):
        unit = units[index[lane]] if 0 <= index[lane] < 3 else None
        value = at[lane] + lod[lane] + shift[lane]
        wanted = [0, 0, 0, 1] if unit is None else [value + 100 * unit.number + i for i in range(4)]
        assert [f[lane] for f in found] == wanted
    counts = [[count for _, count, _ in u.asked] for u in units if u is not None]
    assert counts == ([[8], [8]] if quads else [[3], [6]])
