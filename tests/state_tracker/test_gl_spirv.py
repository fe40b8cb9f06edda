"""ARB_gl_spirv: programs from SPIR-V binaries, specialised by the application."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest

from gallette.compiler.spirv.assembler import assemble
from gallette.piglit_subset.spirv import PASSTHROUGH
from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL

FRAGMENT = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "shade" %color
OpExecutionMode %main OriginLowerLeft
OpDecorate %color Location 0
OpDecorate %tint Location 5
OpDecorate %red SpecId 3
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%output = OpTypePointer Output %vec4
%color = OpVariable %output Output
%uniform = OpTypePointer UniformConstant %vec4
%tint = OpVariable %uniform UniformConstant
%red = OpSpecConstant %float 0
%one = OpConstant %float 1
%zero = OpConstant %float 0
%main = OpFunction %void None %type
%start = OpLabel
%base = OpCompositeConstruct %vec4 %red %zero %zero %one
%added = OpLoad %vec4 %tint
%sum = OpFAdd %vec4 %base %added
OpStore %color %sum
OpReturn
OpFunctionEnd
"""


@pytest.fixture
def gl() -> Iterator[Any]:
    context = create_context("numpipe", profile="core", version=(3, 3), size=(8, 8))
    yield context
    context.release()


def load(gl: Any, kind: int, text: str) -> int:
    shader = gl.create_shader(kind)
    data = assemble(text).to_bytes()
    gl.shader_binary(1, [shader], GL.SHADER_BINARY_FORMAT_SPIR_V, data, len(data))
    assert gl.get_error() == 0
    return int(shader)


def float_bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def drawn(gl: Any, program: int) -> tuple[int, ...]:
    """A pixel of the whole view, in a tint that is added to what is specialised."""
    gl.use_program(program)
    gl.uniform4f(5, 0.0, 0.4, 0.0, 0.0)
    array, buffer = gl.gen_vertex_arrays(1)[0], gl.gen_buffers(1)[0]
    gl.bind_vertex_array(array)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    corners = struct.pack("8f", -1, -1, 3, -1, -1, 3, 3, 3)
    gl.buffer_data(GL.ARRAY_BUFFER, len(corners), corners, GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 0, 0)
    gl.enable_vertex_attrib_array(0)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    return tuple(gl.read_pixels(4, 4, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))


def test_draw_with_a_specialised_program(gl: Any) -> None:
    vertex = load(gl, GL.VERTEX_SHADER, PASSTHROUGH)
    gl.specialize_shader_arb(vertex, "main", 0, None, None)
    fragment = load(gl, GL.FRAGMENT_SHADER, FRAGMENT)
    assert gl.get_shaderiv(fragment, GL.SPIR_V_BINARY) == [1]
    assert gl.get_shaderiv(fragment, GL.COMPILE_STATUS) == [0]
    gl.specialize_shader_arb(fragment, "shade", 1, [3], [float_bits(1.0)])
    assert gl.get_shaderiv(fragment, GL.COMPILE_STATUS) == [1]
    program = gl.create_program()
    for shader in (vertex, fragment):
        gl.attach_shader(program, shader)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS) == [1], gl.get_program_info_log(program)
    assert drawn(gl, program) == (255, 102, 0, 255)
    assert gl.get_error() == 0


def test_errors(gl: Any) -> None:
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    gl.shader_binary(1, [shader], GL.SHADER_BINARY_FORMAT_SPIR_V, b"junk", 4)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.shader_binary(1, [shader], GL.RGBA, b"", 0)
    assert gl.get_error() == GL.INVALID_ENUM
    gl.specialize_shader_arb(shader, "main", 0, None, None)
    assert gl.get_error() == GL.INVALID_OPERATION
    shader = load(gl, GL.FRAGMENT_SHADER, FRAGMENT)
    gl.specialize_shader_arb(shader, "main", 0, None, None)
    assert gl.get_error() == GL.INVALID_VALUE  # the entry point is called something else
    gl.specialize_shader_arb(shader, "shade", 1, [4], [0])
    assert gl.get_error() == GL.INVALID_VALUE  # there is no such constant
    gl.compile_shader(shader)
    assert gl.get_error() == GL.INVALID_OPERATION
    gl.specialize_shader_arb(shader, "shade", 0, None, None)
    assert gl.get_error() == 0
    gl.specialize_shader_arb(shader, "shade", 0, None, None)
    assert gl.get_error() == GL.INVALID_OPERATION  # once is enough


def test_glsl_takes_the_place_of_spirv(gl: Any) -> None:
    shader = load(gl, GL.FRAGMENT_SHADER, FRAGMENT)
    gl.shader_source(shader, "#version 330\nout vec4 c; void main() { c = vec4(1.0); }")
    assert gl.get_shaderiv(shader, GL.SPIR_V_BINARY) == [0]
    gl.compile_shader(shader)
    assert gl.get_shaderiv(shader, GL.COMPILE_STATUS) == [1]


STAGE = """
OpCapability Shader
OpCapability {capability}
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main" {interface}
{modes}
{decorations}
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%vec4 = OpTypeVector %float 4
%output = OpTypePointer Output %vec4
%zero = OpConstantNull %vec4
{globals}
%main = OpFunction %void None %type
%start = OpLabel
{code}
OpReturn
OpFunctionEnd
"""


def stage(
    capability: str,
    model: str,
    modes: list[str],
    interface: str = "",
    decorations: str = "",
    globals: str = "",
    code: str = "",
) -> str:
    return STAGE.format(
        capability=capability,
        model=model,
        modes="\n".join(f"OpExecutionMode %main {mode}" for mode in modes),
        interface=interface,
        decorations=decorations,
        globals=globals,
        code=code,
    )


POSITION = {
    "interface": "%position",
    "decorations": "OpDecorate %position BuiltIn Position",
    "globals": "%position = OpVariable %output Output",
    "code": "OpStore %position %zero",
}


def linked(gl: Any, *shaders: tuple[int, str]) -> int:
    program = int(gl.create_program())
    for kind, text in shaders:
        shader = load(gl, kind, text)
        gl.specialize_shader_arb(shader, "main", 0, None, None)
        assert gl.get_shaderiv(shader, GL.COMPILE_STATUS) == [1], gl.get_shader_info_log(shader)
        gl.attach_shader(program, shader)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS) == [1], gl.get_program_info_log(program)
    return program


EVALUATIONS: list[tuple[list[str], tuple[int, int, int, int]]] = [
    # execution modes -> mode, spacing, order of vertices, points?
    (["Triangles"], (GL.TRIANGLES, GL.EQUAL, GL.CCW, 0)),
    (["Quads", "SpacingEqual", "VertexOrderCcw"], (GL.QUADS, GL.EQUAL, GL.CCW, 0)),
    (["Isolines", "SpacingFractionalEven"], (GL.ISOLINES, GL.FRACTIONAL_EVEN, GL.CCW, 0)),
    (["Quads", "SpacingFractionalOdd"], (GL.QUADS, GL.FRACTIONAL_ODD, GL.CCW, 0)),
    (["Triangles", "VertexOrderCw"], (GL.TRIANGLES, GL.EQUAL, GL.CW, 0)),
    (["Triangles", "PointMode"], (GL.TRIANGLES, GL.EQUAL, GL.CCW, 1)),
]


@pytest.mark.parametrize(("modes", "wanted"), EVALUATIONS)
def test_what_a_module_says_of_tessellation_is_answered(
    modes: list[str], wanted: tuple[int, int, int, int]
) -> None:
    gl = create_context("numpipe", profile="core", version=(4, 5), size=(8, 8))
    evaluation = stage("Tessellation", "TessellationEvaluation", modes, **POSITION)
    program = linked(gl, (GL.VERTEX_SHADER, PASSTHROUGH), (GL.TESS_EVALUATION_SHADER, evaluation))
    names = (GL.TESS_GEN_MODE, GL.TESS_GEN_SPACING, GL.TESS_GEN_VERTEX_ORDER)
    found = [gl.get_programiv(program, n)[0] for n in (*names, GL.TESS_GEN_POINT_MODE)]
    assert tuple(found) == wanted
    assert gl.get_error() == 0
    gl.get_programiv(program, GL.TESS_CONTROL_OUTPUT_VERTICES)
    assert gl.get_error() == GL.INVALID_OPERATION
    gl.release()


GEOMETRIES: list[tuple[list[str], tuple[int, int, int, int]]] = [
    # execution modes -> input, output, vertices, invocations
    (["InputPoints", "OutputPoints", "OutputVertices 1"], (GL.POINTS, GL.POINTS, 1, 1)),
    (
        ["InputLines", "OutputLineStrip", "OutputVertices 7", "Invocations 3"],
        (GL.LINES, GL.LINE_STRIP, 7, 3),
    ),
    (
        ["Triangles", "OutputTriangleStrip", "OutputVertices 4"],
        (GL.TRIANGLES, GL.TRIANGLE_STRIP, 4, 1),
    ),
    (
        ["InputLinesAdjacency", "OutputPoints", "OutputVertices 2", "Invocations 1"],
        (GL.LINES_ADJACENCY, GL.POINTS, 2, 1),
    ),
    (
        ["InputTrianglesAdjacency", "OutputLineStrip", "OutputVertices 5"],
        (GL.TRIANGLES_ADJACENCY, GL.LINE_STRIP, 5, 1),
    ),
]


@pytest.mark.parametrize(("modes", "wanted"), GEOMETRIES)
def test_what_a_module_says_of_geometry_is_answered(
    modes: list[str], wanted: tuple[int, int, int, int]
) -> None:
    gl = create_context("numpipe", profile="core", version=(4, 5), size=(8, 8))
    code = {**POSITION, "code": POSITION["code"] + "\nOpEmitVertex"}
    geometry = stage("Geometry", "Geometry", modes, **code)
    program = linked(gl, (GL.VERTEX_SHADER, PASSTHROUGH), (GL.GEOMETRY_SHADER, geometry))
    names = (GL.GEOMETRY_INPUT_TYPE, GL.GEOMETRY_OUTPUT_TYPE, GL.GEOMETRY_VERTICES_OUT)
    found = [gl.get_programiv(program, n)[0] for n in (*names, GL.GEOMETRY_SHADER_INVOCATIONS)]
    assert tuple(found) == wanted
    assert gl.get_error() == 0
    gl.release()


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 3, 1), (4, 1, 5)])
def test_a_module_runs_in_groups_of_the_size_it_says(size: tuple[int, int, int]) -> None:
    gl = create_context("numpipe", profile="core", version=(4, 5), size=(8, 8))
    counting = stage(
        "Shader",
        "GLCompute",
        ["LocalSize {} {} {}".format(*size)],
        decorations="""OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %counter DescriptorSet 0
        OpDecorate %counter Binding 0""",
        globals="""%block = OpTypeStruct %uint
        %stored = OpTypePointer StorageBuffer %block
        %number = OpTypePointer StorageBuffer %uint
        %none = OpConstant %uint 0
        %one = OpConstant %uint 1
        %counter = OpVariable %stored StorageBuffer""",
        code="""%place = OpAccessChain %number %counter %none
        %before = OpAtomicIAdd %uint %place %one %none %one""",
    )
    program = linked(gl, (GL.COMPUTE_SHADER, counting))
    assert gl.get_programiv(program, GL.COMPUTE_WORK_GROUP_SIZE) == list(size)
    buffer = gl.gen_buffers(1)[0]
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, buffer)
    gl.buffer_data(GL.SHADER_STORAGE_BUFFER, 4, bytes(4), GL.STATIC_DRAW)
    gl.use_program(program)
    gl.dispatch_compute(2, 1, 1)
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    counted = struct.unpack("<I", gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 4))[0]
    assert counted == 2 * size[0] * size[1] * size[2]
    assert gl.get_error() == 0
    gl.release()


COUNTED = """#version 450
layout(local_size_x = 1) in;
layout(binding = 1, offset = 8) uniform atomic_uint some[3];
layout(binding = 1, offset = 4) uniform atomic_uint one;
layout(binding = 0) uniform atomic_uint other;
void main() {
    atomicCounterIncrement(some[1]); atomicCounterIncrement(one); atomicCounterIncrement(other);
}
"""
RESOURCES = {
    GL.UNIFORM: (
        *(GL.TYPE, GL.ARRAY_SIZE, GL.OFFSET, GL.BLOCK_INDEX, GL.ARRAY_STRIDE, GL.MATRIX_STRIDE),
        *(GL.IS_ROW_MAJOR, GL.ATOMIC_COUNTER_BUFFER_INDEX, GL.LOCATION),
        *(GL.REFERENCED_BY_COMPUTE_SHADER, GL.REFERENCED_BY_FRAGMENT_SHADER),
    ),
    GL.ATOMIC_COUNTER_BUFFER: (
        *(GL.BUFFER_BINDING, GL.BUFFER_DATA_SIZE, GL.NUM_ACTIVE_VARIABLES),
        *(GL.REFERENCED_BY_COMPUTE_SHADER, GL.REFERENCED_BY_FRAGMENT_SHADER),
    ),
}


def test_counters_of_a_module_are_described_as_those_of_glsl() -> None:
    gl = create_context("numpipe", profile="core", version=(4, 5), size=(8, 8))
    counting = stage(
        "AtomicStorage",
        "GLCompute",
        ["LocalSize 1 1 1"],
        decorations="""OpDecorate %some Binding 1
        OpDecorate %some Offset 8
        OpDecorate %one Binding 1
        OpDecorate %one Offset 4
        OpDecorate %other Binding 0
        OpDecorate %other Offset 0""",
        globals="""%uint_0 = OpConstant %uint 0
        %uint_1 = OpConstant %uint 1
        %uint_3 = OpConstant %uint 3
        %row = OpTypeArray %uint %uint_3
        %counters = OpTypePointer AtomicCounter %row
        %counter = OpTypePointer AtomicCounter %uint
        %some = OpVariable %counters AtomicCounter
        %one = OpVariable %counter AtomicCounter
        %other = OpVariable %counter AtomicCounter""",
        code="""%p = OpAccessChain %counter %some %uint_1
        %a = OpAtomicIIncrement %uint %p %uint_1 %uint_0
        %b = OpAtomicIIncrement %uint %one %uint_1 %uint_0
        %c = OpAtomicIIncrement %uint %other %uint_1 %uint_0""",
    )
    from_module = linked(gl, (GL.COMPUTE_SHADER, counting))
    shader, from_text = gl.create_shader(GL.COMPUTE_SHADER), gl.create_program()
    gl.shader_source(shader, COUNTED)
    gl.compile_shader(shader)
    gl.attach_shader(from_text, shader)
    gl.link_program(from_text)

    def described(program: int, interface: int) -> list[list[int]]:
        properties = RESOURCES[interface]
        count = gl.get_program_interfaceiv(program, interface, GL.ACTIVE_RESOURCES)[0]
        return sorted(
            gl.get_program_resourceiv(program, interface, i, len(properties), properties)
            for i in range(count)
        )

    for interface, number in ((GL.UNIFORM, 3), (GL.ATOMIC_COUNTER_BUFFER, 2)):
        wanted = described(from_text, interface)
        assert len(wanted) == number
        assert described(from_module, interface) == wanted
    assert gl.get_error() == 0
    gl.release()


def test_resources_that_a_module_does_not_name_have_empty_names(gl: Any) -> None:
    unnamed = FRAGMENT.replace('"shade"', '"main"')
    named = unnamed.replace("OpDecorate %color", 'OpName %tint "tint"\nOpDecorate %color', 1)
    for name, text in (("", unnamed), ("tint", named)):
        program = linked(gl, (GL.VERTEX_SHADER, PASSTHROUGH), (GL.FRAGMENT_SHADER, text))
        assert gl.get_active_uniform(program, 0)[2] == name
        assert gl.get_uniform_location(program, name) == (5 if name else -1)
        assert gl.get_programiv(program, GL.ACTIVE_UNIFORM_MAX_LENGTH) == [len(name) + 1]
        assert gl.get_program_resource_name(program, GL.UNIFORM, 0) == name
        properties = [GL.NAME_LENGTH, GL.LOCATION]
        answer = gl.get_program_resourceiv(program, GL.UNIFORM, 0, 2, properties)
        assert answer == [len(name) + 1, 5]
        index = gl.get_program_resource_index(program, GL.PROGRAM_OUTPUT, "")
        assert index == GL.INVALID_INDEX
        assert gl.get_active_attrib(program, 0)[2] == ""
    assert gl.get_error() == 0
