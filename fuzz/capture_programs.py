"""Small programs whose captures `captures.py` mutates: together they pass every kind of memory.

record_all(folder)                   # a capture of each, recorded on numpipe
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gallette
from gallette.capture import recording
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.targets.window import Drawable

__all__ = ["record_all"]

PROGRAMS: dict[str, Callable[[], None]] = {}
SIDE = 8
CORNERS = np.array([-1, -1, 0, -1, -1, 1, 0, 1, 1, 1, 1, -1], np.float32)


def program(make: Callable[[], None]) -> Callable[[], None]:
    PROGRAMS[make.__name__] = make
    return make


def _linked(gl: Any, **texts: str) -> int:
    made = int(gl.create_program())
    for stage, text in texts.items():
        shader = gl.create_shader(getattr(GL, f"{stage.upper()}_SHADER"))
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        gl.attach_shader(made, shader)
    gl.link_program(made)
    return made


def _filled(gl: Any, target: int, data: Any, usage: int = GL.STATIC_DRAW) -> int:
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(target, buffer)
    gl.buffer_data(target, data.nbytes, data.ctypes.data, usage)
    return int(buffer)


def _read(gl: Any, side: int = SIDE) -> None:
    room = np.zeros(side * side * 4, np.uint8)
    gl.read_pixels(0, 0, side, side, GL.RGBA, GL.UNSIGNED_BYTE, room.ctypes.data)


def _stored(gl: Any, address: int, values: Any) -> None:
    """What a program does with an address that glMapBuffer gave."""
    ctypes.memmove(address, values.ctypes.data, values.nbytes)


def _end(gl: Any) -> None:
    error = gl.get_error()
    assert not error, GL.name_of(error, "error")
    gl.release()


VERTEX = """#version 430
layout(location = 0) in vec2 position;
layout(std140) uniform Block { vec4 shift[2]; };
out vec2 place;
void main() { place = position; gl_Position = vec4(position + shift[1].xy, 0.0, 1.0); }
"""
FRAGMENT = """#version 430
in vec2 place;
uniform vec4 tint[2];
uniform mat3 turn;
uniform sampler2D image;
out vec4 color;
void main() { color = tint[0] + texture(image, place) + vec4(turn * vec3(place, 1.0), tint[1].w); }
"""
COMPUTE = """#version 430
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Words { uint words[]; };
void main() { words[gl_GlobalInvocationID.x] += 3u; }
"""


@program
def modern() -> None:
    """Buffers, textures from memory and from a buffer, indirect draws, feedback, compute."""
    gl: Any = gallette.create_context("numpipe", version=(4, 6), size=(SIDE, SIDE))
    made = _linked(gl, vertex=VERTEX, fragment=FRAGMENT)
    gl.use_program(made)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    _filled(gl, GL.ARRAY_BUFFER, CORNERS)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 8, 0)
    gl.enable_vertex_attrib_array(0)
    indices = np.array([0, 1, 2, 3, 4, 5], np.uint16)
    _filled(gl, GL.ELEMENT_ARRAY_BUFFER, indices)
    block = _filled(gl, GL.UNIFORM_BUFFER, np.zeros(8, np.float32))
    gl.uniform_block_binding(made, gl.get_uniform_block_index(made, "Block"), 1)
    gl.bind_buffer_range(GL.UNIFORM_BUFFER, 1, block, 0, 32)
    tint = np.full(8, 0.25, np.float32)
    gl.uniform4fv(gl.get_uniform_location(made, "tint"), 2, tint.ctypes.data)
    turn = np.eye(3, dtype=np.float32)
    gl.uniform_matrix3fv(gl.get_uniform_location(made, "turn"), 1, False, turn.ctypes.data)
    texels = np.arange(64, dtype=np.uint8)
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.pixel_storei(GL.UNPACK_ROW_LENGTH, 4)
    image = (GL.RGBA, GL.UNSIGNED_BYTE)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, *image, texels.ctypes.data)
    unpack = _filled(gl, GL.PIXEL_UNPACK_BUFFER, texels)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 1, 1, 2, 2, *image, 16)
    gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, 0)
    gl.generate_mipmap(GL.TEXTURE_2D)
    gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0)
    _read(gl)
    gl.bind_buffer(GL.COPY_WRITE_BUFFER, unpack)
    mapped = gl.map_buffer_range(GL.COPY_WRITE_BUFFER, 16, 32, GL.MAP_WRITE_BIT)
    _stored(gl, mapped, texels[:32])
    gl.unmap_buffer(GL.COPY_WRITE_BUFFER)
    gl.get_buffer_sub_data(GL.COPY_WRITE_BUFFER, 8, 16, np.zeros(16, np.uint8).ctypes.data)
    gl.bind_buffer(GL.PIXEL_PACK_BUFFER, unpack)
    gl.read_pixels(0, 0, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, 8)
    gl.bind_buffer(GL.PIXEL_PACK_BUFFER, 0)
    _draws_from_buffers(gl)
    (query,) = gl.gen_queries(1)
    gl.begin_query(GL.SAMPLES_PASSED, query)
    firsts, counts = np.array([0, 3], np.int32), np.array([3, 3], np.int32)
    gl.multi_draw_arrays(GL.TRIANGLES, firsts.ctypes.data, counts.ctypes.data, 2)
    gl.end_query(GL.SAMPLES_PASSED)
    gl.client_wait_sync(gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0), 0, 1000)
    color = np.array([0.5, 0.25, 0, 1], np.float32)
    gl.clear_bufferfv(GL.COLOR, 0, color.ctypes.data)
    _computes(gl)
    names = gl.create_textures(GL.TEXTURE_2D, 2)
    gl.bind_textures(0, 2, np.array(names, np.uint32).ctypes.data)
    gl.delete_textures(2, np.array(names, np.uint32).ctypes.data)
    room = np.zeros(256, np.uint8)
    gl.bind_texture(GL.TEXTURE_2D, 1)
    gl.get_tex_image(GL.TEXTURE_2D, 0, *image, room.ctypes.data)
    gl.object_label(GL.PROGRAM, made, 5, "label")
    _end(gl)


def _draws_from_buffers(gl: Any) -> None:
    commands = np.array([3, 1, 0, 0, 0, 3, 2, 3, 0, 0], np.uint32)
    _filled(gl, GL.DRAW_INDIRECT_BUFFER, commands)
    gl.multi_draw_elements_indirect(GL.TRIANGLES, GL.UNSIGNED_SHORT, 0, 2, 20)
    gl.draw_elements_instanced_base_vertex_base_instance(
        GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, 6, 2, 0, 1
    )
    varyings = _linked(gl, vertex=VERTEX)
    gl.transform_feedback_varyings(varyings, 1, ["place"], GL.INTERLEAVED_ATTRIBS)
    gl.link_program(varyings)
    gl.use_program(varyings)
    kept = _filled(gl, GL.TRANSFORM_FEEDBACK_BUFFER, np.zeros(64, np.float32))
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, kept)
    gl.begin_transform_feedback(GL.TRIANGLES)
    gl.draw_arrays(GL.TRIANGLES, 0, 6)
    gl.end_transform_feedback()


def _computes(gl: Any) -> None:
    gl.use_program(_linked(gl, compute=COMPUTE))
    (words,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.SHADER_STORAGE_BUFFER, words)
    flags = GL.MAP_WRITE_BIT | GL.MAP_READ_BIT | GL.MAP_PERSISTENT_BIT | GL.MAP_COHERENT_BIT
    gl.buffer_storage(GL.SHADER_STORAGE_BUFFER, 64, None, flags)
    mapped = gl.map_buffer_range(GL.SHADER_STORAGE_BUFFER, 0, 64, flags)
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, words)
    _stored(gl, mapped, np.arange(16, dtype=np.uint32))
    gl.dispatch_compute(4, 1, 1)
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    gl.finish()
    sizes = np.array([2, 1, 1], np.uint32)
    _filled(gl, GL.DISPATCH_INDIRECT_BUFFER, sizes)
    gl.dispatch_compute_indirect(0)
    zero = np.zeros(1, np.uint32)
    gl.clear_buffer_data(
        GL.DISPATCH_INDIRECT_BUFFER, GL.R32UI, GL.RED_INTEGER, GL.UNSIGNED_INT, zero.ctypes.data
    )


@program
def arrays() -> None:
    """The compatibility profile's client memory: arrays, lists, images, reports."""
    gl: Any = gallette.create_context(
        "numpipe", profile="compat", version=(4, 6), size=(SIDE, SIDE)
    )
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, CORNERS.ctypes.data)
    colors = np.arange(18, dtype=np.uint8)
    gl.enable_client_state(GL.COLOR_ARRAY)
    gl.color_pointer(3, GL.UNSIGNED_BYTE, 0, colors.ctypes.data)
    gl.draw_arrays(GL.TRIANGLES, 0, 6)
    left, right = np.array([0, 1, 2], np.uint8), np.array([3, 4, 5], np.uint8)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_BYTE, right.ctypes.data)
    places = np.array([left.ctypes.data, right.ctypes.data], np.int64)
    counts = np.array([3, 3], np.int32)
    gl.multi_draw_elements(
        GL.TRIANGLES, counts.ctypes.data, GL.UNSIGNED_BYTE, places.ctypes.data, 2
    )
    gl.begin(GL.TRIANGLES)
    for corner in range(3):
        gl.array_element(corner)
    gl.vertex2fv(CORNERS.ctypes.data)
    gl.end()
    mixed = np.zeros(6, [("color", "u1", 4), ("place", "f4", 2)])
    mixed["place"] = CORNERS.reshape(6, 2)
    gl.interleaved_arrays(GL.C4UB_V2F, 0, mixed.ctypes.data)
    gl.draw_arrays(GL.QUADS, 0, 4)
    _read(gl)
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
    gl.use_program(
        _linked(
            gl,
            vertex="#version 300 es\nin vec2 p; void main() { gl_Position = vec4(p, 0.0, 1.0); }",
            fragment="#version 300 es\nprecision mediump float; uniform vec4 tint; out vec4 c;"
            " void main() { c = tint; }",
        )
    )
    gl.enable_vertex_attrib_array(0)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 8, CORNERS.ctypes.data)
    gl.uniform4f(0, 0.5, 0.25, 1, 1)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 6)
    indices = np.array([0, 1, 2], np.uint16)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, indices.ctypes.data)


def record_all(folder: Path) -> Iterator[Path]:
    """A capture of each program."""
    for name, make in PROGRAMS.items():
        path = folder / f"{name}.gcap"
        with recording(path, program=name):
            make()
        yield path
