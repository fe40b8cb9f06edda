"""Texture instructions by code made for the textures that are bound."""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.nir.ir import Tex

from ..llvm.values import V
from .emitter import Emitter, Stage
from .layout import Words
from .sampling import Lookup, can_sample, fetch, gather, levels, lod_query, sample, size
from .texture_keys import TextureKey
from .wrapping import face_derivatives

__all__ = ["sampled"]

_UNFILTERED = ("txf", "txf_ms", "txs", "query_levels")
"""Operations that look at no sampler, whichever their instruction names."""


def sampled(
    stage: Stage, e: Emitter, instr: Tex, keys: Sequence[TextureKey | None]
) -> list[V] | None:
    """The components of a lookup; None if it has to be asked of the shared texture unit."""
    index = instr.texture_index
    key = keys[index] if index < len(keys) else None
    moving = {"texture_offset", "sampler_offset"} & set(instr.src_kinds)
    apart = instr.op not in _UNFILTERED and instr.texture_index != instr.sampler_index
    if key is None or moving or apart:
        return None
    if not can_sample(key, instr.op):
        return None
    given: dict[str, list[V]] = {}
    for kind, src in zip(instr.src_kinds, instr.srcs, strict=True):
        whole = kind in ("offset", "ms_index")
        whole |= instr.op in ("txf", "txf_ms", "txs") and kind in ("coord", "lod")
        values = [e.wide(v) for v in e.values(src)]
        given[kind] = [v.as_int() if whole else v.as_float() for v in values]
    if "projector" in given or ("ms_index" in given) != (instr.op == "txf_ms"):
        return None
    look = Lookup(instr.op, given.get("coord", []), component=instr.component)
    for kind in ("lod", "bias", "min_lod", "comparator"):
        if kind in given:
            setattr(look, "compare" if kind == "comparator" else kind, given[kind][0])
    for kind in ("ddx", "ddy", "offset"):
        if kind in given:
            setattr(look, kind, given[kind])
    if "ms_index" in given:
        look.sample = given["ms_index"][0]
    where = e.word(Words.TEXTURES + index, "ptr")
    if instr.tg4_offsets:
        found = _gathered_apart(e, key, look, where, instr.tg4_offsets)
    else:
        found = _looked_up(stage, e, key, look, where)
    return [v.as_int() for v in found][: instr.result.num_components]


def _looked_up(stage: Stage, e: Emitter, key: TextureKey, look: Lookup, where: V) -> list[V]:
    b, w = e.b, e.w
    if look.op == "txs":
        return size(b, key, where, w, look.lod)
    if look.op == "query_levels":
        return levels(b, key, where, w)
    if look.op == "tg4":
        return gather(b, key, where, w, look)
    if look.op in ("txf", "txf_ms"):
        return fetch(b, key, where, w, look)
    if look.op == "lod":
        return lod_query(b, key, where, w, _derivatives(stage, e, key, look.coords))
    derivatives = None
    if look.op in ("tex", "txb") and key.needs_lod:
        derivatives = _derivatives(stage, e, key, look.coords)
    return sample(b, key, where, w, look, derivatives)


def _gathered_apart(
    e: Emitter, key: TextureKey, look: Lookup, where: V, offsets: Sequence[tuple[int, int]]
) -> list[V]:
    """One texel of each of four gathers, with offsets of their own."""
    b, w = e.b, e.w
    found = []
    for offset in offsets:
        look.offset = [b.spread(b.const("i32", part), w) for part in offset]
        found.append(gather(b, key, where, w, look)[3])
    return found


def _derivatives(
    stage: Stage, e: Emitter, key: TextureKey, coords: list[V]
) -> tuple[list[V], list[V]]:
    """One value per quad; of cube maps one per lane, since each lane is on its own face."""
    if key.target.is_cube:
        rows = [[stage.derivative(e, f"fdd{a}", c) for c in coords[:3]] for a in "xy"]
        return (
            face_derivatives(e.b, coords[:3], rows[0]),
            face_derivatives(e.b, coords[:3], rows[1]),
        )
    filtered = coords[: len(key.axes)]
    return (
        [stage.derivative(e, "fddx_coarse", c) for c in filtered],
        [stage.derivative(e, "fddy_coarse", c) for c in filtered],
    )
