"""Separable programs in a pipeline: outputs and inputs meet by name, or by location."""

from __future__ import annotations

import pytest

from gallette.state_tracker import GL, GLInterface, create_context

from .helpers import errors, pixels

_HEAD = "#version 330\n#extension GL_ARB_separate_shader_objects : require\n"
_PER_VERTEX = "out gl_PerVertex { vec4 gl_Position; };\n"
_CORNERS = """
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    gl_Position = vec4(corner, 0.0, 1.0);
"""
VERTEX = f"""{_HEAD}{_PER_VERTEX}
out vec4 unread; out float first; flat out int second; out vec2 third[2]; out vec2 fourth;
void main() {{ {_CORNERS}
    unread = vec4(0.9); first = 0.2; second = 102;
    third[0] = vec2(0.6); third[1] = fourth = vec2(0.8, 1.0);
}}"""
GEOMETRY = f"""{_HEAD}
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
in gl_PerVertex {{ vec4 gl_Position; }} gl_in[];
{_PER_VERTEX}
in vec2 fourth[]; in float first[]; flat in int second[];
flat out int deep; out vec2 last; out float begun;
void main() {{
    for (int i = 0; i < 3; i++) {{
        gl_Position = gl_in[i].gl_Position;
        deep = second[i]; last = fourth[i]; begun = first[i];
        EmitVertex();
    }}
}}"""


def stage(gl: GLInterface, pipeline: int, kind: int, bit: int, source: str) -> int:
    name = gl.create_shader_programv(kind, 1, [source])
    assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
    gl.use_program_stages(pipeline, bit, name)
    return int(name)


def drawn(gl: GLInterface, *fragments: str, geometry: str = "", vertex: str = VERTEX) -> list[int]:
    """The picture of each fragment program behind the same vertex (and geometry) program."""
    (pipeline,) = gl.gen_program_pipelines(1)
    gl.bind_program_pipeline(pipeline)
    (vao,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(vao)
    names = [stage(gl, pipeline, GL.VERTEX_SHADER, GL.VERTEX_SHADER_BIT, vertex)]
    if geometry:
        names.append(stage(gl, pipeline, GL.GEOMETRY_SHADER, GL.GEOMETRY_SHADER_BIT, geometry))
    for source in fragments:
        bit = GL.FRAGMENT_SHADER_BIT
        names.append(stage(gl, pipeline, GL.FRAGMENT_SHADER, bit, _HEAD + source))
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    found = pixels(gl)[40, 10].tolist()
    assert errors(gl) == []
    gl.delete_program_pipelines(1, [pipeline])
    for name in names:
        gl.delete_program(name)
    return list(found)


@pytest.mark.parametrize(
    ("declared", "color", "expected"),
    [
        ("in vec4 unread; in float first;", "vec4(first)", [51] * 4),
        ("in float first;", "vec4(first)", [51] * 4),
    ],
)  # fmt: skip
def test_inputs_find_their_outputs_by_name(
    gl: GLInterface, declared: str, color: str, expected: list[int]
) -> None:
    source = f"{declared} out vec4 result; void main() {{ result = {color}; }}"
    assert drawn(gl, source) == expected


@pytest.mark.parametrize(
    ("declared", "color", "expected"),
    [
        ("flat in int second; in float first;", "vec4(first, second / 255.0, 0, 1)",
         [51, 102, 0, 255]),
        ("in vec2 third[2]; flat in int second;", "vec4(second / 255.0, third[1], third[0].x)",
         [102, 204, 255, 153]),
        ("in vec2 third[2]; uniform int which;", "third[which].xyxy", [153] * 4),
    ],
)  # fmt: skip
def test_inputs_in_any_order_find_their_outputs(
    ours: GLInterface, declared: str, color: str, expected: list[int]
) -> None:
    """The specification leaves unequal interfaces undefined, and llvmpipe mixes these up."""
    source = f"{declared} out vec4 result; void main() {{ result = {color}; }}"
    assert drawn(ours, source) == expected


def test_a_vertex_program_serves_fragment_programs_of_several_interfaces(gl: GLInterface) -> None:
    sources = [
        f"in float first; {more} out vec4 result; void main() {{ result = vec4(first); }}"
        for more in ("", "flat in int second;", "in vec4 unread;")
    ]
    assert drawn(gl, *sources, sources[0]) == [51] * 4


def test_a_geometry_program_between_two_others(gl: GLInterface) -> None:
    source = """in float begun; in vec2 last; flat in int deep; out vec4 result;
        void main() { result = vec4(begun, deep / 255.0, last); }"""
    assert drawn(gl, source, geometry=GEOMETRY) == [51, 102, 204, 255]


def test_locations_come_before_names(gl: GLInterface) -> None:
    vertex = f"""{_HEAD}{_PER_VERTEX}
        out float named; layout(location = 2) out float one; layout(location = 0) out float two;
        void main() {{ {_CORNERS} one = 0.2; two = 0.4; named = 0.6; }}"""
    source = """layout(location = 2) in float a; in float named; layout(location = 0) in float one;
        out vec4 result; void main() { result = vec4(a, one, named, 1.0); }"""
    assert drawn(gl, source, vertex=vertex) == [51, 102, 153, 255]


def test_the_log_of_a_pipeline_is_that_of_the_last_validation() -> None:
    gl = create_context("numpipe", profile="compat", version=(4, 3), size=(8, 8))
    sampling = "uniform sampler2D a; void main() { gl_Position = texture(a, vec2(0.0)); }"
    vertex = f"{_HEAD}{_PER_VERTEX}{sampling}"
    fragment = (
        f"{_HEAD}uniform samplerCube b; out vec4 c; void main() {{ c = texture(b, vec3(1)); }}"
    )
    (pipeline,) = gl.gen_program_pipelines(1)
    gl.bind_program_pipeline(pipeline)
    stage(gl, pipeline, GL.VERTEX_SHADER, GL.VERTEX_SHADER_BIT, vertex)
    name = stage(gl, pipeline, GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, fragment)
    place = gl.get_uniform_location(name, "b")
    for unit, said in ((0, "samplers of different types use texture unit 0"), (1, "")):
        gl.program_uniform1i(name, place, unit)
        gl.validate_program_pipeline(pipeline)
        log = gl.get_program_pipeline_info_log(pipeline)
        assert (said in log) if said else log == ""
        length = gl.get_program_pipelineiv(pipeline, GL.INFO_LOG_LENGTH)[0]
        assert length == (len(log) + 1 if log else 0)
        assert gl.get_program_pipelineiv(pipeline, GL.VALIDATE_STATUS)[0] == (not said)
    assert errors(gl) == []
    gl.release()
