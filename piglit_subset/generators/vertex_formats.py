"""Vertex formats: every type, size and meaning an attribute's memory can have.

One instance of a triangle over the whole window is drawn; the attribute comes from a buffer that
holds one element, and the vertex shader holds it against a uniform.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gallette.piglit_subset.generators.common import Test, drawn, main

_INTEGERS = {
    "byte": (8, True), "ubyte": (8, False), "short": (16, True), "ushort": (16, False),
    "int": (32, True), "uint": (32, False),
}  # fmt: skip
_PACKED = ("UNSIGNED_INT_2_10_10_10_REV", "INT_2_10_10_10_REV")
_NEAR = "all(lessThanEqual(abs(value - expected), abs(expected) * 0.00001 + 0.00001))"
_POSITION = "vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0)"
_SETUP = (
    "call glCreateBuffers 1 -> buffer",
    "call glBindBuffer GL_ARRAY_BUFFER $buffer",
    "call glVertexAttribDivisor 0 1",
    "call glEnableVertexAttribArray 0",
)


def tests() -> Iterator[Test]:
    for name in _INTEGERS:
        yield _integers(name)
        yield _normalized(name)
        yield _scaled(name)
    for name in ("float", "half", "double", "fixed"):
        yield _floats(name)
    yield _long()
    for packed in _PACKED:
        yield _packed(packed)
    yield _small_floats()
    yield _reversed_bytes()


def _test(
    name: str,
    purpose: str,
    cases: Iterable[list[str]],
    kind: str = "vec",
    right: str = _NEAR,
    uniforms: Sequence[str] = ("expected",),
) -> Test:
    """A test of attributes that the vertex shader holds against uniforms."""
    vertex = [f"layout(location = 0) in {kind}4 value;"]
    vertex += [f"uniform {kind}4 {uniform};" for uniform in uniforms]
    vertex += ["flat out float right;"]
    vertex += main(f"gl_Position = {_POSITION};", f"right = {right} ? 1.0 : 0.0;")
    fragment = ["flat in float right;", "out vec4 color;"]
    fragment += main("color = vec4(1.0 - right, right, 0.0, 1.0);")
    commands = [*_SETUP, *(line for case in cases for line in case)]
    commands.remove("")  # before the first case
    body = drawn(450, fragment, commands, vertex=vertex, gl="GL >= 4.5", size="4 4")
    return f"gl-4.5/vertex-formats/{name}", purpose, body


def _case(data: str, pointer: str, uniform: str, values: Sequence[float]) -> list[str]:
    return [
        "",
        "call glNamedBufferData $buffer 32 zeros(32) GL_STATIC_DRAW",
        f"call glNamedBufferSubData $buffer 0 {data}",
        f"call {pointer}",
        f"uniform {uniform} expected {' '.join(map(str, values))}",
        "call glDrawArraysInstanced GL_TRIANGLES 0 3 1",
        "probe all rgba 0 1 0 1",
    ]


def _bytes(name: str, values: Sequence[float], size: int) -> str:
    return f"{len(values) * size} {name}({' '.join(map(str, values))})"


def _enum(name: str) -> str:
    return {"half": "HALF_FLOAT"}.get(name) or re.sub("^U", "UNSIGNED_", name.upper())


def _raw(name: str) -> tuple[list[int], int]:
    """Telling values of an integer type, and its size in bytes."""
    bits, signed = _INTEGERS[name]
    if signed:
        return [(1 << bits - 1) - 1, -(1 << bits - 1), 5, -3], bits // 8
    return [(1 << bits) - 1, 0, 5, 1 << bits - 1], bits // 8


def _sizes(name: str, width: int, raw: Sequence[float], values: Sequence[float], pointer: str,
           uniform: str = "vec4") -> Iterator[list[str]]:  # fmt: skip
    """A case of each size: what memory holds, and what the shader gets of it."""
    for size in (1, 2, 3, 4):
        filled = [*values[:size], *[type(values[0])(v) for v in (0, 0, 0, 1)[size:]]]
        call = pointer.format(f"0 {size} GL_{_enum(name)}")
        yield _case(_bytes(name, raw[:size], width), call, uniform, filled)


def _integers(name: str) -> Test:
    raw, width = _raw(name)
    kind = "ivec" if _INTEGERS[name][1] else "uvec"
    cases = _sizes(name, width, raw, raw, "glVertexAttribIPointer {} 0 0", f"{kind}4")
    purpose = f"Attributes of type {name} stay integers."
    return _test(f"integer-{name}", purpose, cases, kind, "value == expected")


def _normalized(name: str) -> Test:
    raw, width = _raw(name)
    bits, signed = _INTEGERS[name]
    if signed:
        # Only the ends: what is between depends on the version's rule for signed values, and the
        # least value of all is out of the range.
        raw = [raw[0], raw[1] + 1, raw[0], raw[1] + 1]
    top = (1 << bits - signed) - 1
    values = [max(v / top, -1.0) for v in raw]
    cases = _sizes(name, width, raw, values, "glVertexAttribPointer {} GL_TRUE 0 0")
    purpose = f"Attributes of type {name} become 0 to 1, or -1 to 1."
    return _test(f"normalized-{name}", purpose, cases)


def _scaled(name: str) -> Test:
    raw, width = _raw(name)
    if name == "uint":
        raw = [v & 0x7FFFFFFF for v in raw]  # llvmpipe takes larger ones for negative
    cases = _sizes(name, width, raw, list(map(float, raw)), "glVertexAttribPointer {} GL_FALSE 0 0")
    purpose = f"Attributes of type {name} become floats of the same value."
    return _test(f"converted-{name}", purpose, cases)


def _floats(name: str) -> Test:
    values = [1.5, -2.25, 0.125, 100.0]
    width = {"float": 4, "half": 2, "double": 8, "fixed": 4}[name]
    raw = [int(v * 65536) for v in values] if name == "fixed" else values
    cases = _sizes(name, width, raw, values, "glVertexAttribPointer {} GL_FALSE 0 0")
    return _test(f"float-{name}", f"Attributes of type {name} are read as floats.", cases)


def _long() -> Test:
    """What is missing of a 64-bit attribute is undefined: a uniform for each size."""
    values = [1.5, -2.25, 1e300, 0.1]
    uniforms = {f"expected{size}": "xyzw"[:size] for size in (1, 2, 3, 4)}
    cases = []
    for size, uniform in enumerate(uniforms, 1):
        pointer = f"glVertexAttribLPointer 0 {size} GL_DOUBLE 0 0"
        case = _case(_bytes("double", values[:size], 8), pointer, "dvec4", values)
        case = [line.replace("expected", uniform) for line in case]
        case[4:4] = [f"uniform dvec4 {other} 0 0 0 0" for other in uniforms]
        cases.append(case)
    right = " && ".join(
        f"({uniform}.x == 0.0lf || value.{part} == {uniform}.{part})"
        for uniform, part in uniforms.items()
    )
    purpose = "Attributes of type double stay doubles."
    return _test("double", purpose, cases, "dvec", right, list(uniforms))


def _packed(packed: str) -> Test:
    # The ends of the ranges, so that both rules for signed values agree.
    signed = packed.startswith("INT")
    fields, tops = ((1023, 0, 512, 2), (1023, 1023, 1023, 3))
    if signed:
        fields, tops = ((511, -511, 511, 1), (511, 511, 511, 1))
    word = sum((f & 0x3FF) << 10 * n for n, f in enumerate(fields))
    r, g, b, a = (max(f / t, -1.0) for f, t in zip(fields, tops, strict=True))
    cases = [
        _case(f"4 uint({word})", f"glVertexAttribPointer 0 {how} 0 0", "vec4", values)
        for how, values in (
            (f"4 GL_{packed} GL_TRUE", [r, g, b, a]),
            (f"4 GL_{packed} GL_FALSE", list(map(float, fields))),
            (f"GL_BGRA GL_{packed} GL_TRUE", [b, g, r, a]),
        )
    ]
    purpose = f"Attributes packed as {packed}, normalised, converted, and in the order BGRA."
    return _test(f"packed-{'signed' if signed else 'unsigned'}", purpose, cases)


def _small_floats() -> Test:
    # 1.0 is exponent 15; half of that has exponent 14; the blue field has a bit less.
    word = 15 << 6 | (14 << 6) << 11 | (16 << 5) << 22
    pointer = "glVertexAttribPointer 0 3 GL_UNSIGNED_INT_10F_11F_11F_REV GL_FALSE 0 0"
    case = _case(f"4 uint({word})", pointer, "vec4", [1.0, 0.5, 2.0, 1.0])
    return _test("packed-small-floats", "Attributes of three small floats without sign.", [case])


def _reversed_bytes() -> Test:
    pointer = "glVertexAttribPointer 0 GL_BGRA GL_UNSIGNED_BYTE GL_TRUE 0 0"
    values = [51 / 255, 102 / 255, 1.0, 204 / 255]
    case = _case("4 ubyte(255 102 51 204)", pointer, "vec4", values)
    return _test("bytes-bgra", "Attributes of four bytes in the order BGRA.", [case])
