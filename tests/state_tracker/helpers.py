"""Small things the state-tracker tests build again and again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.state_tracker import GL, GLInterface

PLAIN_VS = (
    "#version 330\nin vec2 position;\nvoid main() { gl_Position = vec4(position, 0.0, 1.0); }\n"
)
COLOR_FS = "#version 330\nuniform vec4 color;\nout vec4 result;\nvoid main() { result = color; }\n"


def compiled(gl: GLInterface, kind: int, source: str) -> int:
    """A shader object that compiled."""
    shader = gl.create_shader(kind)
    gl.shader_source(shader, source)
    gl.compile_shader(shader)
    assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(shader)
    return int(shader)


def linked(
    gl: Any,
    shaders: Mapping[int, str] | Iterable[tuple[int, str]] = (),
    captured: Sequence[str] = (),
    *,
    attributes: Sequence[str] = (),
    separable: bool = False,
    used: bool = True,
    **by_stage: str,
) -> int:
    """A program of shaders, given by kind or by stage (`vertex=...`), that linked; in use, if that
    is not declined. `captured`: what transform feedback writes into one buffer; `attributes`: what
    has the first locations.
    """
    name = int(gl.create_program())
    kinds = {getattr(GL, f"{stage.upper()}_SHADER"): text for stage, text in by_stage.items()}
    given = shaders.items() if isinstance(shaders, Mapping) else shaders
    for kind, source in (*given, *kinds.items()):
        shader = compiled(gl, kind, source)
        gl.attach_shader(name, shader)
        gl.delete_shader(shader)
    for location, attribute in enumerate(attributes):
        gl.bind_attrib_location(name, location, attribute)
    if captured:
        gl.transform_feedback_varyings(name, len(captured), list(captured), GL.INTERLEAVED_ATTRIBS)
    if separable:
        gl.program_parameteri(name, GL.PROGRAM_SEPARABLE, 1)
    gl.link_program(name)
    assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
    if used:
        gl.use_program(name)
    return name


def program(gl: GLInterface, vertex: str = PLAIN_VS, fragment: str = COLOR_FS) -> int:
    """A linked program in use."""
    return linked(gl, vertex=vertex, fragment=fragment)


def quad(gl: GLInterface, name: int, attribute: str = "position") -> int:
    """A bound vertex array that covers the whole viewport as a strip of four."""
    (vao,) = gl.gen_vertex_arrays(1)
    (vbo,) = gl.gen_buffers(1)
    gl.bind_vertex_array(vao)
    gl.bind_buffer(GL.ARRAY_BUFFER, vbo)
    data = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    location = gl.get_attrib_location(name, attribute)
    gl.enable_vertex_attrib_array(location)
    gl.vertex_attrib_pointer(location, 2, GL.FLOAT, 0, 0, None)
    return int(vao)


def pixels(gl: GLInterface, width: int = 64, height: int = 64) -> npt.NDArray[Any]:
    """The framebuffer as [y, x, rgba] bytes."""
    raw = gl.read_pixels(0, 0, width, height, GL.RGBA, GL.UNSIGNED_BYTE)
    return np.frombuffer(raw, np.uint8).reshape(height, width, 4)


def errors(gl: GLInterface) -> list[str]:
    """All pending errors by name, oldest first."""
    found = []
    while (code := gl.get_error()) != GL.NO_ERROR:
        found.append(GL.name_of(code, "error"))
    return found
