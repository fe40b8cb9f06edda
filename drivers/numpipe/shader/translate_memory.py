"""Intrinsics of the translation: inputs, outputs, buffers, locals, system values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Deref, Intrinsic, Variable
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.common.lanes import BARYCENTRICS, SYSTEM_VALUES
from gallette.drivers.common.local_variables import bits_of, place_of, rows_of
from gallette.drivers.common.program import interpolation

from .lane_ir import LaneArray, LaneValue, Op
from .translate_shared import SHARED_INTRINSICS, SharedTranslator
from .translate_storage import STORAGE_INTRINSICS


class MemoryTranslator(SharedTranslator):
    """Adds intrinsics to the translator."""

    def intrinsic(self, instr: Intrinsic) -> None:
        handler = _INTRINSICS.get(instr.name)
        if handler is None:
            raise GalletteError(f"numpipe has no code for the intrinsic {instr.name!r}")
        handler(self, instr)

    def load_input(self, instr: Intrinsic) -> None:
        values = self.results(instr.result)
        offset = self.component(instr.srcs[0], 0)
        mode = _INPUT_MODES[self.program.stage]
        slot = instr["base"] if mode == "attribute" else instr["location"]
        for i, value in enumerate(values):
            data = (slot, instr["component"] + i, mode, "pixel")
            self.input_component(value, data, offset, instr["num_slots"])

    def load_per_vertex(self, instr: Intrinsic) -> None:
        """An input of one vertex of a primitive or patch, with a constant or dynamic index."""
        vertex, offset = (self.component(src, 0) for src in instr.srcs)
        slots = max(1, instr["num_slots"]) if offset.const is None else 1
        for i, value in enumerate(self.results(instr.result)):
            slot, component = divmod(instr["location"] * 4 + instr["component"] + i, 4)
            slot += offset.const or 0
            found = [value] if slots == 1 else [self.by_lane(value.bits) for _ in range(slots)]
            for at, one in enumerate(found):
                if vertex.const is not None:
                    place = (slot + at, component, "corner", vertex.const)
                    self.emit("input", place, [one], [])
                else:
                    self.emit("corner_at", (slot + at, component), [one], [vertex])
            if slots > 1:
                self.emit("choose", None, [value], [offset, *found])

    def by_lane(self, bits: int) -> LaneValue:
        value = self.new(bits)
        value.varying = True
        return value

    def load_peer(self, instr: Intrinsic) -> None:
        """A per-vertex output of another invocation of the patch."""
        vertex, offset = (self.component(src, 0) for src in instr.srcs)
        self.load_rows(instr, offset, 0, vertex)

    def load_output(self, instr: Intrinsic) -> None:
        """A patch output, written by any invocation of the patch.

        In a fragment shader: the framebuffer's contents, as a system value numbered by component.
        """
        if self.program.stage == "fragment":
            first = 4 * (instr["location"] - FragResult.DATA0) + instr["component"]
            for i, value in enumerate(self.results(instr.result)):
                self.emit("system", ("output", first + i), [value], [])
            return
        patch = int(self.program.stage == "tess_ctrl")
        self.load_rows(instr, self.component(instr.srcs[0], 0), patch, None)

    def load_rows(
        self, instr: Intrinsic, offset: LaneValue, table: int, vertex: LaneValue | None
    ) -> None:
        slots = max(1, instr["num_slots"]) if offset.const is None else 1
        for i, value in enumerate(self.results(instr.result)):
            slot, component = divmod(instr["location"] * 4 + instr["component"] + i, 4)
            slot += offset.const or 0
            found = [value] if slots == 1 else [self.by_lane(value.bits) for _ in range(slots)]
            for at, one in enumerate(found):
                place = (slot + at, component, table)
                self.output_array(place, one)
                what = "output_load" if vertex is None else "peer_load"
                self.emit(what, place, [one], [] if vertex is None else [vertex])
            if slots > 1:
                self.emit("choose", None, [value], [offset, *found])

    def store_per_vertex(self, instr: Intrinsic) -> None:
        """Store an output of the invocation's own vertex, the only one it may write."""
        self.store(instr, self.component(instr.srcs[2], 0), 0)

    def emit_vertex(self, instr: Intrinsic) -> None:
        self.emit(instr.name, instr["stream"], [], [])

    def load_interpolated(self, instr: Intrinsic) -> None:
        values = self.results(instr.result)
        mode, where, bary = interpolation(instr, self.flat_colors)
        extra: list[LaneValue] = []
        if where in ("at_offset", "at_sample"):
            extra = self.whole(bary.srcs[0])
        offset = self.component(instr.srcs[1], 0)
        for i, value in enumerate(values):
            data = (instr["location"], instr["component"] + i, mode, where)
            self.input_component(value, data, offset, instr["num_slots"], extra)

    def input_component(
        self,
        value: LaneValue,
        data: tuple[int, int, str, str],
        offset: LaneValue,
        num_slots: int,
        extra: Iterable[LaneValue] = (),
    ) -> None:
        slot, component, mode, where = data
        slot, component = slot + component // 4, component % 4
        if offset.const is not None:
            data = (slot + offset.const, component, mode, where)
            self.emit("input", data, [value], list(extra))
        else:
            data_n = ((slot, component, mode, where), num_slots)
            self.emit("input_indirect", data_n, [value], [offset, *extra])

    def barycentric(self, instr: Intrinsic) -> None:
        """Emit nothing: the load that uses the barycentrics reads this instruction."""

    def store_output(self, instr: Intrinsic) -> None:
        patch = self.program.stage == "tess_ctrl"
        self.store(instr, self.component(instr.srcs[1], 0), 1 if patch else instr["dual_source"])

    def store(self, instr: Intrinsic, offset: LaneValue, dual: int) -> None:
        """Store an output; `dual` selects a table of outputs: second colours, or those of whole
        patches.
        """
        slot = instr["location"]
        for i in range(instr.srcs[0].num_components):
            if not instr["write_mask"] >> i & 1:
                continue
            value = self.component(instr.srcs[0], i)
            component = instr["component"] + i
            place = (slot + component // 4, component % 4, dual)
            if offset.const is not None:
                place = (place[0] + offset.const, place[1], place[2])
                if self.region is not self.program.root or self.program.stage in _REMEMBERING:
                    self.output_array(place, value)
                self.emit("output", place, [], [value])
            else:
                for k in range(instr["num_slots"]):
                    self.output_array((place[0] + k, place[1], place[2]), value)
                self.emit("output_indirect", (place, instr["num_slots"]), [], [value, offset])

    def output_array(self, place: tuple[int, int, int], value: LaneValue) -> None:
        """Allocate memory for an output that is stored by some lanes, or with an index."""
        if place not in self.program.output_arrays:
            array = LaneArray(1, value.bits)
            array.varying = True
            array.kind = value.output_kind
            self.program.output_arrays[place] = array

    def load_ubo(self, instr: Intrinsic) -> None:
        block, offset = (self.component(src, 0) for src in instr.srcs[:2])
        row = None if self.program.stage != "fragment" or block.const is None else _row(offset)
        for i, value in enumerate(self.results(instr.result)):
            extra = i * (value.bits // 8)
            if row is not None and value.varying and value.bits > 1:
                stride, first = row
                self.emit("row_of_primitive", (block.const, stride, first + extra), [value], [])
            else:
                self.emit("ubo", extra, [value], [block, offset])

    def system(self, instr: Intrinsic) -> None:
        name = instr.name.removeprefix("load_")
        for i, value in enumerate(self.results(instr.result)):
            self.emit("system", (name, i), [value], [])

    def clock(self, instr: Intrinsic) -> None:
        self.emit("clock", None, self.results(instr.result, "u4"), [])

    def clip_plane(self, instr: Intrinsic) -> None:
        for i, value in enumerate(self.results(instr.result)):
            self.emit("clip_plane", (instr["ucp_id"], i), [value], [])

    def helper(self, instr: Intrinsic) -> None:
        self.emit("helper", instr.name, self.results(instr.result), [])

    def discard(self, instr: Intrinsic) -> None:
        self.program.uses_discard = True
        conds = [self.component(src, 0) for src in instr.srcs] or [self.constant(1, 1)]
        self.emit("discard", instr.name.startswith("discard"), [], conds)

    def deref_place(self, deref: Deref) -> tuple[LaneArray, list[LaneValue], Any]:
        """A deref's array: (array, dynamic indices, (base, strides))."""
        place = place_of(deref, lambda src: self.component(src, 0).const)
        indices = [self.component(src, 0) for src, _, _ in place.moving]
        steps = tuple([(stride, length) for _, stride, length in place.moving])
        return self.array_of(place.var), indices, (place.row, steps)

    def array_of(self, var: Variable) -> LaneArray:
        array = self.program.arrays.get(var)
        if array is None:
            array = LaneArray(rows_of(var.type), bits_of(var))
            array.varying = var in self.divergent_locals
            self.program.arrays[var] = array
        return array

    def load_deref(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        array, indices, place = self.deref_place(deref)
        for i, value in enumerate(self.results(instr.result)):
            self.emit("array_load", (array, place, i), [value], indices)

    def store_deref(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        array, indices, place = self.deref_place(deref)
        for i in range(instr.srcs[1].num_components):
            if instr["write_mask"] >> i & 1:
                value = self.component(instr.srcs[1], i)
                self.emit("array_store", (array, place, i), [], [value, *indices])

    def nothing(self, instr: Intrinsic) -> None:
        """Emit nothing: operations are executed in program order, so barriers have no effect."""


_REMEMBERING = frozenset({"geometry", "tess_ctrl"})
"""Stages whose outputs are read again: at each emission, or by other invocations."""

_INPUT_MODES = {"vertex": "attribute", "fragment": "flat", "tess_eval": "patch"}


def _row(offset: LaneValue) -> tuple[int, int] | None:
    """The stride and the start of an offset of the form `gl_PrimitiveID * stride + start`."""
    first, row = _constant_of(offset, "iadd") or (0, offset)
    factor, number = _constant_of(row, "imul") or (0, row)
    if not factor:
        shift, number = _constant_of(row, "ishl", last=True) or (0, row)
        factor = 1 << shift if 0 < shift < 31 else 0
    op = number.op
    if not isinstance(op, Op) or op.what != "system" or op.data != ("primitive_id", 0):
        return None
    return (factor, first) if 0 < factor < 1 << 31 and first < 1 << 31 else None


def _constant_of(value: LaneValue, name: str, last: bool = False) -> tuple[int, LaneValue] | None:
    """The constant and the other operand of an operation; `last`: only a constant second operand
    counts.
    """
    op = value.op
    if not isinstance(op, Op) or op.what != "alu" or op.data.name != name:
        return None
    one, two = op.srcs
    if two.const is not None:
        return two.const, one
    return None if one.const is None or last else (one.const, two)


_T = MemoryTranslator
_INTRINSICS: dict[str, Callable[[MemoryTranslator, Intrinsic], None]] = {
    "load_input": _T.load_input,
    "load_interpolated_input": _T.load_interpolated,
    "store_output": _T.store_output,
    "load_ubo": _T.load_ubo,
    "load_deref": _T.load_deref,
    "store_deref": _T.store_deref,
    "load_user_clip_plane": _T.clip_plane,
    "shader_clock": _T.clock,
    "load_helper_invocation": _T.helper,
    "is_helper_invocation": _T.helper,
    "discard": _T.discard,
    "discard_if": _T.discard,
    "demote": _T.discard,
    "demote_if": _T.discard,
    "barrier": _T.nothing,
    "load_per_vertex_input": _T.load_per_vertex,
    "load_per_vertex_output": _T.load_peer,
    "load_output": _T.load_output,
    "store_per_vertex_output": _T.store_per_vertex,
    "emit_vertex": _T.emit_vertex,
    "end_primitive": _T.emit_vertex,
    **STORAGE_INTRINSICS,
    **SHARED_INTRINSICS,
}
for _where in BARYCENTRICS:
    _INTRINSICS[f"load_barycentric_{_where}"] = _T.barycentric
for _name in SYSTEM_VALUES:
    _INTRINSICS[f"load_{_name}"] = _T.system
