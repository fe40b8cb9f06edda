"""What Vulkan has no state for, or no way to reach from the host, comes out as on numpipe."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.pipe.loader import create_screen
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points import machine_code
from tests.state_tracker.gl_programs import Program, programs_of
from tests.state_tracker.helpers import linked, pixels, program, quad
from tests.state_tracker.test_gl_programs import FOLDER, answers, bits

from .device import SIZE, both, needs_device, said, validated

pytestmark = needs_device
WRAPS = (GL.CLAMP, GL.CLAMP_TO_BORDER, GL.MIRROR_CLAMP_EXT, GL.MIRROR_CLAMP_TO_BORDER_EXT)


_WRITES_CORNERS = """#version 450
layout(local_size_x=4) in;
layout(std430, binding=0) buffer Corners { dvec2 corner[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    corner[i] = dvec2(i == 1 || i == 2 ? 0.9 : -0.9, i > 1 ? 0.9 : -0.9);
}"""


@pytest.fixture(autouse=True)
def layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    messages = validated(tmp_path, monkeypatch)
    yield
    assert said(messages) == ""


@pytest.mark.parametrize("filter", [GL.NEAREST, GL.LINEAR])
@pytest.mark.parametrize("wrap", WRAPS)
def test_wrap_modes_that_vulkan_has_not(filter: int, wrap: int) -> None:
    image = np.random.default_rng(1).integers(0, 255, (4, 4, 4), np.uint8)

    def draw(gl: Any) -> list[Any]:
        (texture,) = gl.gen_textures(1)
        gl.enable(GL.TEXTURE_2D)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, image)
        border = np.array([0.1, 0.6, 0.3, 0.7], np.float32)
        gl.tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR, border)
        for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            gl.tex_parameteri(GL.TEXTURE_2D, name, filter)
        for name in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
            gl.tex_parameteri(GL.TEXTURE_2D, name, wrap)
        gl.begin(GL.QUADS)
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            gl.tex_coord2f(x * 2.3, y * 2.1)
            gl.vertex2f(x, y)
        gl.end()
        return [pixels(gl, SIZE, SIZE)]

    ((ours, theirs),) = both(draw, "compat")
    assert np.abs(ours.astype(int) - theirs).max() <= 1


COMPARED = """#version 330
uniform sampler2DShadow map;
out vec4 color;
void main() {
    color = vec4(texture(map, vec3(gl_FragCoord.xy / 16.0, 0.5)), 0.0, 0.0, 1.0);
}
"""


def test_comparisons_with_depth_are_filtered_where_depth_itself_is_not() -> None:
    depths = np.random.default_rng(2).uniform(0, 1, (4, 4)).astype(np.float32)

    def draw(gl: Any) -> list[Any]:
        gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
        kind = (GL.DEPTH_COMPONENT32F, 4, 4, 0, GL.DEPTH_COMPONENT, GL.FLOAT)
        gl.tex_image2d(GL.TEXTURE_2D, 0, *kind, depths)
        for name, value in (
            (GL.TEXTURE_MIN_FILTER, GL.LINEAR),
            (GL.TEXTURE_MAG_FILTER, GL.LINEAR),
            (GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE),
        ):
            gl.tex_parameteri(GL.TEXTURE_2D, name, value)
        quad(gl, program(gl, fragment=COMPARED))
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        return [pixels(gl, SIZE, SIZE)]

    ((ours, theirs),) = both(draw)
    assert np.abs(ours.astype(int) - theirs).max() <= 1
    assert len(np.unique(theirs[..., 0])) > 2  # neither passed nor failed only


WRITTEN = list(programs_of(FOLDER / "textures_written_between_draws.txt"))[::3]


@pytest.mark.parametrize("program", WRITTEN, ids=[program.name for program in WRITTEN])
@pytest.mark.skipif(not machine_code.possible(), reason="there is no command stream")
def test_textures_are_written_between_draws(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    deferred = answers(program, "vulkan", from_c=True)
    monkeypatch.setenv("GALLETTE_STREAM", "off")
    at_once = answers(program, "vulkan")
    assert [bits(one) for one in deferred] == [bits(other) for other in at_once]


def _target(gl: Any, format: int, samples: int) -> tuple[int, int]:
    """A framebuffer with depth and stencil, and its colours."""
    textures, (target,) = gl.gen_textures(2), gl.gen_framebuffers(1)
    kind = GL.TEXTURE_2D_MULTISAMPLE if samples else GL.TEXTURE_2D
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    for texture, of, place in (
        (textures[0], format, GL.COLOR_ATTACHMENT0),
        (textures[1], GL.DEPTH24_STENCIL8, GL.DEPTH_STENCIL_ATTACHMENT),
    ):
        gl.bind_texture(kind, texture)
        if samples:
            gl.tex_storage2d_multisample(kind, samples, of, SIZE, SIZE, True)
        else:
            gl.tex_storage2d(kind, 1, of, SIZE, SIZE)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, place, kind, texture, 0)
    return target, textures[0]


@pytest.mark.parametrize("format", [GL.RGBA8, GL.SRGB8_ALPHA8, GL.RGBA16F, GL.RGB10_A2, GL.R8])
def test_masked_clears_and_the_host_write_samples(format: int) -> None:
    everything = GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT
    whole = (0, 0, SIZE, SIZE)

    def draw(gl: Any) -> list[Any]:
        found = []
        plain, _ = _target(gl, format, 0)

        def resolved(source: int) -> None:
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, source)
            gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, plain)
            gl.blit_framebuffer(*whole, *whole, everything, GL.NEAREST)
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, plain)
            for of, type, kind in (
                (GL.RGBA, GL.FLOAT, np.float32),
                (GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8, np.uint32),
            ):
                found.append(np.frombuffer(bytes(gl.read_pixels(*whole, of, type)), kind))

        source, _ = _target(gl, format, 4)
        gl.clear_color(0.2, 0.4, 0.6, 0.8)
        gl.clear_depth(0.25)
        gl.clear_stencil(0x5A)
        gl.clear(everything)
        name = program(gl)
        quad(gl, name)
        gl.enable(GL.SAMPLE_MASK)
        gl.sample_maski(0, 0b0101)  # two of four
        gl.uniform4f(gl.get_uniform_location(name, "color"), 1, 1, 1, 1)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.disable(GL.SAMPLE_MASK)
        gl.color_mask(False, True, False, True)
        gl.stencil_mask(0x0F)
        gl.clear_color(0, 0, 1, 1)
        gl.clear_stencil(0xA7)
        gl.enable(GL.SCISSOR_TEST)
        gl.scissor(2, 3, 5, 4)
        gl.clear(everything)
        gl.disable(GL.SCISSOR_TEST)
        gl.color_mask(True, True, True, True)
        gl.stencil_mask(0xFF)
        resolved(source)
        other, colors = _target(gl, format, 4)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, source)
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, other)
        gl.blit_framebuffer(*whole, *whole, everything, GL.NEAREST)
        gl.enable(GL.SCISSOR_TEST)
        gl.blit_framebuffer(0, 1, SIZE, SIZE + 1, *whole, GL.COLOR_BUFFER_BIT, GL.NEAREST)
        gl.disable(GL.SCISSOR_TEST)
        texel = np.array([0.5, 0.25, 0.75, 1], np.float32)
        gl.clear_tex_sub_image(colors, 0, 1, 1, 0, 3, 3, 1, GL.RGBA, GL.FLOAT, texel)
        resolved(other)
        return found

    for ours, theirs in both(draw):
        # Devices round the mean of four samples to the next number of the format on either side.
        step = 0.001 if ours.dtype == np.float32 else 0
        assert np.abs(ours.astype(np.float64) - theirs).max() <= step


def test_quads_of_vertices_that_the_host_converts_after_the_device_wrote_them() -> None:
    """Their indices are converted, too, and waiting for the vertices ends the batch."""

    def draw(gl: Any) -> list[Any]:
        writer = linked(gl, compute=_WRITES_CORNERS)
        name = program(gl)
        quad(gl, name)
        (corners,) = gl.gen_buffers(1)
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, corners)
        gl.buffer_data(GL.SHADER_STORAGE_BUFFER, 64, bytes(64), GL.STATIC_DRAW)
        gl.use_program(writer)
        gl.dispatch_compute(1, 1, 1)
        gl.memory_barrier(GL.ALL_BARRIER_BITS)
        gl.use_program(name)
        gl.bind_buffer(GL.ARRAY_BUFFER, corners)
        at = gl.get_attrib_location(name, "position")
        gl.vertex_attrib_pointer(at, 2, GL.DOUBLE, 0, 0, None)
        gl.uniform4f(gl.get_uniform_location(name, "color"), 1, 0.5, 0.25, 1)
        gl.draw_arrays(GL.QUADS, 0, 4)
        return [pixels(gl, SIZE, SIZE)]

    ((ours, theirs),) = both(draw, "compat")
    assert ours[8, 8, 0] == 255
    assert np.array_equal(ours, theirs)


def test_contexts_of_one_screen_draw_in_threads_at_the_same_time() -> None:
    screen, wrong = create_screen("vulkan"), []

    def work(color: tuple[float, ...]) -> None:
        gl: Any = Context(screen=screen, version=(4, 5), size=(SIZE, SIZE))
        for _ in range(20):
            name = program(gl)
            quad(gl, name)
            (texture,) = gl.gen_textures(1)
            gl.bind_texture(GL.TEXTURE_2D, texture)
            gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, SIZE, SIZE)
            gl.uniform4f(gl.get_uniform_location(name, "color"), *color)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            if (pixels(gl, SIZE, SIZE) != np.array(color) * 255).any():
                wrong.append(color)
            gl.delete_textures(1, [texture])
            gl.delete_program(name)
        gl.release()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [
            threading.Thread(target=work, args=(color,)) for color in ((1, 0, 0, 1), (0, 1, 0, 1))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_points_on_the_edge_of_the_view_are_drawn_and_those_beyond_are_not() -> None:
    def draw(gl: Any) -> list[Any]:
        gl.point_size(3)
        gl.begin(GL.POINTS)
        for x, y in ((-1, 1), (1, 0), (0.25, 1.0001), (-1.0001, -0.5), (0.5, -1)):
            gl.vertex2f(x, y)
        gl.end()
        return [pixels(gl, SIZE, SIZE)]

    ((ours, theirs),) = both(draw, "compat")
    assert ours[..., 0].astype(bool).sum() == 11
    assert np.array_equal(ours, theirs)
