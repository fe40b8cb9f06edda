"""The multi-pass idiom that breaks when two variants of one shader round differently.

The first pass draws depth only; the second draws colour where the depth is EQUAL. Both use the very
same program. A driver that makes a depth-only variant removes the varying `local`, after which
`scaled` has a single use, and an optimisation that asks for that (fusing a multiply and an add)
may change the last bit of the position. Try

    gallette diff depth_prepass --option inexact_used_once=always
    gallette diff depth_prepass --option inexact_used_once=never
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    capture_depth,
    gl_matrix,
    look_at,
    perspective,
    scene,
    shaders,
    sphere,
    upload,
)

GLSL = shaders(__file__)


@scene("depth_prepass", lesson="is_used_once", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Depth first, then colour with GL_EQUAL and the same program: holes show differing bits."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    matrix = perspective(40, size[0] / size[1], 0.3, 9) @ look_at((1.3, 1.1, 2.7))
    program["matrix"].write(gl_matrix(matrix))
    program["scale"].value = (1.17, 0.83, 0.91)
    program["offset"].value = (0.1317, -0.0731, 0.2713)
    mesh = upload(ctx, program, "3f 3f 2f", sphere(64, 40), "position normal uv", ctx.TRIANGLES)
    depth = ctx.depth_texture(size)
    depth_only = ctx.framebuffer(depth_attachment=depth)
    both = ctx.framebuffer([ctx.texture(size, 4)], depth)
    ctx.enable(ctx.DEPTH_TEST)
    depth_only.use()
    depth_only.clear()
    mesh.render()
    yield capture_depth("depth pre-pass", depth)
    both.use()
    both.color_mask = True, True, True, True
    ctx.depth_func = "=="
    both.depth_mask = False
    both.clear(depth=1.0)  # depth writes are off: this clears the colour only
    mesh.render()
    both.depth_mask = True
    ctx.depth_func = "<"
    yield capture("colour where EQUAL", both)
