"""Rules that hold in many places: what may have which name, and what stands in what."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.conftest import native_context

PLACES = {
    "global": "float {name}; void main() {{}}",
    "second": "float fine, {name}; void main() {{}}",
    "constant": "const float {name} = 1.0; void main() {{}}",
    "array": "float {name}[2]; void main() {{}}",
    "input": "in vec4 {name}; void main() {{}}",
    "output": "out vec4 {name}; void main() {{}}",
    "uniform": "uniform vec4 {name}; void main() {{}}",
    "sampler": "uniform sampler2D {name}; void main() {{}}",
    "local": "void main() {{ float {name}; }}",
    "second local": "void main() {{ float fine, {name}; }}",
    "in a loop": "void main() {{ for (int {name} = 0; false; ) {{}} }}",
    "in a condition": "void main() {{ while (bool {name} = false) {{}} }}",
    "parameter": "void f(float {name}) {{}} void main() {{}}",
    "second parameter": "void f(float fine, float {name}) {{}} void main() {{}}",
    "parameter of a prototype": "void f(float {name}); void main() {{}}",
    "function": "void {name}() {{}} void main() {{}}",
    "prototype": "void {name}(); void main() {{}}",
    "structure": "struct {name} {{ float x; }}; void main() {{}}",
    "member": "struct S {{ float {name}; }}; void main() {{}}",
    "second member": "struct S {{ float fine, {name}; }}; void main() {{}}",
    "block": "uniform {name} {{ float x; }}; void main() {{}}",
    "member of a block": "uniform B {{ float {name}; }}; void main() {{}}",
    "instance": "uniform B {{ float x; }} {name}; void main() {{}}",
    "array of instances": "uniform B {{ float x; }} {name}[2]; void main() {{}}",
    "macro": "#define {name} 1\nvoid main() {{}}",
    "macro with parameters": "#define {name}(x) x\nvoid main() {{}}",
    "parameter of a macro": "#define fine({name}) 1\nvoid main() {{}}",
}
NAMES = {"plain": "some", "reserved": "gl_Some", "doubled": "so__me", "doubled first": "__some",
         "capitals": "GL_some", "long": "n" * 1024, "too long": "n" * 1025}  # fmt: skip
VERSIONS = {"330": ("core", (4, 5)), "300 es": ("es", (3, 0))}
HEADS = {"330": "#version 330\n", "300 es": "#version 300 es\nprecision mediump float;\n"}


def accepted(version: str, source: str, stage: Stage = Stage.FRAGMENT) -> bool:
    options = CompileOptions(api="es" if "es" in version else "core")
    return compile_shader(stage, source, options).ok


def natively(version: str, sources: list[str]) -> Iterator[bool]:
    profile, limit = VERSIONS[version]
    gl: Any = native_context(profile=profile, version=limit, size=(4, 4))
    for source in sources:
        shader = gl.create_shader(GL.FRAGMENT_SHADER)
        gl.shader_source(shader, [source])
        gl.compile_shader(shader)
        yield bool(gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0])
        gl.delete_shader(shader)
    gl.release()


@pytest.mark.native
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", NAMES)
def test_names(kind: str, version: str) -> None:
    sources = [HEADS[version] + text.format(name=NAMES[kind]) for text in PLACES.values()]
    wanted = natively(version, sources)
    found = {place: accepted(version, s) for place, s in zip(PLACES, sources, strict=True)}
    wrong = {p for (p, f), w in zip(found.items(), wanted, strict=True) if f != w}
    assert wrong == {p for p in PLACES if (kind, version, p) in UNLIKE}
    if kind == "plain":
        assert all(found.values())
    if kind == "reserved":
        assert not any(f for p, f in found.items() if "macro" not in p)


UNLIKE = {
    ("reserved", version, place): "the native GL does not look at parameters (section 3.7)"
    for version in VERSIONS
    for place in ("parameter", "second parameter", "parameter of a prototype")
}
"""Where the native GL takes what ours does not, and why."""

CLOSED = {
    "nothing": "",
    "if": "if (x > 0.0) { x += 1.0; }",
    "if else": "if (x > 0.0) { x += 1.0; } else { x -= 1.0; }",
    "for": "for (int i = 0; i < 3; i++) { x += 1.0; }",
    "for and break": "for (int i = 0; i < 3; i++) { if (x > 2.0) break; x += 1.0; }",
    "while": "while (x < 3.0) { x += 1.0; }",
    "do": "do { x += 1.0; } while (x < 3.0);",
    "switch": "switch (n) { case 0: x += 1.0; break; default: x -= 1.0; }",
    "loop in switch": "switch (n) { case 0: while (x < 3.0) x += 1.0; break; default: break; }",
    "switch in loop": "for (int i = 0; i < 3; i++) switch (n) { case 0: x += 1.0; break; }",
    "two loops": "for (int i = 0; i < 3; i++) { while (x < 2.0) { x += 1.0; } }",
    "block": "{ x += 1.0; }",
    "a function": "x += f(x);",
}
THEN = {
    "break": "break;",
    "continue": "continue;",
    "break in if": "if (x > 1.0) break;",
    "break in switch": "switch (n) { case 1: break; }",
    "continue in switch": "switch (n) { case 1: continue; }",
    "break in loop": "while (x < 9.0) { x += 1.0; break; }",
    "continue in loop": "while (x < 9.0) { x += 1.0; continue; }",
    "continue in switch in loop": "while (x < 9.0) { switch (n) { case 1: continue; } x += 1.0; }",
    "case": "case 0: x = 1.0;",
    "default": "default: x = 1.0;",
}
BODY = """#version 330
uniform int n; in float given; out vec4 color;
float f(float y) {{ for (;;) {{ if (y > 3.0) return y; y += 1.0; }} }}
void main() {{ float x = given; {before} {then} color = vec4(x); }}"""


@pytest.mark.native
@pytest.mark.parametrize("before", CLOSED)
def test_what_was_closed_is_left(before: str) -> None:
    sources = [BODY.format(before=CLOSED[before], then=text) for text in THEN.values()]
    found = {name: accepted("330", s) for name, s in zip(THEN, sources, strict=True)}
    assert found == dict(zip(THEN, natively("330", sources), strict=True))
    inside = {"break in switch", "break in loop", "continue in loop", "continue in switch in loop"}
    assert {name for name, ok in found.items() if ok} == inside


WAITING = {"": True, "if (x > 0.0)": False, "while (x > 0.0)": False, "switch (n) { case 0:": False}


@pytest.mark.parametrize("before", CLOSED)
@pytest.mark.parametrize("where", WAITING)
def test_places_of_barriers_in_control_shaders(where: str, before: str) -> None:
    """barrier() of a tessellation control shader stands in no control flow, behind any."""
    end = "}" if "{" in where else ""
    source = f"""#version 400
        layout(vertices = 3) out; uniform int n; in float given[];
        float f(float y) {{ if (y > 3.0) return y; return 2.0; }}
        void main() {{
            float x = given[0]; {CLOSED[before]} {where} barrier(); {end}
            gl_TessLevelOuter[0] = x;
        }}"""
    assert accepted("400", source, Stage.TESS_CTRL) == WAITING[where]
    early = source.replace(CLOSED[before] or " {where}", "if (x > 9.0) return; " + CLOSED[before])
    assert early == source or not accepted("400", early, Stage.TESS_CTRL)


def test_all_pairs_are_there() -> None:
    assert len(list(product(CLOSED, THEN))) == 130 and len(PLACES) == 27
