"""Tile memory: a framebuffer of one tile, filled from memory and written back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.common.memory.clear import ClearValues, clear
from gallette.drivers.common.memory.resource import create_resource, surface_texels
from gallette.drivers.common.raster.setup import Rect
from gallette.pipe.enums import ClearFlags, Target
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import FramebufferState, Surface

from .bins import Grid

_LEDGER = ResourceLedger()
"""A ledger for tiles, which are not visible as resources."""


@lazy_dataclass(frozen=True)
class Clear:
    """A clear of whole attachments that has not been executed yet."""

    flags: ClearFlags
    values: ClearValues


def surfaces_of(framebuffer: FramebufferState) -> list[Surface]:
    """Every attachment."""
    return [s for s in (*framebuffer.cbufs, framebuffer.zsbuf) if s is not None]


def can_be_tiled(framebuffer: FramebufferState) -> bool:
    """Whether there are attachments, with a single layer."""
    surfaces = surfaces_of(framebuffer)
    return (
        bool(surfaces)
        and framebuffer.layers <= 1
        and framebuffer.width > 0
        and framebuffer.height > 0
        and all(s.first_layer == s.last_layer for s in surfaces)
        and len({max(1, s.resource.desc.samples) for s in surfaces}) == 1
    )


def pixel_bytes(framebuffer: FramebufferState) -> int:
    """The bytes of a pixel in all attachments."""
    return sum(
        s.format.block_bytes * max(1, s.resource.desc.samples) for s in surfaces_of(framebuffer)
    )


@lazy_dataclass()
class TileMemory:
    """The memory of one tile, reused for all tiles."""

    framebuffer: FramebufferState  # in memory
    grid: Grid
    tile: FramebufferState = field(init=False)  # on the chip

    def __post_init__(self) -> None:
        fb, grid = self.framebuffer, self.grid
        self.tile = FramebufferState(
            grid.tile_width,
            grid.tile_height,
            1,
            fb.samples,
            tuple(self._place(s) for s in fb.cbufs),
            self._place(fb.zsbuf),
        )

    def _place(self, surface: Surface | None) -> Surface | None:
        if surface is None:
            return None
        desc = ResourceDesc(
            Target.TEXTURE_2D,
            surface.format,
            self.grid.tile_width,
            self.grid.tile_height,
            samples=surface.resource.desc.samples,
            label="tile memory",
        )
        return Surface(create_resource(desc, _LEDGER), surface.format)

    def pairs(self) -> list[tuple[int, Surface, Surface]]:
        """Attachments in memory and on the chip, each with the clear flags of its aspects."""
        found = []
        for index, (memory, chip) in enumerate(
            zip(self.framebuffer.cbufs, self.tile.cbufs, strict=True)
        ):
            if memory is not None and chip is not None:
                found.append((int(ClearFlags.COLOR0) << index, memory, chip))
        memory, chip = self.framebuffer.zsbuf, self.tile.zsbuf
        if memory is not None and chip is not None:
            names = {c.name for c in memory.format.channels}
            flags = int(ClearFlags.DEPTH) * ("Z" in names)
            flags |= int(ClearFlags.STENCIL) * ("S" in names)
            found.append((flags, memory, chip))
        return found

    def load(self, rect: Rect, clears: list[Clear]) -> int:
        """Fill the tile; returns the bytes read from memory."""
        cleared = 0
        for each in clears:
            cleared |= int(each.flags)
        moved = 0
        for flags, memory, chip in self.pairs():
            if flags & cleared != flags:
                moved += _copy(chip, memory, rect, False)
        for each in clears:
            clear(self.tile, each.flags, each.values, None)
        return moved

    def store(self, rect: Rect, undefined: Collection[int] = ()) -> tuple[int, int]:
        """Write the tile back; returns the bytes written to memory, and the bytes not written.

        `undefined` are (by identity) the resources whose contents have been invalidated.
        """
        moved = spared = 0
        for _, memory, chip in self.pairs():
            if id(memory.resource) in undefined:
                spared += _part(memory, rect).nbytes
            else:
                moved += _copy(chip, memory, rect, True)
                memory.resource.touch()  # type: ignore[attr-defined]
        return moved, spared

    def destroy(self) -> None:
        for _, _, chip in self.pairs():
            chip.resource.unref()


def _part(surface: Surface, rect: Rect) -> npt.NDArray[Any]:
    """The texels of all samples in a rectangle."""
    return surface_texels(surface)[:, rect.y0 : rect.y1, rect.x0 : rect.x1]


def _copy(chip: Surface, memory: Surface, rect: Rect, back: bool) -> int:
    ours = _part(chip, Rect(0, 0, rect.x1 - rect.x0, rect.y1 - rect.y0))
    theirs = _part(memory, rect)
    if back:
        theirs[...] = ours
    else:
        ours[...] = theirs
    return int(theirs.nbytes)


def whole(values: ClearValues) -> bool:
    """Whether every channel and every bit is cleared."""
    return all(values.color_mask) and values.stencil_mask & 0xFF == 0xFF


def in_tile(framebuffer: FramebufferState, tile: FramebufferState) -> FramebufferState:
    """The tile as the framebuffer of a draw, with the framebuffer's other properties."""
    return replace(framebuffer, cbufs=tile.cbufs, zsbuf=tile.zsbuf)
