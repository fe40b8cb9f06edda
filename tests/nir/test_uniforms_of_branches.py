"""Which uniforms decide branches, and what is left of a shader when their values are known."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gallette.compiler.glsl.api import compile_shader, link_program
from gallette.compiler.nir.analysis.decisions import deciding_uniforms
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import If, Loop, Shader, Stage
from gallette.compiler.nir.ir.cf import walk
from gallette.compiler.nir.ir.queries import const_int, intrinsics_of
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.text.parser import parse

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


def test_at_most_the_requested_number() -> None:
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


DECIDED = {
    # lines of code -> offsets of the uniforms that decide
    "32 %u = @load_ubo (%n0, %n16)\n1 %c = ine %u, %n0": (16,),
    "32x3 %u = @load_ubo (%n0, %n16)\n1 %c = ine %u.z, %n0": (24,),
    "32x3 %u = @load_ubo (%n0, %n16)\n1 %c = feq %u.z, %u.x": (16, 24),
    "32x2 %u = @load_ubo (%n0, %n16)\n32x2 %w = fadd %u, %u.yy\n1 %c = flt %w.y, %n0": (20,),
    "32x2 %u = @load_ubo (%n0, %n16)\n32 %w = fdot2 %u, %u\n1 %c = flt %w, %n0": (16, 20),
    # another block, a place that is not known, another size, something else
    "32 %u = @load_ubo (%n1, %n16)\n1 %c = ine %u, %n0": (),
    "32 %u = @load_ubo (%n0, %x)\n1 %c = ine %u, %n0": (),
    "64 %u = @load_ubo (%n0, %n16)\n64 %w = load_const (0)\n1 %c = ine %u, %w": (),
    "32 %u = @load_ubo (%n0, %n16)\n1 %c = ine %u, %x": (),
}
ROUND = """shader fragment
impl main {
32 %n0 = load_const (0)
32 %n1 = load_const (1)
32 %n16 = load_const (16)
32 %x = @load_input (%n0) (location=VARYING.VAR0)
CODE
}
"""
CHOICES = {
    "an if": "if %c {\n@store_output (%x, %n0) (location=FRAG.DATA0, write_mask=x)\n} else {\n}",
    "a selection": "32 %s = bcsel %c, %x, %n0\n"
    "@store_output (%s, %n0) (location=FRAG.DATA0, write_mask=x)",
    "a discard": "@discard_if (%c)",
    "a demotion": "@demote_if (%c)",
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("code", DECIDED)
def test_what_a_condition_reads(code: str, choice: str) -> None:
    shader = parse(ROUND.replace("CODE", f"{code}\n{CHOICES[choice]}"))
    assert deciding_uniforms(shader) == DECIDED[code]


def test_a_condition_that_is_too_long_is_not_followed() -> None:
    lines = ["32 %u0 = @load_ubo (%n0, %n16)"]
    count = 400
    lines += [f"32 %u{i} = fadd %u{i - 1}, %u{i - 1}" for i in range(1, count)]
    found = []
    for last in (3, count - 1):
        lines_now = [*lines, f"1 %c = flt %u{last}, %n0", "@discard_if (%c)"]
        found.append(deciding_uniforms(parse(ROUND.replace("CODE", "\n".join(lines_now)))))
    assert found == [(16,), ()]


def test_all_of_a_block_may_be_given_as_bytes() -> None:
    """Whole words of it; the shader reads two, and one beyond the end."""
    code = "32x2 %u = @load_ubo (%n0, %n4)\n32 %w = @load_ubo (%n0, %n16)\n"
    code += "32 %s = fadd %u.x, %u.y\n32 %t = fadd %s, %w\n"
    code += "@store_output (%t, %n0) (location=FRAG.DATA0, write_mask=x)"
    text = ROUND.replace("CODE", "32 %n4 = load_const (4)\n" + code)
    data = struct.pack("<4f", 1.0, 2.0, 3.0, 4.0) + b"\x01\x02\x03"
    shader = parse(text)
    assert run_passes(shader, [("inline_uniforms", {"data": data})])
    (left,) = intrinsics_of(shader.entry, "load_ubo")
    assert const_int(left.srcs[1].value) == 16
    assert run_passes(shader, [("inline_uniforms", {"data": data + b"\x04"})])
    assert list(intrinsics_of(shader.entry, "load_ubo")) == []
    whole = struct.pack("<4f", 1.0, 2.0, 3.0, 4.0) + b"\x01\x02\x03\x04"
    wanted = np.float32(5.0) + np.frombuffer(whole, np.float32)[4]
    assert interpret(shader).floats(FragResult.DATA0).tolist()[0] == wanted
    assert not run_passes(shader, [("inline_uniforms", {"data": b""})])
