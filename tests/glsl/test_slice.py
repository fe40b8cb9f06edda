"""The first path through the front end: a vertex and fragment pair becomes driver-ready NIR."""

from gallette.compiler.glsl import compile_shader, link_program
from gallette.compiler.nir.ir import Stage

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
