"""Routines of fixed function in machine code compute what NumPy computes.

Every case of a test is a function of one module, so that LLVM is asked once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.fixed import addressing, filtering, levels, lines
from gallette.drivers.common.fixed.addressing import Axis
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.depth import depth_code
from gallette.drivers.common.fixed.depth import tested as depth_and_stencil
from gallette.drivers.common.fixed.formats import packed, unpacked
from gallette.drivers.common.fixed.output import stored
from gallette.drivers.common.fixed.routine import Routine
from gallette.drivers.jit.llvm.engine import compile_module
from gallette.drivers.jit.llvm.text import Builder
from gallette.drivers.jit.shader.routines import inlined
from gallette.pipe.enums import CompareFunc, MipFilter, Wrap
from gallette.pipe.formats import FORMATS
from tests.drivers.common.fixed import random_depth
from tests.drivers.common.fixed.random_output import (
    LANES,
    STORED,
    colors,
    key_of,
    states,
    texels,
    words_of,
)

Array = npt.NDArray[Any]
DECODED = [*STORED, FORMATS["R9G9B9E5_FLOAT"]]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as in a draw


def check(cases: Sequence[tuple[Routine, Sequence[Array], str]]) -> None:
    """Compile all, run each, and compare: floats of 32 bits by value, because NaN has many
    encodings.
    """
    b = Builder()
    for n, (routine, _, _) in enumerate(cases):
        given, found = b.begin(f"case{n}", [("ptr", "given"), ("ptr", "found")])
        values = []
        for i, size in enumerate(routine.inputs):
            value = b.load(b.load(b.at(given, i, "i64"), "ptr"), f"i{max(8, size)}", LANES)
            values.append(value.ne(0) if size == 1 else value)
        for i, value in enumerate(inlined(b, routine, values)):
            bits = value.to("i8", False) if value.t == "i1" else value.as_int()
            b.store(b.load(b.at(found, i, "i64"), "ptr"), b.spread(bits, LANES))
        b.end()
    names = tuple(f"case{n}" for n in range(len(cases)))
    code = compile_module(b.text(), names, None)
    for name, (routine, arguments, what) in zip(names, cases, strict=True):
        inputs = [np.ascontiguousarray(np.broadcast_to(a, LANES)) for a in arguments]
        outputs = [np.zeros(LANES, f"u{max(1, routine.size(n) // 8)}") for n in routine.outputs]
        tables = [np.array([a.ctypes.data for a in some], np.uint64) for some in (inputs, outputs)]
        function = code.function(name, ctypes.c_void_p, ctypes.c_void_p)
        function(*[table.ctypes.data for table in tables])
        for one, other in zip(outputs, evaluate(routine, inputs), strict=True):
            wanted = np.ascontiguousarray(np.broadcast_to(other, LANES)).view(one.dtype)
            same = one == wanted
            if one.itemsize == 4:
                same |= np.isnan(one.view(np.float32)) & np.isnan(wanted.view(np.float32))
            assert same.all(), (routine.name, what, one[~same], wanted[~same])


def test_every_format_is_packed() -> None:
    check([(packed(format), colors(format), "") for format in STORED])


def test_every_format_is_unpacked() -> None:
    check([(unpacked(format), words_of(texels(format)), "") for format in DECODED])


def test_random_states_store_the_same() -> None:
    constant = [np.float32(c) for c in (0.25, 0.5, 0.75, 1.0)]
    cases = []
    for format, state in states(60, 5):
        given = [*colors(format), *colors(format, 1), *constant]
        if format.is_float:
            given = [np.where(np.isfinite(g), g, np.float32(0.3)) for g in given]
        routine = stored(key_of(format, state))
        cases.append((routine, [*given, *words_of(texels(format))], str(state)))
    check(cases)


def test_random_depth_and_stencil_states_leave_the_same() -> None:
    cases: list[tuple[Routine, list[Array], str]] = []
    lanes = np.arange(LANES)
    for number, (format, state) in enumerate(random_depth.states(60, 7)):
        key = random_depth.key_of(format, state)
        words = random_depth.held(format, number)
        code = depth_code(key.bits, key.is_float)
        cases.append((code, [random_depth.DEPTHS], ""))
        codes = evaluate(code, [random_depth.DEPTHS])[0]
        wide = words.astype(np.uint32) if key.word < 32 else words
        faces = [np.full(LANES, word) for word in random_depth.faces(state, (0x35, 0xA1))]
        given = [lanes % 5 > 0, wide, codes, lanes % 3 > 0, *faces]
        cases.append((depth_and_stencil(key), given, str(state)))
    check(cases)


@pytest.mark.parametrize("moved", [False, True])
def test_coordinates_select_the_same_texels(moved: bool) -> None:
    """Every wrap mode, in floats and in fixed point, around the edges of a texture."""
    s = np.array([0.0, 0.1, 0.5, 0.999, 1.0, 1.001, 1.5, 2.0, 2.49, -0.001, -0.3, -1.0, -1.7, 5.2,
                  100.3, -33.3], np.float32)  # fmt: skip
    cases = []
    for mode, n, scaled in product(Wrap, (1, 5, 8), (False, True)):
        axis = Axis(mode, n & (n - 1) == 0, scaled)
        given = [s * np.float32(n) if scaled else s, np.full(LANES, n, np.int32)]
        if moved:
            given.append((np.arange(LANES) % 7 - 3).astype(np.int32))
        makers = (addressing.nearest_tap, addressing.linear_taps, addressing.gather_taps,
                  addressing.nearest_fixed, addressing.linear_fixed)  # fmt: skip
        cases += [(make(axis, moved), given, f"{axis}, {n}") for make in makers]
    check(cases)


def test_smooth_lines_cover_the_same() -> None:
    random = np.random.default_rng(9)
    ends = [random.uniform(1, 60, LANES).astype(np.float32) for _ in range(6)]
    frame = evaluate(lines.line_frame(), ends)
    places = [(end + random.uniform(-1, 1, LANES)).astype(np.float32) for end in (ends[0], ends[1])]
    given = [*places, *frame, np.full(LANES, 1.5, np.float32)]
    check([(lines.line_frame(), ends, ""), (lines.line_coverage(), given, "")])
    assert 0 < evaluate(lines.line_coverage(), given)[0].mean() < 1


def test_directions_select_the_same_faces() -> None:
    random = np.random.default_rng(4)
    directions = [d.astype(np.float32) for d in random.integers(-2, 3, (3, LANES))]
    along = [d.astype(np.float32) for d in random.random((3, LANES))]
    n = np.full(LANES, 4, np.int32)
    edge = [
        random.integers(low, high, LANES, np.int32) for low, high in ((0, 12), (-1, 5), (-1, 5))
    ]
    check(
        [
            (addressing.project(), directions, ""),
            (addressing.face_derivative(), [*directions, *along], ""),
            (addressing.seamless_taps(), [along[0] * 3 - 1, n], ""),
            (addressing.seamless_corner(), [*edge, n], ""),
        ]
    )


def test_levels_of_detail_are_the_same() -> None:
    random = np.random.default_rng(6)
    lod, bias, move, least, *derivatives = (random.random((8, LANES)) * 6 - 3).astype(np.float32)
    derivatives[0][:2] = np.nan, 0.0
    lod[2:4] = np.nan, 0.0
    low, high = np.full(LANES, -1, np.float32), np.full(LANES, 2, np.float32)
    extents = [np.full(LANES, n, np.int32) for n in (8, 4)]
    count = np.full(LANES, 3, np.int32)
    cases: list[tuple[Routine, Sequence[Array], str]] = [
        (levels.limited(*flags), [lod, bias, move, low, high, least], f"{flags}")
        for flags in product((False, True), repeat=3)
    ]
    for mip in (MipFilter.NEAREST, MipFilter.LINEAR):
        cases.append((levels.selected(mip), [lod, count], mip.name))
    cases += [(levels.queried(m, True), [lod, move, low, high, count], m.name) for m in MipFilter]
    for scaled in (False, True):
        given = derivatives if scaled else [*derivatives, *extents]
        cases.append((levels.of_derivatives(2, scaled), given, ""))
        cases.append((levels.footprint(scaled), given, ""))
    place, level = derivatives[2:], np.arange(LANES, dtype=np.int32) % 3
    given = [*derivatives, *place, *extents]
    cases.append((levels.ellipse(False), given, ""))
    cases.append((levels.ellipse(True), [*given, level], ""))
    number = np.arange(LANES, dtype=np.float32) % 5
    factors = [v * v * 100 for v in derivatives[:3]]
    texel = [number, *place, lod + 5, number, *factors, *place, *extents]
    cases.append((levels.weighted_texel(), texel, ""))
    check(cases)


def test_filters_and_comparisons_compute_the_same() -> None:
    random = np.random.default_rng(5)
    first, second, weight = random.random((3, LANES)).astype(np.float32)
    words = random.integers(0, 1 << 32, (2, LANES), np.uint64).astype(np.uint32) & 0x00FF00FF
    share = random.integers(0, 256, LANES).astype(np.uint32)
    cases = [
        (filtering.mix(), [first, second, weight], ""),
        (filtering.clamped(), [first * 3 - 1], ""),
        (filtering.mix_bytes(), [*words, share], ""),
        (filtering.array_layer(1), [first * 20 - 5, np.full(LANES, 9, np.int32)], ""),
        (filtering.array_layer(6), [first * 9 - 3, *(words & 31 | 6)], ""),
        (filtering.mix(True), [first, np.full_like(first, np.inf), np.floor(second * 2)], ""),
        (filtering.mean_of_others(), [first > 0.5, first, second, weight, first * 3], ""),
        (filtering.unpacked((1, 2, "0", 3)), words, ""),
    ]
    for func in CompareFunc:
        cases.append((filtering.compared(func), [first * 3 - 1, second], func.name))
    check(cases)
