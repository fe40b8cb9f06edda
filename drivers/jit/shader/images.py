"""Image instructions compiled for the bound images: loads, stores, atomics, sizes.

Coordinates are integers; texels outside read as zero and are not written. If several lanes store to
one texel, the last lane's value remains, as in `drivers.common.storage.images`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.nir.ir import Intrinsic
from gallette.drivers.common.fixed.formats import packed
from gallette.drivers.common.storage.images import ImageUnit
from gallette.pipe.enums import Target

from ..llvm.values import V
from .emitter import Emitter
from .layout import Words
from .routines import inlined
from .sampling import Texture, fetch_at, position, size
from .texture_keys import Description, ImageKey, TexelsKey, is_known
from .tile_keys import ImageUnitKey, can_store


def image_unit_key(unit: ImageUnit) -> ImageUnitKey | None:
    """The key of a unit; None if there is no code for it."""
    image = unit.image
    if unit.samples > 1 or image.target is Target.BUFFER or not is_known(image.format):
        return None
    texels = TexelsKey(image.target, ImageKey.of(image))
    return ImageUnitKey(texels, unit.view.readable, unit.view.writable)


def on_bound_image(
    e: Emitter, instr: Intrinsic, index: int | None, coords: Sequence[V], data: Sequence[V]
) -> list[V] | None:
    """Execute an instruction on a bound image; None if there is no code for it.

    `data` is the value to store; for atomics the operand, then the value to compare.
    """
    keys = e.stage.images
    key = keys[index] if index is not None and index < len(keys) else None
    if key is None or index is None:
        return None
    where = e.word(Words.IMAGES + index, "ptr")
    if instr.name == "image_size":
        extents = size(e.b, key.texels, where, e.w, None)
        missing = instr.result.num_components - len(extents)  # if shapes differ
        return [*extents, *[e.wide(e.b.const("i32", 0))] * missing]
    if instr.name == "image_load":
        return _load(e, key, where, coords)
    format = key.texels.image.format
    if instr.name == "image_store":
        if not can_store(format):
            return None
        _store(e, key, where, coords, data)
        return []
    if not instr.name.startswith("image_atomic") or format.block_bytes != 4:
        return None
    return [_atomic(e, instr, key, where, coords, data)]


def _load(e: Emitter, key: ImageUnitKey, where: V, coords: Sequence[V]) -> list[V]:
    if not key.readable:
        return [e.wide(e.b.const("i32", 0))] * 4
    wide = [e.wide(c) for c in coords]
    return [v.as_int() for v in fetch_at(e.b, key.texels, where, e.w, wide)]


def _texel(e: Emitter, key: ImageUnitKey, where: V, coords: Sequence[V]) -> tuple[V, V, V]:
    """The address of the image's texels, each lane's texel index, and the lanes that are inside."""
    s = Texture(e.b, key.texels, where, e.w)
    index, inside = position(s, [e.wide(c) for c in coords])
    mask = e.writers() & inside
    if not key.writable:
        mask = e.b.spread(e.b.const("i1", False), e.w)
    return s.word(Description.TEXELS), index, e.wide(mask)


def _store(e: Emitter, key: ImageUnitKey, where: V, coords: Sequence[V], data: Sequence[V]) -> None:
    b = e.b
    e.effects = True
    format = key.texels.image.format
    texels, index, mask = _texel(e, key, where, coords)
    values = [e.wide(v) for v in data]
    index = index.to("i64")
    words = inlined(b, packed(format), values)
    if len(words) > 1:
        index = index * len(words)
    for number, word in enumerate(words):
        place = b.at(texels, index + number if number else index, word.t)
        b.scatter(place, mask, e.wide(word))


def _atomic(
    e: Emitter,
    instr: Intrinsic,
    key: ImageUnitKey,
    where: V,
    coords: Sequence[V],
    data: Sequence[V],
) -> V:
    from .storage import in_lane_order

    e.effects = True
    b = e.b
    texels, index, mask = _texel(e, key, where, coords)
    swap = instr.name == "image_atomic_swap"
    places = b.at(texels, index.to("i64"), "i32")
    compare = e.wide(data[1]) if swap else None
    op = "xchg" if swap else instr["atomic_op"]
    return in_lane_order(e, op, places, mask, e.wide(data[0]), compare)
