"""Built-in inputs of shaders on every driver, compared with the native GL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, pixels, program

SIZE = (32, 24)
DRIVERS = ("numpipe", "jit", "simd", "tiler")
VERTEX = """#version 430
#extension GL_ARB_shader_draw_parameters : enable
in vec2 place; out vec2 at; flat out ivec3 numbers;
void main() {
    at = place * 0.5 + 0.5;
    numbers = ivec3(gl_BaseVertexARB, gl_BaseInstanceARB, gl_DrawIDARB);
    gl_Position = vec4(place * 0.9, 0.25, 1.0);
}"""
HEAD = """#version 430
#extension GL_ARB_shader_texture_image_samples : enable
#extension GL_ARB_gpu_shader5 : enable
in vec2 at; flat in ivec3 numbers; out vec4 o;
"""
FRAGMENTS = {
    "samples": """layout(binding = 0) uniform sampler2DMS several;
        layout(binding = 0, rgba8) uniform image2DMS image;
        layout(binding = 1) uniform sampler2DMSArray layers;
        void main() { o = vec4(textureSamples(several), imageSamples(image),
            textureSamples(layers), 5) / 16.0; }""",
    "four offsets": """layout(binding = 2) uniform sampler2D picture;
        layout(binding = 3) uniform sampler2DShadow depths;
        void main() {
            const ivec2 offsets[4] = ivec2[](ivec2(0), ivec2(1, -2), ivec2(-3, 1), ivec2(2, 2));
            vec4 shadow = textureGatherOffsets(depths, at, at.x, offsets);
            o = 0.75 * textureGatherOffsets(picture, at, offsets, 1) + 0.25 * shadow; }""",
    "parameters of draws": """void main() { o = vec4(numbers + ivec3(1), 16) / 16.0; }""",
    "structures picked": """struct S { float a; vec2 b[3]; };
        void main() {
            S s[3]; int i = int(at.x * 2.99), j = int(at.y * 2.99);
            for (int k = 0; k < 3; ++k) {
                s[k].a = float(k) / 4.0;
                for (int m = 0; m < 3; ++m) s[k].b[m] = vec2(k, m) / 3.0;
            }
            s[j].b[i].y += 0.125;
            o = vec4(s[i].a, s[i].b[j], s[j].b[(i + j) % 3].y); }""",
}


def _bind(gl: Any) -> None:
    """Textures of several samples, a picture and depths."""
    names = gl.gen_textures(4)
    kinds = (GL.TEXTURE_2D_MULTISAMPLE, GL.TEXTURE_2D_MULTISAMPLE_ARRAY, GL.TEXTURE_2D,
             GL.TEXTURE_2D)  # fmt: skip
    for unit, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.bind_texture(kind, name)
    gl.active_texture(GL.TEXTURE0)
    gl.tex_storage2d_multisample(kinds[0], 4, GL.RGBA8, 8, 8, True)
    gl.active_texture(GL.TEXTURE1)
    gl.tex_storage3d_multisample(kinds[1], 4, GL.RGBA8, 8, 8, 2, True)
    random = np.random.default_rng(2)
    gl.active_texture(GL.TEXTURE2)
    texels = random.integers(0, 256, (8, 8, 4)).astype(np.uint8)
    gl.tex_image2d(kinds[2], 0, GL.RGBA8, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    gl.active_texture(GL.TEXTURE3)
    depths = random.random((8, 8)).astype(np.float32)
    gl.tex_image2d(
        kinds[3], 0, GL.DEPTH_COMPONENT32F, 8, 8, 0, GL.DEPTH_COMPONENT, GL.FLOAT, depths
    )
    gl.tex_parameteri(kinds[3], GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)
    for unit in (2, 3):
        gl.active_texture(GL.TEXTURE0 + unit)
        for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            gl.tex_parameteri(GL.TEXTURE_2D, name, GL.NEAREST)
    gl.bind_image_texture(0, names[0], 0, False, 0, GL.READ_WRITE, GL.RGBA8)


def _draw(gl: Any, fragment: str) -> None:
    """Triangles that leave helpers beside them: two draws from memory, one of them a second."""
    _bind(gl)
    gl.use_program(program(gl, VERTEX, HEAD + fragment))
    array, vertices, commands = *gl.gen_vertex_arrays(1), *gl.gen_buffers(2)
    gl.bind_vertex_array(array)
    gl.bind_buffer(GL.ARRAY_BUFFER, vertices)
    corners = np.array(
        [[9, 9], [-1, -1], [0.9, -0.7], [-0.6, 0.95], [1, 1], [0.1, 0.9], [0.95, -0.5]], np.float32
    )
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 0, 0)
    gl.enable_vertex_attrib_array(0)
    draws = np.array([[3, 1, 1, 0], [3, 1, 4, 2]], np.uint32)
    gl.bind_buffer(GL.DRAW_INDIRECT_BUFFER, commands)
    gl.buffer_data(GL.DRAW_INDIRECT_BUFFER, draws.nbytes, draws, GL.STATIC_DRAW)
    gl.multi_draw_arrays_indirect(GL.TRIANGLES, 0, 2, 0)


def _picture(
    driver: str, draw: Callable[[Any], None], **options: Any
) -> tuple[npt.NDArray[Any], list[str]]:
    options = {"version": (4, 3), "size": SIZE, **options}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    gl.clear(GL.COLOR_BUFFER_BIT)
    draw(gl)
    found = pixels(gl, *SIZE).astype(int), errors(gl)
    gl.release()
    return found


def _indexed(gl: Any) -> None:
    """The same with indices, to each of which a number of its draw is added."""
    _draw(gl, FRAGMENTS["parameters of draws"])
    gl.clear(GL.COLOR_BUFFER_BIT)
    indices, commands = gl.gen_buffers(2)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, indices)
    numbers = np.array([0, 1, 2, 2, 1, 0], np.uint16)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, numbers.nbytes, numbers, GL.STATIC_DRAW)
    draws = np.array([[3, 1, 0, 1, 5], [3, 1, 3, 4, 2]], np.uint32)
    gl.bind_buffer(GL.DRAW_INDIRECT_BUFFER, commands)
    gl.buffer_data(GL.DRAW_INDIRECT_BUFFER, draws.nbytes, draws, GL.STATIC_DRAW)
    gl.multi_draw_elements_indirect(GL.TRIANGLES, GL.UNSIGNED_SHORT, 0, 2, 0)


@pytest.mark.native
@pytest.mark.parametrize("driver", DRIVERS)
def test_draws_with_indices_have_a_base(driver: str) -> None:
    wanted, told = _picture("native", _indexed)
    assert {tuple(c) for c in wanted.reshape(-1, 4)} == {
        (0, 0, 0, 0), (32, 96, 16, 255), (80, 48, 32, 255),
    } and told == []  # fmt: skip
    found, told = _picture(driver, _indexed)
    assert found.tolist() == wanted.tolist() and told == []


HELPERS = """#version 450
in vec2 at; flat in ivec3 numbers; out vec4 o;
void main() {
    float helper = gl_HelperInvocation ? 1.0 : 0.0;
    o = vec4(abs(dFdx(helper)), abs(dFdy(helper)), helper + 0.25, 1.0);
}"""


@pytest.mark.native
@pytest.mark.parametrize("driver", DRIVERS)
def test_helpers_are_seen_beside_triangles(driver: str) -> None:
    """A pixel that is drawn is none; whether its neighbour in the quad is, the difference shows."""

    def draw(gl: Any) -> None:
        _draw(gl, FRAGMENTS["parameters of draws"])
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.use_program(program(gl, VERTEX.replace("430", "450"), HELPERS))
        gl.draw_arrays(GL.TRIANGLES, 1, 3)

    wanted, _ = _picture("native", draw, version=(4, 5))
    found, told = _picture(driver, draw, version=(4, 5))
    assert told == []
    assert found.tolist() == wanted.tolist()
    drawn = wanted[wanted[..., 3] > 0]
    assert len({tuple(c) for c in drawn}) == 4 and (drawn[:, 2] == 64).all()


@pytest.mark.native
@pytest.mark.parametrize("name", FRAGMENTS)
def test_fragments_read_built_in_inputs(name: str) -> None:
    wanted, told = _picture("native", lambda gl: _draw(gl, FRAGMENTS[name]))
    assert wanted.any() and told == []
    for driver in DRIVERS:
        found, told = _picture(driver, lambda gl: _draw(gl, FRAGMENTS[name]))
        assert told == []
        different = np.abs(found - wanted).max(axis=2) > 1
        assert not different.any(), (driver, np.argwhere(different)[:5], found[different][:3],
                                     wanted[different][:3])  # fmt: skip


COUNT = 96
MANY = """#version 430
in vec2 at; flat in ivec3 numbers; out vec4 o;
layout(std140, binding = 0) uniform Block { vec4 u[COUNT]; };
void main() {
    vec4 sum = vec4(0.0);
    SUM
    if (at.x < 0.4) { MORE }
    o = sum;
}"""


@pytest.mark.parametrize("driver", DRIVERS)
def test_more_uniforms_than_a_machine_has_room_for(driver: str) -> None:
    """Those that do not fit are loaded where they are used, by some of the lanes alone, too."""
    first = " ".join(f"sum += u[{k}].{'xyzw'[k % 4] * 4};" for k in range(COUNT))
    more = " ".join(f"sum.xy += u[{k}].zw;" for k in range(0, COUNT, 5))
    text = MANY.replace("COUNT", str(COUNT)).replace("SUM", first).replace("MORE", more)
    numbers = (np.arange(COUNT * 4, dtype=np.float32).reshape(COUNT, 4) % 13) / 2048

    def draw(gl: Any) -> None:
        _draw(gl, FRAGMENTS["parameters of draws"])
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.bind_buffer_base(GL.UNIFORM_BUFFER, 0, *gl.gen_buffers(1))
        gl.buffer_data(GL.UNIFORM_BUFFER, numbers.nbytes, numbers, GL.STATIC_DRAW)
        gl.use_program(program(gl, VERTEX, text))
        gl.draw_arrays(GL.TRIANGLES, 1, 3)

    found, told = _picture(driver, draw)
    assert told == []
    total = sum(numbers[k, k % 4] for k in range(COUNT))
    extra = numbers[::5, 2:].sum(axis=0)
    colours = [np.full(4, total), np.array([*(total + extra), total, total])]
    drawn = {tuple(c) for c in found.reshape(-1, 4).tolist() if c[3]}
    assert drawn == {tuple(np.rint(255 * c).astype(int).tolist()) for c in colours}
