"""Depth and stencil tests of many pixels are what they are pixel by pixel, in every format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.output import order
from gallette.drivers.common.output.depth import DepthTarget, held
from gallette.drivers.common.output.order import Scratch, layers, visible
from gallette.drivers.numpipe import create_screen
from gallette.pipe.enums import Bind, CompareFunc, StencilOp, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import DepthStencilAlphaState, StencilState, Surface

NAMES = [name for name, each in FORMATS.items() if any(c.name in "ZS" for c in each.channels)]
DEPTHS = [name for name in NAMES if any(c.name == "Z" for c in FORMATS[name].channels)]
PLACES = 24
COMPARE: dict[CompareFunc, Callable[[int, int], bool]] = {
    CompareFunc.NEVER: lambda a, b: False,
    CompareFunc.LESS: lambda a, b: a < b,
    CompareFunc.EQUAL: lambda a, b: a == b,
    CompareFunc.LEQUAL: lambda a, b: a <= b,
    CompareFunc.GREATER: lambda a, b: a > b,
    CompareFunc.NOTEQUAL: lambda a, b: a != b,
    CompareFunc.GEQUAL: lambda a, b: a >= b,
    CompareFunc.ALWAYS: lambda a, b: True,
}
OPERATE: dict[StencilOp, Callable[[int, int], int]] = {
    StencilOp.KEEP: lambda old, reference: old,
    StencilOp.ZERO: lambda old, reference: 0,
    StencilOp.REPLACE: lambda old, reference: reference,
    StencilOp.INCR: lambda old, reference: min(old + 1, 255),
    StencilOp.DECR: lambda old, reference: max(old - 1, 0),
    StencilOp.INCR_WRAP: lambda old, reference: (old + 1) % 256,
    StencilOp.DECR_WRAP: lambda old, reference: (old - 1) % 256,
    StencilOp.INVERT: lambda old, reference: 255 - old,
}


class Pixels:
    """A surface whose words hold random bits, and what depth and stencil they are."""

    def __init__(self, name: str, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.format = FORMATS[name]
        desc = ResourceDesc(Target.TEXTURE_2D, self.format, PLACES, 1, bind=Bind.DEPTH_STENCIL)
        self.resource: Any = create_screen().resource_create(desc)
        self.target = DepthTarget(Surface(self.resource, self.format))
        self.depths: list[int] | None = None
        self.stencils: list[int] | None = None
        everywhere = np.arange(PLACES)
        if self.target.has_depth:
            self.levels = np.sort(self.target.codes(np.array([0, 0.25, 0.5, 1], np.float32)))
            codes = self.codes(PLACES)
            self.target.store(everywhere, codes)
            self.depths = codes.tolist()
        if self.target.has_stencil:
            values = rng.choice([0, 1, 5, 128, 254, 255], PLACES).astype(np.uint8)
            self.target._store_stencil(everywhere, values)
            self.stencils = values.tolist()

    def codes(self, count: int) -> Any:
        return self.rng.choice(self.levels, count).astype(np.uint32)

    def check(self) -> None:
        everywhere = np.arange(PLACES)
        if self.depths is not None:
            assert self.target.load(everywhere).tolist() == self.depths
        if self.stencils is not None:
            assert self.target.load_stencil(everywhere).tolist() == self.stencils

    def test(self, at: int, code: int | None, state: Any, reference: Any, back: bool) -> bool:
        """One fragment, as the specification has it."""
        index = 1 if back and state.stencil[1].enabled else 0
        face = state.stencil[index]
        stencil = self.stencils if state.stencil[0].enabled else None
        old, given = 0, reference[index] & 255
        passes = deep = True
        if state.depth_bounds_test and self.depths is not None:
            bits = self.target.depth_bits
            depth: float = self.depths[at] / ((1 << bits) - 1)
            if self.target.is_float:
                depth = float(np.uint32(self.depths[at]).view(np.float32))
            if not state.depth_bounds_min <= depth <= state.depth_bounds_max:
                return False
        if stencil is not None:
            old = stencil[at]
            passes = COMPARE[face.func](given & face.valuemask, old & face.valuemask)
        if state.depth_enabled and self.depths is not None and code is not None:
            deep = COMPARE[state.depth_func](code, self.depths[at])
            if passes and deep and state.depth_writemask:
                self.depths[at] = code
        if stencil is not None:
            op = face.zpass_op if deep else face.zfail_op
            new = OPERATE[op if passes else face.fail_op](old, given)
            stencil[at] = (old & ~face.writemask & 255) | (new & face.writemask)
        return passes and deep


def random_state(rng: Any, **fixed: Any) -> DepthStencilAlphaState:
    funcs, ops = list(CompareFunc), list(StencilOp)

    def face() -> StencilState:
        fail, zfail, zpass = (ops[int(rng.integers(len(ops)))] for _ in range(3))
        return StencilState(
            enabled=bool(rng.random() < 0.7),
            func=funcs[int(rng.integers(len(funcs)))],
            fail_op=fail,
            zfail_op=zfail,
            zpass_op=zpass,
            valuemask=int(rng.choice([0xFF, 0x0F, 0xFFFF])),
            writemask=int(rng.choice([0xFF, 0xF0, 0, 0xFFFF])),
        )

    values: dict[str, Any] = {
        "depth_enabled": bool(rng.random() < 0.8),
        "depth_func": funcs[int(rng.integers(len(funcs)))],
        "depth_writemask": bool(rng.random() < 0.7),
        "depth_bounds_test": bool(rng.random() < 0.3),
        "depth_bounds_min": 0.25,
        "depth_bounds_max": 0.75,
        "stencil": (face(), face()),
    }
    return DepthStencilAlphaState(**values | fixed)


@pytest.mark.parametrize("name", NAMES)
def test_tests_are_those_of_single_pixels(name: str) -> None:
    for seed in range(40):
        pixels = Pixels(name, seed)
        rng, state = pixels.rng, random_state(pixels.rng)
        count = int(rng.integers(1, PLACES))
        at = rng.permutation(PLACES)[:count]
        codes = pixels.codes(count) if pixels.depths is not None and seed % 5 else None
        front = None if seed % 3 == 0 else rng.random(count) < (0.5 if seed % 3 == 1 else 2)
        reference: Any = (0x105, 0x80)
        each: Any = [reference] * count
        if seed % 4 == 0:
            reference = rng.choice([0, 5, 255], count).astype(np.uint8)
            each = [(int(value),) * 2 for value in reference]
        found = pixels.target.test(at, codes, state, reference, front)
        wanted = [
            pixels.test(
                place,
                None if codes is None else int(codes[k]),
                state,
                each[k],
                front is not None and not front[k],
            )
            for k, place in enumerate(at.tolist())
        ]
        assert ([True] * count if found is None else found.tolist()) == wanted, (seed, state)
        pixels.check()


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("func", [func for func in CompareFunc if func in order.OPAQUE_FUNCS])
@pytest.mark.parametrize("name", DEPTHS)
def test_the_last_drawn_primitive_stays_visible(
    name: str, func: CompareFunc, distinct: bool
) -> None:
    """Of all that pass, one by one; depths are what they leave behind."""
    for seed in range(12):
        pixels = Pixels(name, seed)
        rng = pixels.rng
        writes, enabled = seed % 3 > 0, seed % 4 != 3
        state = DepthStencilAlphaState(
            depth_enabled=enabled, depth_func=func, depth_writemask=writes
        )
        count = PLACES if distinct else 60
        at = rng.permutation(PLACES) if distinct else rng.integers(0, PLACES, count)
        codes = pixels.codes(count)
        who = Scratch().at_least(PLACES)
        depth = pixels.target if seed != 5 else None
        found = visible(at, codes, depth, state, who)
        if depth is None:
            state = DepthStencilAlphaState()
        last = {
            place: k
            for k, place in enumerate(at.tolist())
            if pixels.test(place, int(codes[k]), state, (0, 0), False)
        }
        wanted = sorted(last.values())
        assert ([*range(count)] if found is None else np.flatnonzero(found).tolist()) == wanted
        pixels.check()


@pytest.mark.parametrize("name", NAMES)
def test_shaders_read_stored_depth_and_stencil(name: str) -> None:
    pixels = Pixels(name, 3)
    at = np.array([3, 7, 3])
    depth, stencil = held(pixels.target, at)
    if pixels.depths is None:
        assert depth.shape == () and depth == 0
    else:
        codes = np.array(pixels.depths, np.uint32)[at]
        if pixels.target.is_float:
            assert depth.tolist() == codes.view(np.float32).tolist()
        else:
            assert depth.tolist() == np.float32(codes / (2**pixels.target.depth_bits - 1)).tolist()
    if pixels.stencils is None:
        assert stencil.shape == () and stencil == 0
    else:
        assert stencil.tolist() == [pixels.stencils[k] for k in at.tolist()]
    assert [each.tolist() for each in held(None, at)] == [0, 0]


@pytest.mark.parametrize("name", DEPTHS)
def test_depths_become_codes(name: str) -> None:
    """Clamped and rounded; what is no number is 0."""
    target = Pixels(name, 0).target
    z = np.array([-1, -0.0, 0, 0.3, 1, 2, np.nan], np.float32)
    codes = target.codes(z.copy()).tolist()
    if target.is_float:
        wanted = np.array([0, 0, 0, 0.3, 1, 1, 0], np.float32).view(np.uint32).tolist()
    else:
        most = (1 << target.depth_bits) - 1
        third = round(float(np.float32(0.3)) * most)
        if target.depth_bits < 32:
            third = round(float(np.float32(0.3) * np.float32(most)))
        wanted = [0, 0, 0, third, most, most, 0]
    assert codes == wanted


# -- in order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("peels", [1, 2, 6])
@pytest.mark.parametrize("seed", range(4))
def test_layers_have_each_pixel_once_in_order(
    seed: int, peels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order, "_PEELS", peels)
    rng = np.random.default_rng(seed)
    pixel = rng.integers(0, 9, 40) * (1 if seed % 2 else 1 << 14)
    who = np.zeros(9 << 14, np.int32)
    found = [each for each in layers(pixel, who) if each is not None]
    assert len(found) == np.bincount(pixel).max()
    for each in found:
        assert len(np.unique(pixel[each])) == len(each)
    every = np.concatenate(found)
    assert sorted(every.tolist()) == list(range(40))
    for place in pixel:
        numbers = every[pixel[every] == place].tolist()
        assert numbers == sorted(numbers)
    assert [*layers(np.arange(5), who)] == [None]


def test_scratch_memory_grows_as_needed() -> None:
    scratch = Scratch()
    small = scratch.at_least(5)
    assert len(small) == 5 and scratch.at_least(4) is small and scratch.at_least(5) is small
    assert len(scratch.at_least(6)) == 6
    owners = scratch.owners(4)
    assert owners.tolist() == [0] * 4 and len(scratch.owners(2)) == 2
    assert scratch.owners(4).base is owners.base and len(scratch.owners(5)) == 5
