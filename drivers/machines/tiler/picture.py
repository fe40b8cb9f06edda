"""The bins and tiles of a render pass as an image: overdraw, primitives, bytes moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .render_pass import PassReport

Array = npt.NDArray[Any]
_SIDE = 256
_MOVED = (240, 200, 40), (235, 235, 235), (60, 170, 60)


def bins_picture(report: PassReport) -> Array:
    """RGB, top row first: tiles from blue (nothing shaded) to red (most often), one bar per tile.

    The bar at a tile's left edge is as high as its share of the pass's bin entries, the one at its
    right edge as its bytes moved: loaded (yellow), stored (white), resolved (green).
    """
    grid = report.grid
    scale = max(1.0, max(grid.width, grid.height) / _SIDE)
    width, height = int(grid.width / scale) + 1, int(grid.height / scale) + 1
    picture: Array = np.full((height, width, 3), 255, np.uint8)
    most = max((tile.overdraw for tile in report.tiles), default=0.0) or 1.0
    largest = max((tile.primitives for tile in report.tiles), default=0) or 1
    busiest = max((tile.moved for tile in report.tiles), default=0) or 1
    for tile in report.tiles:
        x0, y0, x1, y1 = (
            int(v / scale) for v in (tile.rect.x0, tile.rect.y0, tile.rect.x1, tile.rect.y1)
        )
        heat = tile.overdraw / most
        picture[y0:y1, x0:x1] = (60 + 190 * heat, 110, 60 + 190 * (1 - heat))
        bar = int((y1 - y0) * tile.primitives / largest)
        picture[y0 : y0 + bar, x0 : x0 + max(2, (x1 - x0) // 12)] = 30
        low, thick = y0, max(2, (x1 - x0) // 12)
        for moved, color in zip((tile.loaded, tile.stored, tile.resolved), _MOVED, strict=True):
            high = low + int((y1 - y0) * moved / busiest)
            picture[low:high, x1 - thick : x1], low = color, high
        picture[y0, x0:x1] = 255
        picture[y0:y1, x0] = 255
    return np.ascontiguousarray(picture[::-1])


def described(report: PassReport) -> str:
    """The figures of a pass in one line."""
    grid = report.grid
    pixels = grid.width * grid.height
    shaded = sum(tile.shaded for tile in report.tiles)
    hidden = sum(tile.hidden for tile in report.tiles)
    loaded = sum(tile.loaded for tile in report.tiles)
    stored = sum(tile.stored for tile in report.tiles)
    resolved = sum(tile.resolved for tile in report.tiles)
    spared = sum(tile.spared for tile in report.tiles)
    more = f", {resolved} resolved" if resolved else ""
    more += f", {spared} not stored because they are invalidated" if spared else ""
    return (
        f"{grid.columns}x{grid.rows} bins of {grid.tile_width}x{grid.tile_height}, "
        f"{report.draws} draws, {report.primitives} primitives in {report.entries} bin entries, "
        f"overdraw {shaded / pixels:.2f}, {hidden} fragments hidden by hierarchical depth, "
        f"{loaded} bytes loaded, {stored} stored{more}"
    )
