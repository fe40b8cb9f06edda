"""Two passes that must agree: depth from the lamp, then the view that looks it up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import (
    Pass,
    capture,
    capture_depth,
    gl_matrix,
    look_at,
    perspective,
    plane,
    scene,
    shaders,
    sphere,
    torus,
    upload,
)

GLSL = shaders(__file__)


@scene("shadow_map", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A torus and a ball throw shadows: a depth-only pass, then depth comparison in a sampler."""
    things = np.concatenate([torus(48, 12), sphere(24, 12, 0.35), plane(2.2, -0.8)])
    lamp = np.array([1.5, 2.5, 1.0])
    lamp_matrix = perspective(70, 1, 0.5, 8) @ look_at(tuple(lamp))
    shadows = ctx.depth_texture((256, 256))
    shadow_target = ctx.framebuffer(depth_attachment=shadows)
    shadow_target.use()
    shadow_target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    depth_program = ctx.program(GLSL["depth_vertex"], GLSL["depth_fragment"])
    depth_program["lamp_matrix"].write(gl_matrix(lamp_matrix))
    names = "position normal uv"
    upload(ctx, depth_program, "3f 3f 2f", things, names, ctx.TRIANGLES).render()
    shadows.compare_func = ""
    yield capture_depth("shadow map", shadows)

    shadows.compare_func = "<="
    shadows.filter = ctx.NEAREST, ctx.NEAREST
    shadows.repeat_x = shadows.repeat_y = False
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    matrix = perspective(45, size[0] / size[1], 0.1, 12) @ look_at((-0.6, 1.6, 3.0))
    program["matrix"].write(gl_matrix(matrix))
    program["lamp_matrix"].write(gl_matrix(lamp_matrix))
    program["to_lamp"].value = tuple(lamp / np.linalg.norm(lamp))
    shadows.use(0)
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    target.use()
    target.clear()
    upload(ctx, program, "3f 3f 2f", things, names, ctx.TRIANGLES).render()
    yield capture("lit", target)
