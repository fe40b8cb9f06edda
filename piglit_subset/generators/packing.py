"""Packing of numbers into bits, and decomposition of floats, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gallette.piglit_subset.generators.common import evaluation

_FLOATS = (
    (0.0, 1.0, -1.0, 0.5),
    (0.25, -0.25, 2.0, -2.0),
    (0.75, -0.75, 0.125, -0.125),
)


def tests() -> Iterator[str]:
    for lanes, bits in ((2, 16), (4, 8)):
        for signed in (False, True):
            yield _normalized(lanes, bits, signed)
            yield _unpacked(lanes, bits, signed)
    yield from _doubles()
    yield from _apart()


def _steps(value: float, bits: int, signed: bool) -> int:
    low = -1.0 if signed else 0.0
    scale = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    clamped = min(1.0, max(low, value))
    steps: int = round(clamped * scale)
    return steps & ((1 << bits) - 1)


def _name(lanes: int, bits: int, signed: bool) -> str:
    return f"{'Snorm' if signed else 'Unorm'}{lanes}x{bits}"


def _normalized(lanes: int, bits: int, signed: bool) -> str:
    cases = []
    scale = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    for values in _FLOATS:
        # Values that are not halfway between two steps: implementations may round those either way.
        chosen = [v if abs((abs(v) * scale) % 1 - 0.5) > 0.01 else v * 0.75 for v in values[:lanes]]
        packed = sum(_steps(v, bits, signed) << (bits * i) for i, v in enumerate(chosen))
        cases.append((chosen, packed))
    name = f"pack{_name(lanes, bits, signed)}"
    return evaluation(
        f"packing/{name}",
        f"{name} clamps, scales and rounds {lanes} floats into {bits} bits each.",
        420,
        {"v": f"vec{lanes}", "wanted": "uint"},
        f"{name}(v) == wanted",
        cases,
    )


def _unpacked(lanes: int, bits: int, signed: bool) -> str:
    cases = []
    for word in (0x00000000, 0xFFFFFFFF, 0x80008000, 0x7FFF8001, 0x40C0127F):
        values = []
        for i in range(lanes):
            part = word >> (bits * i) & (2**bits - 1)
            if signed:
                part -= 2**bits if part >= 2 ** (bits - 1) else 0
                values.append(max(-1.0, part / (2 ** (bits - 1) - 1)))
            else:
                values.append(part / (2**bits - 1))
        cases.append((word, values))
    name = f"unpack{_name(lanes, bits, signed)}"
    return evaluation(
        f"packing/{name}",
        f"{name} takes {lanes} floats out of {bits} bits each.",
        420,
        {"word": "uint", "wanted": f"vec{lanes}"},
        f"all(lessThanEqual(abs({name}(word) - wanted), vec{lanes}(1e-6)))",
        cases,
    )


def _doubles() -> Iterator[str]:
    values = (0.0, 1.0, -2.5, 1e300, 4.9e-324, math.pi)
    cases = [(value, np.array([value]).view(np.uint32).tolist()) for value in values]
    uniforms = {"value": "double", "halves": "uvec2"}
    pack = "joins two words, the low one first"
    unpack = "gives the bits of a double, the low word first"
    for name, purpose, condition in (
        ("packDouble2x32", pack, "packDouble2x32(halves) == value"),
        ("unpackDouble2x32", unpack, "unpackDouble2x32(value) == halves"),
    ):
        yield evaluation(f"packing/{name}", f"{name} {purpose}.", 400, uniforms, condition, cases)


def _apart() -> Iterator[str]:
    values = (1.0, -0.75, 100.0, -3.14159, 0.001, 65536.5, 0.0)
    for scalar, dtype in (("float", np.float32), ("double", np.float64)):
        suffix = "" if scalar == "float" else "-double"
        chosen = [float(dtype(v)) for v in values]
        uniforms = {"value": scalar, "part": scalar, "exponent": "int"}
        cases = [(value, *math.frexp(value)) for value in chosen]
        yield evaluation(
            f"packing/frexp{suffix}",
            "frexp splits a number into a fraction from a half to one and a power of two.",
            400,
            uniforms,
            "check(frexp(value, e), e)",
            cases,
            helpers=f"int e;\nbool check({scalar} f, int n)\n"
            "{\n\treturn f == part && e == exponent;\n}",
        )
        yield evaluation(
            f"packing/ldexp{suffix}",
            "ldexp puts a fraction and a power of two together.",
            400,
            uniforms,
            "ldexp(part, exponent) == value",
            cases,
        )
        yield evaluation(
            f"packing/modf{suffix}",
            "modf splits a number into its whole part and the rest, both with its sign.",
            400,
            {"value": scalar, "fraction": scalar, "integer": scalar},
            "check(modf(value, whole))",
            [(v, float(dtype(math.modf(v)[0])), math.modf(v)[1]) for v in chosen],
            helpers=f"{scalar} whole;\n"
            f"bool check({scalar} f) {{ return f == fraction && whole == integer; }}",
        )
