"""Memory accesses of an invocation: inputs, outputs, uniform blocks, row arrays, emissions."""

from __future__ import annotations

from gallette.drivers.common.program import LONGEST_BLOCK

from .emit_alu import AluEmitter
from .emit_base import view_name
from .lane_ir import Item, LaneArray, LaneValue, Op


class MemoryEmitter(AluEmitter):
    """Adds memory to arithmetic."""

    # -- inputs and outputs --------------------------------------------------------------------

    def op_input(self, op: Op) -> None:
        dst = op.dsts[0]
        text = self.input_text(op.data, self.where_texts(op.data, op.srcs), dst.bits)
        self.fresh(op, dst, self.fetched(text, dst), owned=False)

    def where_texts(self, data: tuple[int, int, str, str], srcs: list[LaneValue]) -> list[str]:
        """The computed place where an input is interpolated: an offset, or a sample's number.

        It is computed for all lanes, from which those of the scope are taken.
        """
        kind = "i4" if data[3] == "at_sample" else "f4"
        return [f"spread({self.read(s, kind)}, count, {self.scope.lanes})" for s in srcs]

    def input_text(self, data: tuple[int, int, str, str], extra: list[str], bits: int = 32) -> str:
        slot, component, mode, where = data
        if mode == "attribute":
            wide = "64" if bits == 64 else ""
            return f"lanes.attribute{wide}({slot}, {component})"
        if mode == "corner":
            return f"lanes.corner({slot}, {component}, {where})"
        if mode in ("flat", "patch"):
            return f"lanes.{mode}({slot}, {component})"
        straight = "" if mode != "noperspective" else ", perspective=False"
        if where == "at_offset":
            return f"lanes.smooth_at({slot}, {component}, {', '.join(extra)}{straight})"
        if where == "at_sample":
            return f"lanes.smooth_at_sample({slot}, {component}, {extra[0]}{straight})"
        place = "" if where == "pixel" else f", where={where!r}"
        return f"lanes.smooth({slot}, {component}{place}{straight})"

    def fetched(self, text: str, dst: LaneValue) -> str:
        return f"fetched({text}, count, {self.scope.lanes}, {dst.kind})"

    def op_input_indirect(self, op: Op) -> None:
        (slot, component, mode, where), count = op.data
        extra = self.where_texts(op.data[0], op.srcs[1:])
        slots = ", ".join(
            self.fetched(
                self.input_text((slot + i, component, mode, where), extra, op.dsts[0].bits),
                op.dsts[0],
            )
            for i in range(count)
        )
        offset = self.read(op.srcs[0], "i4", lanes=False)
        self.fresh(op, op.dsts[0], f"slot_select(({slots},), {offset}, {self.scope.count})")

    def op_corner_at(self, op: Op) -> None:
        slot, component = op.data
        index = self.read(op.srcs[0], "i4", lanes=False)
        text = f"lanes.corner_at({slot}, {component}, {index}, {self.scope.lanes})"
        self.fresh(op, op.dsts[0], f"viewed({text}, {op.dsts[0].kind})", owned=False)

    def op_choose(self, op: Op) -> None:
        kind = op.dsts[0].kind
        values = ", ".join(self.read(s, kind) for s in op.srcs[1:])
        index = self.read(op.srcs[0], "i4", lanes=False)
        self.fresh(op, op.dsts[0], f"slot_select(({values},), {index}, {self.scope.count})")

    def op_peer_load(self, op: Op) -> None:
        array = self.program.output_arrays[op.data]
        index = self.read(op.srcs[0], "i4", lanes=False)
        size, scope = self.program.patch_size, self.scope
        text = f"peer_load({self.array_name(array)}, {index}, {size}, count, {scope.lanes})"
        self.fresh(op, op.dsts[0], f"viewed({text}, {op.dsts[0].kind})")

    def op_output_load(self, op: Op) -> None:
        array, scope = self.program.output_arrays[op.data], self.scope
        size = self.program.patch_size if op.data[2] else 1
        text = f"own_load({self.array_name(array)}, {size}, count, {scope.lanes})"
        self.fresh(op, op.dsts[0], f"viewed({text}, {op.dsts[0].kind})")

    def op_system(self, op: Op) -> None:
        name, component = op.data
        dst = op.dsts[0]
        many = self.program.stage in ("fragment", "tess_eval", "compute")
        text = f"lanes.system({name!r}, {component})" if many else f"lanes.system({name!r})"
        if name == "alpha_ref":
            self.scalar(dst, f"uniform(f4(state.alpha_ref), {dst.kind})")
        elif dst.varying:
            self.fresh(op, dst, self.fetched(text, dst), owned=False)
        else:
            self.scalar(dst, f"uniform({text}, {dst.kind})")

    def op_clock(self, op: Op) -> None:
        tag = self.tag()
        self.line(f"t{tag} = clock()")
        for i, dst in enumerate(op.dsts):
            if dst.varying:
                self.fresh(op, dst, f"fill({self.scope.count}, t{tag}[{i}], {dst.kind})")
            else:
                self.scalar(dst, f"t{tag}[{i}]")
        self.file.dropped.append(f"t{tag}")

    def op_helper(self, op: Op) -> None:
        dst = op.dsts[0]
        dead = "alive" if op.data == "is_helper_invocation" and self.program.uses_discard else None
        self.fresh(
            op, dst, f"fetched(helpers(helper, {dead}, count), count, {self.scope.lanes}, b1)"
        )

    def op_clip_plane(self, op: Op) -> None:
        plane, component = op.data
        dst = op.dsts[0]
        self.scalar(dst, f"plane(state.clip_planes, {plane}, {component}).view({dst.kind})")

    def op_output(self, op: Op) -> None:
        place = op.data
        value = op.srcs[0]
        array = self.program.output_arrays.get(place)
        if array is None:
            self.outputs[place] = self.read(value, value.output_kind, lanes=False)
            return
        name = self.array_name(array)
        self.outputs[place] = f"{name}[0]"
        self.store_row(name, place, "0, (), ()", self.read(value, array.kind))

    def store_row(self, name: str, place: tuple[int, int, int], where: str, text: str) -> None:
        """Store into an output's row: the lane's element, or that of its patch."""
        scope = self.scope
        lanes = scope.lanes
        if self.program.stage == "tess_ctrl" and place[2]:
            lanes = f"patch_of({self.program.patch_size}, count, {lanes})"
        self.line(f"row_store({name}, {where}, {text}, {lanes}, {scope.live or None})")

    def op_output_indirect(self, op: Op) -> None:
        (slot, component, dual), count = op.data
        first = self.program.output_arrays[(slot, component, dual)]
        offset = self.read(op.srcs[1], "i4", lanes=False)
        for i in range(count):
            place = (slot + i, component, dual)
            array = self.program.output_arrays[place]
            name = self.array_name(array)
            self.outputs[place] = f"{name}[0]"
            text = self.read(op.srcs[0], first.kind)
            self.store_row(name, place, f"{-i}, ((1, {i + 1}),), ({offset},)", text)

    def op_emit_vertex(self, op: Op) -> None:
        places = sorted(self.program.output_arrays)
        rows = self.tuple_of([self.array_name(self.program.output_arrays[p]) for p in places])
        scope = self.scope
        self.line(
            f"emit_vertex(events, {op.data}, {rows}, count, {scope.lanes}, {scope.live or None})"
        )

    def op_end_primitive(self, op: Op) -> None:
        scope = self.scope
        self.line(
            f"emit_vertex(events, {op.data}, None, count, {scope.lanes}, {scope.live or None})"
        )

    def op_discard(self, op: Op) -> None:
        condition = self.read(op.srcs[0], "b1")
        scope = self.scope
        self.line(f"alive = kill(alive, {condition}, count, {scope.lanes}, {scope.live or None})")
        if op.data and self.loops:
            # A loop may wait for a write by lanes that have ended.
            self.line("if not alive.any():")
            with self.indented():
                self.line("return nothing, alive, {}")

    # -- buffers -------------------------------------------------------------------------------

    def op_ubo(self, op: Op) -> None:
        block, offset = op.srcs
        dst, extra = op.dsts[0], op.data
        kind = "u4" if dst.bits == 1 else dst.kind
        size = int(kind[1:])
        at = LONGEST_BLOCK if offset.const is None else (offset.const + extra) // size
        if block.const is not None and (at + 1) * size <= LONGEST_BLOCK:
            self.view(block.const, kind, at + 1)
            # Among lanes, a 0-d array is cheaper than a scalar; among scalars it is not.
            shape = "" if dst.scalar_use else ", ..."
            self.scalar(dst, f"{view_name(block.const, kind)}[{at}{shape}]")
            return
        if block.varying:
            self.view(-1, kind, 0)
            self.fresh(
                op,
                dst,
                f"ubo_any({view_name(-1, kind)}, {self.read(block, 'i4')}, "
                f"{self.read(offset, 'i4')}, {extra}, {self.scope.count}, {kind})",
            )
            return
        if block.const is not None:
            self.view(block.const, kind, 0)
            where = view_name(block.const, kind)
        else:
            self.view(-1, kind, 0)
            where = f"pick_block({view_name(-1, kind)}, {self.read(block, 'i4', lanes=False)})"
        at_text = self.read(offset, "i4", lanes=False)
        if dst.varying and not offset.varying:  # lanes leave the loop around it at different times
            text = f"full(ubo_scalar({where}, {at_text}, {extra}), {self.scope.count})"
            self.fresh(op, dst, text)
        elif dst.varying:
            begins, ends = self.beside(op)
            if begins and ends:
                self.fresh(op, dst, f"ubo_lanes({where}, {at_text}, {extra})")
                return
            if begins:
                self.line(f"places = ubo_places({at_text}, {size})")
            self.fresh(op, dst, f"ubo_from({where}, places, {extra})")
            if ends:
                self.line("places = None")
        else:
            self.scalar(dst, f"ubo_scalar({where}, {at_text}, {extra})")

    def op_row_of_primitive(self, op: Op) -> None:
        """Load an element of a lane's row, from a table with a row for every primitive, or for
        every draw (see `variants.merging`).
        """
        block, stride, extra = op.data
        dst = op.dsts[0]
        dst_kind = "u4" if dst.bits == 1 else dst.kind
        size = int(dst_kind[1:])
        self.view(block, dst_kind, 0)
        begins, ends = self.beside(op)
        if begins:
            self.line(f"rows = rows_of(lanes, {stride}, {size})")
        text = f"row_element({view_name(block, dst_kind)}, rows, {extra})"
        self.fresh(op, dst, self.fetched(text, dst))
        if ends:
            self.line("rows = None")

    def beside(self, op: Op) -> tuple[bool, bool]:
        """Whether an operation is the first, and the last, of consecutive loads of adjacent
        elements, for which offsets are computed once.
        """
        items = self.current.items
        place = next(i for i, item in enumerate(items) if item is op)

        def differs(other: Item) -> bool:
            same = isinstance(other, Op) and other.what == op.what and other.srcs == op.srcs
            if not (same and isinstance(other, Op) and other.dsts[0].bits == op.dsts[0].bits):
                return True
            return op.what == "row_of_primitive" and other.data[1] != op.data[1]

        begins = place == 0 or differs(items[place - 1])
        return begins, place + 1 == len(items) or differs(items[place + 1])

    def view(self, block: int, kind: str, least: int) -> None:
        key = (block, kind)
        self.views[key] = max(self.views.get(key, 0), least)

    # -- row arrays ----------------------------------------------------------------------------

    def op_array_load(self, op: Op) -> None:
        array: LaneArray
        array, (base, steps), extra = op.data
        dst = op.dsts[0]
        name = self.array_name(array)
        indices = self.indices(op.srcs)
        view = "" if array.kind == dst.kind else f".view({dst.kind})"
        where = f"{name}, {base + extra}, {steps}, {indices}"
        scope = self.scope
        if array.varying:
            text = f"row_load({where}, {scope.lanes}, {scope.count}){view}"
            self.fresh(op, dst, text)
        elif dst.varying:
            self.fresh(op, dst, f"scalar_row_load({where}){view}")
        else:
            self.scalar(dst, f"scalar_row_load({where}){view}")

    def op_array_store(self, op: Op) -> None:
        array: LaneArray
        array, (base, steps), extra = op.data
        name = self.array_name(array)
        value = self.read(op.srcs[0], array.kind)
        indices = self.indices(op.srcs[1:])
        where = f"{name}, {base + extra}, {steps}, {indices}, {value}"
        scope = self.scope
        if array.varying:
            self.line(f"row_store({where}, {scope.lanes}, {scope.live or None})")
        else:
            self.line(f"scalar_row_store({where})")

    def indices(self, values: list[LaneValue]) -> str:
        """Signed integers of any size."""
        return self.tuple_of([self.read(v, f"i{v.bits // 8}", lanes=False) for v in values])

    def tuple_of(self, texts: list[str]) -> str:
        return "(" + "".join(f"{t}, " for t in texts) + ")"
