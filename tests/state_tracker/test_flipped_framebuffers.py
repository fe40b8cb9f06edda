"""MESA_framebuffer_flip_y: framebuffers that are upside down look as on llvmpipe, in every way."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface, create_context

FLIP = GL.FRAMEBUFFER_FLIP_Y_MESA
OPTIONS: dict[str, Any] = {"profile": "compat", "version": (4, 3), "size": (8, 8)}


def target(gl: GLInterface, samples: int = 0) -> tuple[int, int]:
    """A framebuffer with colour and depth, and its texture."""
    (framebuffer,), (texture,), (depth,) = (
        gl.gen_framebuffers(1), gl.gen_textures(1), gl.gen_renderbuffers(1),
    )  # fmt: skip
    kind = GL.TEXTURE_2D_MULTISAMPLE if samples else GL.TEXTURE_2D
    gl.bind_texture(kind, texture)
    if samples:
        gl.tex_storage2d_multisample(kind, samples, GL.RGBA8, 8, 8, 1)
    else:
        gl.tex_storage2d(kind, 1, GL.RGBA8, 8, 8)
    gl.bind_renderbuffer(GL.RENDERBUFFER, depth)
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, GL.DEPTH24_STENCIL8, 8, 8)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, kind, texture, 0)
    point = GL.DEPTH_STENCIL_ATTACHMENT
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, depth)
    return framebuffer, texture


def flip(gl: GLInterface) -> None:
    if gl.get_framebuffer_parameteriv(GL.FRAMEBUFFER, FLIP)[0] == 0:
        gl.framebuffer_parameteri(GL.FRAMEBUFFER, FLIP, 1)
    assert gl.get_framebuffer_parameteriv(GL.FRAMEBUFFER, FLIP)[0] == 1


@pytest.mark.parametrize("name", ["blit_named_framebuffer", "clear_named_framebufferfv"])
def test_missing_arguments_are_reported_as_usual(name: str) -> None:
    """Also where functions look for framebuffers among their arguments."""
    gl = create_context("numpipe", **{**OPTIONS, "version": (4, 5)})
    call = getattr(gl, name)
    with pytest.raises(TypeError) as plain:
        call()
    target(gl)
    flip(gl)
    with pytest.raises(TypeError) as flipped:
        getattr(gl, name)()
    assert str(flipped.value) == str(plain.value)
    gl.release()
