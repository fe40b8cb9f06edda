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
    assert tuple(gl.read_pixels(4, 4, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)) == (255, 102, 0, 255)
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
