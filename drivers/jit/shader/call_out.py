"""Calls of Python by compiled code, for operations that no code is compiled for.

A call site describes its operation, and its arguments and results are in the call area, a row of
lanes each; `drivers.jit.calls` answers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Tex
from gallette.drivers.common.program import textures_from

from ..llvm.values import V
from .emitter import Emitter, Stage
from .layout import Words
from .sampled import sampled
from .texture_keys import UnitKey

_WRITING = frozenset({"image_store", "image_atomic", "image_atomic_swap"})


@lazy_dataclass(frozen=True)
class TextureSite:
    """A callback for a texture operation."""

    op: str
    texture: int
    layout: tuple[tuple[str, int], ...]
    component: int
    offsets: tuple[tuple[int, int], ...]
    dest_type: str
    results: int
    mixed: bool = False  # the texture's number is the first argument


@lazy_dataclass(frozen=True)
class CornerSite:
    """A callback for a varying of a vertex whose number is dynamic."""

    slot: int
    component: int


@lazy_dataclass(frozen=True)
class OffsetSite:
    """A callback for a varying interpolated elsewhere in the pixel."""

    slot: int
    component: int
    perspective: bool
    sample: bool  # at a sample given by number, not at an offset


class CallingStage(Stage):
    """A stage whose code may call Python."""

    def __init__(self, keys: Sequence[UnitKey]) -> None:
        self.keys = keys
        self.sites: list[Any] = []
        self.base: V | None = None  # the number of the first lane, where Python has to know it
        self.derivatives = False
        self.textures: set[int] = set()
        self.implicit: set[int] = set()  # units whose level of detail is that of a quad

    def to_quads(self, e: Emitter, row: V) -> V:
        """A row of lanes in the order of quads, which Python expects."""
        return row

    def from_quads(self, e: Emitter, row: V) -> V:
        """A row of lanes in the order of quads in the stage's own order."""
        return row

    def texture(self, e: Emitter, instr: Tex) -> list[V]:
        own = sampled(self, e, instr, self.keys)
        number, count = instr.texture_index, instr.result.num_components
        if own is not None:
            self.textures.add(number)
            return e.agreed(instr.result, own)
        args, layout, mixed = list[V](), [], False
        for kind, src in zip(instr.src_kinds, instr.srcs, strict=True):
            values = [e.wide(v.as_int()) for v in e.values(src)]
            if kind == "texture_offset":
                args.insert(0, values[0] + number)
                mixed = True
            elif kind != "sampler_offset":
                layout.append((kind, len(values)))
                args += values
        units = textures_from(number) if mixed else (number,)
        self.textures.update(units)
        if instr.op in ("tex", "txb", "lod"):
            self.implicit.update(units)
        self.derivatives |= instr.op == "lod"
        site = TextureSite(
            instr.op,
            number,
            tuple(layout),
            instr.component,
            instr.tg4_offsets,
            instr.dest_type,
            count,
            mixed,
        )
        return e.agreed(instr.result, self.call_out(e, site, args, count, "i32"))

    def call_out(
        self, e: Emitter, site: object, args: Sequence[V], results: int, t: str
    ) -> list[V]:
        b = e.b
        if site not in self.sites:
            self.sites.append(site)
        number = self.sites.index(site)
        area = e.word(Words.CALL_AREA, "ptr")
        mask = e.writers() if getattr(site, "name", "") in _WRITING else e.mask
        places = [b.at(area, i * e.w * 8, "i8") for i in range(max(len(args) + 1, results))]
        for place, row in zip(places, [mask.to("i32", False), *map(e.wide, args)], strict=False):
            b.store(place, self.to_quads(e, row.as_int()), 8)
        with b.when(b.any(mask)):
            known = b.const("i64", number) if self.base is None else (self.base << 32) + number
            e.call_python(Words.CALLBACK, known)
        return [self.from_quads(e, b.load(place, t, e.w, 8)) for place in places[:results]]
