"""Finds which parts of the bound state can matter to a shader.

A key field that cannot matter keeps its default, so that changing the state makes no variant.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.analysis.decisions import deciding_uniforms
from gallette.compiler.nir.ir import Instr, Intrinsic, LoadConst, Shader, Tex
from gallette.compiler.nir.ir.slots import COLOR_SLOTS, FragResult, VaryingSlot
from gallette.drivers.common.program import LONGEST_BLOCK

_COLOR_INPUTS = (VaryingSlot.COL0, VaryingSlot.COL1)
_KEPT_BY_DEPTH_ONLY = frozenset(
    {
        VaryingSlot.POS,
        VaryingSlot.PSIZ,
        VaryingSlot.CLIP_DIST0,
        VaryingSlot.CLIP_DIST1,
        VaryingSlot.CULL_DIST0,
        VaryingSlot.CULL_DIST1,
        VaryingSlot.CLIP_VERTEX,
        VaryingSlot.LAYER,
        VaryingSlot.VIEWPORT,
    }
)
_FIRST_COLORS = frozenset({FragResult.COLOR, FragResult.DATA0})


@lazy_dataclass(frozen=True)
class ShaderReads:
    """Facts about one shader, after the first round of lowering."""

    reads_color: bool  # gl_Color, gl_SecondaryColor
    writes_color: bool  # colour varyings (vertex) or any colour result (fragment)
    writes_color0: bool  # writes the colour that the alpha test reads
    writes_clip_distance: bool
    has_varyings: bool  # has outputs that a depth-only pass does not need
    sprite_mask: int  # bit i: reads TEXi
    samplers: tuple[int, ...]
    deciding: tuple[int, ...] = ()  # offsets of uniforms that pay to be inlined
    blocks: tuple[tuple[int, int], ...] = ()  # constant blocks but the first: highest byte read
    words: tuple[int, ...] | None = ()  # the words of constant block 0 that are read; None: any

    @classmethod
    def of(cls, shader: Shader, inlining: bool = False) -> ShaderReads:
        """Find what a shader reads; with `inlining` also the uniforms that pay as constants."""
        inputs: set[int] = set()
        outputs: set[int] = set()
        samplers: set[int] = set()
        blocks: dict[int, int] = {}
        words: set[int] | None = set()
        for instr in instructions(shader):
            if isinstance(instr, Tex):
                samplers.add(instr.sampler_index)
            elif isinstance(instr, Intrinsic):
                if instr.name in ("load_input", "load_interpolated_input"):
                    inputs.update(_slots(instr))
                elif instr.name == "store_output":
                    outputs.update(_slots(instr))
                elif instr.name == "load_ubo":
                    _note_block(instr, blocks)
                    words = _with_words(words, instr)
        fragment = shader.stage.value == "fragment"
        sprites = 0
        if fragment:
            for i in range(8):
                sprites |= (VaryingSlot.TEX0 + i in inputs) << i
            colors = {s for s in outputs if s >= FragResult.DATA0 or s == FragResult.COLOR}
        else:
            colors = outputs.intersection(COLOR_SLOTS)
        clip = {VaryingSlot.CLIP_DIST0, VaryingSlot.CLIP_DIST1}
        return cls(
            reads_color=fragment and bool(inputs.intersection(_COLOR_INPUTS)),
            writes_color=bool(colors),
            writes_color0=fragment and bool(outputs & _FIRST_COLORS),
            writes_clip_distance=not fragment and bool(outputs & clip),
            has_varyings=not fragment and bool(outputs - _KEPT_BY_DEPTH_ONLY),
            sprite_mask=sprites,
            samplers=tuple(sorted(samplers)),
            deciding=deciding_uniforms(shader) if inlining else (),
            blocks=tuple(sorted(blocks.items())),
            words=None if words is None else tuple(sorted(words)),
        )


def _note_block(load: Intrinsic, blocks: dict[int, int]) -> None:
    """Record how far a load at a constant offset reaches (other loads prevent merging)."""
    block, offset = (source.value.instr for source in load.srcs[:2])
    if isinstance(block, LoadConst) and isinstance(offset, LoadConst) and block.values[0]:
        number, last = int(block.values[0]), _bytes_of(load, int(offset.values[0]))[1]
        if last < LONGEST_BLOCK:
            blocks[number] = max(blocks.get(number, 0), last + 1)


def _with_words(words: set[int] | None, load: Intrinsic) -> set[int] | None:
    """The words of block 0 that are read, including those of one more load."""
    block, offset = (source.value.instr for source in load.srcs[:2])
    if isinstance(block, LoadConst) and block.values[0]:
        return words
    if words is None or not (isinstance(block, LoadConst) and isinstance(offset, LoadConst)):
        return None
    first, last = (at // 4 for at in _bytes_of(load, int(offset.values[0])))
    return words.union(range(first, last + 1))


def _bytes_of(load: Intrinsic, offset: int) -> tuple[int, int]:
    """The first and last byte of a load at an offset."""
    assert load.dest is not None
    return offset, offset + load.dest.num_components * max(8, load.dest.bit_size) // 8 - 1


def _slots(instr: Intrinsic) -> range:
    return range(instr["location"], instr["location"] + max(1, instr["num_slots"]))


def instructions(shader: Shader) -> Iterator[Instr]:
    """All instructions of the entry point."""
    for block in shader.entry.blocks():
        yield from block.instrs()
