"""The lesson: OpenGL's implicit work, which a driver on top of Vulkan has to do itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.vulkan import context as driver_context
from gallette.drivers.vulkan import copies
from gallette.drivers.vulkan.pipeline import keys, vertices
from gallette.drivers.vulkan.pipeline.cache import PipelineCache
from gallette.state_tracker import GL, create_context

SIZE = 64
FLAT = """#version 330
in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }
"""
COLOR = """#version 330
uniform vec4 color; out vec4 result;
void main() { result = color; }
"""
SAMPLED = """#version 330
uniform sampler2D image; out vec4 result;
void main() { result = texture(image, vec2(0.5)); }
"""
WIDE = """#version 410
layout(location = 0) in dvec4 place;  // x, y, and two of the colour's parts
out vec2 part;
void main() { gl_Position = vec4(place.xy, 0.0, 1.0); part = vec2(place.zw); }
"""
PARTS = """#version 410
in vec2 part; out vec4 result;
void main() { result = vec4(part, 0.2, 1.0); }
"""
LEFT, RIGHT = (-1.0, 0.0), (0.0, 1.0)
Picture = npt.NDArray[np.uint8]


@contextmanager
def instead(owner: Any, name: str, other: Any) -> Iterator[None]:
    """Replace an attribute of the driver inside the block."""
    kept = getattr(owner, name)
    setattr(owner, name, other)
    try:
        yield
    finally:
        setattr(owner, name, kept)


def _program(gl: Any, vertex: str, fragment: str) -> int:
    name: int = gl.create_program()
    for kind, source in ((GL.VERTEX_SHADER, vertex), (GL.FRAGMENT_SHADER, fragment)):
        shader = gl.create_shader(kind)
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        gl.attach_shader(name, shader)
    gl.link_program(name)
    gl.use_program(name)
    return name


def _corners(span: tuple[float, float]) -> Any:
    low, high = span
    return np.array([low, -1, high, -1, low, 1, high, 1], np.float32)


def _half(gl: Any, span: tuple[float, float]) -> None:
    """Draw over one half of the picture."""
    data = _corners(span)
    gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, data.nbytes, data)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)


def _vertices(gl: Any) -> None:
    (array,), (buffer,) = gl.gen_vertex_arrays(1), gl.gen_buffers(1)
    gl.bind_vertex_array(array)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 32, None, GL.STREAM_DRAW)
    gl.enable_vertex_attrib_array(0)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, None)


def written_between(gl: Any, without: bool) -> None:
    """Two draws; their vertex buffer is written between them."""
    name = _program(gl, FLAT, COLOR)
    _vertices(gl)
    place = gl.get_uniform_location(name, "color")
    nothing: Callable[..., None] = lambda self, buffer, flags: None  # noqa: E731
    owner = driver_context.VulkanContext
    with instead(owner, "_make_writable", nothing if without else owner._make_writable):
        for span, color in ((LEFT, (0.9, 0.4, 0.1, 1)), (RIGHT, (0.1, 0.5, 0.8, 1))):
            gl.uniform4f(place, *color)
            _half(gl, span)


def blended(gl: Any, without: bool) -> None:
    """Two draws; blending is switched on for the second."""
    name = _program(gl, FLAT, COLOR)
    _vertices(gl)
    place = gl.get_uniform_location(name, "color")
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    real = PipelineCache.pipeline
    first: dict[Any, Any] = {}

    def one_for_all(self: Any, programs: Any, key: Any = ()) -> Any:
        member = "pColorBlendState"
        kept = {**dict(key), member: first.setdefault(programs, dict(key)[member])}
        return real(self, programs, tuple(kept.items()))

    with instead(PipelineCache, "pipeline", one_for_all if without else real):
        for span, color in (((-1.0, 1.0), (0.9, 0.4, 0.1, 1)), (RIGHT, (0.1, 0.5, 0.8, 0.5))):
            gl.uniform4f(place, *color)
            _half(gl, span)
            gl.enable(GL.BLEND)


def sampled(gl: Any, without: bool) -> None:
    """Two draws that sample a texture; it is written between them."""
    _program(gl, FLAT, SAMPLED)
    _vertices(gl)
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 1, 1)
    real = copies.upload
    late: list[tuple[Any, ...]] = []
    for span, color in ((LEFT, (230, 100, 25, 255)), (RIGHT, (25, 128, 205, 255))):
        texel = np.array([[color]], np.uint8)
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, texel)
        waits = without and span is RIGHT
        with instead(driver_context, "upload", (lambda *a: late.append(a)) if waits else real):
            _half(gl, span)
    gl.pipe.rendering.end()
    for stream, image, levels in late:
        real(stream, image, levels)


def wide(gl: Any, without: bool) -> None:
    """A quad whose vertices are four doubles each."""
    _program(gl, WIDE, PARTS)
    (array,), (buffer,) = gl.gen_vertex_arrays(1), gl.gen_buffers(1)
    gl.bind_vertex_array(array)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    rows = np.array([[-1, -1, 1, 0], [1, -1, 1, 1], [-1, 1, 0, 0], [1, 1, 0, 1]], np.float64)
    gl.buffer_data(GL.ARRAY_BUFFER, rows.nbytes, rows, GL.STATIC_DRAW)
    gl.enable_vertex_attrib_array(0)
    gl.vertex_attrib_l_pointer(0, 4, GL.DOUBLE, 0, None)
    real = vertices.vertex_input

    def one_slot(context: Any, link: Any) -> Any:
        name, *members = real(context, link)
        whole = dict(members)
        first = whole["pVertexAttributeDescriptions"][:1]
        whole |= {"pVertexAttributeDescriptions": first, "vertexAttributeDescriptionCount": 1}
        return name, *whole.items()

    with instead(keys, "vertex_input", one_slot if without else real):
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)


STEPS = {"writes": written_between, "pipelines": blended, "order": sampled, "slots": wide}


def drawn(step: Callable[[Any, bool], None], without: bool) -> Picture:
    """The picture of a step, with the driver's work or without it."""
    gl: Any = create_context("vulkan", version=(4, 5), size=(SIZE, SIZE))
    gl.clear_color(0.1, 0.1, 0.15, 1)
    gl.clear(GL.COLOR_BUFFER_BIT)
    step(gl, without)
    raw = bytes(gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE))
    gl.release()
    return np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE, 4)[::-1, :, :3].copy()
