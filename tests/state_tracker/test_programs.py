"""Programs, uniforms, attributes and uniform blocks, on our GL and on the native one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import PLAIN_VS, compiled, errors, pixels, program, quad

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


def test_active_uniforms_are_enumerated_like_on_native_gl(gl: GLInterface) -> None:
    name = program(gl, fragment=BLOCKS_FS)
    count = gl.get_programiv(name, GL.ACTIVE_UNIFORMS)[0]
    found = {}
    for index in range(count):
        size, type, text = gl.get_active_uniform(name, index)
        found[text] = (size, GL.name_of(type))
    numbers = found.pop("numbers[0]")
    assert numbers in ((3, "GL_INT_VEC2"), (4, "GL_INT_VEC2"))  # trailing elements are unused
    assert found == {
        "Block.a": (1, "GL_FLOAT_VEC3"),
        "Block.b": (1, "GL_FLOAT"),
        "Block.m": (1, "GL_FLOAT_MAT2x3"),
        "Block.list[0]": (3, "GL_FLOAT_VEC2"),
        "lights[0].color": (1, "GL_FLOAT_VEC4"),
        "lights[0].power": (1, "GL_FLOAT"),
        "lights[1].color": (1, "GL_FLOAT_VEC4"),
        "lights[1].power": (1, "GL_FLOAT"),
        "transform": (1, "GL_FLOAT_MAT3"),
        "flag": (1, "GL_BOOL"),
        "shadow_map": (1, "GL_SAMPLER_2D_SHADOW"),
    }
    longest = gl.get_programiv(name, GL.ACTIVE_UNIFORM_MAX_LENGTH)[0]
    assert longest == len("lights[0].color") + 1


def test_std140_layout_is_queried(gl: GLInterface) -> None:
    name = program(gl, fragment=BLOCKS_FS)
    names = ["Block.a", "Block.b", "Block.m", "Block.list[0]", "flag", "nothing"]
    indices = gl.get_uniform_indices(name, names)
    assert indices[-1] == 0xFFFFFFFF

    def get(pname: int) -> list[int]:
        return list(gl.get_active_uniformsiv(name, 5, indices[:5], pname))

    assert get(GL.UNIFORM_OFFSET) == [0, 12, 16, 48, -1]
    assert get(GL.UNIFORM_ARRAY_STRIDE) == [0, 0, 0, 16, -1]
    assert get(GL.UNIFORM_MATRIX_STRIDE) == [0, 0, 16, 0, -1]
    assert get(GL.UNIFORM_BLOCK_INDEX) == [0, 0, 0, 0, -1]
    size = gl.get_active_uniform_blockiv(name, 0, GL.UNIFORM_BLOCK_DATA_SIZE)
    assert size == [96]
    assert gl.get_active_uniform_block_name(name, 0) == "Block"
    members = gl.get_active_uniform_blockiv(name, 0, GL.UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES)
    assert sorted(members) == sorted(indices[:4])
    assert gl.get_uniform_block_index(name, "Nothing") == 0xFFFFFFFF
    assert errors(gl) == []


def test_locations_of_array_elements_and_members(gl: GLInterface) -> None:
    name = program(gl, fragment=BLOCKS_FS)
    location = gl.get_uniform_location
    base = location(name, "numbers")
    assert base == location(name, "numbers[0]") >= 0
    assert location(name, "numbers[2]") == base + 2
    assert location(name, "numbers[9]") == -1
    assert location(name, "lights[1].power") >= 0
    assert location(name, "Block.a") == -1
    assert location(name, "gl_FragCoord") == -1


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


def test_uniform_initialisers_and_relinking(gl: GLInterface) -> None:
    fragment = (
        "#version 330\nuniform vec2 pair = vec2(0.5, 0.25);\nout vec4 result;\n"
        "void main() { result = vec4(pair, 0.0, 1.0); }\n"
    )
    name = program(gl, fragment=fragment)
    location = gl.get_uniform_location(name, "pair")
    assert gl.get_uniformfv(name, location) == [0.5, 0.25]
    gl.uniform2f(location, 1.0, 1.0)
    gl.link_program(name)
    assert gl.get_uniformfv(name, gl.get_uniform_location(name, "pair")) == [0.5, 0.25]


def test_uniform_buffers_feed_blocks(gl: GLInterface) -> None:
    fragment = (
        "#version 330\nlayout(std140) uniform Color { vec4 first; vec4 second; };\n"
        "out vec4 result;\nvoid main() { result = first + second; }\n"
    )
    name = program(gl, fragment=fragment)
    quad(gl, name)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.UNIFORM_BUFFER, buffer)
    data = np.zeros(128, np.float32)
    data[64:72] = [0.2, 0, 0, 1, 0, 0.4, 0, 0]
    gl.buffer_data(GL.UNIFORM_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    gl.uniform_block_binding(name, 0, 5)
    gl.bind_buffer_range(GL.UNIFORM_BUFFER, 5, buffer, 256, 32)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert pixels(gl)[9, 9].tolist() == [51, 102, 0, 255]
    gl.buffer_sub_data(GL.UNIFORM_BUFFER, 256, 4, np.array([1.0], np.float32))
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert pixels(gl)[9, 9].tolist() == [255, 102, 0, 255]
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
    name = gl.create_program()
    gl.attach_shader(name, compiled(gl, GL.COMPUTE_SHADER, BUFFERS_CS))
    gl.link_program(name)
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


def test_a_deleted_shader_is_there_until_it_is_detached(gl: GLInterface) -> None:
    """From every program; one that is not deleted stays."""
    shader, other = (compiled(gl, GL.VERTEX_SHADER, PLAIN_VS) for _ in range(2))
    programs = [gl.create_program() for _ in range(2)]
    for name in programs:
        gl.attach_shader(name, shader)
        gl.attach_shader(name, other)
    gl.delete_shader(shader)
    for name in programs:
        assert gl.is_shader(shader) and gl.get_programiv(name, GL.ATTACHED_SHADERS) == [2]
        gl.detach_shader(name, shader)
        gl.detach_shader(name, other)
        assert gl.get_programiv(name, GL.ATTACHED_SHADERS) == [0]
    assert not gl.is_shader(shader) and gl.is_shader(other)
    gl.attach_shader(programs[0], shader)
    assert errors(gl) == ["GL_INVALID_VALUE"]


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


def test_fragment_outputs_have_locations(gl: GLInterface) -> None:
    fragment = (
        "#version 330\nout vec4 a;\nlayout(location = 3) out vec4 b;\n"
        "void main() { a = vec4(0.0); b = vec4(1.0); }\n"
    )
    name = program(gl, fragment=fragment)
    assert gl.get_frag_data_location(name, "b") == 3
    assert gl.get_frag_data_location(name, "a") >= 0
    assert gl.get_frag_data_location(name, "c") == -1


def test_vertex_formats_reach_the_shader(gl: GLInterface) -> None:
    vertex = """#version 330
    in vec2 position;
    in vec4 bytes; in vec2 shorts; in vec3 halves; in ivec2 integers; in vec4 words;
    flat out vec4 color;
    void main() {
        color = vec4(bytes.x, shorts.y, halves.z, (float(integers.y) + words.x) / 4.0);
        gl_Position = vec4(position, 0.0, 1.0);
    }
    """
    fragment = "#version 330\nflat in vec4 color;\nout vec4 c;\nvoid main() { c = color; }\n"
    name = program(gl, vertex, fragment)
    quad(gl, name)
    record = np.zeros(
        4,
        [("b", "u1", 4), ("s", "<i2", 2), ("h", "<f2", 4), ("i", "<i4", 2), ("p", "<u4")],
    )
    record["b"], record["s"], record["h"] = 51, 16384, 0.75
    record["i"], record["p"] = (7, 1), 0x1FF
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, record.nbytes, record.view(np.uint8), GL.STATIC_DRAW)
    stride = record.itemsize
    at = {n: gl.get_attrib_location(name, n) for n in ("bytes", "shorts", "halves", "words")}
    gl.vertex_attrib_pointer(at["bytes"], 4, GL.UNSIGNED_BYTE, 1, stride, 0)
    gl.vertex_attrib_pointer(at["shorts"], 2, GL.SHORT, 1, stride, 4)
    gl.vertex_attrib_pointer(at["halves"], 3, GL.HALF_FLOAT, 0, stride, 8)
    gl.vertex_attrib_pointer(at["words"], 4, GL.INT_2_10_10_10_REV, 1, stride, 24)
    integers = gl.get_attrib_location(name, "integers")
    gl.vertex_attrib_i_pointer(integers, 2, GL.INT, stride, 16)
    for location in (*at.values(), integers):
        gl.enable_vertex_attrib_array(location)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert errors(gl) == []
    assert np.abs(pixels(gl)[20, 20].astype(int) - [51, 128, 191, 128]).max() <= 1


def test_current_values_serve_attributes_without_arrays(gl: GLInterface) -> None:
    vertex = """#version 330
    in vec2 position; in vec3 tint; in uvec2 whole;
    flat out vec4 color;
    void main() {
        color = vec4(tint.xy, float(whole.y) / 255.0, 1.0);
        gl_Position = vec4(position, 0.0, 1.0);
    }
    """
    fragment = "#version 330\nflat in vec4 color;\nout vec4 c;\nvoid main() { c = color; }\n"
    name = program(gl, vertex, fragment)
    quad(gl, name)
    tint, whole = (gl.get_attrib_location(name, n) for n in ("tint", "whole"))
    gl.vertex_attrib3f(tint, 0.2, 0.4, 0.0)
    gl.vertex_attrib_i4ui(whole, 0, 77, 0, 0)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert pixels(gl)[1, 1].tolist() == [51, 102, 77, 255]
    gl.vertex_attrib4nub(tint, 255, 0, 0, 0)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert pixels(gl)[1, 1].tolist() == [255, 0, 77, 255]


def test_restart_base_vertex_and_divisors(gl: GLInterface) -> None:
    vertex = """#version 330
    in vec2 position; in float shade;
    flat out float value;
    void main() {
        value = shade;
        gl_Position = vec4(position + vec2(float(gl_InstanceID), 0.0), 0.0, 1.0);
    }
    """
    fragment = "#version 330\nflat in float value;\nout vec4 c;\nvoid main() { c = vec4(value); }\n"
    name = program(gl, vertex, fragment)
    (vao,) = gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(vao)
    points, shades, indices = gl.gen_buffers(3)
    gl.bind_buffer(GL.ARRAY_BUFFER, points)
    data = np.array([9, 9, -1, -1, 0, -1, -1, 0, 0, 0, -1, 0, -0.5, 0, -1, 1], np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    position, shade = (gl.get_attrib_location(name, n) for n in ("position", "shade"))
    gl.vertex_attrib_pointer(position, 2, GL.FLOAT, 0, 0, None)
    gl.bind_buffer(GL.ARRAY_BUFFER, shades)
    data = np.array([0.2, 0.4], np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(shade, 1, GL.FLOAT, 0, 0, None)
    gl.vertex_attrib_divisor(shade, 1)
    gl.enable_vertex_attrib_array(position)
    gl.enable_vertex_attrib_array(shade)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, indices)
    order = np.array([0, 1, 2, 3, 999, 4, 5, 6], np.uint16)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, order.nbytes, order, GL.STATIC_DRAW)
    gl.enable(GL.PRIMITIVE_RESTART)
    gl.primitive_restart_index(999)
    gl.draw_elements_instanced_base_vertex(GL.TRIANGLE_STRIP, 8, GL.UNSIGNED_SHORT, None, 2, 1)
    assert errors(gl) == []
    image = pixels(gl)[..., 0]
    assert image[10, 10] == 51 and image[10, 42] == 102
    assert image[36, 2] == 51 and image[60, 60] == 0


def test_queries_count(gl: GLInterface) -> None:
    quad(gl, program(gl))
    samples, primitives = gl.gen_queries(2)
    gl.begin_query(GL.SAMPLES_PASSED, samples)
    gl.begin_query(GL.PRIMITIVES_GENERATED, primitives)
    gl.viewport(0, 0, 16, 8)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gl.begin_query(GL.ANY_SAMPLES_PASSED, samples)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.end_query(GL.PRIMITIVES_GENERATED)
    gl.end_query(GL.SAMPLES_PASSED)
    assert gl.get_query_objectiv(samples, GL.QUERY_RESULT) == [128]
    assert gl.get_query_objectuiv(primitives, GL.QUERY_RESULT) == [2]
    assert gl.get_query_objectui64v(samples, GL.QUERY_RESULT_AVAILABLE) == [1]


@pytest.mark.parametrize("visible", [True, False])
def test_conditional_rendering(gl: GLInterface, visible: bool) -> None:
    name = program(gl)
    quad(gl, name)
    (query,) = gl.gen_queries(1)
    gl.enable(GL.SCISSOR_TEST)
    gl.scissor(0, 0, 8 if visible else 0, 8)
    gl.begin_query(GL.ANY_SAMPLES_PASSED, query)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gl.end_query(GL.ANY_SAMPLES_PASSED)
    gl.disable(GL.SCISSOR_TEST)
    gl.uniform4f(gl.get_uniform_location(name, "color"), 1.0, 1.0, 1.0, 1.0)
    gl.begin_conditional_render(query, GL.QUERY_WAIT)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gl.end_conditional_render()
    assert bool(pixels(gl)[60, 60, 0]) is visible


def test_transform_feedback_captures_both_ways(gl: GLInterface) -> None:
    vertex = (
        "#version 330\nin vec2 position;\nout vec3 big;\nout float small;\nvoid main() {\n"
        "big = vec3(position, 3.0);\nsmall = position.x * 2.0;\ngl_Position = vec4(0.0);\n}\n"
    )
    for mode, expected in (
        (GL.INTERLEAVED_ATTRIBS, [[-1, -1, 3, -2, 1, -1, 3, 2]]),
        (GL.SEPARATE_ATTRIBS, [[-1, -1, 3, 1, -1, 3], [-2, 2]]),
    ):
        name = gl.create_program()
        gl.attach_shader(name, compiled(gl, GL.VERTEX_SHADER, vertex))
        fragment = "#version 330\nvoid main() {}\n"
        gl.attach_shader(name, compiled(gl, GL.FRAGMENT_SHADER, fragment))
        gl.transform_feedback_varyings(name, ["big", "small"], mode)
        gl.link_program(name)
        gl.use_program(name)
        quad(gl, name)
        size, type, text = gl.get_transform_feedback_varying(name, 0)
        assert (size, GL.name_of(type), text) == (1, "GL_FLOAT_VEC3", "big")
        buffers = gl.gen_buffers(len(expected))
        for i, buffer in enumerate(buffers):
            gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, i, buffer)
            gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 64, bytes(64), GL.STREAM_READ)
        (query,) = gl.gen_queries(1)
        gl.begin_query(GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query)
        gl.begin_transform_feedback(GL.POINTS)
        gl.draw_arrays(GL.POINTS, 0, 2)
        gl.draw_arrays(GL.LINES, 0, 2)
        assert errors(gl) == ["GL_INVALID_OPERATION"]
        gl.end_transform_feedback()
        gl.end_query(GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN)
        assert gl.get_query_objectiv(query, GL.QUERY_RESULT) == [2]
        for buffer, values in zip(buffers, expected, strict=True):
            gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
            raw = gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 4 * len(values))
            assert np.frombuffer(raw, np.float32).tolist() == values
        assert errors(gl) == []


@pytest.mark.parametrize(
    ("mode", "names", "error"),
    [
        (GL.SEPARATE_ATTRIBS, ["a", "gl_NextBuffer"], "GL_INVALID_OPERATION"),
        (GL.SEPARATE_ATTRIBS, ["gl_SkipComponents4"], "GL_INVALID_OPERATION"),
        (GL.SEPARATE_ATTRIBS, ["gl_SkipComponents5"], ""),
        (GL.INTERLEAVED_ATTRIBS, ["gl_SkipComponents1", "a", "gl_NextBuffer"], ""),
        (GL.INTERLEAVED_ATTRIBS, ["a", "gl_NextBuffer"] * 3, ""),
        (GL.INTERLEAVED_ATTRIBS, ["a", "gl_NextBuffer"] * 4, "GL_INVALID_OPERATION"),
    ],
)
def test_gaps_belong_between_varyings(
    gl: GLInterface, mode: int, names: list[str], error: str
) -> None:
    """And there are four buffers."""
    gl.transform_feedback_varyings(gl.create_program(), len(names), names, mode)
    assert errors(gl) == ([error] if error else [])


def test_captures_reach_to_where_the_buffer_ends_later(compat: GLInterface) -> None:
    gl, target = compat, GL.TRANSFORM_FEEDBACK_BUFFER
    name = gl.create_program()
    vertex = "in float a;\nout float b;\nvoid main() { b = a; gl_Position = vec4(0.0); }\n"
    gl.attach_shader(name, compiled(gl, GL.VERTEX_SHADER, "#version 130\n" + vertex))
    gl.transform_feedback_varyings(name, 1, ["b"], GL.INTERLEAVED_ATTRIBS)
    gl.link_program(name)
    gl.use_program(name)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(target, buffer)
    gl.buffer_data(target, 8, bytes(8), GL.STREAM_READ)
    gl.bind_buffer_offset_ext(target, 0, buffer, 8)
    gl.buffer_data(target, 20, bytes(20), GL.STREAM_READ)
    quad(gl, name, "a")
    gl.vertex_attrib_pointer(gl.get_attrib_location(name, "a"), 1, GL.FLOAT, 0, 0, None)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 5)
    gl.end_transform_feedback()
    raw = gl.get_buffer_sub_data(target, 0, 20)
    assert errors(gl) == []
    assert np.frombuffer(raw, np.float32).tolist() == [0.0, 0.0, -1.0, -1.0, 1.0]


def test_arrays_are_switched_without_a_vertex_array(gl: GLInterface) -> None:
    """Core profiles have none by default; more than that needs one."""
    gl.bind_vertex_array(0)
    gl.enable_vertex_attrib_array(0)
    gl.disable_vertex_attrib_array(0)
    gl.vertex_attrib_divisor(0, 0)
    assert errors(gl) == []
    gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 0, None)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_captured_vertices_are_drawn_without_counting_them(gl: GLInterface) -> None:
    vertex = (
        "#version 330\nin vec2 position;\nout vec2 moved;\nvoid main() {\n"
        "moved = position * 0.5;\ngl_Position = vec4(0.0);\n}\n"
    )
    capture = gl.create_program()
    gl.attach_shader(capture, compiled(gl, GL.VERTEX_SHADER, vertex))
    gl.attach_shader(capture, compiled(gl, GL.FRAGMENT_SHADER, "#version 330\nvoid main() {}\n"))
    gl.transform_feedback_varyings(capture, ["moved"], GL.INTERLEAVED_ATTRIBS)
    gl.link_program(capture)
    gl.use_program(capture)
    quad(gl, capture)
    (feedback,) = gl.gen_transform_feedbacks(1)
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, feedback)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer)
    gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 256, bytes(256), GL.DYNAMIC_COPY)
    gl.enable(GL.RASTERIZER_DISCARD)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 4)
    gl.end_transform_feedback()
    gl.disable(GL.RASTERIZER_DISCARD)
    name = program(gl)
    gl.uniform4f(gl.get_uniform_location(name, "color"), 1.0, 1.0, 1.0, 1.0)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    location = gl.get_attrib_location(name, "position")
    gl.enable_vertex_attrib_array(location)
    gl.vertex_attrib_pointer(location, 2, GL.FLOAT, 0, 0, None)
    gl.draw_transform_feedback(GL.TRIANGLE_STRIP, feedback)
    assert errors(gl) == []
    assert (pixels(gl)[..., 0] == 255).sum() == 32 * 32


def test_fences_signal(gl: GLInterface) -> None:
    fence = gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0)
    assert gl.is_sync(fence)
    status = gl.client_wait_sync(fence, GL.SYNC_FLUSH_COMMANDS_BIT, 10**9)
    assert status in (GL.ALREADY_SIGNALED, GL.CONDITION_SATISFIED)
    assert gl.get_synciv(fence, GL.SYNC_STATUS) == [GL.SIGNALED]
    gl.delete_sync(fence)
    assert not gl.is_sync(fence)


def test_the_explicit_location_of_an_inactive_uniform_is_ignored(gl: GLInterface) -> None:
    program = gl.create_program()
    for kind, source in (
        (GL.VERTEX_SHADER, "void main() { gl_Position = vec4(0.0); }"),
        (
            GL.FRAGMENT_SHADER,
            "layout(location = 7) uniform float unused;\n"
            "layout(location = 3) uniform float used;\n"
            "out vec4 color;\nvoid main() { color = vec4(used); }",
        ),
    ):
        shader = gl.create_shader(kind)
        header = "#version 330\n#extension GL_ARB_explicit_uniform_location: require\n"
        gl.shader_source(shader, header + source)
        gl.compile_shader(shader)
        gl.attach_shader(program, shader)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS) == [1], gl.get_program_info_log(program)
    gl.use_program(program)
    gl.uniform1f(7, 1.0)
    gl.uniform1f(3, 0.5)
    assert gl.get_error() == GL.NO_ERROR
    gl.uniform1f(8, 1.0)
    assert gl.get_error() == GL.INVALID_OPERATION


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
