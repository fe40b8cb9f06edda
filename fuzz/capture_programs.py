"""Programs whose captures `captures.py` mutates: random ones, and what those do not do.

record_all(folder)                   # a capture of each, recorded on numpipe
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gallette
from fuzz.gl_programs.generate import generate
from fuzz.gl_programs.run import Side
from fuzz.gl_programs.shaders import link
from gallette.capture import recording
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.targets.window import Drawable

PROGRAMS: dict[str, Callable[[], None]] = {}
SIDE = 8
CORNERS = np.array([-1, -1, 0, -1, -1, 1, 0, 1, 1, 1, 1, -1], np.float32)


def program(make: Callable[[], None]) -> Callable[[], None]:
    PROGRAMS[make.__name__] = make
    return make


def _read(gl: Any, side: int = SIDE) -> None:
    room = np.zeros(side * side * 4, np.uint8)
    gl.read_pixels(0, 0, side, side, GL.RGBA, GL.UNSIGNED_BYTE, room.ctypes.data)


def _end(gl: Any) -> None:
    error = gl.get_error()
    assert not error, GL.name_of(error, "error")
    gl.release()


@program
def reports() -> None:
    """The compatibility profile's client memory: lists, images, feedback, selection."""
    gl: Any = gallette.create_context(
        "numpipe", profile="compat", version=(4, 6), size=(SIDE, SIDE)
    )
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, CORNERS.ctypes.data)
    _lists(gl)
    _images(gl)
    _reports(gl)
    pinned = np.zeros(4096, np.uint8)
    gl.bind_buffer(GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, 4096, pinned.ctypes.data, GL.STREAM_COPY)
    _end(gl)


def _lists(gl: Any) -> None:
    first = gl.gen_lists(2)
    gl.new_list(first, GL.COMPILE_AND_EXECUTE)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.color4fv(CORNERS.ctypes.data)
    gl.rectf(-0.5, -0.5, 0.5, 0.5)
    gl.end_list()
    gl.new_list(first + 1, GL.COMPILE)
    left, right = np.array([0, 1, 2], np.uint8), np.array([2, 1, 0], np.uint8)
    places = np.array([left.ctypes.data, right.ctypes.data], np.int64)
    counts = np.array([3, 3], np.int32)
    gl.multi_draw_elements(
        GL.TRIANGLES, counts.ctypes.data, GL.UNSIGNED_BYTE, places.ctypes.data, 2
    )
    gl.end_list()
    names = np.array([0, 1], np.uint8)
    gl.list_base(first)
    gl.call_lists(2, GL.UNSIGNED_BYTE, names.ctypes.data)


def _images(gl: Any) -> None:
    texels = np.arange(128, dtype=np.uint8)
    where = texels.ctypes.data
    gl.raster_pos2f(-1, -1)
    gl.draw_pixels(4, 4, GL.RGBA, GL.UNSIGNED_BYTE, where)
    gl.bitmap(8, 8, 0, 0, 1, 1, where)
    gl.polygon_stipple(where)
    gl.pixel_mapfv(GL.PIXEL_MAP_R_TO_R, 4, CORNERS.ctypes.data)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, gl.gen_textures(1)[0])
    for face in range(6):
        gl.compressed_tex_image2d(
            GL.TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL.COMPRESSED_RGB_S3TC_DXT1_EXT, 4, 4, 0, 8,
            where,
        )  # fmt: skip
    gl.bind_texture(GL.TEXTURE_1D, gl.gen_textures(1)[0])
    gl.tex_image1d(GL.TEXTURE_1D, 0, GL.RGBA, 8, 0, GL.BGRA, GL.UNSIGNED_BYTE, where)
    gl.get_tex_image(GL.TEXTURE_1D, 0, GL.RGBA, GL.FLOAT, np.zeros(32, np.float32).ctypes.data)
    gl.get_polygon_stipple(np.zeros(128, np.uint8).ctypes.data)
    gl.map1f(GL.MAP1_VERTEX_3, 0, 1, 3, 4, CORNERS.ctypes.data)
    gl.enable(GL.MAP1_VERTEX_3)
    gl.eval_mesh1(GL.LINE, 0, 4)
    gl.tex_genfv(GL.S, GL.OBJECT_PLANE, CORNERS.ctypes.data)
    gl.lightfv(GL.LIGHT0, GL.POSITION, CORNERS.ctypes.data)
    gl.load_matrixf(np.eye(4, dtype=np.float32).ctypes.data)
    gl.copy_pixels(0, 0, 4, 4, GL.COLOR)
    _read(gl)


def _reports(gl: Any) -> None:
    values, words = np.zeros(64, np.float32), np.zeros(64, np.uint32)
    gl.feedback_buffer(64, GL._3D_COLOR, values.ctypes.data)
    gl.render_mode(GL.FEEDBACK)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.render_mode(GL.RENDER)
    gl.select_buffer(64, words.ctypes.data)
    gl.render_mode(GL.SELECT)
    gl.init_names()
    gl.push_name(77)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.render_mode(GL.RENDER)


@program
def windows() -> None:
    """Contexts that share, windows of several sizes, framebuffers, GLSL ES."""
    first: Any = Context("numpipe", profile="es", version=(3, 2))
    second: Any = Context("numpipe", profile="es", version=(3, 2), share=first)
    small, large = Drawable(first.screen, (4, 3)), Drawable(first.screen, (SIDE, SIDE), 4)
    for gl, window in ((first, small), (second, large), (first, large), (second, small)):
        gl.make_current()
        gl.bind_drawables(window, window)
        gl.clear_color(0.25, 0.5, 0.75, 1)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        _read(gl, 3)
    frames, (buffer,) = second.gen_framebuffers(2), second.gen_renderbuffers(1)
    second.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    second.renderbuffer_storage_multisample(GL.RENDERBUFFER, 4, GL.RGBA8, SIDE, SIDE)
    second.bind_framebuffer(GL.FRAMEBUFFER, frames[0])
    second.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    kinds = np.array([GL.COLOR_ATTACHMENT0], np.uint32)
    second.draw_buffers(1, kinds.ctypes.data)
    _es_draw(second)
    second.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 0)
    second.blit_framebuffer(0, 0, 4, 3, 0, 0, 4, 3, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    second.invalidate_framebuffer(GL.READ_FRAMEBUFFER, 1, kinds.ctypes.data)
    second.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "group")
    second.pop_debug_group()
    small.resize((6, 5))
    second.bind_drawables(small, small)
    second.bind_framebuffer(GL.FRAMEBUFFER, 0)
    second.clear(GL.COLOR_BUFFER_BIT)
    _read(second, 3)
    _end(second)
    first.make_current()
    first.bind_drawables(None, None)
    small.release()
    large.release()
    first.release()


def _es_draw(gl: Any) -> None:
    stages = {
        "vertex": "#version 300 es\nin vec2 p; void main() { gl_Position = vec4(p, 0.0, 1.0); }",
        "fragment": "#version 300 es\nprecision mediump float; uniform vec4 tint; out vec4 c;"
        " void main() { c = tint; }",
    }
    gl.use_program(link(gl, stages)[0])
    gl.enable_vertex_attrib_array(0)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 8, CORNERS.ctypes.data)
    gl.uniform4f(0, 0.5, 0.25, 1, 1)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 6)
    indices = np.array([0, 1, 2], np.uint16)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, indices.ctypes.data)


RANDOM = (("", 3), ("es", 5), ("fixed", 2), ("modern", 9))
"""kinds and numbers of random OpenGL programs"""


def _random(kind: str, number: int) -> None:
    """A program called through C pointers, so that its memory is the application's."""
    lines, profile = generate(number, 4, kind)
    side = Side("streamed", profile)
    side.gl.make_current()
    side.perform(lines, [])
    side.gl.release()


def record_all(folder: Path) -> Iterator[Path]:
    """A capture of each program."""
    random = {kind or "plain": partial(_random, kind, number) for kind, number in RANDOM}
    for name, make in {**random, **PROGRAMS}.items():
        path = folder / f"{name}.gcap"
        with recording(path, program=name):
            make()
        yield path
