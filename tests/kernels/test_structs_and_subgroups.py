"""Structures by value, jumps into loops, wide switches and subgroups in kernels, beside NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.kernels import kernel_arguments
from gallette.compute import Program

HERE = Path(__file__).parent
WORD = 0xFFFFFFFF
TURN = np.dtype(
    {
        "names": ["axis", "angle", "steps", "tag"],
        "formats": ["3f4", "f4", "5i4", "i1"],
        "offsets": [0, 16, 20, 40],
        "itemsize": 48,
    }
)
TURNS = np.dtype(
    {
        "names": ["first", "pair", "wide", "last"],
        "formats": [TURN, "2i2", "i8", (TURN, 2)],
        "offsets": [0, 48, 56, 64],
        "itemsize": 160,
    }
)


@pytest.fixture(scope="module", params=["", "global=index_offset32", "global=fat generic=fat"])
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    text = (HERE / "extra.spvasm").read_text()
    with Program(assemble(text, "extra.spvasm"), formats=request.param) as made:
        yield made


def turn(rng: np.random.Generator) -> np.ndarray[tuple[()], np.dtype[np.void]]:
    made = np.zeros((), TURN)
    made["axis"], made["angle"] = rng.random(3), rng.random()
    made["steps"], made["tag"] = rng.integers(-9, 9, 5), -3
    return made


def test_a_structure_by_value(program: Program) -> None:
    t = turn(np.random.default_rng(1))
    kernel = program.kernel("turned")
    assert [(a.kind, a.size) for a in kernel.arguments] == [("global", 8), ("value", 48)]
    o = np.zeros(12, np.float32)
    kernel(o, t, grid=3, block=4)
    wanted = t["axis"][1] * t["angle"] + t["steps"][np.arange(12) % 5] - 3
    assert np.allclose(o, wanted, rtol=1e-6)


def weight(t: np.ndarray[tuple[()], np.dtype[np.void]], k: int) -> float:
    return float((t["steps"][k] + 1) * t["angle"] + t["axis"][2])


def test_structures_within_structures(program: Program) -> None:
    rng = np.random.default_rng(2)
    t = np.zeros((), TURNS)
    t["first"], t["last"][0], t["last"][1] = turn(rng), turn(rng), turn(rng)
    t["pair"], t["wide"] = (4, -5), 7
    o = np.zeros(10, np.float32)
    program.kernel("nested")(o, t, np.int32(2), grid=2, block=5)
    wanted = [weight(t["last"][i & 1], i % 5) + weight(t["first"], 2) - 5 + 7 for i in range(10)]
    assert np.allclose(o, wanted, rtol=1e-5)


def test_a_structure_is_copied_whole(program: Program) -> None:
    t, o = np.zeros((), TURNS), np.zeros(4, TURNS)
    t["wide"], t["last"][1]["tag"], t["first"]["axis"] = 1 << 40, 9, (1, 2, 3)
    program.kernel("copied")(o, t, grid=4)
    assert o["pair"][:, 0].tolist() == [0, 1, 2, 3]
    assert (o["wide"] == 1 << 40).all() and (o["last"]["tag"][:, 1] == 9).all()
    assert np.array_equal(o["first"]["axis"], np.tile([1, 2, 3], (4, 1)))


def test_a_structure_of_another_size_is_refused(program: Program) -> None:
    with pytest.raises(GalletteError, match="of 48 bytes, not 4"):
        program.kernel("turned")(np.zeros(4, np.float32), np.int32(1), grid=1)


def crossed(x: int, limit: int) -> tuple[int, int]:
    """What `crossed` in extra.cl says, with a variable for the place."""
    n, at = 0, "odd" if x & 1 else "even"
    while True:
        if at == "even":
            n += 1
            x = x // 2 + 3
            if n > limit:
                return x, n
            at = "even" if x % 3 == 0 else "odd"
            continue
        n += 100
        x = x * 3 + 1 & WORD
        if n > 3000:
            return x, n
        if x & 4:
            at = "even"
        elif not x & 8:
            x ^= 5
            at = "even"


def test_a_loop_with_two_entries(program: Program) -> None:
    x = np.random.default_rng(3).integers(0, 1 << 32, 40, dtype=np.uint32)
    o = np.zeros((40, 2), np.uint32)
    program.kernel("crossed")(o, x, np.uint32(900), grid=5, block=8)
    assert o.tolist() == [list(crossed(int(v), 900)) for v in x]


def machine(a: int, program: bytes, limit: int) -> int:
    n, at = 0, program[a]
    at = at if at < 3 else 3
    while True:
        if at == 0:
            a = a + 7 & WORD
        elif at == 1:
            k, out = 0, False
            while k < (a & 3):
                a = a * 5 + k & WORD
                k += 1
                if a & 64:
                    out = True
                    break
            if out:
                at = 3
                continue
        elif at == 2:
            a ^= a >> 3
        else:
            a = a - 11 & WORD
        n += 1
        if n > limit:
            return a * 1000 + n & WORD
        p = program[n & 15]
        if at == 0:
            at = 2 if p & 1 else 1
        elif at == 1:
            at = 0 if p & 2 else 2
        elif at == 2:
            at = 1 if p & 4 else 0 if p & 8 else 2 if p & 16 else 3
        else:
            at = 1 if p & 4 else 2


@pytest.mark.parametrize("seed", range(4))
def test_a_state_machine_of_jumps(program: Program, seed: int) -> None:
    code = np.random.default_rng(seed).integers(0, 32, 16).astype(np.uint8)
    code[:4] = np.random.default_rng(seed).permutation(4)
    o = np.zeros(16, np.uint32)
    program.kernel("machine")(o, code, np.uint32(50), grid=2, block=8)
    assert o.tolist() == [machine(i, code.tobytes(), 50) for i in range(16)]


def test_a_switch_of_64_bits(program: Program) -> None:
    values = np.array([1, 0x100000001, 3, 2**64 - 1, 2, 0x100000003, 0xFFFFFFFF], np.uint64)
    o = np.zeros(7, np.int32)
    program.kernel("wide_switch")(o, values, grid=7)
    assert o.tolist() == [10, 20, 35, 5, 4, 5, 6]


def test_subgroups_of_one(program: Program) -> None:
    values = np.array([3, -4, 9, 0, 6, 7], np.int32)
    o = np.zeros((6, 10), np.int32)
    program.kernel("subgroups")(o, values, grid=2, block=3)
    for i, v in enumerate(values.tolist()):
        least = [v, v, 0, (1 << 31) - 1, v, v > 0, v > 5, 100, 3000 + i % 3, 1]
        assert o[i].tolist() == least


def test_arguments_have_the_places_of_their_structures(program: Program) -> None:
    declared = Declarations(program.module)
    entry = next(e for e in declared.entries if e.name == "nested")
    found = kernel_arguments(declared, entry)
    assert [(a.name, a.offset, a.size) for a in found] == [
        ("o", 0, 8),
        ("t", 16, 160),
        ("k", 176, 4),
    ]
