"""The pages of sparse textures (ARB_sparse_texture): their sizes, and which are committed.

Memory is left to the operating system: a texture's storage is allocated as a whole, and pages
become resident when they are touched. A commitment changes only the contents, as specified: a page
that is committed or released contains zeros. Reading uncommitted pages is harmless, and shader
writes to them are discarded when they are committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.pipe.formats import Format
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.texturing.texture_formats import InternalFormat
from gallette.state_tracker.texturing.texture_targets import TargetInfo

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["SPARSE_TARGETS", "Pages", "check_sparse", "page_size", "sparse_limits"]

Triple = tuple[int, int, int]

SPARSE_TARGETS = frozenset(
    (
        GL.TEXTURE_2D,
        GL.TEXTURE_2D_ARRAY,
        GL.TEXTURE_CUBE_MAP,
        GL.TEXTURE_CUBE_MAP_ARRAY,
        GL.TEXTURE_3D,
        GL.TEXTURE_RECTANGLE,
    )
)
# Texels of a page of 64 KiB, by the size of a texel in bytes.
_FLAT: dict[int, Triple] = {
    1: (256, 256, 1), 2: (256, 128, 1), 4: (128, 128, 1), 8: (128, 64, 1), 16: (64, 64, 1),
}  # fmt: skip
_SOLID: dict[int, Triple] = {
    1: (64, 32, 32), 2: (32, 32, 32), 4: (32, 32, 16), 8: (32, 16, 16), 16: (16, 16, 16),
}  # fmt: skip


def page_size(target: TargetInfo, info: InternalFormat, format: Format) -> Triple | None:
    """Width, height and depth of a page; None if this format has no sparse pages."""
    if target.value not in SPARSE_TARGETS or info.is_compressed or not info.is_color:
        return None
    return (_SOLID if target.value == GL.TEXTURE_3D else _FLAT).get(format.block_bytes)


def check_sparse(
    ctx: Context,
    target: TargetInfo,
    info: InternalFormat,
    format: Format,
    extent: Triple,
    index: int,
) -> Triple:
    """The page size of a texture that will be sparse; raises if it cannot be."""
    size = page_size(target, info, format)
    if size is None or index >= 1:
        raise invalid_operation("there are no pages of that kind for such textures")
    edge, solid, layers = sparse_limits(ctx)
    flat = target.value != GL.TEXTURE_3D
    if max(extent[:2]) > (edge if flat else solid) or extent[2] > (layers if flat else solid):
        raise invalid_value("the sparse texture is too large")
    if any(e % s for e, s in zip(extent, size, strict=True)):
        raise invalid_value(f"the size of a sparse texture is not one of pages of {size}")
    return size


def sparse_limits(ctx: Context) -> Triple:
    """Limits of sparse textures: 2D and 3D sizes, layers."""
    caps = ctx.caps
    return caps.max_texture_2d_size, caps.max_texture_3d_size, caps.max_texture_array_layers


class Pages:
    """The committed pages of a texture, shared with its views."""

    def __init__(self, size: Triple, levels: list[Triple]) -> None:
        self.size = size
        self.sparse_levels = 0
        for extent in levels:
            if any(e % s for e, s in zip(extent, size, strict=True)):
                break
            self.sparse_levels += 1
        self.committed: list[npt.NDArray[np.bool_]] = [
            np.zeros([e // s for e, s in zip(extent, size, strict=True)], np.bool_)
            for extent in levels[: self.sparse_levels]
        ]
        self.tail = False
