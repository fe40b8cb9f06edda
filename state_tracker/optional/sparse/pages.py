"""The pages of sparse textures (ARB_sparse_texture): their sizes, and which are committed.

Memory is left to the operating system: a texture's storage is allocated as a whole, and pages
become resident when they are touched. A commitment changes only the contents, as specified: a page
that is committed or released contains zeros. Reading uncommitted pages is harmless, and shader
writes to them are discarded when they are committed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from gallette.pipe.formats import Format
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.getters import to_int
from gallette.state_tracker.texturing.format_properties import Facts
from gallette.state_tracker.texturing.format_queries import VALUES
from gallette.state_tracker.texturing.texture_formats import InternalFormat
from gallette.state_tracker.texturing.texture_objects import TextureParameter, texture_parameter
from gallette.state_tracker.texturing.texture_targets import TargetInfo

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.texturing.textures import TexImage, TextureObject

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


class SparseTexture:
    """The sparse parameters of a texture, which views share."""

    def __init__(self) -> None:
        self.requested, self.page_index = False, 0
        self.pages: Pages | None = None  # of the storage

    def divided(
        self, ctx: Context, target: TargetInfo, image: TexImage, levels: int
    ) -> Pages | None:
        """The pages of a texture's storage; None if it was not requested to be sparse."""
        if not self.requested:
            return None
        size = _page_of(ctx, target, image, self.page_index)
        extent = image.extent
        whole = (extent[0], extent[1], 6) if target.faces == 6 else extent
        return Pages(size, [target.level_extent(whole, level) for level in range(levels)])


def _page_of(ctx: Context, target: TargetInfo, image: TexImage, index: int) -> Triple:
    """The page size of a texture that will be sparse; raises if it cannot be."""
    size, extent = page_size(target, image.info, image.format), image.extent
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


# -- parameters ------------------------------------------------------------------------------------


def _state(texture: TextureObject) -> SparseTexture:
    """The state to change, of a texture without storage."""
    if texture.immutable_levels:
        raise invalid_operation("the texture has its storage already")
    if texture.sparse is None:
        texture.sparse = SparseTexture()
    return cast(SparseTexture, texture.sparse)


def _set_sparse(texture: TextureObject, value: Any) -> None:
    if value and texture.target.value not in SPARSE_TARGETS and not texture.immutable_levels:
        raise invalid_value(f"a {texture.target.name} cannot be sparse")
    _state(texture).requested = bool(value)


def _set_page_index(texture: TextureObject, value: Any) -> None:
    if value < 0 and not texture.immutable_levels:
        raise invalid_value("a negative page size index")
    _state(texture).page_index = to_int(value, False)


def _levels(texture: TextureObject) -> int:
    """The levels of a texture or view that are divided into pages."""
    pages = texture.sparse.pages if texture.sparse is not None else None
    return 0 if pages is None else max(pages.sparse_levels - texture.first_level, 0)


def _reader(field: str) -> Callable[[TextureObject], int]:
    return lambda texture: int(getattr(texture.sparse, field, 0))


for _pname, _read, _store in (
    (GL.TEXTURE_SPARSE_ARB, _reader("requested"), _set_sparse),
    (GL.VIRTUAL_PAGE_SIZE_INDEX_ARB, _reader("page_index"), _set_page_index),
    (GL.NUM_SPARSE_LEVELS_ARB, _levels, None),
):
    texture_parameter(_pname, TextureParameter("GL_ARB_sparse_texture", _read, _store))


def _page(axis: int) -> Callable[[Facts], int]:
    """A query of the page size along an axis, or of the number of page sizes."""

    def read(f: Facts) -> int:
        size = None if f.target is None else page_size(f.target, f.info, f.format)
        return 0 if size is None else 1 if axis < 0 else size[axis]

    return read


VALUES |= {
    GL.NUM_VIRTUAL_PAGE_SIZES_ARB: _page(-1),
    GL.VIRTUAL_PAGE_SIZE_X_ARB: _page(0),
    GL.VIRTUAL_PAGE_SIZE_Y_ARB: _page(1),
    GL.VIRTUAL_PAGE_SIZE_Z_ARB: _page(2),
}
