"""Water: the world above and the world below it, each cut off at the surface by a clip distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    Pass,
    capture,
    gl_matrix,
    look_at,
    perspective,
    plane,
    scene,
    shaders,
    torus,
    upload,
)

GLSL = shaders(__file__)


@scene("water", size=(160, 120), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A ring half under water: its reflection and what is below in textures, both rippled."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    surface = ctx.program(GLSL["vertex"], GLSL["surface"])
    view = perspective(45, size[0] / size[1], 0.1, 20) @ look_at((0.8, 1.4, 3.2))
    upright = torus(24, 12)
    upright[:, [1, 2]] = upright[:, [2, 1]]
    upright[:, [4, 5]] = upright[:, [5, 4]]
    ring = upload(ctx, program, "3f 3f 2f", upright, "position normal uv")
    floor = upload(ctx, program, "3f 3f 2f", plane(2.0, -1.0), "position normal uv")
    sea = upload(ctx, surface, "3f 3f 2f", plane(2.0, 0.0), "position normal uv")
    ctx.enable(ctx.DEPTH_TEST)
    ctx.enable_direct(0x3000)

    def world(name: str, matrix: Any, keep: tuple[float, ...]) -> tuple[Any, Pass]:
        target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
        target.use()
        target.clear(0.5, 0.6, 0.7, 0.0)
        program["matrix"].write(gl_matrix(matrix))
        program["keep"].value = keep
        program["tint"].value = (0.9, 0.6, 0.3)
        ring.render()
        program["tint"].value = (0.4, 0.5, 0.3)
        floor.render()
        return target, capture(name, target)

    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    above, picture = world("reflected", view @ mirror, (0, 1, 0, 0))
    yield picture
    below, picture = world("under water", view, (0, -1, 0, 0.03125))
    yield picture
    target, _ = world("above water", view, (0, 1, 0, 0))
    ctx.disable_direct(0x3000)
    surface["matrix"].write(gl_matrix(view))
    surface["above"].value, surface["below"].value = 0, 1
    above.color_attachments[0].use(0)
    below.color_attachments[0].use(1)
    sea.render()
    yield capture("with its surface", target)
