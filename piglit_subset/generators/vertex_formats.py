"""Vertex formats: every type, size and meaning an attribute's memory can have.

One instance of a triangle over the whole window is drawn; the attribute comes from a buffer that
holds one element, and the vertex shader holds it against a uniform.
"""

from __future__ import annotations

from collections.abc import Iterator

_INTEGERS = {
    "byte": (8, True), "ubyte": (8, False), "short": (16, True), "ushort": (16, False),
    "int": (32, True), "uint": (32, False),
}  # fmt: skip
_ENUMS = {
    "byte": "BYTE", "ubyte": "UNSIGNED_BYTE", "short": "SHORT", "ushort": "UNSIGNED_SHORT",
    "int": "INT", "uint": "UNSIGNED_INT", "float": "FLOAT", "half": "HALF_FLOAT",
    "double": "DOUBLE", "fixed": "FIXED",
}  # fmt: skip
_PACKED = ("UNSIGNED_INT_2_10_10_10_REV", "INT_2_10_10_10_REV")
_SHADERS = """[vertex shader]
#version {version}
layout(location = 0) in {kind}4 value;
uniform {kind}4 expected;
flat out float right;

void main()
{{
	gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
	right = {right} ? 1.0 : 0.0;
}}

[fragment shader]
#version {version}
flat in float right;
out vec4 color;

void main()
{{
	color = vec4(1.0 - right, right, 0.0, 1.0);
}}

[test]
call glCreateBuffers 1 -> buffer
call glBindBuffer GL_ARRAY_BUFFER $buffer
call glVertexAttribDivisor 0 1
call glEnableVertexAttribArray 0
"""
_NEAR = "all(lessThanEqual(abs(value - expected), abs(expected) * 0.00001 + 0.00001))"


def tests() -> Iterator[tuple[str, str, str]]:
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


def _head(kind: str, right: str = _NEAR) -> str:
    lines = ["[require]", "GL >= 4.5", "GLSL >= 4.50", "SIZE 4 4", ""]
    return "\n".join(lines) + "\n" + _SHADERS.format(version=450, kind=kind, right=right)


def _case(data: str, pointer: str, uniform: str, values: list[float] | list[int]) -> list[str]:
    return [
        "",
        "call glNamedBufferData $buffer 32 zeros(32) GL_STATIC_DRAW",
        f"call glNamedBufferSubData $buffer 0 {data}",
        f"call {pointer}",
        f"uniform {uniform} expected {' '.join(map(str, values))}",
        "call glDrawArraysInstanced GL_TRIANGLES 0 3 1",
        "probe all rgba 0 1 0 1",
    ]


def _bytes(name: str, values: list[int] | list[float], size: int) -> str:
    return f"{len(values) * size} {name}({' '.join(map(str, values))})"


def _raw(name: str) -> tuple[list[int], int]:
    """Telling values of an integer type, and its size in bytes."""
    bits, signed = _INTEGERS[name]
    if signed:
        return [(1 << bits - 1) - 1, -(1 << bits - 1), 5, -3], bits // 8
    return [(1 << bits) - 1, 0, 5, 1 << bits - 1], bits // 8


def _filled(values: list[float], size: int) -> list[float]:
    return [*values[:size], *(0.0, 0.0, 0.0, 1.0)[size:]]


def _place(name: str) -> str:
    return f"gl-4.5/vertex-formats/{name}"


def _integers(name: str) -> tuple[str, str, str]:
    raw, width = _raw(name)
    signed = _INTEGERS[name][1]
    kind = "ivec" if signed else "uvec"
    lines = []
    for size in (1, 2, 3, 4):
        pointer = f"glVertexAttribIPointer 0 {size} GL_{_ENUMS[name]} 0 0"
        values = [*raw[:size], *(0, 0, 0, 1)[size:]]
        lines += _case(_bytes(name, raw[:size], width), pointer, f"{kind}4", values)
    body = _head(kind, "value == expected") + "\n".join(lines).lstrip()
    return _place(f"integer-{name}"), f"Attributes of type {name} stay integers.", body


def _normalized(name: str) -> tuple[str, str, str]:
    raw, width = _raw(name)
    bits, signed = _INTEGERS[name]
    if signed:
        # Only the ends: what is between depends on the version's rule for signed values, and the
        # least value of all is out of the range.
        raw = [raw[0], raw[1] + 1, raw[0], raw[1] + 1]
    top = (1 << bits - signed) - 1
    values = [max(v / top, -1.0) for v in raw]
    lines = []
    for size in (1, 2, 3, 4):
        pointer = f"glVertexAttribPointer 0 {size} GL_{_ENUMS[name]} GL_TRUE 0 0"
        lines += _case(_bytes(name, raw[:size], width), pointer, "vec4", _filled(values, size))
    return (
        _place(f"normalized-{name}"),
        f"Attributes of type {name} become 0 to 1, or -1 to 1.",
        _head("vec") + "\n".join(lines).lstrip(),
    )


def _scaled(name: str) -> tuple[str, str, str]:
    raw, width = _raw(name)
    if name == "uint":
        raw = [v & 0x7FFFFFFF for v in raw]  # llvmpipe takes larger ones for negative
    lines = []
    for size in (1, 2, 3, 4):
        pointer = f"glVertexAttribPointer 0 {size} GL_{_ENUMS[name]} GL_FALSE 0 0"
        values = _filled([float(v) for v in raw], size)
        lines += _case(_bytes(name, raw[:size], width), pointer, "vec4", values)
    return (
        _place(f"converted-{name}"),
        f"Attributes of type {name} become floats of the same value.",
        _head("vec") + "\n".join(lines).lstrip(),
    )


def _floats(name: str) -> tuple[str, str, str]:
    values = [1.5, -2.25, 0.125, 100.0]
    width = {"float": 4, "half": 2, "double": 8, "fixed": 4}[name]
    raw = [int(v * 65536) for v in values] if name == "fixed" else values
    lines = []
    for size in (1, 2, 3, 4):
        pointer = f"glVertexAttribPointer 0 {size} GL_{_ENUMS[name]} GL_FALSE 0 0"
        data = _bytes(name, raw[:size], width)
        lines += _case(data, pointer, "vec4", _filled(values, size))
    return (
        _place(f"float-{name}"),
        f"Attributes of type {name} are read as floats.",
        _head("vec") + "\n".join(lines).lstrip(),
    )


def _long() -> tuple[str, str, str]:
    values = [1.5, -2.25, 1e300, 0.1]
    lines = []
    for size in (1, 2, 3, 4):
        pointer = f"glVertexAttribLPointer 0 {size} GL_DOUBLE 0 0"
        case = _case(_bytes("double", values[:size], 8), pointer, "dvec4", values)
        lines += [line.replace("expected", f"expected{size}") for line in case]
    swizzles = {1: "x", 2: "xy", 3: "xyz", 4: "xyzw"}
    body = _head("dvec", "value == expected")
    # What is missing of a 64-bit attribute is undefined: a shader of each size.
    choice = " && ".join(
        f"(expected{n}.x == 0.0lf || value.{s} == expected{n}.{s})" for n, s in swizzles.items()
    )
    declared = "\n".join(f"uniform dvec4 expected{n};" for n in swizzles)
    body = body.replace("uniform dvec4 expected;", declared).replace("value == expected", choice)
    cleared = []
    for line in lines:
        if line.startswith("uniform dvec4 expected"):
            cleared += [f"uniform dvec4 expected{n} 0 0 0 0" for n in swizzles]
        cleared.append(line)
    return (
        _place("double"),
        "Attributes of type double stay doubles.",
        body + "\n".join(cleared).lstrip(),
    )


def _fields(packed: str, word: int) -> list[int]:
    fields = [word >> shift & 0x3FF for shift in (0, 10, 20)] + [word >> 30 & 3]
    if packed.startswith("INT"):
        fields = [
            f - (1 << n) if f >> n - 1 else f for f, n in zip(fields, (10, 10, 10, 2), strict=True)
        ]
    return fields


def _packed(packed: str) -> tuple[str, str, str]:
    signed = packed.startswith("INT")
    # The ends of the ranges, so that both rules for signed values agree.
    word = 1023 | 0 << 10 | 512 << 20 | 2 << 30
    if signed:
        word = 511 | 513 << 10 | 511 << 20 | 1 << 30
    fields = _fields(packed, word)
    tops = (511, 511, 511, 1) if signed else (1023, 1023, 1023, 3)
    unit = [max(f / t, -1.0) for f, t in zip(fields, tops, strict=True)]
    lines = []
    for size in ("4", "GL_BGRA"):
        for normalized in (True, False):
            if size == "GL_BGRA" and not normalized:
                continue  # an error: the order is for colours
            values = unit if normalized else [float(f) for f in fields]
            if size == "GL_BGRA":
                values = [values[2], values[1], values[0], values[3]]
            flag = "GL_TRUE" if normalized else "GL_FALSE"
            pointer = f"glVertexAttribPointer 0 {size} GL_{packed} {flag} 0 0"
            lines += _case(f"4 uint({word})", pointer, "vec4", values)
    return (
        _place(f"packed-{'signed' if signed else 'unsigned'}"),
        f"Attributes packed as {packed}, normalised, converted, and in the order BGRA.",
        _head("vec") + "\n".join(lines).lstrip(),
    )


def _small_floats() -> tuple[str, str, str]:
    # 1.0 is exponent 15; half of that has exponent 14; the blue field has a bit less.
    word = 15 << 6 | (14 << 6) << 11 | (16 << 5) << 22
    pointer = "glVertexAttribPointer 0 3 GL_UNSIGNED_INT_10F_11F_11F_REV GL_FALSE 0 0"
    lines = _case(f"4 uint({word})", pointer, "vec4", [1.0, 0.5, 2.0, 1.0])
    return (
        _place("packed-small-floats"),
        "Attributes of three small floats without sign.",
        _head("vec") + "\n".join(lines).lstrip(),
    )


def _reversed_bytes() -> tuple[str, str, str]:
    pointer = "glVertexAttribPointer 0 GL_BGRA GL_UNSIGNED_BYTE GL_TRUE 0 0"
    values = [51 / 255, 102 / 255, 1.0, 204 / 255]
    lines = _case("4 ubyte(255 102 51 204)", pointer, "vec4", values)
    return (
        _place("bytes-bgra"),
        "Attributes of four bytes in the order BGRA.",
        _head("vec") + "\n".join(lines).lstrip(),
    )
