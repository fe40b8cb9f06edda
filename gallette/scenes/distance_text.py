"""Letters out of a distance field: sharp at any size from a small texture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.scenes.common import Pass, capture, scene, screen_filler, shaders

GLSL = shaders(__file__)

LETTERS = (
    "#### #### #... #   ",
    "#... #..# #... #   ",
    "#.## #### #... #   ",
    "#..# #..# #... #   ",
    "#### #..# #### ####",
)


def _field() -> np.ndarray[Any, Any]:
    """Signed distance to the letters' edges, half a range at the edge, as bytes."""
    art = np.array([[c == "#" for c in row.ljust(20)] for row in LETTERS])
    ink = np.pad(np.kron(art, np.ones((6, 6), bool)), 6)
    y, x = np.nonzero(ink)
    v, u = np.nonzero(~ink)
    grid: np.ndarray[Any, Any] = np.indices(ink.shape)
    rows, columns = grid[0], grid[1]

    def nearest(ys: np.ndarray[Any, Any], xs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        far = (rows[..., None] - ys) ** 2 + (columns[..., None] - xs) ** 2
        found: np.ndarray[Any, Any] = np.sqrt(far.min(axis=-1))
        return found

    signed = np.where(ink, nearest(v, u) - 0.5, 0.5 - nearest(y, x))
    small = signed.reshape(ink.shape[0] // 2, 2, ink.shape[1] // 2, 2).mean(axis=(1, 3))
    field: np.ndarray[Any, Any] = np.clip(128 + small * 16, 0, 255).astype(np.uint8)[::-1]
    return field


@scene("distance_text", size=(192, 72), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """A field of 66 by 21 texels drawn three times as large: crisp, soft, and with an outline."""
    data = np.ascontiguousarray(_field())
    height, width = data.shape
    field = ctx.texture((width, height), 1, data.tobytes(), alignment=1)
    field.filter = ctx.LINEAR, ctx.LINEAR
    field.repeat_x = field.repeat_y = False
    program, screen = screen_filler(ctx, GLSL["fragment"])
    program["scale"].value = 1 / size[0], 1 / size[1]
    target = ctx.framebuffer([ctx.texture(size, 4)])
    target.use()
    field.use(0)
    for name, soft, outline in (
        ("crisp", 0.0625, 0.0),
        ("soft", 0.25, 0.0),
        ("outlined", 0.0625, 0.125),
    ):
        program["soft"].value, program["outline"].value = soft, outline
        screen.render()
        yield capture(name, target)
