"""Packing numbers into bits and taking floats apart, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gallette.piglit_subset.generators.common import evaluation, number

_FLOATS = (
    (0.0, 1.0, -1.0, 0.5),
    (0.25, -0.25, 2.0, -2.0),
    (0.75, -0.75, 0.125, -0.125),
)


def tests() -> Iterator[tuple[str, str, str]]:
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


def _normalized(lanes: int, bits: int, signed: bool) -> tuple[str, str, str]:
    cases = []
    for values in _FLOATS:
        chosen = values[:lanes]
        # Only values whose steps are no tie: implementations may round those either way.
        scale = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
        chosen = tuple(v if abs((abs(v) * scale) % 1 - 0.5) > 0.01 else v * 0.75 for v in chosen)
        packed = sum(_steps(v, bits, signed) << (bits * i) for i, v in enumerate(chosen))
        numbers = " ".join(map(number, chosen))
        cases.append([f"uniform vec{lanes} v {numbers}", f"uniform uint wanted {packed}"])
    name = f"pack{_name(lanes, bits, signed)}"
    uniforms = f"uniform vec{lanes} v;\nuniform uint wanted;"
    return (
        f"glsl-4.20/packing/{name}",
        f"{name} clamps, scales and rounds {lanes} floats into {bits} bits each.",
        evaluation(420, uniforms, f"{name}(v) == wanted", cases),
    )


def _unpacked(lanes: int, bits: int, signed: bool) -> tuple[str, str, str]:
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
        numbers = " ".join(map(number, values))
        cases.append([f"uniform uint word {word}", f"uniform vec{lanes} wanted {numbers}"])
    name = f"unpack{_name(lanes, bits, signed)}"
    uniforms = f"uniform uint word;\nuniform vec{lanes} wanted;"
    close = f"all(lessThanEqual(abs({name}(word) - wanted), vec{lanes}(1e-6)))"
    return (
        f"glsl-4.20/packing/{name}",
        f"{name} takes {lanes} floats out of {bits} bits each.",
        evaluation(420, uniforms, close, cases),
    )


def _doubles() -> Iterator[tuple[str, str, str]]:
    cases = []
    for value in (0.0, 1.0, -2.5, 1e300, 4.9e-324, math.pi):
        low, high = (int(v) for v in np.array([value]).view(np.uint32))
        cases.append(
            [f"uniform double value {number(value)}", f"uniform uvec2 halves {low} {high}"]
        )
    uniforms = "uniform double value;\nuniform uvec2 halves;"
    yield (
        "glsl-4.00/packing/packDouble2x32",
        "packDouble2x32 joins two words, the low one first.",
        evaluation(400, uniforms, "packDouble2x32(halves) == value", cases),
    )
    yield (
        "glsl-4.00/packing/unpackDouble2x32",
        "unpackDouble2x32 gives the bits of a double, the low word first.",
        evaluation(400, uniforms, "unpackDouble2x32(value) == halves", cases),
    )


def _apart() -> Iterator[tuple[str, str, str]]:
    values = (1.0, -0.75, 100.0, -3.14159, 0.001, 65536.5, 0.0)
    for scalar, dtype in (("float", np.float32), ("double", np.float64)):
        chosen = [float(dtype(v)) for v in values]
        cases = []
        for value in chosen:
            part, exponent = math.frexp(value)
            cases.append(
                [
                    f"uniform {scalar} value {number(value)}",
                    f"uniform {scalar} part {number(part)}",
                    f"uniform int exponent {exponent}",
                ]
            )
        uniforms = f"uniform {scalar} value;\nuniform {scalar} part;\nuniform int exponent;"
        suffix = "" if scalar == "float" else "-double"
        yield (
            f"glsl-4.00/packing/frexp{suffix}",
            "frexp splits a number into a fraction from a half to one and a power of two.",
            evaluation(
                400,
                uniforms,
                "check(frexp(value, e), e)",
                cases,
                helpers=f"int e;\nbool check({scalar} f, int n)\n"
                "{\n\treturn f == part && e == exponent;\n}",
            ),
        )
        yield (
            f"glsl-4.00/packing/ldexp{suffix}",
            "ldexp puts a fraction and a power of two together.",
            evaluation(400, uniforms, "ldexp(part, exponent) == value", cases),
        )
        whole = []
        for value in chosen:
            fraction, integer = math.modf(value)
            whole.append(
                [
                    f"uniform {scalar} value {number(value)}",
                    f"uniform {scalar} fraction {number(float(dtype(fraction)))}",
                    f"uniform {scalar} integer {number(integer)}",
                ]
            )
        uniforms = f"uniform {scalar} value;\nuniform {scalar} fraction;\nuniform {scalar} integer;"
        yield (
            f"glsl-4.00/packing/modf{suffix}",
            "modf splits a number into its whole part and the rest, both with its sign.",
            evaluation(
                400,
                uniforms,
                "check(modf(value, whole))",
                whole,
                helpers=f"{scalar} whole;\n"
                f"bool check({scalar} f) {{ return f == fraction && whole == integer; }}",
            ),
        )
