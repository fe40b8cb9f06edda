"""How varyings of every type travel from vertices to fragments: smooth, flat, noperspective."""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import Test, drawn, green_if, vector

_CORNERS = ((-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0))
_AT_Z = "vec4(piglit_vertex, 0.0, 1.0)"
_STRIP = ["draw arrays GL_TRIANGLE_STRIP 0 4", "probe all rgba 0.0 1.0 0.0 1.0"]


def tests() -> Iterator[Test]:
    for scalar in ("float", "int", "uint"):
        for size in (1, 2, 3, 4):
            yield _flat(vector(scalar, size), scalar)
    for size in (1, 2, 3, 4):
        for mode in ("smooth", "noperspective"):
            yield _linear(mode, vector("float", size), size)
    for columns, rows in ((2, 2), (3, 3), (4, 4), (2, 3), (3, 4), (4, 2)):
        yield _matrix(columns, rows)
    for size in (1, 2, 3, 4):
        yield _perspective(size)


def _test(
    vertex: list[str], fragment: list[str], statement: str, condition: str,
    columns: str, rows: list[str], position: str = _AT_Z, commands: list[str] = _STRIP,
) -> str:  # fmt: skip
    """Vertices that run a statement, and fragments that are green where the condition holds.

    The last line of `fragment` may be a declaration in its main function.
    """
    *outside, inside = fragment
    vertex = [*vertex, "void main()", "{", f"\t{statement}", f"\tgl_Position = {position};", "}"]
    shader = [*outside, "out vec4 color;", "void main()", "{", *filter(None, [inside])]
    shader += [f"\tcolor = {green_if(condition)};", "}"]
    return drawn(150, shader, commands, vertex=vertex, data=[columns, *rows], size="16 16")


def _flat(kind: str, scalar: str) -> Test:
    """Each triangle has its last vertex's value: 3 for the first, 4 for the second of the strip."""
    commands = [
        f"uniform {scalar} wanted 3",
        "draw arrays GL_TRIANGLES 0 3",
        "probe rgba 2 2 0.0 1.0 0.0 1.0",
        f"uniform {scalar} wanted 4",
        "draw arrays GL_TRIANGLE_STRIP 0 4",
        "probe rgba 13 13 0.0 1.0 0.0 1.0",
        "probe rgba 2 2 1.0 0.0 0.0 1.0",
    ]
    body = _test(
        ["in vec2 piglit_vertex;", f"in {scalar} value;", f"flat out {kind} v;"],
        [f"flat in {kind} v;", f"uniform {scalar} wanted;", ""],
        f"v = {kind}(value);",
        f"v == {kind}(wanted)",
        f"piglit_vertex/float/2 value/{scalar}/{scalar}",
        [f"{x} {y} {i + 1}" for i, (x, y) in enumerate(_CORNERS)],
        commands=commands,
    )
    purpose = f"A flat {kind} has the value of the provoking vertex in the whole triangle."
    return f"glsl-1.50/interpolation/flat-{kind}", purpose, body


def _linear(mode: str, kind: str, size: int) -> Test:
    """With w = 1 a value that equals the position's x stays equal to it."""
    near = "abs(v - wanted) < 1.0e-5"
    if size > 1:
        near = f"all(lessThan(abs(v - {kind}(wanted)), {kind}(1.0e-5)))"
    body = _test(
        ["in vec2 piglit_vertex;", f"{mode} out {kind} v;"],
        [f"{mode} in {kind} v;", "\tfloat wanted = gl_FragCoord.x / 8.0 - 1.0;"],
        f"v = {kind}(piglit_vertex.x);",
        near,
        "piglit_vertex/float/2",
        [f"{x} {y}" for x, y in _CORNERS],
    )
    purpose = f"A {mode} {kind} changes linearly over a triangle in the plane of the screen."
    return f"glsl-1.50/interpolation/{mode}-{kind}", purpose, body


def _matrix(columns: int, rows: int) -> Test:
    kind = f"mat{columns}x{rows}"
    elements = [(f"v[{c}][{r}]", c * rows + r) for c in range(columns) for r in range(rows)]
    checks = " && ".join(f"abs({v} - float({n}) - y) < 1.0e-4" for v, n in elements)
    body = _test(
        ["in vec2 piglit_vertex;", f"out {kind} v;"],
        [f"in {kind} v;", "\tfloat y = gl_FragCoord.y / 8.0 - 1.0;"],
        " ".join(f"{v} = float({n}) + piglit_vertex.y;" for v, n in elements),
        f"({checks})",
        "piglit_vertex/float/2",
        [f"{x} {y}" for x, y in _CORNERS],
    )
    purpose = f"Every element of a {kind} varying is interpolated on its own."
    return f"glsl-1.50/interpolation/{kind}", purpose, body


def _perspective(size: int) -> Test:
    """Left corners have w = 1, right ones w = 3: u = x' / (4 - ...) solved for the pixel's
    centre.
    """
    kind = vector("float", size)
    component = "" if size == 1 else f"[{size - 1}]"
    checks = (
        f"abs(s{component} - (t / 3.0) / ((1.0 - t) + t / 3.0)) < 1.0e-4"
        f" && abs(n{component} - t) < 1.0e-4"
    )
    body = _test(
        ["in vec3 piglit_vertex;", "in float value;", f"smooth out {kind} s;",
         f"noperspective out {kind} n;"],
        [f"smooth in {kind} s;", f"noperspective in {kind} n;",
         "\tfloat t = gl_FragCoord.x / 16.0;"],
        f"s = {kind}(value); n = {kind}(value);",
        f"({checks})",
        "piglit_vertex/float/3 value/float/1",
        [f"{x} {y} {1 if x < 0 else 3} {0 if x < 0 else 1}" for x, y in _CORNERS],
        "vec4(piglit_vertex.xy * piglit_vertex.z, 0.0, piglit_vertex.z)",
    )  # fmt: skip
    purpose = f"A smooth {kind} is divided by w, a noperspective one is not."
    return f"glsl-1.50/interpolation/perspective-{kind}", purpose, body
