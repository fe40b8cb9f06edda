"""What is known of the variables of a stage when its shaders are joined, in either order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.link.stage import join_stage
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.link.log import LinkLog
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t
from tests.glsl.shaders import compiled


def joined(stage: Stage, *texts: str, version: str = "430 compatibility") -> StageUnit:
    shaders = [compiled(stage, f"#version {version}\n{text}") for text in texts]
    for shader in shaders:
        assert shader.ok, shader.info_log
    log = LinkLog()
    parts = [(s.tree, s.language) for s in shaders if s.tree is not None]
    unit = join_stage(stage, parts, log)
    assert log.text == ""
    return unit


def variable(unit: StageUnit, name: str) -> hir.Variable:
    return unit.builtins[name] if name.startswith("gl_") else unit.globals[name]


V, FRAG = Stage.VERTEX, Stage.FRAGMENT
FACTS: dict[str, tuple[Stage, str, str, str, Callable[[hir.Variable], object], object]] = {
    # stage, one shader (with main), the other (with f), a variable, a fact of it, what that is
    "a built-in variable one writes": (
        V, "vec4 x = gl_Position;", "gl_Position = vec4(0.0);", "gl_Position",
        lambda v: (v.used, v.written), (True, True),
    ),
    "one that nobody writes": (
        V, "vec4 x = gl_Position;", "float y = gl_Position.x;", "gl_Position",
        lambda v: (v.used, v.written), (True, False),
    ),
    "the largest element of one": (
        V, "gl_ClipDistance[1] = 1.0;", "gl_ClipDistance[4] = 1.0;", "gl_ClipDistance",
        lambda v: (v.type, v.max_index), (t.array(t.FLOAT, 5), 4),
    ),
    "a uniform array in parts": (
        V, "float x = u[1];", "float y = u[3];", "u", lambda v: (v.max_index, v.whole), (3, False),
    ),
    "a uniform array by a number": (
        V, "int i = 1; float x = u[i];", "float y = u[3];", "u",
        lambda v: (v.max_index, v.whole), (3, True),
    ),
    "an output one writes": (
        V, "", "o = 1.0;", "o", lambda v: (v.used, v.written), (True, True),
    ),
    "an output nobody writes": (V, "", "", "o", lambda v: (v.used, v.written), (False, False)),
}  # fmt: skip
GLOBALS = "uniform float u[5]; out float o; "


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", FACTS)
def test_what_is_known_of_both(name: str, turned: bool) -> None:
    stage, one, other, asked, fact, wanted = FACTS[name]
    texts = [
        f"{GLOBALS} void f(); void main() {{ {one} f(); }}",
        f"{GLOBALS} void f() {{ {other} }}",
    ]
    unit = joined(stage, *(texts[::-1] if turned else texts))
    assert fact(variable(unit, asked)) == wanted


# one declaration, another -> what of the variable is asked, and its value in the stage
DECLARED: dict[str, tuple[Stage, str, str, str, Callable[[hir.Variable], object], object]] = {
    "a size": (V, "uniform float u[];", "uniform float u[5];", "u",
               lambda v: v.type, t.array(t.FLOAT, 5)),
    "sizes of inner arrays": (V, "uniform float u[][2];", "uniform float u[3][2];", "u",
                              lambda v: v.type, t.array(t.array(t.FLOAT, 2), 3)),
    "a location": (V, "uniform vec4 u;", "layout(location = 7) uniform vec4 u;", "u",
                   lambda v: v.quals.layout.get("location"), 7),
    "a binding": (V, "uniform sampler2D u;", "layout(binding = 3) uniform sampler2D u;", "u",
                  lambda v: v.quals.layout.get("binding"), 3),
    "an invariant output": (V, "", "invariant gl_Position;", "gl_Position",
                            lambda v: v.quals.invariant, True),
    "a flat colour": (FRAG, "", "flat in vec4 gl_Color;", "gl_Color",
                      lambda v: (v.quals.interpolation, v.redeclared), ("flat", True)),
    "how deep": (FRAG, "", "layout(depth_less) out float gl_FragDepth;", "gl_FragDepth",
                 lambda v: (set(v.quals.flags), v.redeclared), ({"depth_less"}, True)),
}  # fmt: skip
_USES = {"gl_Position": "gl_Position = vec4(0.0);", "gl_Color": "vec4 x = gl_Color;",
         "gl_FragDepth": "gl_FragDepth = 0.5;", "u": ""}  # fmt: skip


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", DECLARED)
def test_what_one_declares_holds_for_both(name: str, turned: bool) -> None:
    stage, one, other, asked, fact, wanted = DECLARED[name]
    version = "430 compatibility"
    texts = [
        f"{one} void f(); void main() {{ {_USES[asked]} f(); }}",
        f"{other} void f() {{ {_USES[asked]} }}",
    ]
    if asked == "gl_FragDepth":  # every shader that writes it redeclares it alike
        texts[0] = texts[0].replace(_USES[asked], "")
    unit = joined(stage, *(texts[::-1] if turned else texts), version=version)
    assert fact(variable(unit, asked)) == wanted


def test_functions_and_layouts_are_collected() -> None:
    unit = joined(
        Stage.GEOMETRY,
        "layout(triangles) in; layout(max_vertices = 5) out; void f(); void g(float);"
        "void main() { f(); g(1.0); }",
        "layout(points) out; void f() { EmitVertex(); }",
        "layout(invocations = 3) in; void g(float x) { EndPrimitive(); } void unused() {}",
    )
    names = sorted(f.name for f in unit.functions.values())
    assert names == ["f", "g", "main", "unused"]
    assert unit.main is not None and unit.main.name == "main"
    assert {k: unit.layout[k] for k in ("input_primitive", "output_primitive", "max_vertices")} == {
        "input_primitive": "triangles",
        "output_primitive": "points",
        "max_vertices": 5,
    }
    assert unit.layout["invocations"] == 3
    assert {"EmitVertex", "EndPrimitive"} <= set(unit.uses)
