"""Host and device see each other's writes: buffers while they are read, textures, samples."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.drivers.vulkan import series
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import program, quad

from .device import needs_device, said, validated

pytestmark = needs_device
SIZE = 8


@pytest.fixture
def gl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    messages = validated(tmp_path, monkeypatch)
    context: Any = create_context("vulkan", version=(4, 5), size=(SIZE, SIZE))
    yield context
    context.release()
    assert said(messages) == ""


def pixels(gl: Any) -> Any:
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE)
    return np.frombuffer(bytes(raw), np.uint8).reshape(SIZE, SIZE, 4)


def test_a_draw_reads_what_the_buffer_held_when_it_was_called(gl: Any) -> None:
    name = program(gl)
    quad(gl, name)
    place = gl.get_uniform_location(name, "color")
    gl.uniform4f(place, 1, 0, 0, 1)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    # The left half only, in the memory that the first draw may still be reading.
    left = np.array([-1, -1, 0, -1, -1, 1, 0, 1], np.float32)
    gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, left.nbytes, left)
    gl.uniform4f(place, 0, 1, 0, 1)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    found = pixels(gl)
    assert (found[:, : SIZE // 2] == (0, 255, 0, 255)).all()
    assert (found[:, SIZE // 2 :] == (255, 0, 0, 255)).all()


def test_a_texture_that_was_drawn_keeps_the_rest_when_a_part_is_uploaded(gl: Any) -> None:
    (texture,), (target,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, SIZE, SIZE)
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.clear_color(0, 0, 1, 1)
    gl.clear(GL.COLOR_BUFFER_BIT)
    white = np.full((2, 2, 4), 255, np.uint8)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 1, 1, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, white)
    found = pixels(gl)
    assert (found[1:3, 1:3] == 255).all()
    assert (found == (0, 0, 255, 255)).all(axis=2).sum() == SIZE * SIZE - 4


def test_depth_and_stencil_in_one_word_are_read_apart(gl: Any) -> None:
    (texture,), (target,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.DEPTH24_STENCIL8, SIZE, SIZE)
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.DEPTH_STENCIL_ATTACHMENT, GL.TEXTURE_2D, texture, 0)
    gl.clear_depth(0.25)
    gl.clear_stencil(0xA5)
    gl.clear(GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8)
    words = np.frombuffer(bytes(raw), np.uint32)
    assert (words & 0xFF == 0xA5).all()
    assert (np.abs((words >> 8).astype(np.int64) - (1 << 22)) <= 1).all()


def test_what_each_sample_holds_is_read_and_resolved(gl: Any) -> None:
    (texture,), (target, plain) = gl.gen_textures(1), gl.gen_framebuffers(2)
    gl.bind_texture(GL.TEXTURE_2D_MULTISAMPLE, texture)
    gl.tex_storage2d_multisample(GL.TEXTURE_2D_MULTISAMPLE, 4, GL.RGBA8, SIZE, SIZE, True)
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    gl.framebuffer_texture2d(
        GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D_MULTISAMPLE, texture, 0
    )
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    name = program(gl)
    quad(gl, name)
    gl.enable(GL.SAMPLE_MASK)
    gl.sample_maski(0, 0b0101)  # two of four
    gl.uniform4f(gl.get_uniform_location(name, "color"), 1, 1, 1, 1)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    (resolved,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, resolved)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, SIZE, SIZE)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, plain)
    gl.framebuffer_texture2d(GL.DRAW_FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, resolved, 0)
    gl.blit_framebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, plain)
    assert set(np.unique(pixels(gl))) <= {127, 128}


def test_samples_that_an_occlusion_query_counts_span_other_work(gl: Any) -> None:
    name = program(gl)
    quad(gl, name)
    (query,) = gl.gen_queries(1)
    gl.begin_query(GL.SAMPLES_PASSED, query)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    pixels(gl)  # ends the render pass, and waits
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gl.end_query(GL.SAMPLES_PASSED)
    assert gl.get_query_objectuiv(query, GL.QUERY_RESULT) == [2 * SIZE * SIZE]


def test_a_lost_device_is_a_lost_context(monkeypatch: pytest.MonkeyPatch) -> None:
    gl: Any = create_context("vulkan", version=(4, 5), size=(SIZE, SIZE))
    name = program(gl)
    quad(gl, name)
    binding_check = gl.pipe.device.vk.vkQueueSubmit.errcheck

    def lost(queue: int, count: int, info: Any, fence: int) -> int:
        checked: int = binding_check(-4, None, ())  # VK_ERROR_DEVICE_LOST
        return checked

    with monkeypatch.context() as patch:
        patch.setattr(gl.pipe.device.vk, "vkQueueSubmit", lost)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.finish()
    assert gl.get_error() == GL.CONTEXT_LOST
    assert gl.get_graphics_reset_status() == GL.GUILTY_CONTEXT_RESET
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert gl.get_error() == GL.CONTEXT_LOST
    gl.release()


def test_draws_that_come_again_are_recorded_by_rows(gl: Any) -> None:
    """Python's loop and machine code make the same calls; what is drawn is the last call's."""
    found = []
    for loop in (series._loop(), None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(series, "_loop", lambda loop=loop: loop)
            found.append(_many_draws(gl))
    assert (found[0] == found[1]).all()
    assert len(np.unique(found[0].reshape(-1, 4), axis=0)) == SIZE


def _many_draws(gl: Any) -> Any:
    """A column for each of some draws, twice; their vertices are written in between."""
    (buffer,) = gl.gen_buffers(1)
    (array,) = gl.gen_vertex_arrays(1)
    name = program(gl)
    pointers = {
        call: ctypes.CFUNCTYPE(None, *kinds)(gl.load_opengl_function(call))
        for call, kinds in {
            "glUniform4f": [ctypes.c_int, *[ctypes.c_float] * 4],
            "glBufferSubData": [ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p],
            "glDrawArrays": [ctypes.c_uint, ctypes.c_int, ctypes.c_int],
        }.items()
    }
    gl.bind_vertex_array(array)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 32, None, GL.STREAM_DRAW)
    place = gl.get_attrib_location(name, "position")
    gl.enable_vertex_attrib_array(place)
    gl.vertex_attrib_pointer(place, 2, GL.FLOAT, 0, 0, None)
    color = gl.get_uniform_location(name, "color")
    gl.make_current()
    for turn in range(2):
        for column in range(SIZE):
            left, right = column / SIZE * 2 - 1, (column + 1) / SIZE * 2 - 1
            corners = np.array([left, -1, right, -1, left, 1, right, 1], np.float32)
            pointers["glUniform4f"](color, column / SIZE, turn, 0.5, 1)
            pointers["glBufferSubData"](GL.ARRAY_BUFFER, 0, 32, corners.ctypes.data)
            pointers["glDrawArrays"](GL.TRIANGLE_STRIP, 0, 4)
    return pixels(gl)
