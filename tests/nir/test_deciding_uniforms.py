"""Which uniforms decide where the code goes, and what is left of a shader that knows them."""

from __future__ import annotations

import pytest

from gallette.compiler.glsl.api import compile_shader, link_program
from gallette.compiler.nir.analysis.decisions import deciding_uniforms
from gallette.compiler.nir.ir import If, Loop, Shader, Stage
from gallette.compiler.nir.ir.cf import walk
from gallette.compiler.nir.ir.questions import const_int, intrinsics_of
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes

FRAGMENT = """#version 330
in vec4 v; out vec4 c;
uniform float scale; uniform bool lit; uniform int lights; uniform vec4 sun, ambient;
void main() {
    c = v * scale;
    %s
}"""


def linked(stage: Stage, source: str) -> tuple[Shader, dict[str, int]]:
    """The shader, and where its uniforms lie."""
    shader = compile_shader(stage, source)
    assert shader.ok, shader.info_log
    program = link_program([shader])
    return program.shaders[stage], {u.name: u.offset for u in program.uniforms}


def branches(shader: Shader) -> int:
    return sum(isinstance(node, (If, Loop)) for node in walk(shader.entry.body))


@pytest.mark.parametrize(
    ("body", "deciding"),
    [
        ("if (lit) c = exp(sin(c)) * cos(c) + sqrt(c) * log(c);", ["lit"]),
        ("for (int i = 0; i < lights; i++) c += sin(c * float(i));", ["lights"]),
        ("if (lit && sun.y > ambient.z) discard;", ["lit", "sun+4", "ambient+8"]),
        ("if (v.x > scale) discard;", []),  # the lanes decide
        ("c += sun;", []),
    ],
)
def test_uniforms_that_decide(body: str, deciding: list[str]) -> None:
    shader, places = linked(Stage.FRAGMENT, FRAGMENT % body)
    wanted = []
    for name, _, more in (text.partition("+") for text in deciding):
        wanted.append(places[name] + int(more or 0))
    assert deciding_uniforms(shader) == tuple(sorted(wanted))


def test_no_more_than_wanted() -> None:
    body = "if (lit) discard; if (sun.x + sun.y + sun.z > 1.) discard; if (lights == 2) discard;"
    shader, places = linked(Stage.FRAGMENT, FRAGMENT % body)
    assert set(deciding_uniforms(shader, most=2)) == {places["lit"], places["lights"]}


def test_a_loop_of_a_known_number_of_rounds_is_unrolled() -> None:
    shader, places = linked(
        Stage.FRAGMENT,
        FRAGMENT % "for (int i = 0; i < lights; i++) if (lit) c += sin(c * float(i));",
    )
    assert branches(shader) > 0
    run_passes(
        shader, [("inline_uniforms", {"values": ((places["lit"], 1), (places["lights"], 3))})]
    )
    optimize(shader)
    assert branches(shader) == 0


VERTEX = """#version 330
in vec4 place; out vec4 color;
uniform bool near; uniform bool lit; uniform float size;
void main() {
    gl_Position = near ? sin(place * size) : cos(place) * sqrt(place);
    color = lit ? exp(place) * log(place) * size : vec4(1);
}"""


def test_what_a_position_is_made_of_is_left_alone() -> None:
    shader, places = linked(Stage.VERTEX, VERTEX)
    assert deciding_uniforms(shader) == (places["lit"],)
    values = ((places["near"], 1), (places["lit"], 0), (places["size"], 0x40000000))
    run_passes(shader, [("inline_uniforms", {"values": values})])
    optimize(shader)
    loads = intrinsics_of(shader.entry, "load_ubo")
    assert {const_int(load.srcs[1].value) for load in loads} == {places["near"], places["size"]}
    run_passes(shader, [("inline_uniforms", {"values": values, "positions": True})])
    assert not intrinsics_of(shader.entry, "load_ubo")
