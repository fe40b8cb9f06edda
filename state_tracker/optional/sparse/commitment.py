"""Committing pages of sparse textures and buffers (ARB_sparse_texture, ARB_sparse_buffer)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.entry_points.registry import register_for
from gallette.state_tracker.getters import gets
from gallette.state_tracker.optional.sparse.pages import Pages, sparse_limits
from gallette.state_tracker.texturing.teximage import store_pixels
from gallette.state_tracker.texturing.units import current
from gallette.state_tracker.vertices.buffer_objects import by_name
from gallette.state_tracker.vertices.buffers import PAGE, BufferObject, bound

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.texturing.textures import TextureObject

Triple = tuple[int, int, int]


def _zero(texture: TextureObject, level: int, at: Triple, extent: Triple) -> None:
    image = texture.image(0, level)
    assert image is not None
    unit = image.format.block_bytes
    for face, place, size in texture.target.pieces(at, extent):
        rows = np.zeros((size[2], size[1], size[0] * unit), np.uint8)
        store_pixels(texture.group, texture, face, level, place, size, rows)


def _pages(texture: TextureObject) -> Pages | None:
    return None if texture.sparse is None else cast("Pages | None", texture.sparse.pages)


def _commit(texture: TextureObject, level: int, at: Triple, extent: Triple, commit: bool) -> None:
    pages, image = _pages(texture), texture.image(0, level)
    if pages is None:
        raise invalid_operation("the texture is not sparse")
    if image is None:
        raise invalid_value(f"the texture has no level {level}")
    if min(extent) < 0 or min(at) < 0:
        raise invalid_value("negative offset or size")
    whole = texture.whole(level)
    if any(a + e > w for a, e, w in zip(at, extent, whole, strict=True)):
        raise invalid_operation("the region is not inside the level")
    if any(a % s for a, s in zip(at, pages.size, strict=True)):
        raise invalid_value("the region does not begin with a page")
    sizes = zip(at, extent, whole, pages.size, strict=True)
    if any(e % s and a + e != w for a, e, w, s in sizes):
        raise invalid_operation("the region does not end with a page")
    if 0 in extent:
        return
    number = level + texture.first_level
    if number >= pages.sparse_levels:
        if pages.tail != commit:
            pages.tail = commit
            for other in range(max(pages.sparse_levels - texture.first_level, 0), 32):
                if texture.image(0, other) is not None:
                    _zero(texture, other, (0, 0, 0), texture.whole(other))
        return
    first = [a // s for a, s in zip(at, pages.size, strict=True)]
    last = [-(-(a + e) // s) for a, e, s in zip(at, extent, pages.size, strict=True)]
    first[2], last[2] = first[2] + texture.first_layer, last[2] + texture.first_layer
    named = pages.committed[number][first[0] : last[0], first[1] : last[1], first[2] : last[2]]
    for place in np.argwhere(named != commit):
        page = [int(p) + f for p, f in zip(place, first, strict=True)]
        page[2] -= texture.first_layer
        begin = [p * s for p, s in zip(page, pages.size, strict=True)]
        _zero(texture, level, (begin[0], begin[1], begin[2]), pages.size)
    named[...] = commit


def _commit_box(ctx: Context, texture: TextureObject, level: int, *box: int) -> None:
    x, y, z, width, height, depth, commit = box
    _commit(texture, level, (x, y, z), (width, height, depth), bool(commit))


register_for(current, {"tex_page_commitment_arb": _commit_box})
register_for(
    lambda ctx, name: ctx.textures.names.require(name), {"texture_page_commitment_ext": _commit_box}
)


# -- buffers ---------------------------------------------------------------------------------------


def _commit_bytes(ctx: Context, buffer: BufferObject, offset: int, size: int, commit: int) -> None:
    """Commit or release pages of a sparse buffer; new pages are zero."""
    if not buffer.flags & GL.SPARSE_STORAGE_BIT_ARB:
        raise invalid_operation("the buffer is not sparse")
    end = offset + size
    if offset < 0 or size < 0 or end > buffer.size:
        raise invalid_value(f"bytes {offset}+{size} are outside a buffer of {buffer.size}")
    if offset % PAGE or (size % PAGE and end != buffer.size):
        raise invalid_value(f"the range is not one of pages of {PAGE} bytes")
    first, last = offset // PAGE, -(-end // PAGE)
    for page in first + np.flatnonzero(buffer.committed[first:last] != bool(commit)):
        begin = int(page) * PAGE
        buffer.committed[page] = True  # so that it can be written to
        buffer.write(begin, bytes(min(PAGE, buffer.size - begin)))
    buffer.committed[first:last] = commit


register_for(bound, {"buffer_page_commitment_arb": _commit_bytes})
register_for(
    by_name,
    {f"named_buffer_page_commitment_{suffix}": _commit_bytes for suffix in ("arb", "ext")},
)
gets(
    {
        "SPARSE_BUFFER_PAGE_SIZE_ARB": lambda c: PAGE,
        "MAX_SPARSE_TEXTURE_SIZE_ARB": lambda c: sparse_limits(c)[0],
        "MAX_SPARSE_3D_TEXTURE_SIZE_ARB": lambda c: sparse_limits(c)[1],
        "MAX_SPARSE_ARRAY_TEXTURE_LAYERS_ARB": lambda c: sparse_limits(c)[2],
    },
    profiles="desktop",
)
