"""Selection of inputs, outputs, uniform blocks and system values: messages, and what they carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gallette.compiler.nir.ir import Intrinsic
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.lanes import SYSTEM_VALUES
from gallette.drivers.simd.isa.instruction import Region, immediate
from gallette.drivers.simd.isa.messages import KINDS, URB_OPS, WHERE
from gallette.drivers.simd.isa.types import TYPES, type_of

from .code import ConstantSlot
from .select_alu import AluSelector
from .selector import LIVE_FLAG

__all__ = ["IO_INTRINSICS", "IoSelector"]

UD, D, F = TYPES["UD"], TYPES["D"], TYPES["F"]
_COLORS = frozenset({VaryingSlot.COL0, VaryingSlot.COL1, VaryingSlot.BFC0, VaryingSlot.BFC1})
_MODES = {"vertex": "attribute", "fragment": "flat", "tess_eval": "patch"}
Place = tuple[int, int, int]


class IoSelector(AluSelector):
    """Adds what comes from and goes to other stages."""

    flat_colors = False

    def prepare(self) -> None:
        """State of this part."""
        self.outputs: dict[Place, Region] = {}  # of a fragment shader, kept until its end
        self.early: set[Place] = set()  # those that need a value from the start
        self.places: dict[Place, int] = {}  # of other stages, with their bits
        self.inputs: set[tuple[int, int, str, str]] = set()
        self.system_values: set[str] = set()
        self.discards = False

    # -- inputs ------------------------------------------------------------------------------------

    def input(
        self,
        instr: Intrinsic,
        kind: str,
        slot: int,
        component: int,
        payload: Sequence[Region] = (),
        *,
        where: int = 0,
        straight: bool = False,
        corner: int = 0,
        note: str = "",
    ) -> list[Region]:
        """One message for all components of a load."""
        dest = instr.result
        bits = 32 if dest.bit_size == 1 else dest.bit_size
        type = type_of("uint", bits)
        count = dest.num_components
        made = self.new(type, count)
        fields = {
            "kind": KINDS.index(kind),
            "slot": slot,
            "component": component,
            "count": count,
            "where": where,
            "straight": straight,
            "corner": corner,
            "wide": bits == 64,
        }
        size = self.code.sizes[made.nr]
        self.send("input", fields, payload, made, size, note=note or kind)
        return self.parts(made, count)

    def load_input(self, instr: Intrinsic) -> list[Region]:
        mode = _MODES[self.stage]
        slot = instr["base"] if mode == "attribute" else instr["location"]
        return self.at_slot(instr, mode, slot, instr["component"])

    def at_slot(
        self,
        instr: Intrinsic,
        mode: str,
        slot: int,
        component: int,
        payload: Sequence[Region] = (),
        **more: int,
    ) -> list[Region]:
        """An input at a slot, or at one of several known only when the shader runs."""
        if mode != "attribute":
            slot, component = slot + component // 4, component % 4
        offset = self.constant(instr.srcs[-1])
        where = WHERE[more.get("where", 0)] if mode != "at" else "at"
        style = "noperspective" if more.get("straight") else "smooth"
        name = {"at": style, "smooth": style, "own": "corner", "corner_at": "corner"}.get(
            mode, mode
        )
        if offset is not None:
            self.note_inputs(instr, name, where, slot + offset, component)
            return self.input(instr, mode, slot + offset, component, payload, **more)  # type: ignore[arg-type]
        moving = self.read(instr.srcs[-1], D)
        options = []
        for k in range(max(1, instr["num_slots"])):
            self.note_inputs(instr, name, where, slot + k, component)
            options.append(self.input(instr, mode, slot + k, component, payload, **more))  # type: ignore[arg-type]
        return self.choose(options, moving)

    def note_inputs(
        self, instr: Intrinsic, mode: str, where: str, slot: int, component: int
    ) -> None:
        for k in range(instr.result.num_components):
            at = component + k
            if mode == "attribute":
                self.inputs.add((slot, at, mode, where))
            else:
                self.inputs.add((slot + at // 4, at % 4, mode, where))

    def choose(self, options: list[list[Region]], index: Region) -> list[Region]:
        """One of several vectors by a number; zeros for numbers that mean none."""
        found = [immediate(0, r.type) for r in options[0]]
        for k, option in enumerate(options):
            flag = self.take_flag()
            null = Region("n", 0, D)
            self.emit("cmp", null, index, immediate(k, D), cond="z", flag=flag)
            found = [
                self.emit("sel", self.new(new.type), new, old, pred="+", flag=flag)
                for new, old in zip(option, found, strict=True)
            ]
        return found

    def load_interpolated(self, instr: Intrinsic) -> list[Region]:
        bary = instr.srcs[0].value.instr
        assert isinstance(bary, Intrinsic)
        where = bary.name.removeprefix("load_barycentric_")
        mode = bary["interp"]
        slot = instr["location"]
        if mode == "none":  # a colour without a qualifier of its own
            mode = "flat" if self.flat_colors and slot in _COLORS else "smooth"
        if mode == "flat":
            return self.at_slot(instr, "flat", slot, instr["component"])
        straight = int(mode == "noperspective")
        if where in ("at_offset", "at_sample") and bary.srcs:
            if where == "at_offset":
                payload = [self.read(bary.srcs[0], F, k) for k in range(2)]
                return self.at_slot(
                    instr, "at", slot, instr["component"], payload, straight=straight
                )
            where = "sample"
        code = WHERE.index(where)
        return self.at_slot(
            instr, "smooth", slot, instr["component"], where=code, straight=straight
        )

    def load_per_vertex(self, instr: Intrinsic) -> list[Region]:
        """An input of one corner, by a number known now or only then."""
        known = self.constant(instr.srcs[0])
        slot, component = instr["location"], instr["component"]
        if known is not None:
            if known >= 64:
                return [
                    immediate(0, type_of("uint", 32)) for _ in range(instr.result.num_components)
                ]
            return self.at_slot(instr, "corner", slot, component, corner=known)
        maker = instr.srcs[0].value.instr
        own = isinstance(maker, Intrinsic) and maker.name == "load_invocation_id"
        if own and self.stage == "tess_ctrl":
            return self.at_slot(instr, "own", slot, component)
        payload = [self.read(instr.srcs[0], D)]
        return self.at_slot(instr, "corner_at", slot, component, payload)

    def system(self, instr: Intrinsic) -> list[Region]:
        name = instr.name.removeprefix("load_")
        self.system_values.add(name)
        found = self.input(instr, "system", SYSTEM_VALUES.index(name), 0, note=name)
        return [r.retyped(D) for r in found] if instr.result.bit_size == 1 else found

    def helper(self, instr: Intrinsic) -> list[Region]:
        now = int(instr.name == "is_helper_invocation")
        return [self.input(instr, "helper", 0, now)[0].retyped(D)]

    def clip_plane(self, instr: Intrinsic) -> list[Region]:
        found = []
        for k in range(4):
            slot = self.slot(ConstantSlot(1 << 20 | instr["ucp_id"], 4 * k))
            assert slot is not None
            found.append(self.constant_region(slot, F))
        return found

    # -- uniform blocks ------------------------------------------------------------------

    def load_ubo(self, instr: Intrinsic) -> list[Region]:
        dest = instr.result
        block, offset = self.constant(instr.srcs[0]), self.constant(instr.srcs[1])
        count, size = dest.num_components, dest.bit_size // 8
        type = type_of("uint", dest.bit_size)
        if block is not None and offset is not None and size >= 4:
            slots = [self.slot(ConstantSlot(block, offset + k * size), size) for k in range(count)]
            if None not in slots:
                return [self.constant_region(s, type) for s in slots if s is not None]
            if size == 4 and block < 64:
                return self.whole_block(block, offset, count)
        payload = [self.read(instr.srcs[1], UD)]
        if block is None or block > 63:
            payload.append(self.read(instr.srcs[0], D))
        fields = {
            "block": (block or 0) & 63,
            "dynamic": len(payload) - 1,
            "count": count,
            "size": size.bit_length() - 1,
        }
        made = self.new(type, count)
        self.send("constant", fields, payload, made, self.code.sizes[made.nr], note="load_ubo")
        return self.parts(made, count)

    def whole_block(self, block: int, offset: int, count: int) -> list[Region]:
        """Words at a known offset: 32 bytes at a time, the same for all channels."""
        found: list[Region] = []
        loaded: dict[int, Region] = {}
        for k in range(count):
            start = (offset + 4 * k) // 32 * 32
            if start not in loaded:
                header = self.header({2: start})
                made = Region("v", self.code.new(1), UD)
                fields = {"block": block, "whole": 1, "size": 2, "count": 8}
                self.send("constant", fields, [], made, 1, header=header, no_mask=True, width=8)
                loaded[start] = made
            at = (offset + 4 * k) % 32
            found.append(loaded[start]._replace(offset=at, stride=0))
        return found

    # -- outputs -----------------------------------------------------------------------------------

    def store_output(self, instr: Intrinsic) -> list[Region]:
        if self.stage == "fragment":
            self.store_result(instr)
        else:
            patch = self.stage == "tess_ctrl"
            self.urb_write(instr, int(patch), instr.srcs[1])
        return []

    def store_per_vertex(self, instr: Intrinsic) -> list[Region]:
        self.urb_write(instr, 0, instr.srcs[2])
        return []

    def urb_write(self, instr: Intrinsic, table: int, offset_src: object) -> None:
        src = instr.srcs[0]
        offset = self.constant(offset_src)  # type: ignore[arg-type]
        wanted = [k for k in range(src.num_components) if instr["write_mask"] >> k & 1]
        if not wanted:
            return
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
                payload.insert(0, self.read(offset_src, D))  # type: ignore[arg-type]
            for k in some:
                cell = component + k - start
                for moved in range(slots if offset is None else 1):
                    place = (slot + (offset or 0) + moved + cell // 4, cell % 4, table)
                    self.places[place] = bits
            self.send("urb", fields, payload, note="store_output")

    def load_output(self, instr: Intrinsic) -> list[Region]:
        """Read an output back: one's own or the patch's, or another invocation's."""
        peer = instr.name == "load_per_vertex_output"
        table = 0 if peer else int(self.stage == "tess_ctrl")
        if self.stage == "fragment":
            raise self.fail("reading a fragment's outputs")
        type = type_of("uint", instr.result.bit_size)
        count = instr.result.num_components
        at = instr["component"]
        slot, component = instr["location"] + at // 4, at % 4
        offset = self.constant(instr.srcs[-1])
        payload = [self.read(instr.srcs[0], D)] if peer else []
        options = []
        known = [offset] if offset is not None else range(max(1, instr["num_slots"]))
        for k in known:
            for c in range(count):
                cell = component + c
                self.places.setdefault((slot + k + cell // 4, cell % 4, table), type.size * 8)
            made = self.new(type, count)
            fields = {
                "op": URB_OPS.index("peer" if peer else "read"),
                "slot": slot + k,
                "component": component,
                "mask": count,
                "table": table,
                "wide": type.size == 8,
            }
            self.send("urb", fields, payload, made, self.code.sizes[made.nr], note="load_output")
            options.append(self.parts(made, count))
        return (
            options[0] if offset is not None else self.choose(options, self.read(instr.srcs[-1], D))
        )

    def emit_vertex(self, instr: Intrinsic) -> list[Region]:
        op = "emit" if instr.name == "emit_vertex" else "cut"
        self.send("urb", {"op": URB_OPS.index(op), "stream": instr["stream"]}, [], note=instr.name)
        return []

    # -- fragment results ------------------------------------------------------------------

    def store_result(self, instr: Intrinsic) -> None:
        """Results are kept in registers until the render target write at the end."""
        src = instr.srcs[0]
        offset = self.constant(instr.srcs[1])
        for k in range(src.num_components):
            if not instr["write_mask"] >> k & 1:
                continue
            at = instr["component"] + k
            value = self.read(src, UD, k) if src.value.bit_size == 32 else self.value(src, k)
            slot, component, dual = instr["location"] + at // 4, at % 4, instr["dual_source"]
            if offset is not None:
                target = self.output((slot + offset, component, dual))
                self.emit("mov", target, value)
                continue
            moving = self.read(instr.srcs[1], D)
            for moved in range(max(1, instr["num_slots"])):
                place = (slot + moved, component, dual)
                target = self.output(place)
                self.early.add(place)
                flag = self.take_flag()
                null = Region("n", 0, D)
                self.emit("cmp", null, moving, immediate(moved, D), cond="z", flag=flag)
                self.emit("mov", target, value, pred="+", flag=flag, fresh=False)

    def output(self, place: Place) -> Region:
        if place not in self.outputs:
            self.outputs[place] = self.new(UD)
        if self.depth:
            self.early.add(place)
        return self.outputs[place]

    def discard(self, instr: Intrinsic) -> list[Region]:
        """Channels leave the flag of live pixels; helpers they are from now on."""
        self.discards = True
        known = self.constant(instr.srcs[0]) if instr.srcs else 1
        null = Region("n", 0, D)
        one = immediate(1, D)
        if known == 0:
            return []
        if known is not None:
            self.emit("cmp", null, self.placed(one), one, cond="nz", flag=LIVE_FLAG)
            return []
        region = self.read(instr.srcs[0], D)
        self.kill(region)
        return []

    def kill(self, region: Region) -> None:
        """f1.0 &= not region: a comparison under the flag itself as predicate."""
        null = Region("n", 0, D)
        self.emit("cmp", null, region, immediate(0, D), cond="z", flag=LIVE_FLAG, pred="+")

    def barycentric(self, instr: Intrinsic) -> list[Region]:
        """Nothing by itself: the load that uses it looks back at it."""
        return []

    def barrier(self, instr: Intrinsic) -> list[Region]:
        if self.stage in ("compute", "tess_ctrl"):
            self.code.has_barriers = True
            self.send("gateway", {}, [], note="barrier")
        return []


_S = IoSelector
IO_INTRINSICS: dict[str, Callable[..., list[Region]]] = {
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
for _where in ("pixel", "centroid", "sample", "at_offset", "at_sample"):
    IO_INTRINSICS[f"load_barycentric_{_where}"] = _S.barycentric
for _name in SYSTEM_VALUES:
    IO_INTRINSICS[f"load_{_name}"] = _S.system
