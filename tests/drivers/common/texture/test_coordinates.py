"""Texture coordinates, one at a time: which texels they name, how they wrap, what is outside.

The oracle has the formulas of the OpenGL specification (wrap modes, `mirror`, level of detail) in
numbers of Python.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.fixed.addressing import Axis, Taps, linear_taps, nearest_tap
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.levels import of_derivatives
from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.common.texture.fetch import fetch, locate, size_of
from gallette.drivers.common.texture.image import Image, image_of_view
from gallette.drivers.common.texture.unit import (
    Unit,
    _level_index,
    _spread,
    lane_derivatives,
    quad_derivatives,
)
from gallette.pipe.enums import Target, Wrap
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger, level_extent
from gallette.pipe.state import SamplerView

Array = npt.NDArray[Any]
F32 = np.float32
ONCE = (Wrap.MIRROR_CLAMP, Wrap.MIRROR_CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP_TO_BORDER)
BORDER = (Wrap.CLAMP_TO_BORDER, Wrap.MIRROR_CLAMP_TO_BORDER)
HALF = (Wrap.CLAMP, Wrap.MIRROR_CLAMP)
"""Modes of the past, which come half to the border."""


def mirrored(i: int, n: int) -> int:
    def mirror(a: int) -> int:
        return a if a >= 0 else -(1 + a)

    return (n - 1) - mirror((i % (2 * n)) - n)


def wrapped(mode: Wrap, i: int, n: int) -> tuple[int, bool]:
    """A texel of the border is the nearest one, and said to be outside."""
    if mode is Wrap.REPEAT:
        return i % n, False
    if mode is Wrap.MIRROR_REPEAT:
        return mirrored(i, n), False
    inside = min(max(i, 0), n - 1)
    return inside, i != inside


def nearest(mode: Wrap, u: float, n: int) -> tuple[int, bool]:
    i, out = wrapped(mode, math.floor(abs(u) if mode in ONCE else u), n)
    return i, out and mode in BORDER


def linear(mode: Wrap, u: float, n: int) -> tuple[list[tuple[int, bool]], float]:
    if mode in ONCE:
        u = abs(u)
    if mode in (Wrap.CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP_TO_EDGE):
        u = min(max(u, 0.5), n - 0.5)
    elif mode in HALF:
        u = min(max(u, 0.0), float(n))
    elif mode in BORDER:
        u = min(max(u, -1.0), n + 1.0)
    low = math.floor(u - 0.5)
    return [wrapped(mode, low + k, n) for k in range(2)], u - 0.5 - low


def mixed(values: Sequence[float], taps: Sequence[tuple[int, bool]], weight: float) -> float:
    """What filtering comes to: the same whichever of two equal texels a tap is."""
    a, b = (-7.0 if out else values[i] for i, out in taps)
    return (1 - weight) * a + weight * b


def axes() -> list[tuple[Wrap, int, bool, int]]:
    return list(itertools.product(Wrap, (1, 2, 5, 8), (False, True), (0, 3, -2)))


@pytest.mark.parametrize("kind", ["number", "by lane"])
def test_wrap_modes(kind: str) -> None:
    steps = np.arange(-40, 41) / 4 + 1 / 16  # never between two texels, nor at a centre
    for mode, n, scaled, offset in axes():
        u = (steps * n / 5).round(4) if n == 5 else steps
        s = (u if scaled else u / n).astype(F32)
        # Nothing near the edges of texels where coordinates are not exact.
        kept = np.abs(u - np.rint(u)) > 1e-3
        u, s = u[kept], s[kept]
        pot = n & (n - 1) == 0
        axis = Axis(mode, pot, scaled)
        shape = () if kind == "number" else u.shape
        whole = [np.full(shape, v, np.int32) for v in ((n, offset) if offset else (n,))]
        index, out = (*evaluate(nearest_tap(axis, offset != 0), [s, *whole]), None)[:2]
        assert (out is None) == (mode not in BORDER)
        found = [(int(i), bool(out is not None and out[k])) for k, i in enumerate(index)]
        assert found == [nearest(mode, x + offset, n) for x in u.tolist()], (
            mode,
            n,
            scaled,
            offset,
        )
        taps = Taps(*evaluate(linear_taps(axis, offset != 0), [s, *whole]))
        values = [float(k * k + 1) for k in range(n)]
        for k, x in enumerate(u.tolist()):
            ours = [
                (int(i[k]), bool(o is not None and o[k]))
                for i, o in ((taps.i0, taps.out0), (taps.i1, taps.out1))
            ]
            wanted, weight = linear(mode, x + offset, n)
            assert all(0 <= i < n for i, _ in ours)
            assert mixed(values, ours, float(taps.weight[k])) == pytest.approx(
                mixed(values, wanted, weight), abs=2e-3
            ), (mode, n, scaled, offset, x)


# -- fetching --------------------------------------------------------------------------------------

TARGETS: list[tuple[Target, tuple[int, int, int, int], int, int]] = [
    (Target.TEXTURE_1D, (9, 1, 1, 1), 2, 0),
    (Target.TEXTURE_1D_ARRAY, (9, 1, 1, 3), 2, 0),
    (Target.TEXTURE_2D, (9, 6, 1, 1), 2, 0),
    (Target.TEXTURE_2D_ARRAY, (5, 6, 1, 4), 1, 0),
    (Target.TEXTURE_3D, (5, 6, 4, 1), 2, 0),
    (Target.TEXTURE_CUBE, (4, 4, 1, 6), 2, 0),
    (Target.TEXTURE_CUBE_ARRAY, (4, 4, 1, 12), 1, 0),
    (Target.TEXTURE_2D, (5, 4, 1, 1), 0, 4),
    (Target.TEXTURE_2D_ARRAY, (5, 4, 1, 3), 0, 4),
]


def image_of(number: int) -> tuple[Image, ResourceDesc, list[Array]]:
    """An image whose texels are all different, and they by level: `[plane, y, x]`."""
    target, (width, height, depth, layers), last, samples = TARGETS[number]
    desc = ResourceDesc(target, FORMATS["R32_UINT"], width, height, depth, layers, last, samples)
    resource = create_resource(desc, ResourceLedger())
    texels = []
    for level in range(last + 1):
        view = resource.view(level, np.uint32)
        view[...] = np.arange(view.size).reshape(view.shape) + 1000 * (level + 1)
        texels.append(view.copy())
    z = depth if target is Target.TEXTURE_3D else layers
    view_of = SamplerView(resource, desc.format, target, 0, last, 0, z - 1)
    return image_of_view(view_of), desc, texels


@pytest.mark.parametrize("number", range(len(TARGETS)))
@pytest.mark.parametrize("ways", ["by lane", "one level", "one layer and level", "no level"])
def test_texels_by_whole_coordinates(number: int, ways: str) -> None:
    image, desc, texels = image_of(number)
    target, samples = desc.target, desc.samples
    flat = target in (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY)
    layered = target.is_array or target.is_cube or target is Target.TEXTURE_3D
    rng, seen = np.random.default_rng(number), 0
    for _ in range(40):
        lanes = 60
        x, y, z = (rng.integers(-2, top, lanes).astype(np.int32) for top in (9, 7, 5))
        level = rng.integers(-1, desc.last_level + 2, lanes).astype(np.int32)
        sample = rng.integers(-1, samples + 1, lanes).astype(np.int32) if samples else None
        if ways != "by lane":
            level[:] = level[0]
        if ways == "no level":
            level[:] = 0
        if ways == "one layer and level":
            z[:] = z[0]
        coords: list[Any] = [x]
        if not flat:
            coords.append(y)
        if layered:
            coords.append(z[0] if ways == "one layer and level" else z)
        offset = [int(v) for v in rng.integers(-2, 3, 3)]
        lod: Any = level if ways == "by lane" else level[0]
        lod = None if ways == "no level" else np.asarray(lod)
        found = fetch(image, coords, lod, offset, sample)[0]
        index, inside = locate(image, coords, lod, offset, sample)
        inside = np.broadcast_to(inside, (lanes,))
        wanted, there = [], []
        for k in range(lanes):
            at = int(level[k])
            moved = [int(x[k]) + offset[0], 0 if flat else int(y[k]) + offset[1], int(z[k])]
            if target is Target.TEXTURE_3D:
                moved[2] += offset[2]
            plane = moved[2] if layered else 0
            ok = 0 <= at <= desc.last_level
            if ok:
                width, height, depth = level_extent(desc, at)
                ok = 0 <= moved[0] < width and 0 <= moved[1] < height and 0 <= plane < depth
            if sample is not None:
                ok = ok and 0 <= int(sample[k]) < samples
                plane = plane * samples + int(sample[k])
            there.append(ok)
            wanted.append(int(texels[at][plane, moved[1], moved[0]]) if ok else 0)
        assert np.broadcast_to(found, (lanes,)).tolist() == wanted
        assert inside.tolist() == there
        seen += sum(there)
        assert np.broadcast_to(index, (lanes,)).dtype.kind == "i"
    assert seen


@pytest.mark.parametrize("number", range(7))
def test_sizes_of_levels(number: int) -> None:
    image, desc, _ = image_of(number)
    levels = np.arange(-1, desc.last_level + 2)
    found = [e.tolist() for e in size_of(image, levels.astype(np.int32))]
    target, wanted = desc.target, []
    for level in levels.tolist():
        ok = 0 <= level <= desc.last_level
        width, height, depth = level_extent(desc, max(0, min(level, desc.last_level)))
        extents = [width]
        if target not in (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY):
            extents.append(height)
        if target is Target.TEXTURE_3D:
            extents.append(depth)
        elif target.is_array:
            extents.append(desc.array_size // (6 if target.is_cube else 1))
        wanted.append([e if ok else 0 for e in extents])
    assert found == [list(column) for column in zip(*wanted, strict=True)]
    assert [int(e) for e in size_of(image, None)] == wanted[1]
    assert all(e.dtype == np.int32 for e in size_of(image, None))


# -- levels of detail ------------------------------------------------------------------------------


def test_derivatives_of_quads_and_of_lanes() -> None:
    x = np.array([1, 4, 9, 2, 0, -3, 7, 7], F32)
    right, down = quad_derivatives([x])
    assert right[0].tolist() == [3, -3] and down[0].tolist() == [8, 7]
    right, down = lane_derivatives([x])
    assert right[0].tolist() == [3, 3, -7, -7, -3, -3, 0, 0]
    assert down[0].tolist() == [8, -2, 8, -2, 7, 10, 7, 10]


def test_the_logarithm_is_exact_at_powers_of_two_and_straight_between() -> None:
    for power in (-50, -2, 0, 1, 3, 45):
        for along, wanted in (((1, 0), 0), ((1, 0.5), 0.25), ((1, 1), 1)):
            d = [np.array([2.0**power * x], F32) for x in (*along, 0, 0)]
            found = evaluate(of_derivatives(2, True), d)[0]
            assert found.tolist() == [power + wanted / 2]
    assert evaluate(of_derivatives(1, True), [np.zeros(1, F32)] * 2)[0].tolist() == [-63.5]


def test_the_longer_derivative_decides() -> None:
    ddx = [np.array([3, 0, 1], F32) / 8, np.array([4, 0, 0], F32) / 4]
    ddy = [np.array([0, 8, 1], F32) / 8, np.array([1, 0, 1], F32) / 4]
    extents = [np.array(n, np.int32) for n in (8, 4)]
    (found,) = evaluate(of_derivatives(2, False), [*ddx, *ddy, *extents])
    assert found.tolist() == [(4 + 9 / 16) / 2, 3.0, 0.5]


def test_values_by_quad_become_values_repeated() -> None:
    quads, lanes = np.array([1, 2], F32), np.arange(8, dtype=F32)
    spread = [1, 1, 1, 1, 2, 2, 2, 2]
    assert _spread(quads, 8).tolist() == spread
    assert _spread(lanes, 8) is lanes
    assert _spread(np.asarray(F32(3)), 8).tolist() == [3] * 8
    assert _spread(np.array([3], F32), 8).tolist() == [3] * 8
    repeated, kept, number, none = Unit.even([quads, lanes, np.asarray(F32(3)), None])
    assert repeated is not None and repeated.tolist() == spread
    assert kept is lanes and number == 3 and none is None
    assert Unit.even([quads, np.asarray(F32(3))])[0] is quads
    for level, wanted in (
        (np.asarray(F32(2)), 2), (np.array([3, 3], F32), 3), (np.array([4], F32), 4),
    ):  # fmt: skip
        found = _level_index(level, 8)
        assert found == wanted and isinstance(found, int)
    several = _level_index(quads, 8)
    assert isinstance(several, np.ndarray)
    assert several.tolist() == spread and several.dtype == np.int64
