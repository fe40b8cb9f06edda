"""The first path through the front end: a vertex and fragment pair becomes driver-ready NIR."""

from gallette.compiler.glsl import compile_shader, link_program
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.ir import Alu, Stage

VERTEX = """#version 330
uniform mat4 mvp;
in vec3 position;
in vec2 uv;
out vec2 v_uv;
void main() { gl_Position = mvp * vec4(position, 1.0); v_uv = uv; }
"""
FRAGMENT = """#version 330
uniform sampler2D image;
in vec2 v_uv;
out vec4 color;
void main() { vec4 t = texture(image, v_uv); if (t.a < 0.5) discard; color = t; }
"""


def test_a_vertex_and_fragment_pair_links() -> None:
    shaders = [compile_shader(Stage.VERTEX, VERTEX), compile_shader(Stage.FRAGMENT, FRAGMENT)]
    assert [s.info_log for s in shaders] == ["", ""]
    program = link_program(shaders)
    assert program.ok, program.info_log
    assert [(u.name, u.location, u.offset) for u in program.uniforms] == [
        ("mvp", 0, 0),
        ("image", 1, -1),
    ]
    assert [(a.name, a.location) for a in program.attributes] == [("position", 0), ("uv", 1)]
    assert set(program.shaders) == {Stage.VERTEX, Stage.FRAGMENT}
    for shader in program.shaders.values():
        shader.unref()


def test_precise_ends_with_its_assignment() -> None:
    """An index into a compact output is lowered on a way of its own: exactness must not leak."""
    source = """#version 450
        layout(vertices = 3) out;
        uniform int i;
        uniform float a, b;
        precise gl_TessLevelOuter;
        patch out float other;
        void main() {
            gl_TessLevelOuter[i] = a * b;
            other = a + b;
            gl_out[gl_InvocationID].gl_Position = vec4(0.0);
        }
    """
    shader = compile_shader(Stage.TESS_CTRL, source)
    program = link_program([shader], LinkOptions(separable=True))
    assert program.ok, program.info_log
    code = [i for block in program.shaders[Stage.TESS_CTRL].entry.blocks() for i in block.instrs()]
    exact = {i.op.name: i.exact for i in code if isinstance(i, Alu)}
    assert exact["fmul"]
    assert not exact["fadd"]
    program.shaders[Stage.TESS_CTRL].unref()
