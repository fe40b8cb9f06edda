"""Vertex formats: every type, size and interpretation of an attribute's memory.

One instance of a triangle over the whole window is drawn; the attribute comes from a buffer with
one element, and the vertex shader compares it with a uniform.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gallette.piglit_subset.generators.common import templates

_BITS = {"byte": 8, "ubyte": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32}
_PACKED = ("UNSIGNED_INT_2_10_10_10_REV", "INT_2_10_10_10_REV")
Case = tuple[str, str, list[Any]]
"""The data, the call that sets the attribute pointer, and the values that the shader reads."""


def tests() -> Iterator[str]:
    for name in _BITS:
        yield from _integers(name)
    values = [1.5, -2.25, 0.125, 100.0]
    for name, width in (("float", 4), ("half", 2), ("double", 8), ("fixed", 4)):
        raw = [int(v * 65536) for v in values] if name == "fixed" else values
        cases = _sizes(name, raw, width, " GL_FALSE", values)
        yield _test(f"float-{name}", f"of type {name} are read as floats", cases)
    values = [1.5, -2.25, 1e300, 0.1]
    doubles = [(_bytes("double", values[:n], 8), n, "xyzw"[:n]) for n in (1, 2, 3, 4)]
    yield templates("vertex_formats").double(doubles, values)
    for packed in _PACKED:
        yield _packed(packed)
    # 1.0 is exponent 15; half of that has exponent 14; the blue field has a bit less.
    word = 15 << 6 | (14 << 6) << 11 | (16 << 5) << 22
    pointer = "glVertexAttribPointer 0 3 GL_UNSIGNED_INT_10F_11F_11F_REV GL_FALSE 0 0"
    yield _test(
        "packed-small-floats",
        "of three small floats without sign",
        [(f"4 uint({word})", pointer, [1.0, 0.5, 2.0, 1.0])],
    )
    pointer = "glVertexAttribPointer 0 GL_BGRA GL_UNSIGNED_BYTE GL_TRUE 0 0"
    yield _test(
        "bytes-bgra",
        "of four bytes in the order BGRA",
        [("4 ubyte(255 102 51 204)", pointer, [51 / 255, 102 / 255, 1.0, 204 / 255])],
    )


def _test(place: str, purpose: str, cases: list[Case], kind: str = "vec") -> str:
    return str(templates("vertex_formats").attribute(place, purpose, kind, cases))


def _bytes(name: str, values: list[Any], size: int) -> str:
    return f"{len(values) * size} {name}({' '.join(map(str, values))})"


def _sizes(
    name: str, values: list[Any], width: int, flag: str, seen: list[Any], how: str = ""
) -> list[Case]:
    """The first one to four of some values as an attribute, and the values read.

    Missing components are 0 0 0 1.
    """
    kind = re.sub("^U", "UNSIGNED_", name.upper()).replace("HALF", "HALF_FLOAT")
    return [
        (
            _bytes(name, values[:size], width),
            f"glVertexAttrib{how}Pointer 0 {size} GL_{kind}{flag} 0 0",
            [*seen[:size], *([0, 0, 0, 1] if how else [0.0, 0.0, 0.0, 1.0])[size:]],
        )
        for size in (1, 2, 3, 4)
    ]


def _integers(name: str) -> Iterator[str]:
    bits, signed = _BITS[name], name[0] != "u"
    high, low = (1 << bits - signed) - 1, -(1 << bits - 1) if signed else 0
    raw, width = [high, low, 5, -3 if signed else 1 << bits - 1], bits // 8
    kind = "ivec" if signed else "uvec"
    cases = _sizes(name, raw, width, "", raw, "I")
    yield _test(f"integer-{name}", f"of type {name} stay integers", cases, kind)
    # Only the extremes: values between them depend on the version's rule for signed values, and the
    # smallest value is out of the range.
    ends = [high, low + 1, high, low + 1] if signed else raw
    cases = _sizes(name, ends, width, " GL_TRUE", [max(v / high, -1.0) for v in ends])
    yield _test(f"normalized-{name}", f"of type {name} become 0 to 1, or -1 to 1", cases)
    if name == "uint":
        raw = [v & 0x7FFFFFFF for v in raw]  # llvmpipe treats larger ones as negative
    cases = _sizes(name, raw, width, " GL_FALSE", [float(v) for v in raw])
    yield _test(f"converted-{name}", f"of type {name} become floats of the same value", cases)


def _packed(packed: str) -> str:
    signed = packed.startswith("INT")
    # The extremes of the ranges, so that both rules for signed values agree.
    fields, tops = (1023, 0, 512, 2), (1023, 1023, 1023, 3)
    word = 1023 | 0 << 10 | 512 << 20 | 2 << 30
    if signed:
        fields, tops = (511, -511, 511, 1), (511, 511, 511, 1)
        word = 511 | 513 << 10 | 511 << 20 | 1 << 30
    unit = [max(f / t, -1.0) for f, t in zip(fields, tops, strict=True)]
    cases: list[Case] = [
        (f"4 uint({word})", f"glVertexAttribPointer 0 {size} GL_{packed} {flag} 0 0", values)
        for size, flag, values in (  # BGRA is for normalised colours only
            ("4", "GL_TRUE", unit),
            ("4", "GL_FALSE", [float(f) for f in fields]),
            ("GL_BGRA", "GL_TRUE", [unit[2], unit[1], unit[0], unit[3]]),
        )
    ]
    return _test(
        f"packed-{'signed' if signed else 'unsigned'}",
        f"packed as {packed}, normalised, converted, and in the order BGRA",
        cases,
    )
