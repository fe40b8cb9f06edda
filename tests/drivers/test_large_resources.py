"""Resources as large as there may be, and larger: every texel and byte is where it should be.

Shaders count texels and bytes with 32-bit numbers. What would exceed these is refused; at the end
of what is allowed, and behind it, memory is read and written as everywhere else. (Storage is zeroed
by the system when it is touched, so these resources take a few pages.)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL
from tests.state_tracker.helpers import linked

DRIVERS = ["numpipe", "jit"]
LONGEST = (1 << 31) - 64


@pytest.fixture(params=DRIVERS)
def gl(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    context = create_context(request.param, profile="core", version=(3, 3), size=(8, 8))
    yield context
    context.release()


def in_450(gl: Any, **sources: str) -> int:
    """A program of shaders by stage, in use."""
    return linked(gl, **{stage: f"#version 450\n{source}" for stage, source in sources.items()})


def storage(gl: Any, target: int, size: int) -> int:
    """A buffer of zeros bound to binding 0 of a target."""
    name = int(gl.gen_buffers(1)[0])
    gl.bind_buffer_base(target, 0, name)
    gl.buffer_data(target, size, None, GL.STATIC_DRAW)
    assert gl.get_error() == 0
    return name


def words(gl: Any, first: int, count: int) -> list[int]:
    """Of the storage buffer that is bound."""
    data = gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 4 * first, 4 * count)
    return np.frombuffer(data, np.uint32).tolist()  # type: ignore[no-any-return]


# -- refused ---------------------------------------------------------------------------------------

TOO_LARGE = [
    (GL.R8UI, 9, 1),  # of 16384 x 16384: 2.25 GiB
    (GL.R8UI, 8, 1),  # exactly 2^31 texels
    (GL.RG8UI, 5, 1),
    (GL.RGBA32UI, 1, 1),
    (GL.R8UI, 7, 15),  # with all of its levels
]


@pytest.mark.parametrize(("format", "layers", "levels"), TOO_LARGE)
def test_a_texture_that_is_too_large_is_out_of_memory(
    gl: Any, format: int, layers: int, levels: int
) -> None:
    gl.bind_texture(GL.TEXTURE_2D_ARRAY, gl.gen_textures(1)[0])
    gl.tex_storage3d(GL.TEXTURE_2D_ARRAY, levels, format, 1 << 14, 1 << 14, layers)
    assert gl.get_error() == GL.OUT_OF_MEMORY


@pytest.mark.parametrize("size", [1 << 31, (1 << 31) + 64, 1 << 32, 1 << 40])
def test_a_buffer_that_is_too_large_is_out_of_memory_and_keeps_its_storage(
    gl: Any, size: int
) -> None:
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ARRAY_BUFFER, 4, b"kept", GL.STATIC_DRAW)
    gl.buffer_data(GL.ARRAY_BUFFER, size, None, GL.STATIC_DRAW)
    assert gl.get_error() == GL.OUT_OF_MEMORY
    assert bytes(gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 4)) == b"kept"
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_storage(GL.ARRAY_BUFFER, size, None, 0)
    assert gl.get_error() == GL.OUT_OF_MEMORY


def test_texels_of_a_compressed_texture_that_take_too_much_are_out_of_memory(gl: Any) -> None:
    """The blocks take 256 MiB, the texels that shaders gather 4 GiB."""
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.COMPRESSED_RGB_BPTC_SIGNED_FLOAT, 1 << 14, 1 << 14)
    assert gl.get_error() == 0
    in_450(
        gl,
        vertex="void main() { gl_Position = vec4(gl_VertexID * 2 - 1, gl_VertexID & 1, 0, 1); }",
        fragment="uniform sampler2D t; out vec4 c; void main() { c = texture(t, vec2(0.5)); }",
    )
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.finish()
    assert gl.get_error() == GL.OUT_OF_MEMORY


# -- allowed ---------------------------------------------------------------------------------------

PLACES = [(5, 6, 6), (16383, 16383, 6), (0, 0, 0), (16383, 0, 3)]


def test_texels_at_the_end_of_a_large_texture(gl: Any) -> None:
    """7 layers of 2^28 texels: their numbers take 31 bits."""
    gl.bind_texture(GL.TEXTURE_2D_ARRAY, gl.gen_textures(1)[0])
    gl.tex_storage3d(GL.TEXTURE_2D_ARRAY, 1, GL.R8UI, 1 << 14, 1 << 14, 7)
    for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D_ARRAY, name, GL.NEAREST)
    gl.bind_image_texture(0, gl.get_integerv(GL.TEXTURE_BINDING_2D_ARRAY)[0], 0, True, 0,
                          GL.READ_WRITE, GL.R8UI)  # fmt: skip
    storage(gl, GL.SHADER_STORAGE_BUFFER, 64)
    in_450(
        gl,
        compute="""layout(local_size_x = 1) in;
            layout(binding = 0, r8ui) uniform uimage2DArray image;
            layout(std430, binding = 0) buffer Found { uint found[]; };
            layout(location = 0) uniform ivec3 at;
            void main() {
                imageStore(image, at, uvec4(77 + at.z));
                imageStore(image, at + ivec3(0, 0, 7), uvec4(1));
                found[0] = imageLoad(image, at).x;
                found[1] = imageLoad(image, at + ivec3(0, 0, 7)).x;
            }""",
    )
    for place in PLACES:
        gl.uniform3i(0, *place)
        gl.dispatch_compute(1, 1, 1)
        assert words(gl, 0, 2) == [77 + place[2], 0], place
    in_450(
        gl,
        compute="""layout(local_size_x = 1) in;
            uniform usampler2DArray texture_;
            layout(std430, binding = 0) buffer Found { uint found[]; };
            layout(location = 0) uniform ivec3 at;
            void main() {
                found[0] = texelFetch(texture_, at, 0).x;
                found[1] = texelFetch(texture_, at + ivec3(0, 0, 8), 0).x;
                found[2] = textureLod(texture_, vec3((vec2(at) + 0.5) / 16384.0, at.z), 0.0).x;
            }""",
    )
    for place in PLACES:
        gl.uniform3i(0, *place)
        gl.dispatch_compute(1, 1, 1)
        assert words(gl, 0, 3) == [77 + place[2], 0, 77 + place[2]], place
    assert gl.get_error() == 0


def test_words_at_the_end_of_a_large_buffer_and_past_it(gl: Any) -> None:
    storage(gl, GL.SHADER_STORAGE_BUFFER, LONGEST)
    in_450(
        gl,
        compute="""layout(local_size_x = 1) in;
            layout(std430, binding = 0) buffer Words { uint found[]; };
            layout(location = 0) uniform uint at;
            void main() {
                found[at] += 5u; atomicAdd(found[at], 2u); found[1] = found[at] + 1u;
                found[2] = found.length();
            }""",
    )
    last = LONGEST // 4 - 1
    for at, value in ((3, 7), (last, 7), (last + 1, 0), (last + 16, 0), (0x3FFFFFFF, 0)):
        gl.uniform1ui(0, at)
        gl.dispatch_compute(1, 1, 1)
        assert words(gl, 1, 2) == [value + 1, last + 1], at
    assert words(gl, last, 1) == [7]
    assert gl.get_error() == 0


@pytest.mark.parametrize("stride", [4, 2044, 2048])
def test_vertices_at_the_end_of_a_large_buffer_and_past_it(gl: Any, stride: int) -> None:
    name = storage(gl, GL.SHADER_STORAGE_BUFFER, LONGEST)
    last = (LONGEST - 4) // stride
    gl.bind_buffer(GL.ARRAY_BUFFER, name)
    gl.buffer_sub_data(GL.ARRAY_BUFFER, last * stride, 4, struct.pack("f", 0.5))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.vertex_attrib_pointer(0, 1, GL.FLOAT, False, stride, 0)
    gl.enable_vertex_attrib_array(0)
    numbers = [last, last + 1, last + (1 << 20), (1 << 32) - 1]
    indices = gl.gen_buffers(1)[0]
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, indices)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, 16, struct.pack("4I", *numbers), GL.STATIC_DRAW)
    in_450(
        gl,
        vertex="""layout(location = 0) in float value;
            out float got;
            void main() { got = value; gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }""",
        fragment="""in float got; out vec4 c; void main() { c = vec4(got); }""",
    )
    gl.point_size(4.0)
    gl.clear_color(1.0, 1.0, 1.0, 1.0)
    for k, value in ((0, 128), (1, 0), (2, 0), (3, 0)):
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_elements(GL.POINTS, 1, GL.UNSIGNED_INT, 4 * k)
        assert gl.read_pixels(4, 4, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)[0] == value, numbers[k]
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_elements_base_vertex(GL.POINTS, 1, GL.UNSIGNED_INT, 4, -1)
    assert gl.read_pixels(4, 4, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)[0] == 128
    assert gl.get_error() == 0


# -- numbers of samples ----------------------------------------------------------------------------


def test_a_sample_that_is_not_there_reads_as_zero(gl: Any) -> None:
    """Of 64 x 64 texels: the numbers of samples times 4096 wrap around to what is there."""
    gl.bind_texture(GL.TEXTURE_2D_MULTISAMPLE, gl.gen_textures(1)[0])
    gl.tex_storage2d_multisample(GL.TEXTURE_2D_MULTISAMPLE, 4, GL.R32F, 64, 64, True)
    target = gl.gen_framebuffers(1)[0]
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    name = gl.get_integerv(GL.TEXTURE_BINDING_2D_MULTISAMPLE)[0]
    gl.framebuffer_texture2d(
        GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D_MULTISAMPLE, name, 0
    )
    gl.clear_color(1.0, 0.0, 0.0, 0.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    storage(gl, GL.SHADER_STORAGE_BUFFER, 64)
    in_450(
        gl,
        compute="""layout(local_size_x = 4) in;
            uniform sampler2DMS texture_;
            layout(std430, binding = 0) buffer Found { uint found[]; };
            layout(location = 0) uniform int at;
            void main() {
                uint lane = gl_LocalInvocationIndex;
                found[lane] = uint(texelFetch(texture_, ivec2(lane, 5), at + int(lane & 1u)).x);
                found[4u + lane] = uint(texelFetch(texture_, ivec2(3, 5), at).x);
            }""",
    )
    for sample, wanted in ((0, [1, 1]), (2, [1, 1]), (3, [1, 0]), (4, [0, 0]), (1 << 19, [0, 0]),
                           (1 << 20, [0, 0]), (-1, [0, 1]), (-(1 << 31), [0, 0]),
                           ((1 << 31) - 2, [0, 0])):  # fmt: skip
        gl.uniform1i(0, sample)
        gl.dispatch_compute(1, 1, 1)
        assert words(gl, 0, 8) == [*wanted, *wanted, *[wanted[0]] * 4], sample
    assert gl.get_error() == 0
