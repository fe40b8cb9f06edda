"""Logic operations: sixteen ways to combine the bits of source and destination."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, raw, scene, screen_filler, shaders

GLSL = shaders(__file__)

LOGIC_OP, CLEAR = 0x0BF2, 0x1500


@scene("logic_ops", size=(128, 128), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """One pattern over another, a field for each operation from CLEAR to SET."""
    gl = raw(ctx)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    program, screen = screen_filler(ctx, GLSL["bits"])
    program["shift"].value = 0, 0
    screen.render()
    yield capture("below", target)
    program["shift"].value = 5, 3
    gl.enable(LOGIC_OP)
    gl.enable(0x0C11)
    gl.color_mask(1, 1, 1, 0)
    width, height = size[0] // 4, size[1] // 4
    for op in range(16):
        gl.logic_op(CLEAR + op)
        gl.scissor(op % 4 * width, op // 4 * height, width, height)
        screen.render()
    gl.color_mask(1, 1, 1, 1)
    gl.disable(0x0C11)
    gl.disable(LOGIC_OP)
    yield capture("sixteen operations", target)
