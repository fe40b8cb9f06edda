"""Programs, uniforms, attributes and uniform blocks, on our GL and on the native one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import PLAIN_VS, compiled, errors, linked, pixels, program, quad

BLOCKS_FS = """#version 330
layout(std140) uniform Block {
    vec3 a;
    float b;
    mat2x3 m;
    vec2 list[3];
} block;
uniform struct Light { vec4 color; float power; } lights[2];
uniform mat3 transform;
uniform ivec2 numbers[4];
uniform bool flag;
uniform sampler2DShadow shadow_map;
out vec4 result;
void main() {
    vec3 sum = block.a * block.b + block.m * block.list[1];
    sum += transform * lights[0].color.rgb * lights[1].power + float(numbers[2].y);
    sum += texture(shadow_map, vec3(0.5)) + float(flag) + lights[1].color.a + lights[0].power;
    result = vec4(sum, 1.0);
}
"""


def test_uniform_values_come_back(gl: GLInterface) -> None:
    name = program(gl, fragment=BLOCKS_FS)
    numbers = gl.get_uniform_location(name, "numbers[1]")
    gl.uniform2iv(numbers, 2, [1, -2, 3, -4])
    assert gl.get_uniformiv(name, numbers) == [1, -2]
    assert gl.get_uniformiv(name, numbers + 1) == [3, -4]
    assert gl.get_uniformfv(name, numbers) == [1.0, -2.0]
    transform = gl.get_uniform_location(name, "transform")
    gl.uniform_matrix3fv(transform, 1, 1, list(range(9)))
    assert gl.get_uniformfv(name, transform) == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    flag = gl.get_uniform_location(name, "flag")
    gl.uniform1f(flag, 0.25)
    assert gl.get_uniformiv(name, flag) == [1]
    assert errors(gl) == []


def test_attributes_are_enumerated_and_bound(gl: GLInterface) -> None:
    vertex = (
        "#version 330\nin vec4 first;\nin mat3 second;\nin ivec2 third;\nvoid main() {\n"
        "gl_Position = first + vec4(second * vec3(1.0), float(third.x + gl_VertexID));\n}\n"
    )
    name = gl.create_program()
    plain = "#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }\n"
    for kind, source in ((GL.VERTEX_SHADER, vertex), (GL.FRAGMENT_SHADER, plain)):
        gl.attach_shader(name, compiled(gl, kind, source))
    gl.bind_attrib_location(name, 7, "third")
    gl.bind_attrib_location(name, 2, "second")
    gl.link_program(name)
    assert gl.get_attrib_location(name, "third") == 7
    assert gl.get_attrib_location(name, "second") == 2
    assert gl.get_attrib_location(name, "nothing") == -1
    count = gl.get_programiv(name, GL.ACTIVE_ATTRIBUTES)[0]
    found = {}
    for index in range(count):
        size, type, text = gl.get_active_attrib(name, index)
        found[text] = (size, GL.name_of(type))
    assert found == {
        "first": (1, "GL_FLOAT_VEC4"),
        "second": (1, "GL_FLOAT_MAT3"),
        "third": (1, "GL_INT_VEC2"),
        "gl_VertexID": (1, "GL_INT"),
    }


def test_program_interfaces_list_resources(gl: GLInterface) -> None:
    name = program(gl, fragment=BLOCKS_FS)
    count = gl.get_program_interfaceiv(name, GL.UNIFORM, GL.ACTIVE_RESOURCES)
    assert count == gl.get_programiv(name, GL.ACTIVE_UNIFORMS)
    index = gl.get_program_resource_index(name, GL.UNIFORM, "numbers")
    assert gl.get_program_resource_name(name, GL.UNIFORM, index) == "numbers[0]"
    props = [GL.TYPE, GL.BLOCK_INDEX, GL.NAME_LENGTH]
    values = gl.get_program_resourceiv(name, GL.UNIFORM, index, 3, props)
    assert values == [GL.INT_VEC2, -1 & 0xFFFFFFFF, 11] or values == [GL.INT_VEC2, -1, 11]
    location = gl.get_program_resource_location(name, GL.UNIFORM, "numbers[2]")
    assert location == gl.get_uniform_location(name, "numbers[2]")
    assert gl.get_program_resource_name(name, GL.PROGRAM_INPUT, 0) == "position"
    assert gl.get_program_resource_name(name, GL.PROGRAM_OUTPUT, 0) == "result"
    block = gl.get_program_resourceiv(
        name, GL.UNIFORM_BLOCK, 0, 2, [GL.BUFFER_DATA_SIZE, GL.NUM_ACTIVE_VARIABLES]
    )
    assert block == [96, 4]
    gl.get_program_resource_index(name, GL.ATOMIC_COUNTER_BUFFER, "x")
    assert errors(gl) == ["GL_INVALID_ENUM"]
    gl.get_program_resource_name(name, GL.UNIFORM, 1000)
    assert errors(gl) == ["GL_INVALID_VALUE"]


BUFFERS_CS = """#version 450
layout(local_size_x = 1) in;
struct S { vec2 a; float b[3]; };
layout(std430) buffer A { float f; float g[4]; float h[2][3]; S s; S t[3]; } a;
layout(std140, row_major) buffer B { mat2x3 m; mat2x3 p[2][2]; S q[]; };
layout(std430) buffer D { int k; float x[]; };
void main()
{
    a.f = 1.0;
    a.s = a.t[1];
    a.h[1][0] = a.g[0] + x[5];
    m[0][0] = q[5].b[1] + p[1][1][0][0];
}
"""


def test_buffer_variables_have_properties_of_their_array(gl: GLInterface) -> None:
    """Of an array of structures or arrays the first element is listed, and how many there are."""
    name = linked(gl, compute=BUFFERS_CS, used=False)
    props = [GL.OFFSET, GL.ARRAY_SIZE, GL.TOP_LEVEL_ARRAY_SIZE, GL.TOP_LEVEL_ARRAY_STRIDE]
    for member, expected in {
        "A.f": [0, 1, 1, 0],
        "A.g[0]": [4, 4, 1, 0],
        "A.h[0][0]": [20, 3, 2, 12],
        "A.s.b[0]": [56, 3, 1, 0],
        "A.t[0].b[0]": [80, 3, 3, 24],
        "x[0]": [4, 0, 1, 0],
        "p[0][0]": [48, 2, 2, 96],
        "q[0].b[0]": [256, 3, 0, 64],
    }.items():
        index = gl.get_program_resource_index(name, GL.BUFFER_VARIABLE, member)
        assert index != GL.INVALID_INDEX, member
        values = gl.get_program_resourceiv(name, GL.BUFFER_VARIABLE, index, 4, props)
        assert values == expected, member
    assert errors(gl) == []


def test_deletion_is_deferred_until_the_last_use_ends(gl: GLInterface) -> None:
    name = gl.create_program()
    shader = compiled(gl, GL.VERTEX_SHADER, PLAIN_VS)
    gl.attach_shader(name, shader)
    gl.delete_shader(shader)
    assert gl.get_shaderiv(shader, GL.DELETE_STATUS) == [1]
    assert gl.is_shader(shader)
    gl.delete_program(name)
    assert not gl.is_shader(shader) and not gl.is_program(name)
    used = program(gl)
    gl.delete_program(used)
    assert gl.get_programiv(used, GL.DELETE_STATUS) == [1]
    gl.use_program(0)
    assert not gl.is_program(used)


def test_compile_and_link_failures_have_logs(gl: GLInterface) -> None:
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    gl.shader_source(shader, ["#version 330\n", "void main() { undeclared = 1; }\n"])
    gl.compile_shader(shader)
    assert gl.get_shaderiv(shader, GL.COMPILE_STATUS) == [0]
    log = gl.get_shader_info_log(shader)
    assert "undeclared" in log
    assert gl.get_shaderiv(shader, GL.INFO_LOG_LENGTH) == [len(log) + 1]
    name = gl.create_program()
    gl.attach_shader(name, shader)
    gl.link_program(name)
    assert gl.get_programiv(name, GL.LINK_STATUS) == [0]
    assert gl.get_program_info_log(name)
    gl.use_program(name)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_fences_signal(gl: GLInterface) -> None:
    fence = gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0)
    assert gl.is_sync(fence)
    status = gl.client_wait_sync(fence, GL.SYNC_FLUSH_COMMANDS_BIT, 10**9)
    assert status in (GL.ALREADY_SIGNALED, GL.CONDITION_SATISFIED)
    assert gl.get_synciv(fence, GL.SYNC_STATUS) == [GL.SIGNALED]
    gl.delete_sync(fence)
    assert not gl.is_sync(fence)


SIZES = [(0, n) for n in (1, 2, 3, 4)] + [(a, b) for a in (2, 3, 4) for b in (2, 3, 4)]
OF_UNIFORMS = [
    (letter, *size)
    for letter in ("f", "d", "i", "ui")
    for size in SIZES
    if letter in "fd" or not size[0]
]


@pytest.mark.parametrize(("letter", "columns", "rows"), OF_UNIFORMS)
def test_a_uniform_is_seen_by_the_next_draw_whatever_set_it(
    letter: str, columns: int, rows: int
) -> None:
    """Two elements of each type, by the program in use and by name, transposed or not.

    The driver is one that is handed the uniforms when they are told to have changed only.
    """
    ours = create_context("simd", version=(4, 1), size=(64, 64))
    scalar = {"f": "float", "d": "double", "i": "int", "ui": "uint"}[letter]
    prefix = {"f": "", "d": "d", "i": "i", "ui": "u"}[letter]
    kind = f"{prefix}mat{columns}x{rows}" if columns else f"{prefix}vec{rows}"
    kind = scalar if (columns, rows) == (0, 1) else kind
    each = max(columns, 1) * rows
    values = np.arange(1, 2 * each + 1)
    first, second = (", ".join(map(str, half)) for half in np.split(values, 2))
    name = program(
        ours,
        fragment=f"#version 410\nuniform {kind} u[2]; out vec4 result; void main() {{ result ="
        f"vec4(u[0] == {kind}({first}) && u[1] == {kind}({second})); }}",
    )
    quad(ours, name)
    at = ours.get_uniform_location(name, "u[0]")
    dtype = {"f": np.float32, "d": np.float64, "i": np.int32, "ui": np.uint32}[letter]
    shape = str(columns) if columns == rows else f"{columns}x{rows}"

    def array(data: Any, turned: bool, *by: int) -> None:
        front = "program_uniform" if by else "uniform"
        if not columns:
            getattr(ours, f"{front}{rows}{letter}v")(*by, at, 2, data.astype(dtype))
            return
        if turned:
            data = data.reshape(2, columns, rows).transpose(0, 2, 1)
        data = np.ascontiguousarray(data, dtype)
        getattr(ours, f"{front}_matrix{shape}{letter}v")(*by, at, 2, turned, data)

    def single(data: Any, *by: int) -> None:
        front = "program_uniform" if by else "uniform"
        for number, some in enumerate(np.split(data, 2)):
            getattr(ours, f"{front}{rows}{letter}")(*by, at + number, *some.tolist())

    ways: list[Callable[[Any], None]] = [
        lambda data: array(data, False),
        lambda data: array(data, False, name),
    ]
    if columns:
        ways += [lambda data: array(data, True), lambda data: array(data, True, name)]
    else:
        ways += [single, lambda data: single(data, name)]
    for way in ways:
        for data in (values, values * 0):
            way(data)
            ours.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            assert (pixels(ours)[0, 0] == (255 if data.any() else 0)).all()
    assert errors(ours) == []
    ours.release()


def built_in_attributes(gl: GLInterface) -> list[Any]:
    """How attributes that GLSL brings along are told about."""
    vertex = """#version 150 compatibility
        in vec4 own;
        void main() { gl_Position = gl_Vertex + own * float(gl_VertexID) + gl_MultiTexCoord3; }"""
    made = program(gl, vertex, "#version 150\nout vec4 c; void main() { c = vec4(1); }")
    found: list[Any] = []
    for name in ("gl_Vertex", "gl_VertexID", "gl_MultiTexCoord3", "own"):
        index = gl.get_program_resource_index(made, GL.PROGRAM_INPUT, name)
        asked = np.array([GL.LOCATION, GL.TYPE, GL.ARRAY_SIZE], np.uint32)
        told = np.zeros(3, np.int32)
        gl.get_program_resourceiv(made, GL.PROGRAM_INPUT, index, 3, asked, 3, None, told)
        found.append((name, gl.get_attrib_location(made, name), told.tolist()[1:]))
        found.append((name, bool(told[0] >= 0)))
    return found


@pytest.mark.native
def test_built_in_attributes_have_no_locations() -> None:
    seen = []
    for driver in ("numpipe", "native:llvmpipe"):
        with create_context(driver, profile="compat", version=(4, 3)) as gl:
            seen.append(built_in_attributes(gl))
    assert seen[0] == seen[1]
    assert [each for each in seen[0] if len(each) == 2] == [
        ("gl_Vertex", False), ("gl_VertexID", False), ("gl_MultiTexCoord3", False), ("own", True)
    ]  # fmt: skip
