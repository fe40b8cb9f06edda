"""Coordinates outside of a texture: every wrap mode, and border colours of sampler objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, shaders

GLSL = shaders(__file__)

REPEAT, EDGE, BORDER, MIRRORED = 0x2901, 0x812F, 0x812D, 0x8370
MIN, MAG, WRAP_S, WRAP_T, BORDER_COLOR = 0x2801, 0x2800, 0x2802, 0x2803, 0x1004


@scene("borders", size=(96, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A small picture in the middle of a larger one, and around it what its sampler says."""
    gl = raw(ctx)
    i = np.arange(64)
    texels = np.stack([i % 8 * 36, i // 8 * 36, (i * 5 % 8) * 36, np.full(64, 255)], -1)
    image = ctx.texture((8, 8), 4, texels.astype(np.uint8).tobytes())
    program, screen = screen_filler(ctx, GLSL["fragment"])
    program["scale"].value = 1 / size[0], 1 / size[1]
    (sampler,) = gl.gen_samplers(1)
    gl.sampler_parameterfv(sampler, BORDER_COLOR, [0.75, 0.25, 0.5, 1.0])
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    image.use(0)
    gl.bind_sampler(0, sampler)
    for name, s, t, filling in (
        ("repeated", REPEAT, REPEAT, 0x2600),
        ("mirrored and clamped", MIRRORED, EDGE, 0x2601),
        ("a border, nearest", BORDER, BORDER, 0x2600),
        ("a border, linear", BORDER, BORDER, 0x2601),
    ):
        for parameter, value in ((WRAP_S, s), (WRAP_T, t), (MIN, filling), (MAG, filling)):
            gl.sampler_parameteri(sampler, parameter, value)
        screen.render()
        yield capture(name, target)
    gl.bind_sampler(0, 0)
    gl.delete_samplers(1, [sampler])
