"""Levels of detail and border colours are loaded, not compiled in: any number of them is drawn by
one function, as numpipe draws it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.jit import program as jit_program
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import program, quad

VERTEX = """#version 330
in vec2 position; out vec2 at;
void main() { gl_Position = vec4(position, 0.0, 1.0); at = position * 3.0; }
"""
FRAGMENT = """#version 330
uniform SAMPLER image; in vec2 at; out vec4 c;
void main() { c = vec4(texture(image, LOOK)); }
"""
PLAIN = FRAGMENT.replace("SAMPLER", "sampler2D").replace("LOOK", "at")
SHADOW = FRAGMENT.replace("SAMPLER", "sampler2DShadow").replace("LOOK", "vec3(at, 0.4)")
WHOLE = (
    FRAGMENT.replace("SAMPLER", "isampler2D").replace("LOOK", "at").replace("vec4(", "1e-2 * vec4(")
)
BORDERS = [[v, 1.0 - v, v * 0.5, 1.0] for v in (0.0, 0.25, 0.5, 1.0)]

ROWS: dict[str, tuple[str, int, list[Any]]] = {
    "lod bias": (PLAIN, GL.TEXTURE_LOD_BIAS, [-2.5, -1.0, 0.25, 1.5, 4.0]),
    "least lod": (PLAIN, GL.TEXTURE_MIN_LOD, [-1000.0, 0.5, 1.5, 3.0]),
    "greatest lod": (PLAIN, GL.TEXTURE_MAX_LOD, [-1.0, 0.5, 1.5, 1000.0]),
    "border": (PLAIN, GL.TEXTURE_BORDER_COLOR, BORDERS),
    "border of depths": (SHADOW, GL.TEXTURE_BORDER_COLOR, BORDERS),
    "border of integers": (WHOLE, GL.TEXTURE_BORDER_COLOR, [[1, 2, 3, 4], [50, 60, -70, 80]]),
}


def pictures(driver: str, fragment: str, name: int, values: list[Any]) -> list[bytes]:
    gl: Any = create_context(driver, profile="core", version=(4, 5), size=(32, 32))
    quad(gl, program(gl, VERTEX, fragment))
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    rows = np.arange(16 * 16 * 4).reshape(16, 16, 4) * 7 % 255
    layout: tuple[int, int, Any] = (GL.RGBA, GL.UNSIGNED_BYTE, rows.astype(np.uint8))
    form = GL.RGBA8
    if fragment is SHADOW:
        form, layout = GL.DEPTH_COMPONENT32F, (GL.DEPTH_COMPONENT, GL.FLOAT,
                                               (rows[..., 0] / 255).astype(np.float32))  # fmt: skip
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)
    elif fragment is WHOLE:
        form, layout = GL.RGBA32I, (GL.RGBA_INTEGER, GL.INT, rows.astype(np.int32))
    gl.tex_storage2d(GL.TEXTURE_2D, 5, form, 16, 16)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 16, 16, *layout)
    if fragment is not WHOLE:
        gl.generate_mipmap(GL.TEXTURE_2D)
    smallest = GL.NEAREST if fragment is WHOLE else GL.LINEAR_MIPMAP_LINEAR
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, smallest)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    if name == GL.TEXTURE_BORDER_COLOR:
        for wrap in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
            gl.tex_parameteri(GL.TEXTURE_2D, wrap, GL.CLAMP_TO_BORDER)
    found = []
    for value in values:
        if fragment is WHOLE:
            gl.tex_parameter_iiv(GL.TEXTURE_2D, name, np.array(value, np.int32))
        elif isinstance(value, list):
            gl.tex_parameterfv(GL.TEXTURE_2D, name, np.array(value, np.float32))
        else:
            gl.tex_parameterf(GL.TEXTURE_2D, name, value)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        found.append(bytes(gl.read_pixels(0, 0, 32, 32, GL.RGBA, GL.UNSIGNED_BYTE)))
    assert gl.get_error() == GL.NO_ERROR
    gl.release()
    return found


@pytest.mark.parametrize("name", ROWS)
def test_numbers_of_samplers_need_no_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fragment, parameter, values = ROWS[name]
    made = []

    def counted(*args: Any) -> Any:
        made.append(args)
        return emit(*args)

    emit = jit_program.emit_tiles
    monkeypatch.setattr(jit_program, "emit_tiles", counted)
    seen = pictures("jit", fragment, parameter, values)
    assert len(set(seen)) > 1
    assert len(made) <= 2  # for the bounds that OpenGL begins with, and for all others
    for ours, theirs in zip(seen, pictures("numpipe", fragment, parameter, values), strict=True):
        difference = np.frombuffer(ours, np.uint8).astype(int) - np.frombuffer(theirs, np.uint8)
        assert abs(difference).max() <= 1
