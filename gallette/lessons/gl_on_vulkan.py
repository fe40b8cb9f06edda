"""Lesson: what OpenGL does unasked and a driver on top of Vulkan has to do itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.vulkan import context as driver_context
from gallette.drivers.vulkan import copies
from gallette.drivers.vulkan.device.loader import NoVulkanError
from gallette.drivers.vulkan.pipeline import state as pipeline_state
from gallette.drivers.vulkan.pipeline.cache import PipelineCache
from gallette.lessons.page import Block, Code, Page, Pictures, Table, lesson
from gallette.state_tracker import GL, create_context

__all__ = ["STEPS", "drawn"]

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
    """Put something in the place of a part of the driver."""
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
    """Draw over a half of the picture."""
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
    real = PipelineCache.graphics
    first: dict[Any, Any] = {}

    def one_for_all(self: Any, programs: Any, key: Any) -> Any:
        return real(self, programs, replace(key, blend=first.setdefault(programs, key.blend)))

    with instead(PipelineCache, "graphics", one_for_all if without else real):
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
    real = pipeline_state.vertex_elements

    def one_slot(context: Any, link: Any) -> Any:
        elements, strides = real(context, link)
        return tuple(each for each in elements if not each[3]), strides

    with instead(pipeline_state, "vertex_elements", one_slot if without else real):
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)


STEPS = {"writes": written_between, "pipelines": blended, "order": sampled, "slots": wide}


def drawn(step: Callable[[Any, bool], None], without: bool) -> Picture:
    """The picture of a step, with what the driver does for it or without."""
    gl: Any = create_context("vulkan", version=(4, 5), size=(SIZE, SIZE))
    gl.clear_color(0.1, 0.1, 0.15, 1)
    gl.clear(GL.COLOR_BUFFER_BIT)
    step(gl, without)
    raw = bytes(gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE))
    gl.release()
    return np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE, 4)[::-1, :, :3].copy()


def _flip(page: Page, name: str, with_it: str, without_it: str) -> None:
    states: list[tuple[str, list[Block]]] = [
        (caption, [Pictures([(caption, drawn(STEPS[name], without))])])
        for caption, without in ((with_it, False), (without_it, True))
    ]
    page.flip(STEPS[name].__doc__ or name, *states)


@lesson(
    "gl_on_vulkan", "OpenGL on Vulkan: what is implicit, said aloud", chapter="Drivers", place=32
)
def run(page: Page, driver: str) -> None:
    """Four things that OpenGL does unasked, and the picture without each of them.

    Memory that is still read, state in pipelines, the order of work, slots of wide attributes.
    """
    try:
        create_context("vulkan", version=(4, 5), size=(1, 1)).release()
    except NoVulkanError as error:
        page.section("No device", f"This page draws on a Vulkan device, and finds none: {error}.")
        return
    page.section(
        "Memory is the application's to look after",
        """OpenGL promises that a draw reads what its buffer held when it was called. The draw is
        only recorded then, and the device reads the memory later. A driver on Vulkan therefore
        asks whether a batch that is not done yet reads the buffer. If one does, the write goes to
        other memory, and what is bound from then on is that.""",
    )
    _flip(page, "writes", "written to other memory", "written in place")
    page.section(
        "State is part of a pipeline",
        """glEnable(GL_BLEND) is one call. In Vulkan blending is fixed when a pipeline is made, and
        so are formats, sample counts and shaders. The driver derives a key from all such state at
        every draw and looks the pipeline up; what may be dynamic stays out of the key.""",
    )
    _flip(page, "pipelines", "blending is in the key", "the first pipeline serves all")
    page.add(
        Table(
            ("in the key", "dynamic"),
            [
                ("blending, colour masks, logic operation", "blend colour"),
                ("formats, samples, sample mask", "viewports, scissors"),
                ("vertex formats, strides, divisors", "vertex buffers, restart"),
                ("class of topology, polygon mode", "topology, culling, front face"),
                ("depth clipping and clamping", "depth and stencil tests, bias"),
            ],
            "what a pipeline is made for",
        )
    )
    page.section(
        "Nothing is in order unless it is said",
        """A copy, then a draw that samples what was copied: OpenGL executes them in that order. A
        Vulkan device may overlap the two unless a barrier stands between them. The driver ends the
        render pass, puts a barrier for everything before the next work that looks at memory, and
        leaves it out where nothing was written since the last one. lavapipe executes commands one
        by one, so the second picture shows what another device may do: it copies afterwards.""",
    )
    _flip(page, "order", "copied before the draw", "the copy comes late")
    page.section(
        "Locations are counted in slots",
        """To OpenGL a dvec4 is one location. Vulkan's locations hold 16 bytes, so the attribute
        takes two, and the driver renumbers those after it. The shader reads pairs of words and
        joins them. Without the second location the last two doubles are never fetched.""",
    )
    page.add(Code(WIDE.strip(), "glsl"))
    _flip(page, "slots", "two locations", "one location")
    page.ask(
        "Why does a barrier end the render pass?",
        """Inside a pass only dependencies between a pixel and itself can be expressed. Everything
        else, such as sampling what was drawn, wants the pass to be over, and on tiled devices its
        tiles to be in memory.""",
    )
    page.ask(
        "What does it cost to write a large buffer that the device reads?",
        """Other memory of that size and a copy of what is kept. Above 4 MiB this driver waits for
        the device instead.""",
    )
    page.tries(
        ("gallette lesson dvec_inputs", "the pass that splits 64-bit attributes"),
        ("gallette explain shader.frag --driver vulkan", "a shader's SPIR-V, and its pipeline"),
        ("gallette drivers vulkan", "what the device lacks, and what is done instead"),
    )
