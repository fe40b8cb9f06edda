"""EGL images: one storage seen by textures and renderbuffers of contexts that share nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gallette.egl.constants import EGL
from gallette.egl.images import Image, source_of
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.texturing.external_images import Source

Pair = tuple[Context, Context, dict[int, Image]]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two contexts of one screen, and the images they know by number."""
    first = Context(profile="compat", version=(3, 3), size=(8, 8))
    second = Context(profile="es", version=(3, 0), size=(8, 8), screen=first.screen)
    images: dict[int, Image] = {}

    def find(handle: int) -> Source | None:
        found = images.get(handle)
        return (found.resource, found.level, found.layer, found.info) if found else None

    first.find_image = second.find_image = find
    yield first, second, images
    for image in images.values():
        image.release()
    second.release()
    first.release()


def paint(gl: Context, texture: int, level: int, value: int, size: int) -> None:
    data = np.full((size, size, 4), value, np.uint8)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_sub_image2d(GL.TEXTURE_2D, level, 0, 0, size, size, GL.RGBA, GL.UNSIGNED_BYTE, data)
    gl.flush()


def seen(gl: Context, texture: int) -> int:
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    raw = gl.read_pixels(1, 1, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    return int(raw[0])


def mipmapped(gl: Context) -> int:
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    for level in range(3):
        gl.tex_image2d(
            GL.TEXTURE_2D, level, GL.RGBA8, 8 >> level, 8 >> level, 0, GL.RGBA,
            GL.UNSIGNED_BYTE, np.full((8, 8, 4), 10 * level, np.uint8),
        )  # fmt: skip
    return int(texture)


@pytest.mark.parametrize("level", [0, 1])
def test_a_texture_of_an_image_shows_what_its_siblings_draw(pair: Pair, level: int) -> None:
    first, second, images = pair
    first.make_current()
    original = mipmapped(first)
    images[1] = Image(source_of(first, EGL.GL_TEXTURE_2D, original, {EGL.GL_TEXTURE_LEVEL: level}))
    second.make_current()
    (twin,) = second.gen_textures(1)
    second.bind_texture(GL.TEXTURE_2D, twin)
    second.egl_image_target_texture2d_oes(GL.TEXTURE_2D, 1)
    assert second.get_error() == GL.NO_ERROR
    assert seen(second, twin) == 10 * level
    first.make_current()
    paint(first, original, level, 77, 8 >> level)
    second.make_current()
    assert seen(second, twin) == 77
    # Storage of its own ends the relation; the others keep theirs.
    second.bind_texture(GL.TEXTURE_2D, twin)
    second.tex_image2d(
        GL.TEXTURE_2D, 0, GL.RGBA, 8 >> level, 8 >> level, 0, GL.RGBA, GL.UNSIGNED_BYTE,
        np.full((8, 8, 4), 200, np.uint8),
    )  # fmt: skip
    assert seen(second, twin) == 200
    first.make_current()
    data = first.get_tex_image(GL.TEXTURE_2D, level, GL.RGBA, GL.UNSIGNED_BYTE)
    assert data[0] == 77


def test_a_renderbuffer_of_an_image_draws_into_the_texture(pair: Pair) -> None:
    first, second, images = pair
    first.make_current()
    original = mipmapped(first)
    images[1] = Image(source_of(first, EGL.GL_TEXTURE_2D, original, {EGL.GL_TEXTURE_LEVEL: 1}))
    second.make_current()
    (buffer,) = second.gen_renderbuffers(1)
    second.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    second.egl_image_target_renderbuffer_storage_oes(GL.RENDERBUFFER, 1)
    assert second.get_renderbuffer_parameteriv(GL.RENDERBUFFER, GL.RENDERBUFFER_WIDTH) == [4]
    (framebuffer,) = second.gen_framebuffers(1)
    second.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    second.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    second.clear_color(0.2, 0.2, 0.2, 1.0)
    second.clear(GL.COLOR_BUFFER_BIT)
    second.finish()
    first.make_current()
    levels = [
        first.get_tex_image(GL.TEXTURE_2D, level, GL.RGBA, GL.UNSIGNED_BYTE)[0]
        for level in range(3)
    ]
    assert levels == [0, 51, 20]


def test_what_is_no_image_is_refused(pair: Pair) -> None:
    first, second, images = pair
    second.make_current()
    (texture,) = second.gen_textures(1)
    second.bind_texture(GL.TEXTURE_2D, texture)
    second.egl_image_target_texture2d_oes(GL.TEXTURE_2D, 99)
    assert second.get_error() == GL.INVALID_VALUE
    second.egl_image_target_texture2d_oes(GL.TEXTURE_3D, 99)
    assert second.get_error() == GL.INVALID_ENUM
    first.make_current()
    images[1] = Image(source_of(first, EGL.GL_TEXTURE_2D, mipmapped(first), {}))
    second.make_current()
    second.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 8, 8)
    second.egl_image_target_texture2d_oes(GL.TEXTURE_2D, 1)
    assert second.get_error() == GL.INVALID_OPERATION
    (other,) = second.gen_textures(1)
    second.bind_texture(GL.TEXTURE_2D, other)
    second.egl_image_target_tex_storage_ext(GL.TEXTURE_2D, 1, None)
    assert second.get_error() == GL.NO_ERROR
    assert second.get_tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_IMMUTABLE_FORMAT) == [1]


EXTERNAL = {
    "100": """#extension GL_OES_EGL_image_external : require
        precision mediump float; uniform samplerExternalOES image;
        void main() { gl_FragColor = texture2D(image, gl_FragCoord.xy / 8.0); }""",
    "300 es": """#extension GL_OES_EGL_image_external_essl3 : require
        precision mediump float; uniform samplerExternalOES image; out vec4 color;
        void main() { color = texture(image, gl_FragCoord.xy / vec2(textureSize(image, 0))); }""",
}


@pytest.mark.parametrize("version", EXTERNAL)
def test_an_external_texture_is_sampled(pair: Pair, version: str) -> None:
    first, second, images = pair
    first.make_current()
    (original,) = first.gen_textures(1)
    first.bind_texture(GL.TEXTURE_2D, original)
    texels = np.random.default_rng(2).integers(0, 256, (8, 8, 4), dtype=np.uint8)
    first.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 8, 8)
    first.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    images[1] = Image(source_of(first, EGL.GL_TEXTURE_2D, original, {}))
    second.make_current()
    gl = second
    (twin,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_EXTERNAL_OES, twin)
    assert gl.get_integerv(GL.TEXTURE_BINDING_EXTERNAL_OES) == [twin]
    gl.egl_image_target_texture2d_oes(GL.TEXTURE_EXTERNAL_OES, 1)
    gl.tex_parameteri(GL.TEXTURE_EXTERNAL_OES, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_EXTERNAL_OES, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    program = gl.create_program()
    old = version == "100"
    for kind, source in (
        (GL.VERTEX_SHADER, f"{'attribute' if old else 'in'} vec2 at;"
                           " void main() { gl_Position = vec4(at, 0.0, 1.0); }"),
        (GL.FRAGMENT_SHADER, EXTERNAL[version]),
    ):  # fmt: skip
        shader = gl.create_shader(kind)
        gl.shader_source(shader, f"#version {version}\n{source}")
        gl.compile_shader(shader)
        assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(shader)
        gl.attach_shader(program, shader)
    gl.bind_attrib_location(program, 0, "at")
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_program_info_log(program)
    assert gl.get_active_uniform(program, 0)[1] == GL.SAMPLER_EXTERNAL_OES
    gl.use_program(program)
    gl.enable_vertex_attrib_array(0)
    corners = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, None)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert gl.get_error() == GL.NO_ERROR
    assert gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE) == texels.tobytes()
    gl.use_program(0)
    gl.delete_program(program)


def test_external_textures_do_less_than_others(pair: Pair) -> None:
    first, second, _ = pair
    external = GL.TEXTURE_EXTERNAL_OES
    second.make_current()
    second.bind_texture(external, second.gen_textures(1)[0])
    assert second.get_tex_parameteriv(external, GL.TEXTURE_MIN_FILTER) == [GL.LINEAR]
    assert second.get_tex_parameteriv(external, GL.TEXTURE_WRAP_S) == [GL.CLAMP_TO_EDGE]
    assert second.get_tex_parameteriv(external, GL.REQUIRED_TEXTURE_IMAGE_UNITS_OES) == [1]
    for call in (
        lambda: second.tex_parameteri(external, GL.TEXTURE_MIN_FILTER, GL.LINEAR_MIPMAP_LINEAR),
        lambda: second.tex_parameteri(external, GL.TEXTURE_WRAP_S, GL.REPEAT),
        lambda: second.tex_image2d(external, 0, GL.RGBA, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, None),
        lambda: second.generate_mipmap(external),
        lambda: second.tex_storage2d(external, 1, GL.RGBA8, 1, 1),
    ):
        call()
        assert second.get_error() == GL.INVALID_ENUM
    first.make_current()  # of the desktop
    first.bind_texture(external, first.gen_textures(1)[0])
    assert first.get_error() == GL.INVALID_ENUM
    first.get_integerv(GL.TEXTURE_BINDING_EXTERNAL_OES)
    assert first.get_error() == GL.INVALID_ENUM
