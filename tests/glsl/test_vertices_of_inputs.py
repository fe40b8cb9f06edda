"""How many vertices the inputs of geometry and tessellation shaders have, said before or behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.glsl.shaders import compiled
from tests.glsl.test_es_rules import STAGES

VERTICES = {"points": 1, "lines": 2, "lines_adjacency": 4, "triangles": 3, "triangles_adjacency": 6}
GEOMETRY = (
    "#version 150\nin vec4 v[]; in B {{ float w; }} b[];\n{}\n"
    "layout(points, max_vertices = 1) out;\n"
    "void main() {{ {} EmitVertex(); }}\n"
)
READ = {
    "gl_in": "gl_Position = gl_in[{}].gl_Position;",
    "v": "gl_Position = v[{}];",
    "b": "gl_Position = vec4(b[{}].w);",
}


def shaders() -> Iterator[tuple[str, str, bool]]:
    """Stage, shader, is it right?"""
    for primitive, count in VERTICES.items():
        said = f"layout({primitive}) in;"
        for name, read in READ.items():
            for index in (0, count - 1, count, 9):
                inside = index < count
                yield "geometry", GEOMETRY.format(said, read.format(index)), inside
                early = f"vec4 f() {{ vec4 gl_Position; {read.format(index)} return gl_Position; }}"
                early = early.replace("vec4 gl_Position; gl_Position", "vec4 p; p")
                early = early.replace("return gl_Position", "return p")
                text = GEOMETRY.format(f"{early}\n{said}", "gl_Position = f();")
                yield "geometry", text, inside
            length = f"gl_Position = vec4({name}.length());"
            yield "geometry", GEOMETRY.format(said, length), True
        for size in (count - 1, count, count + 1):
            if size:
                yield (
                    "geometry",
                    GEOMETRY.format(f"{said}\nin float s[{size}];", "gl_Position = vec4(s[0]);"),
                    size == count,
                )
    head = "#version 400\nin vec4 v[]; out vec4 o[]; out B { vec4 w; } b[];\n"
    said = "layout(vertices = 3) out;\n"
    for index in (0, 31, 32):
        for read in (f"v[{index}]", f"gl_in[{index}].gl_Position"):
            text = f"{head}{said}void main() {{ o[gl_InvocationID] = {read}; }}\n"
            yield "tess_ctrl", text, index < 32
    for index in (0, 2, 3):
        for read in (f"o[{index}]", f"gl_out[{index}].gl_Position", f"b[{index}].w"):
            yield "tess_ctrl", f"{head}{said}void main() {{ vec4 x = {read}; }}\n", index < 3
            early = f"vec4 f() {{ return {read}; }}\n{said}"
            yield "tess_ctrl", f"{head}{early}void main() {{ f(); }}\n", index < 3
    evaluation = "#version 400\nlayout(triangles) in; in vec4 v[];\n"
    evaluation += "void main() {{ gl_Position = {}; }}\n"
    for index in (0, 31, 32):
        yield "tess_eval", evaluation.format(f"v[{index}]"), index < 32
        yield "tess_eval", evaluation.format(f"gl_in[{index}].gl_Position"), index < 32


def test_vertices_end_where_the_primitive_does() -> None:
    wrong = [
        (text, right)
        for stage, text, right in shaders()
        if compiled(Stage(stage), text).ok != right
    ]
    assert wrong == []


@pytest.mark.native
def test_on_native_gl_too() -> None:
    gl = native_context(profile="compat", version=(4, 5))
    made = {stage.value: gl.create_shader(kind) for stage, kind in STAGES.values()}
    wrong = []
    for stage, text, right in shaders():
        gl.shader_source(made[stage], text)
        gl.compile_shader(made[stage])
        if bool(gl.get_shaderiv(made[stage], GL.COMPILE_STATUS)[0]) != right:
            wrong.append((text, right, gl.get_shader_info_log(made[stage])))
    gl.release()
    assert wrong == []


@pytest.mark.parametrize("primitive", VERTICES)
def test_a_primitive_that_is_said_from_outside_counts_too(primitive: str) -> None:
    """GL_ARB_geometry_shader4: the shader is compiled before anybody knows."""
    head = "#version 120\n#extension GL_ARB_geometry_shader4 : enable\nvarying in vec4 v[];\n"
    count = VERTICES[primitive]
    vertex = compiled(Stage.VERTEX, "varying vec4 v; void main() { gl_Position = v = gl_Vertex; }")
    said = LinkOptions(
        api="compat", geometry_input=primitive, geometry_output="points", geometry_max_vertices=1
    )
    for name in ("gl_PositionIn", "v"):
        for index in range(8):
            text = f"{head}void main() {{ gl_Position = {name}[{index}]; EmitVertex(); }}"
            shader = compiled(Stage.GEOMETRY, text)
            assert shader.ok, shader.info_log
            program = link_program([vertex, shader], said)
            assert program.ok == (index < count), (name, index)
            for nir in program.shaders.values():
                nir.unref()
