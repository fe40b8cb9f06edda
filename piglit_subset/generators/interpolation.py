"""How varyings of every type travel from vertices to fragments: smooth, flat, noperspective."""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import vector

_CORNERS = ((-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0))


def tests() -> Iterator[tuple[str, str, str]]:
    for scalar in ("float", "int", "uint"):
        for size in (1, 2, 3, 4):
            yield _flat(vector(scalar, size), scalar, size)
    for size in (1, 2, 3, 4):
        for mode in ("smooth", "noperspective"):
            yield _linear(mode, vector("float", size), size)
    for columns, rows in ((2, 2), (3, 3), (4, 4), (2, 3), (3, 4), (4, 2)):
        yield _matrix(columns, rows)
    for size in (1, 2, 3, 4):
        yield _perspective(size)


def _test(vertex: str, fragment: str, rows: list[str], columns: str, commands: list[str]) -> str:
    lines = [
        "[require]",
        "GLSL >= 1.50",
        "SIZE 16 16",
        "",
        "[vertex shader]",
        "#version 150",
        *vertex.splitlines(),
        "",
        "[fragment shader]",
        "#version 150",
        *fragment.splitlines(),
        "",
        "[vertex data]",
        columns,
        *rows,
        "",
        "[test]",
        *commands,
    ]
    return "\n".join(lines)


_MAIN = "void main()\n{{\n\t{0}\n\tgl_Position = {1};\n}}"
_GREEN = "color = {0} ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);"


def _flat(kind: str, scalar: str, size: int) -> tuple[str, str, str]:
    """Each triangle has its last vertex's value: 3 for the first, 4 for the second of the strip."""
    vertex = f"in vec2 piglit_vertex;\nin {scalar} value;\nflat out {kind} v;\n" + _MAIN.format(
        f"v = {kind}(value);", "vec4(piglit_vertex, 0.0, 1.0)"
    )
    fragment = f"flat in {kind} v;\nuniform {scalar} wanted;\nout vec4 color;\nvoid main()\n{{\n\t"
    fragment += _GREEN.format(f"v == {kind}(wanted)") + "\n}"
    rows = [f"{x} {y} {i + 1}" for i, (x, y) in enumerate(_CORNERS)]
    columns = f"piglit_vertex/float/2 value/{scalar}/{scalar}"
    commands = [
        f"uniform {scalar} wanted 3",
        "draw arrays GL_TRIANGLES 0 3",
        "probe rgba 2 2 0.0 1.0 0.0 1.0",
        f"uniform {scalar} wanted 4",
        "draw arrays GL_TRIANGLE_STRIP 0 4",
        "probe rgba 13 13 0.0 1.0 0.0 1.0",
        "probe rgba 2 2 1.0 0.0 0.0 1.0",
    ]
    return (
        f"glsl-1.50/interpolation/flat-{kind}",
        f"A flat {kind} has the value of the provoking vertex in the whole triangle.",
        _test(vertex, fragment, rows, columns, commands),
    )


def _linear(mode: str, kind: str, size: int) -> tuple[str, str, str]:
    """With w = 1 a value that equals the position's x stays equal to it."""
    vertex = f"in vec2 piglit_vertex;\n{mode} out {kind} v;\n" + _MAIN.format(
        f"v = {kind}(piglit_vertex.x);", "vec4(piglit_vertex, 0.0, 1.0)"
    )
    near = "abs(v - wanted) < 1.0e-5"
    if size > 1:
        near = f"all(lessThan(abs(v - {kind}(wanted)), {kind}(1.0e-5)))"
    fragment = f"{mode} in {kind} v;\nout vec4 color;\nvoid main()\n{{\n"
    fragment += "\tfloat wanted = gl_FragCoord.x / 8.0 - 1.0;\n\t" + _GREEN.format(near) + "\n}"
    rows = [f"{x} {y}" for x, y in _CORNERS]
    commands = ["draw arrays GL_TRIANGLE_STRIP 0 4", "probe all rgba 0.0 1.0 0.0 1.0"]
    return (
        f"glsl-1.50/interpolation/{mode}-{kind}",
        f"A {mode} {kind} changes linearly over a triangle in the plane of the screen.",
        _test(vertex, fragment, rows, "piglit_vertex/float/2", commands),
    )


def _matrix(columns: int, rows: int) -> tuple[str, str, str]:
    kind = f"mat{columns}x{rows}"
    sets = " ".join(
        f"v[{c}][{r}] = float({c * rows + r}) + piglit_vertex.y;"
        for c in range(columns)
        for r in range(rows)
    )
    vertex = f"in vec2 piglit_vertex;\nout {kind} v;\n" + _MAIN.format(
        sets, "vec4(piglit_vertex, 0.0, 1.0)"
    )
    checks = " && ".join(
        f"abs(v[{c}][{r}] - float({c * rows + r}) - y) < 1.0e-4"
        for c in range(columns)
        for r in range(rows)
    )
    fragment = f"in {kind} v;\nout vec4 color;\nvoid main()\n{{\n"
    fragment += "\tfloat y = gl_FragCoord.y / 8.0 - 1.0;\n\t" + _GREEN.format(f"({checks})") + "\n}"
    data = [f"{x} {y}" for x, y in _CORNERS]
    commands = ["draw arrays GL_TRIANGLE_STRIP 0 4", "probe all rgba 0.0 1.0 0.0 1.0"]
    return (
        f"glsl-1.50/interpolation/{kind}",
        f"Every element of a {kind} varying is interpolated on its own.",
        _test(vertex, fragment, data, "piglit_vertex/float/2", commands),
    )


def _perspective(size: int) -> tuple[str, str, str]:
    """Left corners have w = 1, right ones w = 3: u = x' / (4 - ...) solved for the pixel's
    centre.
    """
    kind = vector("float", size)
    sides = f"smooth out {kind} s;\nnoperspective out {kind} n;\n"
    vertex = f"in vec3 piglit_vertex;\nin float value;\n{sides}" + _MAIN.format(
        f"s = {kind}(value); n = {kind}(value);",
        "vec4(piglit_vertex.xy * piglit_vertex.z, 0.0, piglit_vertex.z)",
    )
    inside = sides.replace("out", "in")
    component = "" if size == 1 else f"[{size - 1}]"
    checks = (
        f"abs(s{component} - (t / 3.0) / ((1.0 - t) + t / 3.0)) < 1.0e-4"
        f" && abs(n{component} - t) < 1.0e-4"
    )
    fragment = f"{inside}out vec4 color;\nvoid main()\n{{\n"
    fragment += "\tfloat t = gl_FragCoord.x / 16.0;\n\t" + _GREEN.format(f"({checks})") + "\n}"
    data = [f"{x} {y} {1 if x < 0 else 3} {0 if x < 0 else 1}" for x, y in _CORNERS]
    columns = "piglit_vertex/float/3 value/float/1"
    commands = ["draw arrays GL_TRIANGLE_STRIP 0 4", "probe all rgba 0.0 1.0 0.0 1.0"]
    return (
        f"glsl-1.50/interpolation/perspective-{kind}",
        f"A smooth {kind} is divided by w, a noperspective one is not.",
        _test(vertex, fragment, data, columns, commands),
    )
