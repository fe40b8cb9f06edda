"""Rules that hold in many places: what may have which name, and what stands in what."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.cases import sections
from tests.conftest import native_context

_SECTIONS = sections(Path(__file__).with_name("nesting.txt"))
PLACES, CLOSED, THEN = (
    {case.name: case.text for case in _SECTIONS[name].cases}
    for name in ("places", "closed", "then")
)
CLOSED["nothing"] = ""
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
    sources = [HEADS[version] + text.replace("NAME", NAMES[kind]) for text in PLACES.values()]
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
    inside = {case.name for case in _SECTIONS["then"].cases if case.answer == "taken"}
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
