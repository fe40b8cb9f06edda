"""Separable programs in a pipeline: outputs and inputs meet by name, or by location."""

from __future__ import annotations

import pytest

from gallette.compiler.glsl import Varying
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import VOID
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.shading.pipeline_varyings import _moves

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


def varying(text: str) -> Varying:
    """`name location [slots] [explicit] [patch]`."""
    name, location, *rest = text.split()
    slots = next((int(w) for w in rest if w.isdigit()), 1)
    explicit, patch = "explicit" in rest, "patch" in rest
    return Varying(name, VOID, int(location), 0, Stage.VERTEX, slots, explicit, patch)


V, P = int(VaryingSlot.VAR0), int(VaryingSlot.PATCH0)


@pytest.mark.parametrize(
    ("outputs", "inputs", "expected"),
    [
        ([], ["a 3"], []),
        (["a 0", "b 1"], ["a 0", "b 1"], []),
        (["a 0", "b 1"], ["b 0"], [(V, V + 1)]),
        (["a 0", "b 1"], ["b 0", "a 1"], [(V, V + 1), (V + 1, V)]),
        # Both ends given: matched by location, whatever the names.
        (["a 0 explicit", "b 1"], ["b 0 explicit", "a 1 explicit"], []),
        # An input without a partner leaves where something else is written.
        (["a 0", "b 1"], ["c 0", "b 1"], []),
        (["a 0", "b 1"], ["b 0", "c 1"], [(V, V + 1), (V + 1, V + 2)]),
        (["a 0 3", "b 3"], ["c 0", "d 1", "b 2"], [(V, V + 4), (V + 1, V + 5), (V + 2, V + 3)]),
        # What explicit locations of inputs take is not free either.
        (["a 0", "b 1"], ["b 0", "x 2 explicit", "c 1"], [(V, V + 1), (V + 1, V + 3)]),
        # Several slots move together, and fit where that many are free.
        (["a 0", "b 1 2"], ["b 0 2"], [(V, V + 1), (V + 1, V + 2)]),
        (["a 0", "x 2 explicit", "b 3"], ["c 0 2", "b 2"],
         [(V, V + 4), (V + 1, V + 5), (V + 2, V + 3)]),
        (["a 0 30", "b 30"], ["c 0", "b 1"], [(V, V + 31), (V + 1, V + 30)]),
        (["a 0 30", "b 30"], ["c 0 2", "b 2"], [(V + 2, V + 30)]),  # no two are free
        # Of a patch: slots of its own, and another variable than one of vertices.
        (["a 0 patch", "b 1 patch"], ["b 0 patch"], [(P, P + 1)]),
        (["a 0 patch", "a 1"], ["a 0", "z 1"], [(V, V + 1), (V + 1, V + 2)]),
        # Built-in variables have no location.
        (["p -1", "a 1"], ["p -1", "a 0"], [(V, V + 1)]),
    ],
)  # fmt: skip
def test_where_inputs_move(
    outputs: list[str], inputs: list[str], expected: list[tuple[int, int]]
) -> None:
    found = _moves([varying(t) for t in outputs], [varying(t) for t in inputs])
    assert list(found) == expected
