"""Packing numbers into bits and taking floats apart, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gallette.piglit_subset.generators.common import Case, Test, evaluation

_FLOATS = (
    (0.0, 1.0, -1.0, 0.5),
    (0.25, -0.25, 2.0, -2.0),
    (0.75, -0.75, 0.125, -0.125),
)


def tests() -> Iterator[Test]:
    for lanes, bits in ((2, 16), (4, 8)):
        for signed in (False, True):
            yield _packed(lanes, bits, signed)
            yield _unpacked(lanes, bits, signed)
    yield from _doubles()
    yield from _apart()


def _scale(bits: int, signed: bool) -> int:
    """What stands for 1."""
    return (1 << bits - signed) - 1


def _name(lanes: int, bits: int, signed: bool) -> str:
    return f"{'Snorm' if signed else 'Unorm'}{lanes}x{bits}"


def _packed(lanes: int, bits: int, signed: bool) -> Test:
    cases: list[Case] = []
    scale, low = _scale(bits, signed), -1.0 if signed else 0.0
    for values in _FLOATS:
        # Only values whose steps are no tie: implementations may round those either way.
        chosen = [v if abs((abs(v) * scale) % 1 - 0.5) > 0.01 else v * 0.75 for v in values[:lanes]]
        steps = [round(min(1.0, max(low, v)) * scale) & (1 << bits) - 1 for v in chosen]
        packed = sum(step << (bits * i) for i, step in enumerate(steps))
        cases.append({"v": (f"vec{lanes}", chosen), "wanted": ("uint", [packed])})
    name = f"pack{_name(lanes, bits, signed)}"
    return (
        f"glsl-4.20/packing/{name}",
        f"{name} clamps, scales and rounds {lanes} floats into {bits} bits each.",
        evaluation(420, f"{name}(v) == wanted", cases),
    )


def _unpacked(lanes: int, bits: int, signed: bool) -> Test:
    cases: list[Case] = []
    for word in (0x00000000, 0xFFFFFFFF, 0x80008000, 0x7FFF8001, 0x40C0127F):
        values = []
        for i in range(lanes):
            part = word >> (bits * i) & (1 << bits) - 1
            part -= (1 << bits) if signed and part >> bits - 1 else 0
            values.append(max(-1.0, part / _scale(bits, signed)))
        cases.append({"word": ("uint", [word]), "wanted": (f"vec{lanes}", values)})
    name = f"unpack{_name(lanes, bits, signed)}"
    close = f"all(lessThanEqual(abs({name}(word) - wanted), vec{lanes}(1e-6)))"
    return (
        f"glsl-4.20/packing/{name}",
        f"{name} takes {lanes} floats out of {bits} bits each.",
        evaluation(420, close, cases),
    )


def _doubles() -> Iterator[Test]:
    cases: list[Case] = [
        {"value": ("double", [value]), "halves": ("uvec2", np.array([value]).view(np.uint32))}
        for value in (0.0, 1.0, -2.5, 1e300, 4.9e-324, math.pi)
    ]
    for name, purpose, condition in (
        ("packDouble2x32", "joins two words, the low one first", "(halves) == value"),
        ("unpackDouble2x32", "gives the bits of a double, the low word first",
         "(value) == halves"),
    ):  # fmt: skip
        body = evaluation(400, name + condition, cases)
        yield f"glsl-4.00/packing/{name}", f"{name} {purpose}.", body


def _apart() -> Iterator[Test]:
    values = (1.0, -0.75, 100.0, -3.14159, 0.001, 65536.5, 0.0)
    for kind, dtype in (("float", np.float32), ("double", np.float64)):
        powers, wholes = list[Case](), list[Case]()
        for value in (float(dtype(v)) for v in values):
            part, exponent = math.frexp(value)
            given = {"value": (kind, [value])}
            powers.append({**given, "part": (kind, [part]), "exponent": ("int", [exponent])})
            fraction, integer = math.modf(value)
            rest = {"fraction": (kind, [float(dtype(fraction))]), "integer": (kind, [integer])}
            wholes.append({**given, **rest})
        suffix = "" if kind == "float" else "-double"
        split = f"int e;\nbool check({kind} f, int n)\n"
        split += "{\n\treturn f == part && e == exponent;\n}"
        yield (
            f"glsl-4.00/packing/frexp{suffix}",
            "frexp splits a number into a fraction from a half to one and a power of two.",
            evaluation(400, "check(frexp(value, e), e)", powers, helpers=split),
        )
        yield (
            f"glsl-4.00/packing/ldexp{suffix}",
            "ldexp puts a fraction and a power of two together.",
            evaluation(400, "ldexp(part, exponent) == value", powers),
        )
        split = f"{kind} whole;\nbool check({kind} f) "
        split += "{ return f == fraction && whole == integer; }"
        yield (
            f"glsl-4.00/packing/modf{suffix}",
            "modf splits a number into its whole part and the rest, both with its sign.",
            evaluation(400, "check(modf(value, whole))", wholes, helpers=split),
        )
