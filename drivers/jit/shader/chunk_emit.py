"""Emits the module of a shader's chunk function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Intrinsic, Shader
from gallette.compiler.nir.ir import Stage as ShaderStage
from gallette.drivers.jit.llvm.codegen import machine

from ..llvm.text import Builder
from ..llvm.values import V
from . import alu_vectors as _alu_vectors  # noqa: F401 - fills the table of opcodes
from . import storage as _storage  # noqa: F401 - and this one of intrinsics
from .chunk import ChunkStage, Input
from .chunk_stages import ControlStage, GeometryRows, GeometryStage
from .emitter import Emitter
from .flow import Flow, weight
from .group_flow import GroupFlow, is_barrier
from .layout import Words
from .locals import declare_locals
from .texture_keys import UnitKey
from .tile_keys import ImageUnitKey

_LONG = 1 << 10
"""Units of work from which all groups of a chunk may take longer than a few milliseconds."""


@lazy_dataclass()
class ChunkCode:
    """The module of a chunk function, and what its caller must provide."""

    text: str
    w: int
    step: int  # lanes from one group to the next
    memory: int  # bytes the caller has to provide (`Words.LOCALS`)
    inputs: list[Input]
    outputs: list[tuple[tuple[int, int, int], str]]  # place and element type
    least: dict[int, int]
    sites: list[Any]
    effects: bool
    discards: bool
    facts: dict[str, Any] = field(default_factory=dict)
    flat_colors: bool = False


def emit_chunk(
    shader: Shader,
    flat_colors: bool = False,
    explains: bool = False,
    one_block: bool = False,
    textures: Sequence[UnitKey] = (),
    images: Sequence[ImageUnitKey | None] = (),
    together: int | None = None,
) -> ChunkCode:
    """The module whose function `main` runs a chunk of lanes.

    Without keys of textures and images, the shared units are called for them. `together` are the
    lanes that must be in one group (by default, from `lanes_together`).
    """
    together = lanes_together(shader) if together is None else together
    w, step = _width(shader, together)
    b = Builder()
    (ctx,) = b.begin("main", [("ptr", "ctx")])
    stage = _STAGES.get(shader.stage, ChunkStage)(shader, flat_colors, step, textures, images)
    with b.in_entry():
        count = b.load_at(ctx, Words.COUNT, "i64")
    leave, stop = b.block(), b.block()
    with b.loop(b.const("i64", 0), count, step) as base:
        left = (b.math("smin", base + step, count) - base).to("i32")
        mask = b.lanes("i32", range(w)) < left
        e = Emitter(b, shader, stage, ctx, w, mask, leave, stop)
        e.explains, e.one_block = explains, one_block
        stage.base = base
        if shader.stage is ShaderStage.FRAGMENT and _discards(shader):
            e.alive = b.var("i1", w, b.const("i1", True))
        if isinstance(stage, GeometryStage):
            stage.prepare(e)
        if shader.stage is ShaderStage.COMPUTE:
            _share(e, base, step)
        flow = GroupFlow(e, base, step) if step > w else Flow(e)
        declare_locals(e)
        units = weight(shader.entry.body, step)
        if units > _LONG:
            e.spend(units)
        flow.run()
        b.place(leave)
        with b.into(e.start):
            for variable in e.outputs.values():
                variable.set(b.const(variable.t, 0))
        outputs = _finish(e, stage, base)
    b.place(stop)
    e.keep_budget()
    b.end()
    return ChunkCode(
        b.text(),
        w,
        step,
        e.memory,
        list(stage.inputs),
        outputs,
        e.least,
        stage.sites,
        e.effects,
        e.alive is not None,
        {
            "derivatives": stage.derivatives,
            "textures": stage.textures,
            "implicit": stage.implicit,
            "images": stage.named_images or set(),
        },
        flat_colors,
    )


def lanes_together(shader: Shader, workgroup: Sequence[int] = ()) -> int:
    """The number of lanes that must be in one group, because they wait for each other or share
    outputs.

    The size of a workgroup is given where the shader leaves it open; 0 means any number of lanes.
    """
    if shader.stage is ShaderStage.TESS_CTRL:
        return max(1, shader.info.vertices_out)
    if shader.stage is not ShaderStage.COMPUTE:
        return 0
    whole = math.prod(workgroup or shader.info.workgroup_size)
    apart = whole % machine().lanes == 0 and not shader.info.shared_bytes
    return 0 if apart and not _has_barriers(shader) else whole


def _width(shader: Shader, together: int) -> tuple[int, int]:
    """The lanes of a vector, and the lanes from one group to the next."""
    if not together:
        return machine().lanes, machine().lanes
    if shader.stage is ShaderStage.COMPUTE and together > machine().lanes:
        return machine().lanes, together
    wide = 4
    while wide < together:
        wide *= 2
    return wide, together


def _has_barriers(shader: Shader) -> bool:
    return any(is_barrier(i) for block in shader.entry.blocks() for i in block.instrs())


def _discards(shader: Shader) -> bool:
    return any(
        isinstance(instr, Intrinsic) and instr.name.startswith(("discard", "demote"))
        for block in shader.entry.blocks()
        for instr in block.instrs()
    )


def _share(e: Emitter, base: V, step: int) -> None:
    """Select the workgroup's part of the chunk's shared memory."""
    b = e.b
    if not e.shader.info.shared_bytes:
        return
    with b.in_entry():
        start = b.load_at(e.ctx, Words.SHARED, "ptr")
    mine = b.at(start, b.binary("sdiv", base, step) * e.shader.info.shared_bytes, "i8")
    e._words[Words.SHARED] = mine


def _finish(e: Emitter, stage: ChunkStage, base: V) -> list[tuple[tuple[int, int, int], str]]:
    """Store the outputs, of which the mask of live lanes is one."""
    b = e.b
    places = sorted(e.outputs)
    found = []
    if isinstance(stage, GeometryStage):
        assert stage.count is not None
        counts = e.word(Words.OUTPUTS + GeometryRows.COUNTS, "ptr")
        b.masked_store(b.at(counts, base, "i32"), e.entry_mask, stage.count.get())
        return [(place, e.outputs[place].t) for place in places]
    for number, place in enumerate(places):
        variable = e.outputs[place]
        pointer = e.word(Words.OUTPUTS + number, "ptr")
        b.masked_store(b.at(pointer, base, variable.t), e.entry_mask, variable.get())
        found.append((place, variable.t))
    if e.alive is not None:
        pointer = e.word(Words.OUTPUTS + len(places), "ptr")
        alive = e.alive.get().to("i8", False)
        b.masked_store(b.at(pointer, base, "i8"), e.entry_mask, alive)
    return found


_STAGES: dict[ShaderStage, type[ChunkStage]] = {
    ShaderStage.TESS_CTRL: ControlStage,
    ShaderStage.GEOMETRY: GeometryStage,
}
