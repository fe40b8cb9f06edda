"""From a fragment's colour to the texel that is stored: blend, convert, combine, mask.

A `ColorKey` is what this depends on besides the numbers. `stored` is all of it; drivers that pack
many texels at once call `merged` for what remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.pipe.enums import LogicOp
from gallette.pipe.formats import Format
from gallette.pipe.state import BlendState, RenderTargetBlend

from .blending import Colors, blend, needs_destination
from .formats import SOURCE, assembled, codes, layout, pack, raw_bits, unpack
from .routine import Routine, routine


@lazy_dataclass(frozen=True)
class ColorKey:
    """The state that determines what happens to a colour before it is stored."""

    format: Format
    blend: RenderTargetBlend | None
    """None: nothing is blended."""
    logicop: LogicOp | None
    mask: int | None
    """The bits of a texel that may change; None: all."""

    @classmethod
    def of(cls, format: Format, state: BlendState, index: int) -> ColorKey:
        """The key of the colour buffer of this number."""
        target = state.target(index)
        logicop: LogicOp | None = None
        mask = _enabled_bits(format, target.colormask)
        if state.logicop_enable:
            if not format.is_float and not format.is_srgb and state.logicop is not LogicOp.COPY:
                logicop = state.logicop
            return cls(format, None, logicop, mask)
        blends = target.blend_enable and not format.is_pure_integer
        return cls(format, replace(target, colormask=0xF) if blends else None, None, mask)

    @property
    def reads(self) -> bool:
        """Whether the texel that was there before is read."""
        return self.blend is not None or self.logicop is not None or self.mask is not None

    @property
    def ordered(self) -> bool:
        """Whether fragments of a pixel must be written in order, one by one."""
        blends = self.blend is not None and needs_destination(self.blend)
        return blends or self.logicop is not None

    @property
    def blends_bytes(self) -> bool:
        """Whether colours are blended in 8 bits."""
        return (
            self.blend is not None and self.format.is_unorm8 and not self.blend.rgb_func.is_advanced
        )


def _enabled_bits(format: Format, colormask: int) -> int | None:
    """The bits of a texel that a write mask covers; None if it covers all."""
    enabled, everything = 0, True
    for channel in format.channels:
        source = SOURCE.get(channel.name)
        if source is None:
            continue
        if colormask >> source & 1:
            enabled |= ((1 << channel.bits) - 1) << channel.shift
        else:
            everything = False
    return None if everything else enabled


@lru_cache(1024)
def stored(key: ColorKey) -> Routine:
    """The words to store, computed from the shader's colour, its second one, the constant colour
    and the stored words.
    """
    size, count = layout(key.format)
    colors = dict.fromkeys(("source", "second", "constant"), (4, 32))
    words = {f"word{i}": (1, size) for i in range(count)}

    def build(b: Builder, source: Def, second: Def, constant: Def, *there: Def) -> list[Def]:
        if key.blend is None:
            made = pack(b, key.format, source)
        elif key.blends_bytes:
            made = _blended_bytes(b, key, source, second, constant, there)
        else:
            held = unpack(b, key.format, there)
            held.call("destination", 0)
            limited = [_limited(b, key.format, c) for c in (source, constant, second)]
            mixed = Colors(limited[0], held, limited[1], limited[2])
            blended = blend(b, key.blend, mixed, False)
            blended.call("blended", 0)
            made = pack(b, key.format, blended)
        return _merged(b, key, made, there)

    return routine(f"store {key.format.name}", colors | words, build)


@lru_cache(1024)
def merged(key: ColorKey) -> Routine:
    """Combine packed words with the words in memory, by the logic operation and the write mask."""
    size, count = layout(key.format)
    words = {f"{kind}{i}": (1, size) for kind in ("new", "word") for i in range(count)}

    def build(b: Builder, *given: Def) -> list[Def]:
        return _merged(b, key, given[:count], given[count:])

    return routine(f"merge {key.format.name}", words, build)


def _limited(b: Builder, format: Format, color: Def) -> Def:
    """A colour in the range of the format."""
    if not format.is_normalized:
        return color
    if any(c.type == "SNORM" for c in format.channels):
        return b.fmin(b.fmax(color, b.imm_float(-1.0)), b.imm_float(1.0))
    return b.fsat(color)


def _blended_bytes(
    b: Builder, key: ColorKey, source: Def, second: Def, constant: Def, there: Sequence[Def]
) -> list[Def]:
    format = key.format
    assert key.blend is not None
    held = b.vec(
        [
            raw_bits(b, there, format.channels[s])
            if isinstance(s, int)
            else b.imm_int(255 * int(s))
            for s in format.swizzle
        ]
    )
    held.call("destination", 0)
    given = [codes(b, color, 8) for color in (source, constant, second)]
    found = blend(b, key.blend, Colors(given[0], held, given[1], given[2]), True)
    found.call("blended", 0)
    parts = []
    for channel in format.channels:
        plane = SOURCE.get(channel.name)
        parts.append((channel, b.imm_int(255) if plane is None else b.channel(found, plane)))
    return assembled(b, format, parts)


def _merged(b: Builder, key: ColorKey, made: Sequence[Def], there: Sequence[Def]) -> list[Def]:
    """The logic operation and the write mask, on whole words."""
    size = made[0].bit_size
    words = []
    for number, (word, old) in enumerate(zip(made, there, strict=True)):
        if key.logicop is not None:
            word = _logic(b, key.logicop, word, old)
        if key.mask is not None:
            mask = key.mask >> (size * number) & ((1 << size) - 1)
            kept = b.iand(old, b.imm_int(~mask, size))
            word = b.ior(b.iand(word, b.imm_int(mask, size)), kept)
        words.append(word)
    return words


def _logic(b: Builder, op: LogicOp, s: Def, d: Def) -> Def:
    """OpenGL numbers the operations by their truth tables: bit 0 is the result for both bits set,
    then (reading upwards) for the source's, the destination's, and neither. The upper half are the
    complements of the lower half.
    """
    if op >= LogicOp.NOR:
        return b.inot(_logic(b, LogicOp(15 - op), s, d))
    if op is LogicOp.CLEAR:
        return b.imm_int(0, s.bit_size)
    if op is LogicOp.COPY:
        return s
    if op is LogicOp.NOOP:
        return d
    if op is LogicOp.XOR:
        return b.ixor(s, d)
    if op is LogicOp.OR:
        return b.ior(s, d)
    if op is LogicOp.AND_REVERSE:
        return b.iand(s, b.inot(d))
    if op is LogicOp.AND_INVERTED:
        return b.iand(b.inot(s), d)
    return b.iand(s, d)
