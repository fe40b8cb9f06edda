"""Framebuffers, clears, blits and reading back, on our GL and on the native one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface
from tests.state_tracker.helpers import errors, pixels, program, quad


def texture(gl: GLInterface, internal: int, width: int = 8, height: int = 8) -> int:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, internal, width, height)
    return int(name)


def framebuffer(gl: GLInterface, *internals: int, depth: int = 0) -> int:
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    for i, internal in enumerate(internals):
        point = GL.COLOR_ATTACHMENT0 + i
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, texture(gl, internal), 0)
    if depth:
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage(GL.RENDERBUFFER, depth, 8, 8)
        gl.framebuffer_renderbuffer(
            GL.FRAMEBUFFER, GL.DEPTH_STENCIL_ATTACHMENT, GL.RENDERBUFFER, buffer
        )
    buffers = [GL.COLOR_ATTACHMENT0 + i for i in range(len(internals))]
    gl.draw_buffers(len(buffers), buffers)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    return int(name)


def test_completeness(gl: GLInterface) -> None:
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    assert status == GL.FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT
    (empty,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, empty)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, empty, 0)
    status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    assert status == GL.FRAMEBUFFER_INCOMPLETE_ATTACHMENT
    args = (GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    gl.tex_image2d(GL.TEXTURE_2D, 0, *args)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    depth = texture(gl, GL.DEPTH_COMPONENT24)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT1, GL.TEXTURE_2D, depth, 0)
    status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    assert status == GL.FRAMEBUFFER_INCOMPLETE_ATTACHMENT


def test_attachments_are_queried(gl: GLInterface) -> None:
    framebuffer(gl, GL.RGBA16F, depth=GL.DEPTH24_STENCIL8)

    def get(point: int, pname: int) -> int:
        found = gl.get_framebuffer_attachment_parameteriv(GL.FRAMEBUFFER, point, pname)
        return int(found[0])

    color = GL.COLOR_ATTACHMENT0
    assert get(color, GL.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) == GL.TEXTURE
    assert get(color, GL.FRAMEBUFFER_ATTACHMENT_RED_SIZE) == 16
    assert get(color, GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) == GL.FLOAT
    depth = GL.DEPTH_ATTACHMENT
    assert get(depth, GL.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) == GL.RENDERBUFFER
    assert get(depth, GL.FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE) == 24
    assert get(GL.COLOR_ATTACHMENT1, GL.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) == GL.NONE


def test_clears_obey_masks_and_scissor(gl: GLInterface) -> None:
    gl.clear_color(1.0, 1.0, 1.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.color_mask(1, 0, 1, 0)
    gl.enable(GL.SCISSOR_TEST)
    gl.scissor(4, 4, 8, 8)
    gl.clear_color(0.0, 0.0, 0.0, 0.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    image = pixels(gl)
    assert image[8, 8].tolist() == [0, 255, 0, 255]
    assert image[3, 3].tolist() == [255] * 4
    assert (image[..., 0] == 0).sum() == 64


def test_clear_values_per_buffer(gl: GLInterface) -> None:
    framebuffer(gl, GL.RGBA32F, GL.RGBA8UI, GL.RGBA16I, depth=GL.DEPTH24_STENCIL8)
    gl.clear_bufferfv(GL.COLOR, 0, [1.5, -2.0, 0.25, 9.0])
    gl.clear_bufferuiv(GL.COLOR, 1, [1, 2, 3, 255])
    gl.clear_bufferiv(GL.COLOR, 2, [-1, 2, -3, 400])
    gl.clear_bufferfi(GL.DEPTH_STENCIL, 0, 0.5, 77)
    gl.read_buffer(GL.COLOR_ATTACHMENT0)
    floats = np.frombuffer(gl.read_pixels(7, 7, 1, 1, GL.RGBA, GL.FLOAT), np.float32)
    assert floats.tolist() == [1.5, -2.0, 0.25, 9.0]
    gl.read_buffer(GL.COLOR_ATTACHMENT1)
    raw = gl.read_pixels(0, 0, 1, 1, GL.RGBA_INTEGER, GL.UNSIGNED_INT)
    assert np.frombuffer(raw, np.uint32).tolist() == [1, 2, 3, 255]
    gl.read_buffer(GL.COLOR_ATTACHMENT2)
    raw = gl.read_pixels(0, 0, 1, 1, GL.RGBA_INTEGER, GL.INT)
    assert np.frombuffer(raw, np.int32).tolist() == [-1, 2, -3, 400]
    depth = np.frombuffer(gl.read_pixels(0, 0, 1, 1, GL.DEPTH_COMPONENT, GL.FLOAT), np.float32)
    assert np.allclose(depth, 0.5, atol=1e-6)
    assert gl.read_pixels(0, 0, 1, 1, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)[0] == 77
    raw = gl.read_pixels(0, 0, 1, 1, GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8)
    assert np.frombuffer(raw, np.uint32)[0] & 0xFF == 77
    gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.FLOAT, bytearray(16))
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_stencil_masks_limit_clears(gl: GLInterface) -> None:
    framebuffer(gl, GL.RGBA8, depth=GL.DEPTH24_STENCIL8)
    gl.clear_stencil(0xFF)
    gl.clear(GL.STENCIL_BUFFER_BIT)
    gl.stencil_mask(0x0F)
    gl.clear_stencil(0)
    gl.clear(GL.STENCIL_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    assert gl.read_pixels(0, 0, 1, 1, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)[0] == 0xF0


@pytest.mark.parametrize(
    ("format", "type", "expected"),
    [
        ("RGBA", "UNSIGNED_BYTE", [51, 102, 153, 204]),
        ("BGRA", "UNSIGNED_BYTE", [153, 102, 51, 204]),
        ("RGB", "UNSIGNED_BYTE", [51, 102, 153]),
        ("RED", "UNSIGNED_BYTE", [51]),
        ("RGBA", "UNSIGNED_SHORT", [13107, 26214, 39321, 52428]),
        ("RGBA", "UNSIGNED_INT_8_8_8_8", [0x336699CC]),
        ("RGB", "UNSIGNED_SHORT_5_6_5", [(6 << 11) | (25 << 5) | 19]),
        ("RGBA", "FLOAT", [0.2, 0.4, 0.6, 0.8]),
        ("RGBA", "HALF_FLOAT", [0.2, 0.4, 0.6, 0.8]),
    ],
)
def test_reading_in_many_formats(
    gl: GLInterface, format: str, type: str, expected: list[float]
) -> None:
    gl.clear_color(0.2, 0.4, 0.6, 0.8)
    gl.clear(GL.COLOR_BUFFER_BIT)
    raw = gl.read_pixels(3, 3, 1, 1, getattr(GL, format), getattr(GL, type))
    dtype = {
        "UNSIGNED_BYTE": np.uint8,
        "UNSIGNED_SHORT": np.uint16,
        "UNSIGNED_SHORT_5_6_5": np.uint16,
        "UNSIGNED_INT_8_8_8_8": np.uint32,
        "FLOAT": np.float32,
        "HALF_FLOAT": np.float16,
    }[type]
    found = np.frombuffer(raw, dtype)
    assert np.allclose(found.astype(np.float64), expected, atol=1e-3)


def test_reading_outside_the_framebuffer_gets_what_is_inside(gl: GLInterface) -> None:
    gl.clear_color(1.0, 1.0, 1.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    raw = gl.read_pixels(62, 62, 4, 4, GL.RED, GL.UNSIGNED_BYTE)
    image = np.frombuffer(raw, np.uint8).reshape(4, 4)
    assert (image[:2, :2] == 255).all()


def test_blits_scale_flip_and_clip(gl: GLInterface) -> None:
    source = framebuffer(gl, GL.RGBA8)
    gl.enable(GL.SCISSOR_TEST)
    for x, color in ((0, (1, 0, 0, 1)), (4, (0, 1, 0, 1))):
        gl.scissor(x, 0, 4, 8)
        gl.clear_color(*map(float, color))
        gl.clear(GL.COLOR_BUFFER_BIT)
    gl.disable(GL.SCISSOR_TEST)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 0)
    gl.clear_color(0.0, 0.0, 0.0, 0.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.blit_framebuffer(0, 0, 8, 8, 16, 0, 0, 16, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.blit_framebuffer(-4, 0, 4, 8, 32, 32, 48, 48, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, 0)
    image = pixels(gl)
    assert image[4, 4].tolist() == [0, 255, 0, 255]  # flipped: green left
    assert image[4, 12].tolist() == [255, 0, 0, 255]
    assert image[40, 36].tolist() == [0, 0, 0, 0]  # from outside the source
    assert image[40, 44].tolist() == [255, 0, 0, 255]
    assert gl.is_framebuffer(source)


def test_integer_and_float_buffers_do_not_blit(gl: GLInterface) -> None:
    framebuffer(gl, GL.RGBA8UI)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 0)
    gl.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_depth_blits(gl: GLInterface) -> None:
    first = framebuffer(gl, GL.RGBA8, depth=GL.DEPTH24_STENCIL8)
    gl.clear_bufferfi(GL.DEPTH_STENCIL, 0, 0.25, 5)
    second = framebuffer(gl, GL.RGBA8, depth=GL.DEPTH24_STENCIL8)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, first)
    mask = GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT
    gl.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, mask, GL.NEAREST)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, second)
    depth = np.frombuffer(gl.read_pixels(2, 2, 1, 1, GL.DEPTH_COMPONENT, GL.FLOAT), np.float32)
    assert np.allclose(depth, 0.25, atol=1e-6)
    assert gl.read_pixels(2, 2, 1, 1, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)[0] == 5


def test_several_render_targets_and_holes(gl: GLInterface) -> None:
    framebuffer(gl, GL.RGBA8, GL.RGBA8, GL.RGBA8)
    gl.draw_buffers(3, [GL.COLOR_ATTACHMENT2, GL.NONE, GL.COLOR_ATTACHMENT0])
    fragment = """#version 330
    layout(location = 0) out vec4 a;
    layout(location = 1) out vec4 b;
    layout(location = 2) out vec4 c;
    void main() { a = vec4(0.2); b = vec4(0.4); c = vec4(0.6); }
    """
    quad(gl, program(gl, fragment=fragment))
    gl.viewport(0, 0, 8, 8)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    found = []
    for i in range(3):
        gl.read_buffer(GL.COLOR_ATTACHMENT0 + i)
        found.append(gl.read_pixels(1, 1, 1, 1, GL.RED, GL.UNSIGNED_BYTE)[0])
    assert found == [153, 0, 51]


def test_srgb_framebuffers_encode_only_when_asked(gl: GLInterface) -> None:
    framebuffer(gl, GL.SRGB8_ALPHA8)
    gl.clear_color(0.5, 0.5, 0.5, 0.5)
    gl.clear(GL.COLOR_BUFFER_BIT)
    assert list(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)) == [128] * 4
    gl.enable(GL.FRAMEBUFFER_SRGB)
    gl.clear(GL.COLOR_BUFFER_BIT)
    assert list(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)) == [188] * 3 + [128]


def test_rendering_to_a_level_and_a_layer(gl: GLInterface) -> None:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D_ARRAY, name)
    gl.tex_storage3d(GL.TEXTURE_2D_ARRAY, 2, GL.RGBA8, 8, 8, 3)
    (fbo,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    gl.framebuffer_texture_layer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, name, 1, 2)
    gl.clear_color(1.0, 0.0, 0.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    raw = gl.get_tex_image(GL.TEXTURE_2D_ARRAY, 1, GL.RED, GL.UNSIGNED_BYTE)
    image = np.frombuffer(raw, np.uint8).reshape(3, 4, 4)
    assert (image[2] == 255).all() and not image[:2].any()


def test_a_cube_has_six_layers(gl: GLInterface) -> None:
    (cube,), (fbo,) = gl.gen_textures(1), gl.gen_framebuffers(1)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, cube)
    gl.tex_storage2d(GL.TEXTURE_CUBE_MAP, 1, GL.RGBA8, 8, 8)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    place = (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0)
    gl.framebuffer_texture_layer(*place, cube, 0, 5)
    assert gl.get_error() == 0
    gl.framebuffer_texture_layer(*place, cube, 0, 6)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.named_framebuffer_texture_layer(fbo, GL.COLOR_ATTACHMENT0, cube, 0, 6)
    assert gl.get_error() == GL.INVALID_VALUE
    pname = GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE
    (face,) = gl.get_framebuffer_attachment_parameteriv(*place, pname)
    assert face == GL.TEXTURE_CUBE_MAP_NEGATIVE_Z


def test_a_deleted_attachment_leaves_the_bound_framebuffer(gl: GLInterface) -> None:
    framebuffer(gl, GL.RGBA8)
    pname = GL.FRAMEBUFFER_ATTACHMENT_OBJECT_NAME
    args = (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, pname)
    (name,) = gl.get_framebuffer_attachment_parameteriv(*args)
    gl.delete_textures(1, [name])
    status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    assert status == GL.FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT


def test_fewer_samples_than_the_driver_has_are_rounded_up(gl: GLInterface) -> None:
    (buffer,) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, 3, GL.RGBA8, 8, 8)
    assert gl.get_renderbuffer_parameteriv(GL.RENDERBUFFER, GL.RENDERBUFFER_SAMPLES) == [4]
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D_MULTISAMPLE, texture)
    gl.tex_image2d_multisample(GL.TEXTURE_2D_MULTISAMPLE, 3, GL.RGBA8, 8, 8, 1)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    gl.framebuffer_texture2d(
        GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT1, GL.TEXTURE_2D_MULTISAMPLE, texture, 0
    )
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    assert gl.get_integerv(GL.SAMPLES) == [4]


def test_the_first_layer_of_an_array_is_attached_by_its_target(gl: GLInterface) -> None:
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D_ARRAY, texture)
    args = (GL.RGBA8, 4, 4, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, bytes([9, 8, 7, 6] * 32))
    gl.tex_image3d(GL.TEXTURE_2D_ARRAY, 0, *args)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D_ARRAY, texture, 0)
    assert list(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)) == [9, 8, 7, 6]
    assert errors(gl) == []


@pytest.mark.parametrize("counts", [(0, 1), (1, 0), (1, 1), (0, 0)])
def test_one_sample_is_not_the_same_as_none(gl: GLInterface, counts: tuple[int, int]) -> None:
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    for i, samples in enumerate(counts):
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, GL.RGBA8, 8, 8)
        gl.framebuffer_renderbuffer(
            GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0 + i, GL.RENDERBUFFER, buffer
        )
    status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    same = counts[0] == counts[1]
    assert status == (GL.FRAMEBUFFER_COMPLETE if same else GL.FRAMEBUFFER_INCOMPLETE_MULTISAMPLE)


WAYS_TO_DETACH: dict[str, Callable[[GLInterface, int], None]] = {
    "texture": lambda gl, at: gl.framebuffer_texture(GL.FRAMEBUFFER, at, 0, 0),
    "texture 1D": lambda gl, at: gl.framebuffer_texture1d(GL.FRAMEBUFFER, at, GL.TEXTURE_1D, 0, 0),
    "texture 2D": lambda gl, at: gl.framebuffer_texture2d(GL.FRAMEBUFFER, at, GL.TEXTURE_2D, 0, 0),
    "texture 3D": lambda gl, at: gl.framebuffer_texture3d(
        GL.FRAMEBUFFER, at, GL.TEXTURE_3D, 0, 0, 0
    ),
    "layer": lambda gl, at: gl.framebuffer_texture_layer(GL.FRAMEBUFFER, at, 0, 0, 0),
    "renderbuffer": lambda gl, at: gl.framebuffer_renderbuffer(
        GL.FRAMEBUFFER, at, GL.RENDERBUFFER, 0
    ),
}


@pytest.mark.parametrize("way", WAYS_TO_DETACH)
def test_attaching_nothing_detaches_what_is_there(gl: GLInterface, way: str) -> None:
    framebuffer(gl, GL.RGBA8, GL.RGBA8, depth=GL.DEPTH24_STENCIL8)

    def attached() -> list[str]:
        points = "COLOR_ATTACHMENT0", "COLOR_ATTACHMENT1", "DEPTH_ATTACHMENT", "STENCIL_ATTACHMENT"
        kind = GL.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE
        get = gl.get_framebuffer_attachment_parameteriv
        return [p for p in points if get(GL.FRAMEBUFFER, getattr(GL, p), kind)[0] != GL.NONE]

    assert len(attached()) == 4
    WAYS_TO_DETACH[way](gl, GL.COLOR_ATTACHMENT0)
    assert attached() == ["COLOR_ATTACHMENT1", "DEPTH_ATTACHMENT", "STENCIL_ATTACHMENT"]
    WAYS_TO_DETACH[way](gl, GL.DEPTH_STENCIL_ATTACHMENT)
    assert attached() == ["COLOR_ATTACHMENT1"]
    assert errors(gl) == []


def test_depth_and_stencil_can_be_queried_together_if_they_are_one_image(gl: GLInterface) -> None:
    framebuffer(gl, GL.RGBA8, depth=GL.DEPTH24_STENCIL8)
    both, kind = GL.DEPTH_STENCIL_ATTACHMENT, GL.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE

    def asked() -> list[str]:
        gl.get_framebuffer_attachment_parameteriv(GL.FRAMEBUFFER, both, kind)
        return errors(gl)

    found = gl.get_framebuffer_attachment_parameteriv(GL.FRAMEBUFFER, both, kind)
    assert found[0] == GL.RENDERBUFFER
    other = texture(gl, GL.DEPTH24_STENCIL8)
    for point in (GL.STENCIL_ATTACHMENT, GL.DEPTH_ATTACHMENT):
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, other, 0)
        assert asked() == (["GL_INVALID_OPERATION"] if point == GL.STENCIL_ATTACHMENT else [])
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.STENCIL_ATTACHMENT, GL.TEXTURE_2D, 0, 0)
    assert asked() == ["GL_INVALID_OPERATION"]
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, GL.TEXTURE_2D, 0, 0)
    assert asked() == []


LAYERED = {
    "TEXTURE_1D_ARRAY": (GL.RGBA8, 8, 6),
    "TEXTURE_2D_ARRAY": (GL.RGBA8, 8, 8, 6),
    "TEXTURE_3D": (GL.RGBA8, 8, 8, 6),
    "TEXTURE_CUBE_MAP": (GL.RGBA8, 8, 8),
    "TEXTURE_CUBE_MAP_ARRAY": (GL.RGBA8, 8, 8, 6),
}


@pytest.mark.parametrize("other", ["depth", *LAYERED])
@pytest.mark.parametrize("one", LAYERED)
def test_layered_color_attachments_are_of_one_target(gl: GLInterface, one: str, other: str) -> None:
    """Those of depth may be of another."""
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    for i, name in enumerate((one, other)):
        point, target = GL.COLOR_ATTACHMENT0 + i, getattr(GL, name, GL.TEXTURE_2D_ARRAY)
        size = LAYERED.get(name, (GL.DEPTH_COMPONENT24, 8, 8, 6))
        (texture,) = gl.gen_textures(1)
        gl.bind_texture(target, texture)
        (gl.tex_storage2d if len(size) == 3 else gl.tex_storage3d)(target, 1, *size)
        point = GL.DEPTH_ATTACHMENT if name == "depth" else point
        gl.framebuffer_texture(GL.FRAMEBUFFER, point, texture, 0)
    assert errors(gl) == []
    status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    alike = other in (one, "depth")
    assert (status == GL.FRAMEBUFFER_COMPLETE) == alike
    assert (status == GL.FRAMEBUFFER_INCOMPLETE_LAYER_TARGETS) != alike
