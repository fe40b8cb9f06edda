"""Compiling and linking pause the garbage collector, and leave it as it was."""

from __future__ import annotations

import gc

import pytest

from gallette.compiler.glsl import compile_shader, link_program
from gallette.compiler.nir.ir import Instr, Shader, Stage


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        shader = compile_shader(Stage.FRAGMENT, "this is not GLSL")
        assert not shader.ok
        assert not link_program([shader]).ok
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


SHADER = """#version 330
uniform vec4 u[4];
uniform sampler2D t;
in vec4 v;
out vec4 color;
float twice(float x) { return x * 2.0; }
void main() {
    color = texture(t, v.xy) * 1.0 + vec4(0.0);
    for (int i = 0; i < 4; i++)
        if (u[i].x > v.y)
            color += twice(v.x) * u[i] / (v + 0.0);
}
"""


def test_a_shader_that_is_given_back_leaves_the_collector_no_code() -> None:
    """What passes remove, and what is left in the end, knows each other no more."""

    def alive() -> int:
        return sum(isinstance(o, (Instr, Shader)) for o in gc.get_objects())

    def once() -> None:
        program = link_program([compile_shader(Stage.FRAGMENT, SHADER)])
        assert program.ok
        for shader in program.shaders.values():
            shader.unref()

    once()  # constants of the compiler's own
    gc.collect()
    gc.disable()
    try:
        before = alive()
        once()
        left = alive() - before
    finally:
        gc.enable()
    assert left < 20
