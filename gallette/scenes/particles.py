"""Transform feedback: a vertex shader moves particles between buffers, then they are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, shaders

GLSL = shaders(__file__)


@scene("particles", size=(192, 144), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Two hundred particles pulled to the middle, ten steps on the GPU, drawn three times."""
    k = np.arange(200)
    start = np.stack(
        [0.8 * np.cos(k * 2.399), 0.8 * np.sin(k * 2.399), -0.3 * np.sin(k * 2.399),
         0.3 * np.cos(k * 2.399)], axis=1,
    )  # fmt: skip
    # Multiples of 1/1024: the first steps are then exact whatever the order of operations.
    data = (np.round(start * 1024) / 1024).astype(np.float32)
    buffers = [ctx.buffer(data.tobytes()), ctx.buffer(reserve=data.nbytes)]
    move = ctx.program(vertex_shader=GLSL["move"], varyings=["new_place", "new_speed"])
    show = ctx.program(GLSL["vertex"], GLSL["fragment"])
    layout = ("2f 2f", "place", "speed")
    steps = [ctx.vertex_array(move, [(b, *layout)]) for b in buffers]
    views = [ctx.vertex_array(show, [(b, *layout)]) for b in buffers]
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    ctx.enable(ctx.PROGRAM_POINT_SIZE)
    for step in range(10):
        steps[step % 2].transform(buffers[1 - step % 2], ctx.POINTS, vertices=200)
        if step in (0, 4, 9):
            target.clear()
            views[1 - step % 2].render(ctx.POINTS, vertices=200)
            yield capture(f"after step {step + 1}", target)
