"""Samples resolved while the tile is on the chip, without reading memory.

A blit from a multisampled attachment to a resource without samples is recorded in the pass that
draws to the attachment. Each tile executes its part of it before it is stored: samples are not read
back from memory, and if they are invalidated afterwards (`invalidate_resource`) they are never
written to it.
"""

from __future__ import annotations

from dataclasses import replace

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.memory.blit import blit
from gallette.drivers.common.raster.setup import Rect
from gallette.pipe.state import BlitInfo, Box, FramebufferState, Surface


@lazy_dataclass(frozen=True)
class Resolve:
    """A blit, and the on-chip attachment that it reads instead of the one in memory."""

    info: BlitInfo
    chip: Surface

    def run(self, tile: Rect) -> int:
        """Execute the tile's part of the blit; returns the bytes written to memory."""
        info = self.info
        src, dst = info.src_box, info.dst_box
        x0, y0 = max(src.x, tile.x0), max(src.y, tile.y0)
        x1, y1 = min(src.x + src.width, tile.x1), min(src.y + src.height, tile.y1)
        right, up = dst.x - src.x, dst.y - src.y
        if info.scissor is not None:
            x0, y0 = max(x0, info.scissor.minx - right), max(y0, info.scissor.miny - up)
            x1, y1 = min(x1, info.scissor.maxx - right), min(y1, info.scissor.maxy - up)
        if x1 <= x0 or y1 <= y0:
            return 0
        width, height = x1 - x0, y1 - y0
        blit(
            replace(
                info,
                dst_box=Box(x0 + right, y0 + up, dst.z, width, height, 1),
                src=self.chip.resource,
                src_level=0,
                src_box=Box(x0 - tile.x0, y0 - tile.y0, 0, width, height, 1),
                scissor=None,
            )
        )
        return width * height * info.dst_format.block_bytes


def resolve_of(
    info: BlitInfo, framebuffer: FramebufferState, tile: FramebufferState
) -> Resolve | None:
    """A blit in the form that tiles can execute, or None. It must resolve samples of an attachment,
    unscaled and not flipped.
    """
    src, dst = info.src_box, info.dst_box
    inside = (
        src.x >= 0
        and src.y >= 0
        and src.x + src.width <= framebuffer.width
        and src.y + src.height <= framebuffer.height
    )
    if (
        info.src.desc.samples <= 1
        or info.dst.desc.samples > 1
        or not inside
        or (src.width, src.height) != (dst.width, dst.height)
        or not (src.width > 0 and src.height > 0 and src.depth == dst.depth == 1)
    ):
        return None
    memory = (*framebuffer.cbufs, framebuffer.zsbuf)
    for surface, chip in zip(memory, (*tile.cbufs, tile.zsbuf), strict=True):
        if surface is None or chip is None or surface.resource is not info.src:
            continue
        if (surface.level, surface.first_layer) == (info.src_level, src.z):
            return Resolve(info, chip)
    return None
