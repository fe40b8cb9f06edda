"""Regressions that C programs of a conformance suite found, each as a small test on native too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import compiled, errors, pixels, program, quad

DRIVERS = pytest.mark.parametrize(
    "driver", ["numpipe", pytest.param("native:llvmpipe", marks=pytest.mark.native)]
)


@contextmanager
def made(driver: str, **options: object) -> Iterator[GLInterface]:
    """A context of that driver for a while."""
    make = native_context if driver.startswith("native") else partial(create_context, driver)
    gl = make(**options)  # type: ignore[operator]
    yield gl
    gl.release()


def test_a_sample_mask_means_nothing_where_there_is_one_sample(gl: GLInterface) -> None:
    fragment = (
        "#version 400\nuniform int mask;\nout vec4 color;\n"
        "void main() { gl_SampleMask[0] = mask; color = vec4(1.0); }\n"
    )
    name = program(gl, fragment=fragment)
    quad(gl, name)
    for mask in (0, 1, -2):
        gl.uniform1i(gl.get_uniform_location(name, "mask"), mask)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        assert (pixels(gl) == 255).all(), mask


def test_reads_are_clamped_on_request(gl: GLInterface) -> None:
    (texture,), (framebuffer,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    texel = np.array([7.0, -2.0, 0.5, 1.0], np.float32)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32F, 1, 1, 0, GL.RGBA, GL.FLOAT, texel)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    for clamp, wanted in ((GL.FALSE, texel), (GL.TRUE, texel.clip(0, 1))):
        gl.clamp_color(GL.CLAMP_READ_COLOR, clamp)
        found = np.frombuffer(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.FLOAT), np.float32)
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "name", ["TEXTURE_MATRIX", "CURRENT_TEXTURE_COORDS", "CURRENT_RASTER_TEXTURE_COORDS"]
)
def test_units_without_coordinates_answer_none(compat: GLInterface, name: str) -> None:
    compat.active_texture(GL.TEXTURE0 + 10)
    compat.get_floatv(getattr(GL, name))
    assert errors(compat) == ["GL_INVALID_OPERATION"]


def test_nothing_is_copied_into_compressed_images_in_es() -> None:
    gl = create_context("numpipe", profile="es", version=(3, 0), size=(8, 8))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.COMPRESSED_RGBA8_ETC2_EAC, 8, 8)
    gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 0, 0, 4, 4)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.release()


def test_a_forward_compatible_context_says_so() -> None:
    gl = create_context("noop", size=(8, 8))
    assert gl.get_integerv(GL.CONTEXT_FLAGS) == [0]
    gl.forward_compatible = True  # type: ignore[attr-defined]
    assert gl.get_integerv(GL.CONTEXT_FLAGS) == [GL.CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT]
    gl.release()


COUNTED = """#version 430
layout(binding = 0) uniform atomic_uint one;
layout(binding = 0, offset = 8) uniform atomic_uint two[2];
uniform int which;
out vec4 color;
uint up(atomic_uint counter) { return atomicCounterIncrement(counter); }
uint down(atomic_uint counters[2], int i) { return atomicCounterDecrement(counters[i]); }
uint add(atomic_uint counter) { return up(counter) + atomicCounter(counter); }
void main() { color = vec4(float(add(one) + up(two[which]) + down(two, 0))); }
"""


def test_counters_are_passed_to_functions() -> None:
    gl = create_context("numpipe", size=(8, 8), version=(4, 3))
    name = program(gl, "#version 430\nin vec2 position;\nvoid main() {"
                   " gl_Position = vec4(position, 0.0, 1.0); }", COUNTED)  # fmt: skip
    quad(gl, name)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.ATOMIC_COUNTER_BUFFER, 0, buffer)
    values = np.array([5, 7, 1000, 11], np.uint32)
    gl.buffer_data(GL.ATOMIC_COUNTER_BUFFER, values.nbytes, values, GL.STATIC_DRAW)
    gl.uniform1i(gl.get_uniform_location(name, "which"), 1)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    raw = gl.get_buffer_sub_data(GL.ATOMIC_COUNTER_BUFFER, 0, values.nbytes)
    found = np.frombuffer(bytes(raw), np.uint32)
    assert errors(gl) == []
    assert (found - values).tolist() == [64, 0, -64 % (1 << 32), 64]
    gl.release()


@DRIVERS
def test_depth_is_read_beside_no_stencil_in_es(driver: str) -> None:
    """NV_read_depth has UNSIGNED_INT_24_8 for depth alone; what does not fit is an enum error."""
    with made(driver, profile="es", version=(3, 0), size=(8, 8)) as gl:
        gl.clear_depthf(0.3)
        gl.clear_stencil(77)
        gl.clear(GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        found = np.zeros(1, np.uint32)
        gl.read_pixels(0, 0, 1, 1, GL.DEPTH_COMPONENT, GL.UNSIGNED_INT_24_8, found)
        assert errors(gl) == []
        assert found[0] & 255 == 0 and abs(int(found[0] >> 8) - 0.3 * 2**24) < 2
        for format, type in (
            (GL.STENCIL_INDEX, GL.UNSIGNED_INT_24_8),
            (GL.DEPTH_COMPONENT, GL.FLOAT_32_UNSIGNED_INT_24_8_REV),
        ):
            gl.read_pixels(0, 0, 1, 1, format, type, found)
            assert errors(gl) == ["GL_INVALID_ENUM"]


@DRIVERS
@pytest.mark.parametrize(("version", "links"), [("100", True), ("300 es", False)])
def test_unread_attributes_share_no_location_in_es3(driver: str, version: str, links: bool) -> None:
    word = "in" if "es" in version else "attribute"
    body = "void main() { gl_Position = vec4(0.0); }\n"
    vertex = f"#version {version}\n{word} highp float a, b;\n{body}"
    fragment = f"#version {version}\nvoid main() {{}}\n"
    with made(driver, profile="es", version=(3, 0)) as gl:
        name = gl.create_program()
        for kind, source in ((GL.VERTEX_SHADER, vertex), (GL.FRAGMENT_SHADER, fragment)):
            gl.attach_shader(name, compiled(gl, kind, source))
        gl.bind_attrib_location(name, 0, "a")
        gl.bind_attrib_location(name, 0, "b")
        gl.link_program(name)
        assert bool(gl.get_programiv(name, GL.LINK_STATUS)[0]) is links


@DRIVERS
def test_arrays_of_cubes_include_their_functions(driver: str) -> None:
    source = (
        "#extension GL_ARB_texture_cube_map_array : require\n"
        "uniform samplerCubeArray cubes;\n"
        "void main() { gl_FragColor = texture(cubes, vec4(1.0)); }\n"
    )
    with made(driver, profile="compat", version=(4, 5)) as gl:
        compiled(gl, GL.FRAGMENT_SHADER, source)
