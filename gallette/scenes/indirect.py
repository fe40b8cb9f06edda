"""Indirect draws: what to draw stands in a buffer, written by a compute shader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, shaders, upload

GLSL = shaders(__file__)


@scene("indirect", size=(128, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Sixteen triangles, each drawn none to three times as a compute shader has written."""
    program = ctx.program(GLSL["vertex"], GLSL["fragment"])
    i = np.arange(16)
    left = np.stack([i % 4 / 2 - 1, i // 4 / 2 - 1], -1)
    corners = left[:, None, :] + np.array([[0.05, 0.05], [0.4, 0.05], [0.2, 0.3]])
    tints = np.stack([i % 2, i // 2 % 2, i // 4 / 3], -1)[:, None, :] * 0.75 + 0.25
    rows = np.concatenate([corners, np.broadcast_to(tints, (16, 3, 3))], -1).reshape(-1, 5)
    triangles = upload(ctx, program, "2f 3f", rows.astype(np.float32), "position tint")
    commands = ctx.buffer(reserve=16 * 20)
    choose = ctx.compute_shader(GLSL["choose"])
    commands.bind_to_storage_buffer(0)
    target = ctx.framebuffer([ctx.texture(size, 4)])
    for wanted in (0, 1):
        choose["wanted"].value = wanted
        choose.run(1)
        ctx.memory_barrier()
        target.use()
        target.clear()
        triangles.render_indirect(commands, count=16)
        yield capture(f"choice {wanted}", target)
