"""Instruction selection of inputs, outputs, uniform blocks and system values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gallette.compiler.nir.ir import Intrinsic, Src
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.common.lanes import BARYCENTRICS, SYSTEM_VALUES
from gallette.drivers.common.program import interpolation
from gallette.drivers.machines.constants import PLANE
from gallette.drivers.machines.isa.messages import KINDS, URB_OPS, WHERE, Place
from gallette.drivers.machines.isa.types import type_of

from .core import UD, D, F, MessageSelector, Operand

_MODES = {"vertex": "attribute", "fragment": "flat", "tess_eval": "patch"}
_STYLES = {"smooth": "smooth", "own": "corner", "corner_at": "corner"}


class IoSelector(MessageSelector):
    """Adds inputs and outputs of stages to the selector."""

    # -- inputs ------------------------------------------------------------------------------------

    def input(
        self,
        instr: Intrinsic,
        kind: str,
        slot: int,
        component: int,
        payload: Sequence[Operand] = (),
        *,
        where: int = 0,
        straight: int = 0,
        corner: int = 0,
        note: str = "",
    ) -> list[Operand]:
        """Load all components with one message."""
        dest = instr.result
        bits = 32 if dest.bit_size == 1 else dest.bit_size
        fields = {
            "kind": KINDS.index(kind),
            "slot": slot,
            "component": component,
            "count": dest.num_components,
            "where": where,
            "straight": straight,
            "corner": corner,
            "wide": bits == 64,
        }
        return self.send_for_reply(
            "input", fields, payload, type_of("uint", bits), dest.num_components, note or kind
        )

    def load_input(self, instr: Intrinsic) -> list[Operand]:
        mode = _MODES[self.stage]
        slot = instr["base"] if mode == "attribute" else instr["location"]
        return self.at_slot(instr, mode, slot, instr["component"])

    def at_slot(
        self,
        instr: Intrinsic,
        mode: str,
        slot: int,
        component: int,
        payload: Sequence[Operand] = (),
        *,
        where: int = 0,
        straight: int = 0,
        corner: int = 0,
    ) -> list[Operand]:
        """Load an input at a slot, or at one of several slots if the index is not constant."""
        if mode != "attribute":
            slot, component = slot + component // 4, component % 4
        offset = self.constant(instr.srcs[-1])
        elsewhere = mode in ("at", "at_sample")
        place = "at" if elsewhere else WHERE[where]
        style = _STYLES.get(mode, mode)
        if elsewhere or mode == "smooth":
            style = "noperspective" if straight else "smooth"

        def load(at: int) -> list[Operand]:
            self.note_inputs(instr, style, place, at, component)
            return self.input(
                instr, mode, at, component, payload, where=where, straight=straight, corner=corner
            )

        if offset is not None:
            return load(slot + offset)
        moving = self.read(instr.srcs[-1], D)
        return self.choose([load(slot + k) for k in range(max(1, instr["num_slots"]))], moving)

    def note_inputs(
        self, instr: Intrinsic, mode: str, where: str, slot: int, component: int
    ) -> None:
        for k in range(instr.result.num_components):
            at = component + k
            if mode == "attribute":
                self.inputs.add((slot, at, mode, where))
            else:
                self.inputs.add((slot + at // 4, at % 4, mode, where))

    def choose(self, options: list[list[Operand]], index: Operand) -> list[Operand]:
        """Select one of several vectors by index; an index out of range selects zeros."""
        found = [self.typed(self.number(0, UD), UD) for _ in options[0]]
        for k, option in enumerate(options):
            found = self.where_equal(index, k, option, found)
        return found

    def load_interpolated(self, instr: Intrinsic) -> list[Operand]:
        mode, where, bary = interpolation(instr, self.flat_colors)
        slot, component = instr["location"], instr["component"]
        if mode == "flat":
            return self.at_slot(instr, "flat", slot, component)
        straight = int(mode == "noperspective")
        if where in ("at_offset", "at_sample"):
            if where == "at_offset":
                payload = [self.read(bary.srcs[0], F, k) for k in range(2)]
            else:
                payload = [self.read(bary.srcs[0], D)]
            mode = "at" if where == "at_offset" else where
            return self.at_slot(instr, mode, slot, component, payload, straight=straight)
        code = WHERE.index(where)
        return self.at_slot(instr, "smooth", slot, component, where=code, straight=straight)

    def load_per_vertex(self, instr: Intrinsic) -> list[Operand]:
        """Load an input of one vertex, whose index may be constant or not."""
        known = self.constant(instr.srcs[0])
        slot, component = instr["location"], instr["component"]
        if known is not None:
            if known >= 64:
                return [self.number(0, UD)] * instr.result.num_components
            return self.at_slot(instr, "corner", slot, component, corner=known)
        maker = instr.srcs[0].value.instr
        own = isinstance(maker, Intrinsic) and maker.name == "load_invocation_id"
        if own and self.stage == "tess_ctrl":
            return self.at_slot(instr, "own", slot, component)
        payload = [self.read(instr.srcs[0], D)]
        return self.at_slot(instr, "corner_at", slot, component, payload)

    def system(self, instr: Intrinsic) -> list[Operand]:
        name = instr.name.removeprefix("load_")
        self.system_values.add(name)
        found = self.input(instr, "system", SYSTEM_VALUES.index(name), 0, note=name)
        return [self.as_bool(r) for r in found] if instr.result.bit_size == 1 else found

    def helper(self, instr: Intrinsic) -> list[Operand]:
        now = int(instr.name == "is_helper_invocation")
        return [self.as_bool(self.input(instr, "helper", 0, now)[0])]

    def clip_plane(self, instr: Intrinsic) -> list[Operand]:
        found = [self.uniform(PLANE + instr["ucp_id"], 4 * k, F) for k in range(4)]
        assert None not in found
        return found

    # -- uniform blocks ----------------------------------------------------------------------------

    def load_ubo(self, instr: Intrinsic) -> list[Operand]:
        dest = instr.result
        block, offset = self.constant(instr.srcs[0]), self.constant(instr.srcs[1])
        count, size = dest.num_components, dest.bit_size // 8
        type = type_of("uint", dest.bit_size)
        if block is not None and offset is not None and size >= 4:
            words = [self.uniform(block, offset + k * size, type) for k in range(count)]
            if None not in words:
                return words
            if size == 4 and block < 64:
                found = self.whole_block(block, offset, count)
                if found is not None:
                    return found
        payload = [self.read(instr.srcs[1], UD)]
        if block is None or block > 63:
            payload.append(self.read(instr.srcs[0], D))
        fields = {
            "block": (block or 0) & 63,
            "dynamic": len(payload) - 1,
            "count": count,
            "size": size.bit_length() - 1,
        }
        return self.send_for_reply("constant", fields, payload, type, count, "load_ubo")

    def whole_block(self, block: int, offset: int, count: int) -> list[Operand] | None:
        """Load words at a constant offset for all channels at once, if the machine can."""
        return None

    # -- outputs -----------------------------------------------------------------------------------

    def store_output(self, instr: Intrinsic) -> list[Operand]:
        if self.stage == "fragment":
            self.store_result(instr)
        else:
            patch = self.stage == "tess_ctrl"
            self.urb_write(instr, int(patch), instr.srcs[1])
        return []

    def store_per_vertex(self, instr: Intrinsic) -> list[Operand]:
        self.urb_write(instr, 0, instr.srcs[2])
        return []

    def urb_write(self, instr: Intrinsic, table: int, offset_src: Src) -> None:
        src = instr.srcs[0]
        offset = self.constant(offset_src)
        wanted = [k for k in range(src.num_components) if instr["write_mask"] >> k & 1]
        bits = max(32, src.value.bit_size)
        type = type_of("uint", bits)
        slots = max(1, instr["num_slots"])
        for start in range(0, 8, 4):
            some = [k for k in wanted if start <= k < start + 4]
            if not some:
                continue
            at = instr["component"] + start
            slot, component = instr["location"] + at // 4, at % 4
            payload = [self.read(src, type, k) for k in some]
            fields = {
                "op": URB_OPS.index("write"),
                "slot": slot + (offset or 0),
                "component": component,
                "mask": sum(1 << k - start for k in some),
                "table": table,
                "wide": bits == 64,
            }
            if offset is None:
                fields |= {"offset": 1, "slots": slots}
                payload.insert(0, self.read(offset_src, D))
            for k in some:
                cell = component + k - start
                for moved in range(slots if offset is None else 1):
                    place = (slot + (offset or 0) + moved + cell // 4, cell % 4, table)
                    self.places[place] = bits
            self.send_message("urb", fields, payload, "store_output")

    def framebuffer(self, instr: Intrinsic) -> list[Operand]:
        """Load the stored contents of a colour buffer at the fragment's pixel."""
        self.system_values.add("output")
        at = 4 * (instr["location"] - FragResult.DATA0) + instr["component"]
        return self.input(instr, "target", at // 4, at % 4, note="framebuffer")

    def load_output(self, instr: Intrinsic) -> list[Operand]:
        """Load an output: the invocation's own, the patch's, or another invocation's."""
        if self.stage == "fragment":
            return self.framebuffer(instr)
        peer = instr.name == "load_per_vertex_output"
        table = 0 if peer else int(self.stage == "tess_ctrl")
        type = type_of("uint", instr.result.bit_size)
        count = instr.result.num_components
        at = instr["component"]
        slot, component = instr["location"] + at // 4, at % 4
        offset = self.constant(instr.srcs[-1])
        payload = [self.read(instr.srcs[0], D)] if peer else []
        options = []
        for k in [offset] if offset is not None else range(max(1, instr["num_slots"])):
            for c in range(count):
                cell = component + c
                self.places.setdefault((slot + k + cell // 4, cell % 4, table), type.size * 8)
            fields = {
                "op": URB_OPS.index("peer" if peer else "read"),
                "slot": slot + k,
                "component": component,
                "mask": count,
                "table": table,
                "wide": type.size == 8,
            }
            options.append(self.send_for_reply("urb", fields, payload, type, count, "load_output"))
        if offset is not None:
            return options[0]
        return self.choose(options, self.read(instr.srcs[-1], D))

    def emit_vertex(self, instr: Intrinsic) -> list[Operand]:
        op = "emit" if instr.name == "emit_vertex" else "cut"
        self.send_message(
            "urb", {"op": URB_OPS.index(op), "stream": instr["stream"]}, [], instr.name
        )
        return []

    # -- fragment results --------------------------------------------------------------------------

    def store_result(self, instr: Intrinsic) -> None:
        """Keep results in registers until the render target write at the end."""
        src = instr.srcs[0]
        offset = self.constant(instr.srcs[1])
        for k in range(src.num_components):
            if not instr["write_mask"] >> k & 1:
                continue
            at = instr["component"] + k
            value = self.read(src, UD, k) if src.value.bit_size == 32 else self.value(src, k)
            slot, component, dual = instr["location"] + at // 4, at % 4, instr["dual_source"]
            if offset is not None:
                self.assign(self.output((slot + offset, component, dual)), value)
                continue
            moving = self.read(instr.srcs[1], D)
            for moved in range(max(1, instr["num_slots"])):
                place = (slot + moved, component, dual)
                target = self.output(place)
                self.early.add(place)
                (chosen,) = self.where_equal(moving, moved, [value], [target])
                self.assign(target, chosen)

    def output(self, place: Place) -> Operand:
        if place not in self.outputs:
            self.outputs[place] = self.result(place)
        if self.depth:
            self.early.add(place)
        return self.outputs[place]

    def discard(self, instr: Intrinsic) -> list[Operand]:
        """Clear pixels in the flag of live ones; from then on they are helpers."""
        self.discards = True
        known = self.constant(instr.srcs[0]) if instr.srcs else 1
        if known is None:
            self.discard_where(self.read(instr.srcs[0], D))
        elif known:
            self.discard_where(None)
        return []

    def barycentric(self, instr: Intrinsic) -> list[Operand]:
        """Select nothing: the load that uses the barycentrics reads this instruction."""
        return []

    def barrier(self, instr: Intrinsic) -> list[Operand]:
        if self.stage in ("compute", "tess_ctrl"):
            self.has_barriers = True
            self.send_message("gateway", {}, [], "barrier")
        return []


_S = IoSelector
IO_INTRINSICS: dict[str, Callable[..., list[Operand]]] = {
    "load_input": _S.load_input,
    "load_interpolated_input": _S.load_interpolated,
    "load_per_vertex_input": _S.load_per_vertex,
    "load_per_vertex_output": _S.load_output,
    "load_output": _S.load_output,
    "store_output": _S.store_output,
    "store_per_vertex_output": _S.store_per_vertex,
    "emit_vertex": _S.emit_vertex,
    "end_primitive": _S.emit_vertex,
    "load_ubo": _S.load_ubo,
    "load_user_clip_plane": _S.clip_plane,
    "load_helper_invocation": _S.helper,
    "is_helper_invocation": _S.helper,
    "discard": _S.discard,
    "discard_if": _S.discard,
    "demote": _S.discard,
    "demote_if": _S.discard,
    "barrier": _S.barrier,
}
for _where in BARYCENTRICS:
    IO_INTRINSICS[f"load_barycentric_{_where}"] = _S.barycentric
for _name in SYSTEM_VALUES:
    IO_INTRINSICS[f"load_{_name}"] = _S.system
