"""Multisampling: a resolve, the samples one by one, and a shader that runs per sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, shaders, upload

GLSL = shaders(__file__)

MULTISAMPLE = 0x9100


def star(ctx: Any, program: Any) -> Any:
    """Thin triangles around the middle, as a vertex array."""
    a = np.arange(9) * (2 * np.pi / 9) + 0.1
    tips = np.stack([np.cos(a), np.sin(a)], -1) * 0.95
    sides = np.stack([-np.sin(a), np.cos(a)], -1) * 0.06
    corners = np.stack([tips, sides, -sides], 1).reshape(-1, 2).astype(np.float32)
    return upload(ctx, program, "2f", corners, "position")


@scene("samples", size=(64, 48), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A star of thin triangles with four samples: resolved, every sample as a pixel of its own, and
    each sample shaded for itself.
    """
    gl = raw(ctx)
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    shape = star(ctx, program)
    image = ctx.texture(size, 4, samples=4)
    many = ctx.framebuffer([image])
    one = ctx.framebuffer([ctx.texture(size, 4)])
    large = ctx.framebuffer([ctx.texture((2 * size[0], 2 * size[1]), 4)])
    show, screen = screen_filler(ctx, GLSL["show"])
    show["image"].value = 0
    for name, each in (("per pixel", False), ("per sample", True)):
        program["each"].value = each
        many.use()
        many.clear()
        shape.render()
        ctx.copy_framebuffer(one, many)
        yield capture(f"{name}, resolved", one)
        large.use()
        gl.active_texture(0x84C0)
        gl.bind_texture(MULTISAMPLE, image.glo)
        screen.render()
        yield capture(f"{name}, every sample", large)
