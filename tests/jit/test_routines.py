"""Routines of fixed function in machine code compute what NumPy computes.

Every case of a test is a function of one module, so that LLVM is asked once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.formats import packed, unpacked
from gallette.drivers.common.fixed.output import stored
from gallette.drivers.common.fixed.routine import Routine
from gallette.drivers.jit.llvm.engine import compile_module
from gallette.drivers.jit.llvm.text import Builder
from gallette.drivers.jit.shader.routines import inlined
from gallette.pipe.formats import FORMATS
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


def check(cases: Sequence[tuple[Routine, Sequence[Array], str]]) -> None:
    """Compile all, run each, and compare: floats of 32 bits by value, because NaN has many
    encodings.
    """
    b = Builder()
    for n, (routine, _, _) in enumerate(cases):
        given, found = b.begin(f"case{n}", [("ptr", "given"), ("ptr", "found")])
        values = [
            b.load(b.load(b.at(given, i, "i64"), "ptr"), f"i{size}", LANES)
            for i, size in enumerate(routine.inputs)
        ]
        for i, value in enumerate(inlined(b, routine, values)):
            bits = value.as_int()
            b.store(b.load(b.at(found, i, "i64"), "ptr"), b.spread(bits, LANES))
        b.end()
    names = tuple(f"case{n}" for n in range(len(cases)))
    code = compile_module(b.text(), names, None)
    for name, (routine, arguments, what) in zip(names, cases, strict=True):
        inputs = [np.ascontiguousarray(np.broadcast_to(a, LANES)) for a in arguments]
        outputs = [np.zeros(LANES, f"u{routine.size(n) // 8}") for n in routine.outputs]
        tables = [np.array([a.ctypes.data for a in some], np.uint64) for some in (inputs, outputs)]
        function = code.function(name, ctypes.c_void_p, ctypes.c_void_p)
        function(*[table.ctypes.data for table in tables])
        for one, other in zip(outputs, evaluate(routine, inputs), strict=True):
            wanted = np.broadcast_to(other, LANES)
            same = one == wanted
            if one.itemsize == 4:
                same |= np.isnan(one.view(np.float32)) & np.isnan(
                    np.ascontiguousarray(wanted).view(np.float32)
                )
            assert same.all(), (routine.name, what, one[~same], wanted[~same])


def test_every_format_is_packed() -> None:
    check([(packed(format), colors(format), "") for format in STORED])


def test_every_format_is_unpacked() -> None:
    check([(unpacked(format), words_of(texels(format)), "") for format in DECODED])


def test_random_states_store_the_same() -> None:
    constant = [np.float32(c) for c in (0.25, 0.5, 0.75, 1.0)]
    cases = []
    for format, state in states(150, 5):
        given = [*colors(format), *colors(format, 1), *constant]
        if format.is_float:
            given = [np.where(np.isfinite(g), g, np.float32(0.3)) for g in given]
        routine = stored(key_of(format, state))
        cases.append((routine, [*given, *words_of(texels(format))], str(state)))
    check(cases)
