"""OpenCL's built-in functions that take several instructions, beside Python's own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.spirv.assembler import assemble
from gallette.compute import Program

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with Program(assemble((HERE / "functions.spvasm").read_text(), "functions.spvasm")) as made:
        yield made


X = [0.3, -2.75, 8.0, 1.0, -0.015625, 123.4, 5.5, -7.25]
Y = [2.0, 3.0, -2.0, 1.0, 5.0, -3.0, 4.0, 2.0]


def floats(x: float, y: float) -> list[float]:
    small = x * 0.01
    mantissa, exponent = math.frexp(x)
    return [
        math.sin(math.pi * x),
        math.cos(math.pi * x),
        x if abs(x) > abs(y) else y if abs(y) > abs(x) else max(x, y),
        x if abs(x) < abs(y) else y if abs(y) < abs(x) else min(x, y),
        max(x - y, 0),
        math.expm1(small),
        math.log1p(abs(small)),
        math.copysign(abs(x) ** (1 / 3), x),
        x ** int(y),
        abs(x) ** (1 / 3),
        exponent - 1,
        math.frexp(y)[1] - 1,
        math.remainder(x, y),
        float(np.nextafter(np.float32(x), np.float32(y))),
        x - math.floor(x),
        math.floor(x),
        mantissa,
        exponent,
        math.sin(x),
        math.cos(x),
    ]


def test_floats(program: Program) -> None:
    x, y = np.array(X, np.float32), np.array(Y, np.float32)
    o = np.zeros((8, 20), np.float32)
    program.kernel("floats")(o, x, y, grid=8)
    wanted = np.array([floats(float(a), float(b)) for a, b in zip(x, y, strict=True)])
    # Angles in half turns are rounded when they are scaled: that much is lost of large ones.
    assert np.allclose(o[:, :2], wanted[:, :2], atol=1e-4)
    assert np.allclose(o[:, 2:], wanted[:, 2:], rtol=4e-6, atol=1e-6)
    assert np.array_equal(o[:, 13], wanted[:, 13].astype(np.float32))


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def integers(x: int, y: int) -> list[int]:
    u, v = x & 0xFFFFFFFF, y & 0xFFFFFFFF
    most = (1 << 31) - 1
    return [
        (u & -u).bit_length() - 1 if u else 32,
        signed((x * y >> 32) + 5),
        signed((u * v >> 32) + 5),
        max(-most - 1, min(most, x * y + x)),
        signed(min(0xFFFFFFFF, u * v + u)),
        signed(abs(x - y)),
        signed(abs(u - v)),
        signed(signed(x, 16) << 16 | y & 0xFFFF),
        signed(u & ~0x00FF0FF0 | v & 0x00FF0FF0),
        u.bit_count(),
        32 - v.bit_length(),
        (x & 0xFF) << 8 | y & 0xFF,
    ]


def test_integers(program: Program) -> None:
    x = np.array([0, 1, -1, 48, -(1 << 31), (1 << 31) - 1, 123456789, -77], np.int32)
    y = np.array([7, -1, -1, 0, 1 << 30, 3, -987654321, 1 << 16], np.int32)
    o = np.zeros((8, 12), np.int32)
    program.kernel("integers")(o, x, y, grid=8)
    assert o.tolist() == [integers(int(a), int(b)) for a, b in zip(x, y, strict=True)]


def test_vectors(program: Program) -> None:
    rng = np.random.default_rng(5)
    data = rng.integers(0, 99, 24).astype(np.int32)
    mask = rng.integers(0, 1 << 32, 20, dtype=np.uint32)
    o = np.zeros(64, np.int32)
    program.kernel("vectors")(o, data, mask, grid=4)
    wanted = np.zeros(64, np.int32)
    for i in range(4):
        t, q, m = data[3 * i :][:3], data[4 * i :][:4], data[4 * i + 4 :][:4]
        both, by = np.concatenate([q, m]), mask[4 * i :][:4]
        wanted[9 * i : 9 * i + 3] = t[::-1]
    for i in range(4):
        q, m, by = data[4 * i :][:4], data[4 * i + 4 :][:4], mask[4 * i :][:4]
        wanted[8 * i + 5 : 8 * i + 9] = q + m
    for i in range(4):
        q, m, by = data[4 * i :][:4], data[4 * i + 4 :][:4], mask[4 * i :][:4]
        both = np.concatenate([q, m])
        wanted[12 * i + 10 : 12 * i + 12] = q[by & 3][[1, 3]] + both[by & 7][[0, 2]]
    assert np.array_equal(o, wanted)


def test_halves(program: Program) -> None:
    data = np.arange(12).astype(np.float16) / 3
    o, f = np.zeros(16, np.float16), np.zeros(4, np.float32)
    program.kernel("halves")(o, data, f, grid=4)
    assert np.array_equal(o[:12], data * 2)
    assert np.array_equal(f, data[:4].astype(np.float32))
    assert np.array_equal(o[12:], (f + 1).astype(np.float16))
