"""Depth bounds: light only where what has been drawn lies between two depths.

The test looks at the depth that is *stored*, not at the fragment's own: a lamp that reaches only so
far is drawn as a rectangle over everything, and pixels whose surface is out of its reach cost
nothing. Where `GL_EXT_depth_bounds_test` is missing, a shader looks the stored depth up and
discards, which must look the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    COMMON,
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    plane,
    raw,
    scene,
    screen_filler,
    shaders,
    torus,
    upload,
)

GLSL = shaders(__file__)

BOUNDS_TEST = 0x8890
SHELLS = ((0.5, 0.8625, (0.5, 0.0, 0.0)), (0.8625, 0.925, (0.0, 0.5, 0.0)), (0.9, 1.0, (0, 0, 0.5)))


@scene("depth_bounds", size=(96, 72), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ring over a floor, then three lamps of which each reaches one shell of depths."""
    program = ctx.program(COMMON["with_normals"], GLSL["fragment"])
    view = look_at((0.0, 1.5, 3.0))
    matrix = perspective(45, size[0] / size[1], 0.5, 8.0) @ view
    program["matrix"].write(gl_matrix(np.asarray(matrix)))
    things = [
        upload(ctx, program, "3f 3f 2f", mesh, "position normal uv")
        for mesh in (torus(32, 16), plane())
    ]
    depth = ctx.depth_texture(size)
    target = ctx.framebuffer([ctx.texture(size, 4)], depth)
    target.use()
    target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    for thing in things:
        thing.render()
    yield capture("surfaces", target)
    lamp, screen = screen_filler(ctx, GLSL["lamp"])
    ctx.disable(ctx.DEPTH_TEST)
    ctx.enable(ctx.BLEND)
    ctx.blend_func = ctx.ONE, ctx.ONE
    tested = "GL_EXT_depth_bounds_test" in ctx.extensions
    if tested:
        ctx.enable_direct(BOUNDS_TEST)
    else:
        depth.compare_func = ""
        depth.use(0)
        target = ctx.framebuffer(target.color_attachments)  # what is looked up is not attached
        target.use()
    for number, (near, far, light) in enumerate(SHELLS, 1):
        lamp["light"].value = light
        if tested:
            raw(ctx).depth_bounds_ext(near, far)
        else:
            lamp["bounds"].value = near, far
        screen.render()
        yield capture(f"{number} of {len(SHELLS)} lamps", target)
    if tested:
        ctx.disable_direct(BOUNDS_TEST)
    ctx.disable(ctx.BLEND)
