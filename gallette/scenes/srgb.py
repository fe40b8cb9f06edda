"""sRGB: textures that decode, framebuffers that encode, and blending in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, shaders

GLSL = shaders(__file__)

TEXTURE, SRGB8_ALPHA8, FRAMEBUFFER, FRAMEBUFFER_SRGB = 0x0DE1, 0x8C43, 0x8D40, 0x8DB9


@scene("srgb", size=(128, 64), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ramp through an sRGB texture: decoded, encoded again, and blended with itself."""
    gl = raw(ctx)
    width, height = size
    ramp = np.zeros((height, width, 4), np.uint8)
    ramp[..., 0] = np.arange(width) * 255 // (width - 1)
    ramp[..., 1] = (np.arange(height) * 255 // (height - 1))[:, None]
    ramp[..., 2] = 255 - ramp[..., 0]
    ramp[..., 3] = 255
    names = gl.gen_textures(2)
    for name, data in zip(names, (ramp, None), strict=True):
        gl.bind_texture(TEXTURE, name)
        gl.tex_parameteri(TEXTURE, 0x2801, 0x2600)
        gl.tex_image2d(TEXTURE, 0, SRGB8_ALPHA8, width, height, 0, 0x1908, 0x1401, data)
    program, screen = screen_filler(ctx, GLSL["fragment"])
    program["image"].value = 0
    program["alpha"].value = 1.0
    linear = ctx.framebuffer([ctx.texture(size, 4)])
    linear.use()
    gl.active_texture(0x84C0)  # making a texture has chosen another
    gl.bind_texture(TEXTURE, names[0])
    screen.render()
    yield capture("decoded", linear)

    (encoded,) = gl.gen_framebuffers(1)
    copy = ctx.framebuffer([ctx.texture(size, 4)])
    for name, enabled, alpha in (
        ("encoded again", True, 1.0),
        ("blended in linear light", True, 0.5),
        ("blended as it is stored", False, 0.5),
    ):
        gl.bind_framebuffer(FRAMEBUFFER, encoded)
        gl.framebuffer_texture2d(FRAMEBUFFER, 0x8CE0, TEXTURE, names[1], 0)
        gl.viewport(0, 0, width, height)
        (gl.enable if enabled else gl.disable)(FRAMEBUFFER_SRGB)
        gl.clear_bufferfv(0x1800, 0, [0.0, 0.25, 0.5, 1.0])
        program["alpha"].value = alpha
        gl.active_texture(0x84C0)
        gl.bind_texture(TEXTURE, names[0])
        gl.enable(0x0BE2)
        gl.blend_func(0x0302, 0x0303)
        screen.render()
        gl.disable(0x0BE2)
        gl.disable(FRAMEBUFFER_SRGB)
        gl.bind_framebuffer(0x8CA8, encoded)  # a blit without conversion: what is stored
        gl.bind_framebuffer(0x8CA9, copy.glo)
        gl.blit_framebuffer(0, 0, width, height, 0, 0, width, height, 0x4000, 0x2600)
        yield capture(name, copy)
    gl.delete_framebuffers(1, [encoded])
    gl.delete_textures(2, names)
