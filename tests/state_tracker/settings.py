"""One setting at a time: what it is before and after, and a scene in which the difference shows.

The table is `settings.txt`; the scenes its rows are drawn in are made here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.text_tables import table_rows
from gallette.state_tracker import GL
from tests.state_tracker.negative_suite import value

SIZE = 32
Call = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Row:
    text: str
    scene: str
    setup: tuple[Call, ...]
    before: tuple[Call, ...]
    after: tuple[Call, ...]


def _calls(text: str) -> tuple[Call, ...]:
    words = [part.split() for part in text.split(";") if part.strip()]
    return tuple((w[0], tuple(value(word) for word in w[1:])) for w in words)


_NAME = re.compile(r"\$(\w+)")
_CHOICE = re.compile(r"\{([^{}]+)\}")


def _expanded(line: str) -> list[str]:
    """One line for each choice; a choice that stands twice is chosen alike both times."""
    found = _CHOICE.search(line)
    if found is None:
        return [line]
    return [x for word in found[1].split(",") for x in _expanded(line.replace(found[0], word))]


def rows() -> list[Row]:
    names: dict[str, str] = {}
    lines: list[str] = []
    for line in table_rows(Path(__file__).with_name("settings.txt")):
        name, equals, text = line.partition(" = ")
        if equals and name.startswith("$"):
            names[name[1:]] = text
        else:
            lines += _expanded(_NAME.sub(lambda found: names[found[1]], line))
    found = []
    for line in lines:
        scene, setup, before, after = (part.strip() for part in line.split("|"))
        if before != after:
            found.append(Row(line, scene, _calls(setup), _calls(before), _calls(after)))
    return found


# -- scenes ----------------------------------------------------------------------------------------

_VERTEX = """#version 430 compatibility
layout(location = 0) in vec4 position; layout(location = 1) in vec4 tint; out vec4 tinted;
void main() {
    gl_Position = vec4(position.xy, 0.0, 1.0); gl_PointSize = 5.0; tinted = tint;
}"""
_FRAGMENT = """#version 430 compatibility
layout(location = 0) uniform vec4 color; in vec4 tinted; out vec4 result;
layout(std140) uniform Block { vec4 more; };
void main() { result = WHAT; }"""


def _target(gl: Any, samples: int) -> None:
    """A framebuffer whose textures have names two after each other, bound."""
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    target = GL.TEXTURE_2D_MULTISAMPLE if samples else GL.TEXTURE_2D
    for point, kind in (
        (GL.COLOR_ATTACHMENT0, GL.RGBA8),
        (GL.DEPTH_STENCIL_ATTACHMENT, GL.DEPTH24_STENCIL8),
    ):
        (texture,) = gl.gen_textures(1)
        gl.bind_texture(target, texture)
        if samples:
            gl.tex_storage2d_multisample(target, samples, kind, SIZE, SIZE, 1)
        else:
            gl.tex_storage2d(target, 1, kind, SIZE, SIZE)
        gl.framebuffer_texture(GL.FRAMEBUFFER, point, texture, 0)
        gl.bind_texture(target, 0)


def make(gl: Any, scene: str) -> None:
    """What the scene needs, once per context."""
    if scene in ("tex", "points", "pixels"):
        _textures(gl)
        if scene == "tex":
            gl.enable(GL.TEXTURE_2D)
    else:
        gl.gen_textures(3)
    _target(gl, 0)
    if scene == "samples":
        _target(gl, 4)
    if scene in ("tex", "points", "pixels"):
        gl.bind_texture(GL.TEXTURE_2D, 1)
    gl.viewport(0, 0, SIZE, SIZE)
    gl.scissor(0, 0, SIZE, SIZE)
    gl.lightfv(GL.LIGHT1, GL.DIFFUSE, np.array([0, 0.5, 1, 1], np.float32))
    gl.lightfv(GL.LIGHT1, GL.POSITION, np.array([0, 1, 1, 0], np.float32))
    gl.enable(GL.LIGHT0)
    if scene == "program":
        _program(gl)


def wipe(gl: Any, scene: str) -> None:
    """The target as it was, whatever masks and scissors say; depth and stencil are what glClear
    would put there, unless it is glClear that is looked at."""
    depth, stencil = 0.75, 0x22
    if scene != "clear":
        depth = gl.get_doublev(GL.DEPTH_CLEAR_VALUE)[0]
        stencil = gl.get_integerv(GL.STENCIL_CLEAR_VALUE)[0]
    word = np.array([round(depth * 0xFFFFFF) << 8 | stencil], np.uint32)
    color = np.array([64, 128, 192, 128], np.uint8)
    first = 6 if scene == "samples" else 4
    gl.clear_tex_image(first, 0, GL.RGBA, GL.UNSIGNED_BYTE, color)
    gl.clear_tex_image(first + 1, 0, GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8, word)


def _textures(gl: Any) -> None:
    random = np.random.default_rng(3)
    gl.gen_textures(3)
    for name in (3, 2, 1):
        gl.bind_texture(GL.TEXTURE_2D, name)
        kind = GL.SRGB8_ALPHA8 if name == 3 else GL.RGBA8
        for level in range(3):
            edge = 4 >> level
            texels = random.integers(0, 8, (edge, edge, 4)).astype(np.uint8) * 32 + 16
            gl.tex_image2d(
                GL.TEXTURE_2D, level, kind, edge, edge, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels
            )
        for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
    gl.gen_samplers(1)
    gl.bind_sampler(0, 1)
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.sampler_parameteri(1, pname, GL.NEAREST)
    for pname in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        gl.sampler_parameteri(1, pname, GL.CLAMP_TO_EDGE)
    gl.bind_sampler(0, 0)


def _program(gl: Any) -> None:
    """Shaders 1, 2 and program 3; 4, 5 and 6; uniform buffers 1, 2; vertices 3; indices 4, 5."""
    for first, what in ((1, "color + more + tinted"), (4, "vec4(1.0) - color")):
        for kind, text in ((GL.VERTEX_SHADER, _VERTEX), (GL.FRAGMENT_SHADER, _FRAGMENT)):
            shader = gl.create_shader(kind)
            gl.shader_source(shader, text.replace("WHAT", what))
            gl.compile_shader(shader)
        program = gl.create_program()
        for shader in (first, first + 1):
            gl.attach_shader(program, shader)
        gl.link_program(program)
        assert program == first + 2 and gl.get_programiv(program, GL.LINK_STATUS)[0]
    gl.use_program(3)
    gl.uniform4f(0, 0.25, 0.25, 0.0, 0.5)
    gl.gen_buffers(5)
    for name, values in ((1, [0.5, 0.0, 0.0, 0.5]), (2, [0.0, 0.5, 0.5, 0.5])):
        data = np.zeros(68, np.float32)
        data[:4], data[64:] = values, [0.0, 0.5, 0.25, 0.0]
        gl.bind_buffer(GL.UNIFORM_BUFFER, name)
        gl.buffer_data(GL.UNIFORM_BUFFER, data.nbytes, data, GL.DYNAMIC_DRAW)
        gl.bind_buffer_base(GL.UNIFORM_BUFFER, name - 1, name)
    corners = np.array([-1, -1, 0.5, -0.75, -0.5, 0.75, 0.75, 1, 0, 0.5, -1, 1], np.float32)
    gl.bind_buffer(GL.ARRAY_BUFFER, 3)
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    gl.gen_vertex_arrays(2)
    for name, offset in ((2, 8), (1, 0)):
        gl.bind_vertex_array(name)
        gl.enable_vertex_attrib_array(0)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, offset)
        for elements, order in ((5, [3, 3, 1, 0]), (4, [0, 1, 2, 3])):
            gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, elements)
            indices = np.array([*order, order[0], order[2]], np.uint8)
            gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, 6, indices, GL.STATIC_DRAW)


# Corners on corners of pixels.
_BATCHES = (
    ((-13, -11, -0.5), (9, -13, -0.5), (11, 9, -0.5), (-11, 13, -0.5)),
    ((-5, 15, 0.0), (13, 11, 0.0), (15, -7, 0.0), (-7, -5, 0.0)),  # clockwise
    ((-15, -3, 1.25), (3, -15, 1.25), (5, -1, 1.25), (-3, 5, 1.25)),  # behind the far plane
)
_COLORS = ((1.0, 0.25, 0.5, 1.0), (0.0, 1.0, 0.25, 0.5), (0.5, 0.5, 1.0, 0.75), (0.25, 0, 0, 0.25))
_KINDS = {"lines": GL.LINES, "points": GL.POINTS}


def _draw_pixels(gl: Any) -> None:
    """A picture, and two letters of different sizes."""
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    picture = np.random.default_rng(4).integers(0, 8, (6, 9, 4)).astype(np.uint8) * 32 + 16
    gl.raster_pos3f(-0.75, -0.5, -0.25)
    gl.draw_pixels(9, 6, GL.RGBA, GL.UNSIGNED_BYTE, picture)
    gl.raster_pos3f(-0.25, 0.5, 0.75)
    gl.bitmap(7, 5, 2.0, 1.0, 9.0, -2.0, np.array([0xF0, 0x88, 0xFE, 0x12, 0x3C], np.uint8))
    gl.bitmap(10, 3, 0.0, 0.0, 0.0, 0.0, np.array([0xAA, 0x80, 0x55, 0x40, 0xFF, 0], np.uint8))


def draw(gl: Any, scene: str) -> None:
    if scene == "program":
        gl.draw_elements(GL.TRIANGLE_STRIP, 6, GL.UNSIGNED_BYTE, None)
        return
    if scene == "pixels":
        _draw_pixels(gl)
        return
    if scene == "clear":
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    gl.begin(_KINDS.get(scene, GL.TRIANGLES))
    for number, corners in enumerate(_BATCHES):
        gl.secondary_color3f(0.0, 0.25, 0.5 * number)
        gl.fog_coordf(number * 0.5)
        for index in (0, 1, 2, 0, 2, 3) if scene not in _KINDS else range(4):
            x, y, z = corners[index]
            gl.color4f(*_COLORS[number + (index % 2 if number < 2 else 0)])
            gl.normal3f(x / 32, y / 32, 0.75)
            gl.tex_coord2f(x / 12 + 0.3, y / 12 + 0.4)
            gl.vertex3f(x / 16, y / 16, z)
    gl.end()


def picture(gl: Any, scene: str) -> Any:
    """Colours and stencil as [y, x, 5] bytes."""
    if scene == "samples":
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, 2)
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 1)
        gl.blit_framebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL.COLOR_BUFFER_BIT, GL.NEAREST)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, 1)
    layers = []
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    for format in (GL.RGBA, GL.STENCIL_INDEX):
        raw = bytes(gl.read_pixels(0, 0, SIZE, SIZE, format, GL.UNSIGNED_BYTE))
        layers.append(np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE, -1))
    if scene == "samples":
        gl.bind_framebuffer(GL.FRAMEBUFFER, 2)
    return np.concatenate(layers, axis=2).astype(int)
