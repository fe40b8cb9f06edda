"""Framebuffers, clears, blits and reading back, on our GL and on the native one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface
from tests.state_tracker.helpers import errors


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
