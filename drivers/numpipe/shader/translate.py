"""NIR to the lane program: vectors become components, phis become joins and carried values.

Two structural liberties keep what follows simple. An if with one side that jumps away has nothing
to join: the other side's code moves behind the if. And a value defined inside a loop (or in the
surviving side of an if) but used outside gets a copy made at each exit, as in loop-closed SSA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from compiler.errors import GalletteError
from compiler.nir.ir import (
    Alu,
    Block,
    Body,
    Def,
    Deref,
    If,
    Intrinsic,
    Jump,
    LoadConst,
    Loop,
    Phi,
    Shader,
    Src,
    Tex,
    Undef,
    Variable,
)
from compiler.nir.opcodes import OPCODES, Opcode
from compiler.nir.slots import VaryingSlot
from compiler.nir.types import Type

from .lane_ir import (
    BreakOp,
    ContinueOp,
    IfOp,
    LaneArray,
    LaneProgram,
    LaneValue,
    LoopOp,
    Op,
    Region,
)

__all__ = ["MAX_NESTING", "kind_of", "translate"]

MAX_NESTING = 80
"""Python's own limit is 100 levels of indentation; some of ours need two."""

_LETTER = {"float": "f", "int": "i", "uint": "u", "bool": "b"}
_COLORS = frozenset({VaryingSlot.COL0, VaryingSlot.COL1, VaryingSlot.BFC0, VaryingSlot.BFC1})
_MOVES = frozenset({"mov", "vec2", "vec3", "vec4", "vec5", "vec8", "vec16"})


def kind_of(base: str, bits: int) -> str:
    """`f4`, `u2`, `b1`...: every one-bit value is a boolean."""
    return "b1" if bits == 1 else f"{_LETTER[base]}{bits // 8}"


def translate(shader: Shader, *, flat_colors: bool = False) -> LaneProgram:
    """Take one optimised, single-function shader apart.

    `flat_colors` is flat shading: colour varyings take the provoking vertex's value, unless they
    were declared with a qualifier of their own.
    """
    return _Translator(shader, flat_colors).run()


class _Translator:
    def __init__(self, shader: Shader, flat_colors: bool):
        self.shader = shader
        self.flat_colors = flat_colors
        root = Region(None, None, "root")
        self.program = LaneProgram(shader.stage.value, root)
        self.program.early_fragment_tests = shader.info.early_fragment_tests
        self.region = root
        self.components: dict[Def, list[LaneValue]] = {}
        self.escapes: dict[tuple[int, int], LaneValue] = {}
        self.regions_of_blocks: dict[Block, Region] = {}
        self.pending_phis: list[tuple[LoopOp, list[Phi], Block]] = []

    def run(self) -> LaneProgram:
        self.body(self.shader.entry.body)
        return self.program

    # -- values --------------------------------------------------------------------------------

    def new(self, bits: int, kind: str = "", region: Region | None = None) -> LaneValue:
        value = LaneValue(len(self.program.values), bits, region or self.region, kind)
        self.program.values.append(value)
        return value

    def constant(self, raw: int, bits: int) -> LaneValue:
        value = self.new(bits, region=self.program.root)
        value.const = raw
        return value

    def emit(
        self, what: str, data: Any, dsts: list[LaneValue], srcs: list[LaneValue]
    ) -> list[LaneValue]:
        op = Op(what, data, dsts, srcs)
        for dst in dsts:
            dst.op = op
        self.region.items.append(op)
        return dsts

    def component(self, src: Src, index: int) -> LaneValue:
        """Component `index` of what a source reads, visible in the current region."""
        swizzled = src.swizzle[index] if src.swizzle else index
        return self.visible(self.components[src.value][swizzled])

    def whole(self, src: Src) -> list[LaneValue]:
        return [self.component(src, i) for i in range(src.num_components)]

    def visible(self, value: LaneValue) -> LaneValue:
        """`value`, or what it is called here if it was defined in a loop that has been left."""
        region = value.region
        if value.const is not None or self.encloses(region):
            return value
        while not self.encloses(region):
            loop = region.loop
            if loop is None:  # the surviving side of an if was moved behind it: cannot happen
                raise AssertionError("value used outside the if that defines it")
            value = self.escape(loop, value)
            region = value.region
        return value

    def encloses(self, region: Region) -> bool:
        at: Region | None = self.region
        while at is not None:
            if at is region:
                return True
            if at.depth <= region.depth:
                return False
            at = at.parent
        return False

    def escape(self, loop: LoopOp, value: LaneValue) -> LaneValue:
        key = (id(loop), value.id)
        found = self.escapes.get(key)
        if found is None:
            outer = loop.body.parent
            assert outer is not None
            found = self.new(value.bits, "b1" if value.bits == 1 else "", outer)
            found.op = loop
            self.escapes[key] = found
            loop.exits.append(found)
            for leave in loop.breaks:
                leave.values.append(value)
        return found

    # -- control flow --------------------------------------------------------------------------

    def body(self, body: Body) -> None:
        """Translate a body into the current region (which may move on behind a jumping if)."""
        for node in body:
            if isinstance(node, Block):
                self.block(node)
            elif isinstance(node, If):
                self.branch(node)
            else:
                self.loop(node)

    def block(self, block: Block) -> None:
        self.regions_of_blocks[block] = self.region
        for instr in block.instrs():
            if isinstance(instr, Phi):
                continue  # made by the if or loop before
            if isinstance(instr, Jump):
                self.jump(instr, block)
                return
            self.instruction(instr)

    def nested(self, region: Region) -> Region:
        if region.depth > MAX_NESTING:
            raise GalletteError(
                f"shader {self.shader.name!r} nests control flow more than {MAX_NESTING} deep"
            )
        outer, self.region = self.region, region
        return outer

    def branch(self, node: If) -> None:
        op = IfOp(self.component(node.condition, 0), self.region)
        self.region.items.append(op)
        after = node.owner[node.owner.index(node) + 1]
        assert isinstance(after, Block)
        then_jumps, else_jumps = _jumps(node.then_body), _jumps(node.else_body)
        if then_jumps or else_jumps:
            op.negated = not then_jumps
            leaving, staying = node.then_body, node.else_body
            if not then_jumps:
                leaving, staying = staying, leaving
            outer = self.nested(op.then)
            self.body(leaving)
            self.region = outer
            self.body(staying)
            for phi in after.phis():
                for src in phi.phi_srcs:
                    if not _inside(src.pred, leaving):
                        self.components[phi.result] = self.whole(src)
            return
        outer = self.nested(op.then)
        self.body(node.then_body)
        values = {phi: self.whole(phi.src_for(node.then_last)) for phi in after.phis()}
        self.region = op.else_
        self.body(node.else_body)
        for phi in after.phis():
            other = self.whole(phi.src_for(node.else_last))
            results = []
            for a, b in zip(values[phi], other, strict=True):
                if _same_everywhere(a, b, op):
                    results.append(a)
                    continue
                joined = self.new(a.bits, "b1" if a.bits == 1 else "", outer)
                joined.op = op
                op.joins.append((joined, a, b))
                results.append(joined)
            self.components[phi.result] = results
        self.region = outer

    def loop(self, node: Loop) -> None:
        op = LoopOp(self.region)
        before = node.owner[node.owner.index(node) - 1]
        after = node.owner[node.owner.index(node) + 1]
        assert isinstance(before, Block) and isinstance(after, Block)
        self.region.items.append(op)
        phis = list(node.first.phis())
        outer = self.region
        for phi in phis:
            initial = self.whole(phi.src_for(before))
            carried = []
            for value in initial:
                one = self.new(value.bits, "b1" if value.bits == 1 else "", op.body)
                one.op = op
                carried.append(one)
            op.initial.extend(initial)
            op.carried.extend(carried)
            self.components[phi.result] = carried
        exit_phis = list(after.phis())
        for phi in exit_phis:
            results = []
            for _ in range(phi.result.num_components):
                bits = phi.result.bit_size
                one = self.new(bits, "b1" if bits == 1 else "", outer)
                one.op = op
                op.exits.append(one)
                results.append(one)
            self.components[phi.result] = results
        node.mark = (op, phis, exit_phis)
        self.nested(op.body)
        self.body(node.body)
        if not _jumps(node.body):
            self.go_round(op, phis, node.last)
        node.mark = None
        self.region = outer

    def jump(self, jump: Jump, block: Block) -> None:
        if jump.type in ("return", "halt"):
            raise GalletteError(f"`{jump.type}` must have been lowered before code generation")
        at: Any = block.parent
        while not isinstance(at, Loop):
            at = at.parent
        op, phis, exit_phis = at.mark
        if jump.type == "continue":
            self.go_round(op, phis, block)
            return
        leave = BreakOp(op, self.region)
        for phi in exit_phis:
            leave.values.extend(self.whole(phi.src_for(block)))
        op.breaks.append(leave)
        self.region.items.append(leave)

    def go_round(self, op: LoopOp, phis: list[Phi], block: Block) -> None:
        again = ContinueOp(op, self.region)
        for phi in phis:
            again.values.extend(self.whole(phi.src_for(block)))
        op.continues.append(again)
        self.region.items.append(again)

    # -- instructions --------------------------------------------------------------------------

    def instruction(self, instr: Any) -> None:
        if isinstance(instr, Alu):
            self.alu(instr)
        elif isinstance(instr, LoadConst):
            bits = instr.result.bit_size
            self.components[instr.result] = [self.constant(v, bits) for v in instr.values]
        elif isinstance(instr, Intrinsic):
            handler = _INTRINSICS.get(instr.name)
            if handler is None:
                raise GalletteError(f"numpipe has no code for the intrinsic {instr.name!r}")
            handler(self, instr)
        elif isinstance(instr, Tex):
            self.tex(instr)
        elif isinstance(instr, Undef):
            d = instr.result
            self.components[d] = [self.constant(0, d.bit_size) for _ in range(d.num_components)]
        elif not isinstance(instr, Deref):
            raise GalletteError(f"numpipe has no code for {instr.kind!r} instructions")

    def scalar(self, name: str, *srcs: LaneValue) -> LaneValue:
        """One scalar ALU operation by name."""
        op = OPCODES[name]
        bits = op.output_type.bits or _unsized_bits(op, srcs)
        dst = self.new(bits, kind_of(op.output_type.base, bits))
        return self.emit("alu", op, [dst], list(srcs))[0]

    def alu(self, instr: Alu) -> None:
        op, dest = instr.op, instr.result
        if op.name in _MOVES or op.is_vec:
            if op.name == "mov":
                src = instr.srcs[0]
                parts = [self.component(src, i) for i in range(dest.num_components)]
            else:
                parts = [self.component(src, 0) for src in instr.srcs]
            self.components[dest] = parts
            return
        if op.per_component:
            self.components[dest] = [
                self.scalar(op.name, *(self.component(s, i) for s in instr.srcs))
                for i in range(dest.num_components)
            ]
            return
        expand = _EXPANSIONS.get(op.name.rstrip("234") if op.name[-1] in "234" else op.name)
        if expand is not None:
            vectors = [self.whole(src) for src in instr.srcs]
            self.components[dest] = [expand(self, *vectors)]
            return
        flat: list[LaneValue] = []
        sizes = []
        for src, size in zip(instr.srcs, op.input_sizes, strict=True):
            flat.extend(self.component(src, i) for i in range(max(size, 1)))
            sizes.append(size)
        kind = kind_of(op.output_type.base, dest.bit_size)
        dsts = [self.new(dest.bit_size, kind) for _ in range(dest.num_components)]
        self.components[dest] = self.emit("alu_n", op, dsts, flat)

    def tex(self, instr: Tex) -> None:
        groups = {
            kind: self.whole(src) for kind, src in zip(instr.src_kinds, instr.srcs, strict=True)
        }
        layout = tuple((kind, len(values)) for kind, values in groups.items())
        flat = [value for values in groups.values() for value in values]
        d = instr.result
        base = instr.dest_type.rstrip("0123456789")
        dsts = [self.new(d.bit_size, kind_of(base, d.bit_size)) for _ in range(d.num_components)]
        self.components[d] = self.emit("tex", (instr, layout), dsts, flat)

    # -- memory --------------------------------------------------------------------------------

    def outputs(self, instr: Intrinsic, name: str = "") -> list[LaneValue]:
        """Fresh components for the result of an intrinsic."""
        d = instr.result
        kind = "b1" if d.bit_size == 1 else ""
        values = [self.new(d.bit_size, kind) for _ in range(d.num_components)]
        self.components[d] = values
        return values

    def load_input(self, instr: Intrinsic) -> None:
        values = self.outputs(instr)
        offset = self.component(instr.srcs[0], 0)
        fragment = self.program.stage == "fragment"
        slot = instr["location"] if fragment else instr["base"]
        for i, value in enumerate(values):
            data = (slot, instr["component"] + i, "flat" if fragment else "attribute", "pixel")
            self.input_component(value, data, offset, instr["num_slots"])

    def load_per_vertex(self, instr: Intrinsic) -> None:
        """An input of one corner of the primitive a geometry shader works on."""
        corners = _CORNERS[self.shader.info.input_primitive]
        vertex, offset = (self.component(src, 0) for src in instr.srcs)
        slots = max(1, instr["num_slots"])
        for i, value in enumerate(self.outputs(instr)):
            slot, component = divmod(instr["location"] * 4 + instr["component"] + i, 4)
            places = [
                (slot + at, component, "corner", corner)
                for corner in range(corners)
                for at in range(slots)
            ]
            if vertex.const is not None and offset.const is not None:
                at = vertex.const * slots + offset.const
                if at < len(places):
                    self.emit("input", places[at], [value], [])
                else:
                    self.components[instr.result][i] = self.constant(0, value.bits)
                continue
            stride = self.constant(slots, 32)
            index = self.scalar("iadd", self.scalar("imul", vertex, stride), offset)
            self.emit("input_select", places, [value], [index])

    def emit_vertex(self, instr: Intrinsic) -> None:
        self.emit(instr.name, instr["stream"], [], [])

    def load_interpolated(self, instr: Intrinsic) -> None:
        values = self.outputs(instr)
        bary = instr.srcs[0].value.instr
        assert isinstance(bary, Intrinsic)
        where = bary.name.removeprefix("load_barycentric_")
        mode = bary["interp"]
        if mode == "none":  # a colour without a qualifier of its own
            mode = "flat" if self.flat_colors and instr["location"] in _COLORS else "smooth"
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
        """Nothing by itself: the load that uses it looks back at it."""

    def store_output(self, instr: Intrinsic) -> None:
        offset = self.component(instr.srcs[1], 0)
        slot, dual = instr["location"], instr["dual_source"]
        for i in range(instr.srcs[0].num_components):
            if not instr["write_mask"] >> i & 1:
                continue
            value = self.component(instr.srcs[0], i)
            component = instr["component"] + i
            place = (slot + component // 4, component % 4, dual)
            if offset.const is not None:
                place = (place[0] + offset.const, place[1], place[2])
                if self.region is not self.program.root or self.program.stage == "geometry":
                    self.output_array(place, value)
                self.emit("output", place, [], [value])
            else:
                for k in range(instr["num_slots"]):
                    self.output_array((place[0] + k, place[1], place[2]), value)
                self.emit("output_indirect", (place, instr["num_slots"]), [], [value, offset])

    def output_array(self, place: tuple[int, int, int], value: LaneValue) -> None:
        """An output stored by some lanes, or at an index, needs memory until the end."""
        if place not in self.program.output_arrays:
            array = LaneArray(f"output {place[0]}.{'xyzw'[place[1]]}", 1, value.bits)
            array.varying = True
            array.kind = value.kind or f"f{value.bits // 8}"
            self.program.output_arrays[place] = array

    def load_ubo(self, instr: Intrinsic) -> None:
        block, offset = (self.component(src, 0) for src in instr.srcs[:2])
        for i, value in enumerate(self.outputs(instr)):
            self.emit("ubo", i * (value.bits // 8), [value], [block, offset])

    def system(self, instr: Intrinsic) -> None:
        name = instr.name.removeprefix("load_")
        for i, value in enumerate(self.outputs(instr)):
            self.emit("system", (name, i), [value], [])

    def clip_plane(self, instr: Intrinsic) -> None:
        for i, value in enumerate(self.outputs(instr)):
            self.emit("clip_plane", (instr["ucp_id"], i), [value], [])

    def helper(self, instr: Intrinsic) -> None:
        self.emit("helper", instr.name, self.outputs(instr), [])

    def discard(self, instr: Intrinsic) -> None:
        self.program.uses_discard = True
        conds = [self.component(src, 0) for src in instr.srcs] or [self.constant(1, 1)]
        self.emit("discard", instr.name.startswith("discard"), [], conds)

    def deref_place(self, deref: Deref) -> tuple[LaneArray, list[LaneValue], Any, int]:
        """The array behind a deref: (array, dynamic indices, (base, strides), components)."""
        chain = deref.path()
        var = chain[0].var
        assert var is not None
        array = self.array_of(var)
        base, indices, steps = 0, [], []
        type: Type = var.type
        for step in chain[1:]:
            if step.form == "array":
                element = type.indexed()
                stride, length = _rows(element), type.indexed_length()
                index = self.component(step.srcs[-1], 0)
                if index.const is not None:
                    at = index.const
                    base += at * stride if at < length else array.rows
                else:
                    indices.append(index)
                    steps.append((stride, length))
                type = element
            elif step.form == "struct":
                field = step.field
                base += sum(_rows(f.type) for f in type.fields[:field])
                type = type.fields[field].type
            else:
                raise GalletteError(f"numpipe has no code for {step.form!r} derefs")
        return array, indices, (base, tuple(steps)), _rows(type)

    def array_of(self, var: Variable) -> LaneArray:
        array = self.program.arrays.get(var)
        if array is None:
            bits = {leaf.bit_size for leaf in var.type.leaves()}
            if len(bits) != 1:
                raise GalletteError(f"local {var.name!r} mixes component sizes")
            array = LaneArray(var.name, _rows(var.type), bits.pop())
            self.program.arrays[var] = array
        return array

    def load_deref(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        array, indices, place, _ = self.deref_place(deref)
        for i, value in enumerate(self.outputs(instr)):
            self.emit("array_load", (array, place, i), [value], indices)

    def store_deref(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        array, indices, place, _ = self.deref_place(deref)
        for i in range(instr.srcs[1].num_components):
            if instr["write_mask"] >> i & 1:
                value = self.component(instr.srcs[1], i)
                self.emit("array_store", (array, place, i), [], [value, *indices])

    def nothing(self, instr: Intrinsic) -> None:
        """Barriers order nothing here: operations happen in program order."""


def _unsized_bits(op: Opcode, srcs: tuple[LaneValue, ...]) -> int:
    for type, src in zip(op.input_types, srcs, strict=True):
        if not type.bits:
            return src.bits
    return 32


def _rows(type: Type) -> int:
    """Scalars in a type."""
    if type.element is not None:
        return type.length * _rows(type.element)
    if type.is_struct:
        return sum(_rows(f.type) for f in type.fields)
    return type.components


def _jumps(body: Body) -> bool:
    """Does control never reach the end of this body?"""
    last = body[-1]
    assert isinstance(last, Block)
    if last.jump is not None:
        return True
    if len(body) > 1 and isinstance(body[-2], If):
        node = body[-2]
        return _jumps(node.then_body) and _jumps(node.else_body)
    return False


def _inside(block: Block, body: Body) -> bool:
    at: Any = block
    while isinstance(at, (Block, If, Loop)):
        if at.owner is body:
            return True
        at = at.parent
    return False


def _same_everywhere(a: LaneValue, b: LaneValue, op: IfOp) -> bool:
    """Do both sides of an if arrive with one value that exists outside it?"""
    if a.const is not None:
        return a.const == b.const
    return a is b and _is_outside(a, op)


def _is_outside(value: LaneValue, op: IfOp) -> bool:
    region: Region | None = value.region
    while region is not None:
        if region.owner is op:
            return False
        region = region.parent
    return True


def _dot(t: _Translator, a: list[LaneValue], b: list[LaneValue]) -> LaneValue:
    total = t.scalar("fmul", a[0], b[0])
    for x, y in zip(a[1:], b[1:], strict=True):
        total = t.scalar("fadd", total, t.scalar("fmul", x, y))
    return total


def _sum(t: _Translator, a: list[LaneValue]) -> LaneValue:
    total = a[0]
    for x in a[1:]:
        total = t.scalar("fadd", total, x)
    return total


def _dph(t: _Translator, a: list[LaneValue], b: list[LaneValue]) -> LaneValue:
    return t.scalar("fadd", _dot(t, a, b[:3]), b[3])


def _compare_all(compare: str, combine: str) -> Callable[..., LaneValue]:
    def expand(t: _Translator, a: list[LaneValue], b: list[LaneValue]) -> LaneValue:
        result = t.scalar(compare, a[0], b[0])
        for x, y in zip(a[1:], b[1:], strict=True):
            result = t.scalar(combine, result, t.scalar(compare, x, y))
        return result

    return expand


_EXPANSIONS: dict[str, Callable[..., LaneValue]] = {
    "fdot": _dot,
    "fsum": _sum,
    "fdph": _dph,
    "ball_fequal": _compare_all("feq", "iand"),
    "ball_iequal": _compare_all("ieq", "iand"),
    "bany_fnequal": _compare_all("fneu", "ior"),
    "bany_inequal": _compare_all("ine", "ior"),
}

_CORNERS = {
    "points": 1,
    "lines": 2,
    "lines_adjacency": 4,
    "triangles": 3,
    "triangles_adjacency": 6,
}

_T = _Translator
_INTRINSICS: dict[str, Callable[[_Translator, Intrinsic], None]] = {
    "load_input": _T.load_input,
    "load_interpolated_input": _T.load_interpolated,
    "store_output": _T.store_output,
    "load_ubo": _T.load_ubo,
    "load_deref": _T.load_deref,
    "store_deref": _T.store_deref,
    "load_user_clip_plane": _T.clip_plane,
    "load_helper_invocation": _T.helper,
    "is_helper_invocation": _T.helper,
    "discard": _T.discard,
    "discard_if": _T.discard,
    "demote": _T.discard,
    "demote_if": _T.discard,
    "barrier": _T.nothing,
    "load_per_vertex_input": _T.load_per_vertex,
    "emit_vertex": _T.emit_vertex,
    "end_primitive": _T.emit_vertex,
}
for _where in ("pixel", "centroid", "sample", "at_offset", "at_sample"):
    _INTRINSICS[f"load_barycentric_{_where}"] = _T.barycentric
for _name in (
    "vertex_id",
    "vertex_id_zero_base",
    "instance_id",
    "base_vertex",
    "first_vertex",
    "base_instance",
    "draw_id",
    "primitive_id",
    "invocation_id",
    "frag_coord",
    "point_coord",
    "front_face",
    "sample_id",
    "sample_pos",
    "sample_mask_in",
    "num_samples",
    "layer_id",
    "viewport_index",
    "alpha_ref",
    "fog_color",
    "fog_params",
):
    _INTRINSICS[f"load_{_name}"] = _T.system
