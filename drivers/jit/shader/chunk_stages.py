"""Chunk functions of the stages with special outputs: tessellation control and geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Intrinsic, Shader
from gallette.drivers.common.draw.emissions import Expanded
from gallette.drivers.common.program import Outputs

from ..llvm.text import Var
from ..llvm.values import V
from .chunk import ChunkStage
from .emitter import Emitter
from .intrinsics import load_slots, store_output
from .layout import Words
from .texture_keys import UnitKey
from .tile_keys import ImageUnitKey


class ControlStage(ChunkStage):
    """A group is a patch: invocations read each other's outputs, and share those of the patch."""

    def store_output(self, e: Emitter, instr: Intrinsic) -> None:
        if instr.name == "store_per_vertex_output":
            store_output(e, instr, 2, 0)
            return
        store_output(e, instr, 1, 1)
        known = e.number(instr.srcs[1])
        for i in range(instr.srcs[0].num_components):
            if not instr["write_mask"] >> i & 1:
                continue
            at = instr["component"] + i
            slot, component = instr["location"] + at // 4, at % 4
            for k in [known] if known is not None else range(max(1, instr["num_slots"])):
                mask = e.wide(e.mask)
                if known is None:
                    mask = mask & e.wide(e.value(instr.srcs[1]).as_int()).eq(k)
                self._share(e, e.outputs[(slot + k, component, 1)], mask)

    @staticmethod
    def _share(e: Emitter, variable: Var, mask: V) -> None:
        """Copy the value of the last writing invocation to all invocations."""
        b = e.b
        bits = b.bitmask(mask)
        some = bits.ne(0)
        top = (e.w - 1) - b.flagged("ctlz", bits, False)
        lane = b.select(some, top, 0).to("i32", False)
        value = variable.get()
        variable.set(b.select(some, e.wide(b.extract(value, lane)), value))

    def load_output(self, e: Emitter, instr: Intrinsic) -> list[V]:
        table = 0 if instr.name == "load_per_vertex_output" else 1

        def load(slot: int, component: int) -> V:
            variable = _variable(e, (slot, component, table), instr.result.bit_size)
            return variable.get() if table else self._peer(e, instr, variable)

        return load_slots(e, instr, instr["location"], load)

    @staticmethod
    def _peer(e: Emitter, instr: Intrinsic, variable: Var) -> V:
        """The value of another invocation of the patch; zero if it does not exist."""
        b = e.b
        vertex = e.wide(e.value(instr.srcs[0]).as_int())
        inside = vertex.ult(max(1, e.shader.info.vertices_out))
        copy = b.alloca(variable.t, e.w)
        value = variable.get()
        pointer = V(b, "ptr", 0, copy)
        b.store(pointer, value)
        return b.gather(b.at(pointer, vertex.to("i64", False), variable.t), inside, variable.t)


def _variable(e: Emitter, place: tuple[int, int, int], bits: int) -> Var:
    found = e.outputs.get(place)
    if found is None:
        found = e.outputs[place] = e.b.zeroed(f"i{bits}", e.w)
    return found


class GeometryRows:
    """The rows of emitted vertices: output arrays 0 to 2 are counts, cuts and streams, then values.

    Vertex k of lane l is at row k, column l. A cut at row k begins a new strip with vertex k.
    """

    COUNTS = 0
    CUTS = 1
    STREAMS = 2
    VALUES = 3


def strips_of_rows(
    rows: list[npt.NDArray[Any]], places: tuple[tuple[int, int, int], ...]
) -> dict[int, Expanded]:
    """The vertices and strips of each stream."""
    counts, cuts, streams = rows[: GeometryRows.VALUES]
    last, lanes = int(counts.max(initial=0)), len(counts)

    def outputs(at: npt.NDArray[np.int64] | None) -> Outputs:
        found: Outputs = {}
        for (slot, component, _), row in zip(places, rows[GeometryRows.VALUES :], strict=True):
            flat = row.view(f"f{row.dtype.itemsize}").reshape(-1)
            value = flat[: last * lanes] if at is None else flat.take(at)
            found.setdefault(slot, [None] * 4)[component] = value
        return found

    if last and counts.min() == last and not cuts[:last].any() and not streams.any():
        # A strip of each lane, whose vertices may stay where they are.
        every = np.arange(lanes)
        order = (every[:, None] + np.arange(0, last * lanes, lanes)).reshape(-1)
        start, length, lane = every * last, np.full(lanes, last), every.repeat(last)
        return {0: Expanded(outputs(None), last * lanes, start, length, lane, order)}
    emitted = np.arange(last) < counts[:, None]
    of, begun = streams[:last].T, cuts[:last].T
    found: dict[int, Expanded] = {}
    for stream in sorted({0, *np.bincount(of[emitted]).nonzero()[0].tolist()}):
        own = emitted & (of == stream)
        lane, k = own.nonzero()
        strip = (begun >> stream & 1).cumsum(axis=1)[own]
        found[stream] = Expanded.of(outputs(k * lanes + lane), lane, strip)
    return found


class GeometryStage(ChunkStage):
    """Vertices are numbered per lane; their values lie in rows."""

    def __init__(
        self,
        shader: Shader,
        flat_colors: bool,
        step: int,
        keys: Sequence[UnitKey] = (),
        images: Sequence[ImageUnitKey | None] = (),
    ) -> None:
        super().__init__(shader, flat_colors, step, keys, images)
        self.count: Var | None = None
        self.most = max(1, shader.info.vertices_out)

    def prepare(self, e: Emitter) -> None:
        """Declare all outputs at the beginning, because an emission copies every one."""
        self.count = e.b.zeroed("i32", e.w)
        with e.b.into(e.start):
            self.count.set(0)
        for block in e.shader.entry.blocks():
            for instr in block.instrs():
                if isinstance(instr, Intrinsic) and instr.name == "store_output":
                    bits = max(instr.srcs[0].value.bit_size, 32)
                    for i in range(instr.srcs[0].num_components):
                        at = instr["component"] + i
                        if instr["write_mask"] >> i & 1:
                            for k in range(max(1, instr["num_slots"])):
                                _variable(e, (instr["location"] + at // 4 + k, at % 4, 0), bits)

    def _cell(self, e: Emitter, number: int, t: str) -> V:
        """The lane's column in the row of its next vertex."""
        b = e.b
        assert self.count is not None and self.base is not None
        row = self.count.get().to("i64", False) * e.word(Words.COUNT)
        column = b.lanes("i64", range(e.w)) + self.base
        return b.at(e.word(Words.OUTPUTS + number, "ptr"), row + column, t)

    def emit_vertex(self, e: Emitter, instr: Intrinsic) -> None:
        assert self.count is not None
        b = e.b
        count = self.count.get()
        mask = e.mask & count.ult(self.most)
        if instr.name == "end_primitive":
            # The row after the last vertex exists for cuts.
            mask = e.mask & count.ule(self.most)
            cell = self._cell(e, GeometryRows.CUTS, "i8")
            b.scatter(cell, mask, b.const("i8", 1 << instr["stream"]))
            return
        for number, place in enumerate(sorted(e.outputs)):
            variable = e.outputs[place]
            cell = self._cell(e, GeometryRows.VALUES + number, variable.t)
            b.scatter(cell, mask, variable.get())
        b.scatter(self._cell(e, GeometryRows.STREAMS, "i8"), mask, b.const("i8", instr["stream"]))
        self.count.set(b.select(mask, count + 1, count))
