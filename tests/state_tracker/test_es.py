"""OpenGL ES contexts, on our GL and on the native one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.conftest import IMPLEMENTATIONS
from tests.state_tracker.helpers import errors, pixels, program

VERTEX = """attribute vec2 position;
varying vec2 uv;
void main() { uv = position * 0.5 + 0.5; gl_Position = vec4(position, 0.0, 1.0); }
"""
FRAGMENT = """precision mediump float;
varying vec2 uv;
uniform sampler2D image;
void main() { gl_FragColor = texture2D(image, uv); }
"""


@pytest.fixture(params=IMPLEMENTATIONS)
def es(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    """An ES 3.0 context with a default framebuffer of 64x64."""
    options = {"profile": "es", "version": (3, 0), "size": (64, 64)}
    if request.param == "native":
        context = native_context(**options)
    else:
        context = create_context(request.param, **options)  # type: ignore[arg-type]
    context.clear(GL.COLOR_BUFFER_BIT)
    yield context
    context.release()


def test_strings_say_es(es: GLInterface) -> None:
    assert es.get_string(GL.VERSION).startswith("OpenGL ES 3.")
    assert es.get_string(GL.SHADING_LANGUAGE_VERSION).startswith("OpenGL ES GLSL ES 3")


def test_client_arrays_and_es_2_shaders_draw_a_luminance_texture(es: GLInterface) -> None:
    name = program(es, VERTEX, FRAGMENT)
    (texture,) = es.gen_textures(1)
    es.bind_texture(GL.TEXTURE_2D, texture)
    es.tex_image2d(
        GL.TEXTURE_2D, 0, GL.LUMINANCE, 2, 2, 0, GL.LUMINANCE, GL.UNSIGNED_BYTE,
        bytes([10, 20, 0, 0, 30, 40]),
    )  # fmt: skip
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        es.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
    data = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
    location = es.get_attrib_location(name, "position")
    es.enable_vertex_attrib_array(location)
    es.vertex_attrib_pointer(location, 2, GL.FLOAT, 0, 0, data)
    es.draw_elements(GL.TRIANGLE_STRIP, 4, GL.UNSIGNED_BYTE, bytes([0, 1, 2, 3]))
    assert errors(es) == []
    image = pixels(es)
    assert image[5, 5].tolist() == [10, 10, 10, 255]
    assert image[60, 60].tolist() == [40, 40, 40, 255]


def test_what_es_left_out_is_an_error(es: GLInterface) -> None:
    es.draw_arrays(GL.QUADS, 0, 4)
    assert errors(es) == ["GL_INVALID_ENUM"]
    es.enable(GL.ALPHA_TEST)
    assert errors(es) == ["GL_INVALID_ENUM"]
