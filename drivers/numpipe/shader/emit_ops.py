"""Operations without control flow: arithmetic, inputs, outputs, buffers, textures, row arrays.

Arithmetic on lanes is one ufunc call that writes into the array of a dead value if there is one
(`add(a, b, r)`), or else makes a new array (`r = add(a, b)`). Uniform arithmetic is plain Python
on NumPy scalars, which computes the same bits as one element of an array would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from compiler.nir.opcodes import Opcode

from .analyse import AGNOSTIC
from .emit_base import BaseEmitter, view_name
from .lane_ir import LaneArray, LaneValue, Op
from .scopes import Register

__all__ = ["OpEmitter"]

_OPERATORS = {
    "fadd": "+",
    "fsub": "-",
    "fmul": "*",
    "fdiv": "/",
    "iadd": "+",
    "isub": "-",
    "imul": "*",
    "flt": "<",
    "fge": ">=",
    "feq": "==",
    "fneu": "!=",
    "ilt": "<",
    "ige": ">=",
    "ieq": "==",
    "ine": "!=",
    "ult": "<",
    "uge": ">=",
    "iand": "&",
    "ior": "|",
    "ixor": "^",
}
_DERIVATIVES = {
    "fddx": (1, False),
    "fddx_fine": (1, False),
    "fddx_coarse": (1, True),
    "fddy": (2, False),
    "fddy_fine": (2, False),
    "fddy_coarse": (2, True),
}
_ONE = {"f2": 0x3C00, "f4": 0x3F800000, "f8": 0x3FF0000000000000}


class OpEmitter(BaseEmitter):
    """Adds operations to naming and reading."""

    def op(self, op: Op) -> None:
        getattr(self, f"op_{op.what}")(op)

    # -- results -------------------------------------------------------------------------------

    def into(self, op: Op, dst: LaneValue, keep_sources: bool = False) -> tuple[Register, bool]:
        """A register for a lane result, and whether an array to overwrite is in it.

        Unless `keep_sources`, it may be that of a source read for the last time.
        """
        if not keep_sources:
            self.file.expire(self.scope, op.pos, self.current)
        register = self.file.reuse(self.scope, dst.kind)
        reused = register is not None
        if register is None:
            register = self.file.fresh(self.scope, self.current, dst.kind)
        if keep_sources:
            self.file.expire(self.scope, op.pos, self.current)
        self.file.place(self.scope, dst, register)
        return register, reused

    def fresh(self, op: Op, dst: LaneValue, text: str, owned: bool = True) -> None:
        """Bind a new array to a register of its own."""
        self.file.expire(self.scope, op.pos, self.current)
        register = self.file.fresh(self.scope, self.current, dst.kind, owned)
        self.file.place(self.scope, dst, register)
        self.line(f"{register.name} = {text}")

    def scalar(self, dst: LaneValue, text: str) -> None:
        self.line(f"{self.uniform_name(dst)} = {text}")

    # -- arithmetic ----------------------------------------------------------------------------

    def source_kinds(self, op: Op) -> list[str]:
        opcode: Opcode = op.data
        if opcode.name == "bcsel":
            return ["b1", op.dsts[0].kind, op.dsts[0].kind]
        kinds = []
        sign = ""
        if opcode.name in AGNOSTIC:
            used = {s.kind[0] for s in op.srcs if s.const is None and s.kind}
            sign = "u" if used == {"u"} else "i"
            if op.dsts[0].kind[0] in "iu":
                sign = op.dsts[0].kind[0]
        for type, src in zip(opcode.input_types, op.srcs, strict=True):
            if src.bits == 1:
                kinds.append("b1")
            elif sign and not type.bits:
                kinds.append(f"{sign}{src.bits // 8}")
            else:
                kinds.append(f"{type.base[0]}{(type.bits or src.bits) // 8}")
        return kinds

    def op_alu(self, op: Op) -> None:
        opcode: Opcode = op.data
        dst = op.dsts[0]
        kinds = self.source_kinds(op)
        if not dst.varying:
            self.uniform_alu(op, kinds)
            return
        special = _SPECIAL.get(opcode.name)
        if special is not None:
            special(self, op, kinds)
            return
        args = ", ".join(self.read(s, k) for s, k in zip(op.srcs, kinds, strict=True))
        if isinstance(opcode.semantics, np.ufunc):
            register, reused = self.into(op, dst)
            name = opcode.semantics.__name__
            self.globals[name] = opcode.semantics
            if reused:
                out = "out=" if name in ("minimum", "maximum") else ""
                self.line(f"{name}({args}, {out}{register.name})")
            else:
                self.line(f"{register.name} = {name}({args})")
        else:
            self.fresh(op, dst, f"{self.function(opcode)}({args})")

    def function(self, opcode: Opcode) -> str:
        """The global name of an opcode's semantics."""
        if isinstance(opcode.semantics, np.ufunc):
            name = opcode.semantics.__name__
        else:
            name = f"nir_{opcode.name}"
        self.globals[name] = opcode.semantics
        return name

    def uniform_alu(self, op: Op, kinds: list[str]) -> None:
        opcode: Opcode = op.data
        dst = op.dsts[0]
        args = [self.read(s, k, lanes=False) for s, k in zip(op.srcs, kinds, strict=True)]
        operator = _OPERATORS.get(opcode.name)
        if opcode.is_derivative:
            self.scalar(dst, f"{args[0]} - {args[0]}")
        elif operator is not None:
            self.scalar(dst, f"{args[0]} {operator} {args[1]}")
        elif opcode.name == "bcsel":
            self.scalar(dst, f"{args[1]} if {args[0]} else {args[2]}")
        else:
            self.scalar(dst, f"{self.function(opcode)}({', '.join(args)})[()]")

    def op_alu_n(self, op: Op) -> None:
        """Opcodes with vector operands: packing and unpacking."""
        opcode: Opcode = op.data
        lanes = op.dsts[0].varying
        bases = [type.base[0] for type in opcode.input_types]
        at = 0
        args = []
        for base, size, type in zip(bases, opcode.input_sizes, opcode.input_types, strict=True):
            parts = op.srcs[at : at + max(size, 1)]
            at += max(size, 1)
            texts = [
                self.read(s, "b1" if s.bits == 1 else f"{base}{(type.bits or s.bits) // 8}", lanes)
                for s in parts
            ]
            args.append(texts[0] if size <= 1 else f"({', '.join(texts)})")
        call = f"{self.function(opcode)}({', '.join(args)})"
        if opcode.output_size <= 1:
            if lanes:
                self.fresh(op, op.dsts[0], call)
            else:
                self.scalar(op.dsts[0], f"{call}[()]")
            return
        tag = self.tag()
        self.line(f"t{tag} = {call}")
        for i, dst in enumerate(op.dsts):
            if dst.used and lanes:
                self.fresh(op, dst, f"t{tag}[{i}]", owned=False)
            elif dst.used:
                self.scalar(dst, f"t{tag}[{i}][()]")

    def chain(self, op: Op, dst: LaneValue, first: str, *more: str, keep: bool = True) -> None:
        """Several ufuncs into one array; `{r}` in a text is its name, `{o}` where `out` goes."""
        register, reused = self.into(op, dst, keep_sources=keep)
        if reused:
            self.line(first.format(r=register.name, o=f", {register.name}"))
        else:
            self.line(f"{register.name} = {first.format(r=register.name, o='')}")
        for text in more:
            self.line(text.format(r=register.name, o=f", {register.name}"))

    def copied(self, value: LaneValue, kind: str) -> str:
        """A private lane array with this value."""
        if value.varying:
            return f"{self.read(value, kind)}.copy()"
        return f"fill({self.scope.count}, {self.read(value, kind)}, {kind})"

    def need(self, *names: str) -> None:
        for name in names:
            self.globals[name] = getattr(np, name)

    # -- inputs and outputs --------------------------------------------------------------------

    def op_input(self, op: Op) -> None:
        dst = op.dsts[0]
        extra = [f"full({self.read(s, 'f4')}, {self.scope.count})" for s in op.srcs]
        text = self.input_text(op.data, extra, dst.bits)
        self.fresh(op, dst, self.fetched(text, dst), owned=False)

    def input_text(self, data: tuple[int, int, str, str], extra: list[str], bits: int = 32) -> str:
        slot, component, mode, where = data
        if mode == "attribute":
            wide = "64" if bits == 64 else ""
            return f"lanes.attribute{wide}({slot}, {component})"
        if mode == "corner":
            return f"lanes.corner({slot}, {component}, {where})"
        if mode == "flat":
            return f"lanes.flat({slot}, {component})"
        straight = "" if mode != "noperspective" else ", perspective=False"
        if where == "at_offset":
            return f"lanes.smooth_at({slot}, {component}, {', '.join(extra)}{straight})"
        if where == "at_sample":
            return f"lanes.smooth({slot}, {component}, where='sample'{straight})"
        place = "" if where == "pixel" else f", where={where!r}"
        return f"lanes.smooth({slot}, {component}{place}{straight})"

    def fetched(self, text: str, dst: LaneValue) -> str:
        return f"fetched({text}, count, {self.scope.lanes}, {dst.kind})"

    def op_input_indirect(self, op: Op) -> None:
        (slot, component, mode, where), count = op.data
        slots = ", ".join(
            self.fetched(
                self.input_text((slot + i, component, mode, where), [], op.dsts[0].bits),
                op.dsts[0],
            )
            for i in range(count)
        )
        offset = self.read(op.srcs[0], "i4", lanes=False)
        self.fresh(op, op.dsts[0], f"slot_select(({slots},), {offset}, {self.scope.count})")

    def op_input_select(self, op: Op) -> None:
        places = ", ".join(
            self.fetched(self.input_text(place, []), op.dsts[0]) for place in op.data
        )
        index = self.read(op.srcs[0], "i4", lanes=False)
        self.fresh(op, op.dsts[0], f"slot_select(({places},), {index}, {self.scope.count})")

    def op_system(self, op: Op) -> None:
        name, component = op.data
        dst = op.dsts[0]
        vertex = self.program.stage != "fragment"
        text = f"lanes.system({name!r})" if vertex else f"lanes.system({name!r}, {component})"
        if name == "alpha_ref":
            self.scalar(dst, f"uniform(f4(state.alpha_ref), {dst.kind})")
        elif dst.varying:
            self.fresh(op, dst, self.fetched(text, dst), owned=False)
        else:
            self.scalar(dst, f"uniform({text}, {dst.kind})")

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
            kind = value.kind or f"f{max(value.bits, 8) // 8}"
            self.outputs[place] = self.read(value, kind, lanes=False)
            return
        name = self.array_name(array)
        self.outputs[place] = f"{name}[0]"
        text = self.read(value, array.kind)
        scope = self.scope
        self.line(f"row_store({name}, 0, (), (), {text}, {scope.lanes}, {scope.live or None})")

    def op_output_indirect(self, op: Op) -> None:
        (slot, component, dual), count = op.data
        first = self.program.output_arrays[(slot, component, dual)]
        offset = self.read(op.srcs[1], "i4", lanes=False)
        scope = self.scope
        for i in range(count):
            place = (slot + i, component, dual)
            array = self.program.output_arrays[place]
            name = self.array_name(array)
            self.outputs[place] = f"{name}[0]"
            text = self.read(op.srcs[0], first.kind)
            self.line(
                f"row_store({name}, {-i}, ((1, {i + 1}),), ({offset},), {text}, "
                f"{scope.lanes}, {scope.live or None})"
            )

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
            # A loop may wait for something only lanes that have ended could bring about.
            self.line("if not alive.any():")
            with self.indented():
                self.line("return nothing, alive, {}")

    # -- buffers -------------------------------------------------------------------------------

    def op_ubo(self, op: Op) -> None:
        block, offset = op.srcs
        dst, extra = op.dsts[0], op.data
        kind = "u4" if dst.bits == 1 else dst.kind
        size = int(kind[1:])
        if block.const is not None and offset.const is not None:
            at = (offset.const + extra) // size
            self.view(block.const, kind, at + 1)
            # Next to lanes, a 0-d array is cheaper than a scalar; among scalars it is not.
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
        if dst.varying:
            self.fresh(op, dst, f"ubo_lanes({where}, {at_text}, {extra})")
        else:
            self.scalar(dst, f"ubo_scalar({where}, {at_text}, {extra})")

    def view(self, block: int, kind: str, least: int) -> None:
        key = (block, kind)
        self.views[key] = max(self.views.get(key, 0), least)

    # -- row arrays ----------------------------------------------------------------------------

    def op_array_load(self, op: Op) -> None:
        array: LaneArray
        array, (base, steps), extra = op.data
        dst = op.dsts[0]
        name = self.array_name(array)
        indices = self.tuple_of([self.read(s, "i4", lanes=False) for s in op.srcs])
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
        indices = self.tuple_of([self.read(s, "i4", lanes=False) for s in op.srcs[1:]])
        where = f"{name}, {base + extra}, {steps}, {indices}, {value}"
        scope = self.scope
        if array.varying:
            self.line(f"row_store({where}, {scope.lanes}, {scope.live or None})")
        else:
            self.line(f"scalar_row_store({where})")

    def tuple_of(self, texts: list[str]) -> str:
        return "(" + "".join(f"{t}, " for t in texts) + ")"

    # -- textures ------------------------------------------------------------------------------

    def op_tex(self, op: Op) -> None:
        instr, layout = op.data
        lanes = op.dsts[0].varying
        groups: dict[str, list[LaneValue]] = {}
        at = 0
        for kind, size in layout:
            groups[kind] = op.srcs[at : at + size]
            at += size
        count = self.scope.count if lanes else "1"
        integer = instr.op in ("txf", "txf_ms")
        more = self.tex_arguments(instr, groups, integer)
        coords = self.read_all(groups.get("coord", []), "i4" if integer else "f4")
        index = str(instr.texture_index)
        if "texture_offset" in groups:
            dynamic = self.read(groups["texture_offset"][0], "i4", lanes=False)
            index = f"{dynamic} + {instr.texture_index}"
        dtype = op.dsts[0].kind
        tag = self.tag()
        if instr.tg4_offsets:
            calls = [
                f"sample(state.textures, {index}, 'tg4', {coords}, {count}, {dtype}, "
                f"offset=[int32({dx}), int32({dy})]{more})[3]"
                for dx, dy in instr.tg4_offsets
            ]
            self.globals["int32"] = np.int32
            self.line(f"t{tag} = [{', '.join(calls)}]")
        else:
            self.line(
                f"t{tag} = sample(state.textures, {index}, {instr.op!r}, {coords}, {count}, "
                f"{dtype}{more})"
            )
        for i, dst in enumerate(op.dsts):
            if not dst.used:
                continue
            if lanes:
                self.fresh(op, dst, f"full(t{tag}[{i}], {count})", owned=False)
            else:
                self.scalar(dst, f"uniform(t{tag}[{i}], {dst.kind})")

    def tex_arguments(self, instr: Any, groups: dict[str, list[LaneValue]], integer: bool) -> str:
        """Keyword arguments of the texture call, each with its comma."""
        text = ""
        if "lod" in groups:
            kind = "i4" if integer or instr.op == "txs" else "f4"
            text += f", lod={self.read(groups['lod'][0], kind)}"
        for name, key, kind in (
            ("bias", "bias", "f4"),
            ("comparator", "compare", "f4"),
            ("ms_index", "sample_index", "i4"),
            ("min_lod", "min_lod", "f4"),
        ):
            if name in groups:
                text += f", {key}={self.read(groups[name][0], kind)}"
        for name, kind in (("ddx", "f4"), ("ddy", "f4"), ("offset", "i4")):
            if name in groups:
                text += f", {name}={self.read_all(groups[name], kind)}"
        if instr.op == "tg4":
            text += f", gather_component={instr.component}"
        if instr.op in ("tex", "txb", "lod"):
            text += ", quads=quads"
        return text

    def read_all(self, values: list[LaneValue], kind: str) -> str:
        return "[" + ", ".join(self.read(v, kind) for v in values) + "]"


# -- opcodes that deserve better than a call of their semantics --------------------------------

_Special = Callable[[OpEmitter, Op, list[str]], None]


def _select(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    """`putmask` into a copy of the "no" value is twice as fast as `where`."""
    cond, yes, no = op.srcs
    dst = op.dsts[0]
    if not cond.varying:
        texts = [e.copied(v, dst.kind) for v in (yes, no)]
        e.fresh(op, dst, f"{texts[0]} if {e.read(cond, 'b1', lanes=False)} else {texts[1]}")
        return
    mask, value = e.read(cond, "b1"), e.read(yes, dst.kind)
    e.globals["putmask"] = np.putmask
    if no.varying and no is not yes:
        register = e.scope.find(no)
        if no.end <= op.pos and register.owned and register.kind == dst.kind:
            e.scope.busy = [(end, r) for end, r in e.scope.busy if r is not register]
            e.file.expire(e.scope, op.pos, e.current)
            e.file.place(e.scope, dst, register)
            e.line(f"putmask({register.name}, {mask}, {value})")
            return
    base = e.copied(no, dst.kind)
    e.fresh(op, dst, base)
    e.line(f"putmask({e.scope.find(dst).name}, {mask}, {value})")


def _saturate(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    zero, one = e.constant(kind, 0, True), e.constant(kind, _ONE[kind], True)
    e.need("fmax", "fmin", "add")
    src = e.read(op.srcs[0], kind)
    e.chain(
        op,
        op.dsts[0],
        f"fmax({src}, {zero}{{o}})",
        f"add({{r}}, {zero}{{o}})",
        f"fmin({{r}}, {one}{{o}})",
        keep=False,
    )


def _extremum(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    """Adding +0 makes (+0, -0) give +0 wherever it stands; see `compiler.nir.semantics.fmin`."""
    kind, name = op.dsts[0].kind, op.data.name
    e.need(name, "add")
    a, b = (e.read(s, kind) for s in op.srcs)
    first = f"{name}({a}, {b}{{o}})"
    if any(_never_zero(s, name) for s in op.srcs):
        e.chain(op, op.dsts[0], first, keep=False)
    else:
        zero = e.constant(kind, 0, True)
        e.chain(op, op.dsts[0], first, f"add({{r}}, {zero}{{o}})", keep=False)


def _never_zero(value: LaneValue, name: str) -> bool:
    """A constant that keeps the result off zero: positive for fmax, negative for fmin."""
    if value.const is None or value.const in (0, 1 << value.bits - 1):
        return False
    return bool(value.const >> value.bits - 1) == (name == "fmin")


def _reciprocal(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    e.need("divide")
    src = e.read(op.srcs[0], kind)
    e.chain(op, op.dsts[0], f"divide({e.constant(kind, _ONE[kind], True)}, {src}{{o}})", keep=False)


def _reciprocal_root(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    e.need("divide", "sqrt")
    src, one = e.read(op.srcs[0], kind), e.constant(kind, _ONE[kind], True)
    e.chain(op, op.dsts[0], f"sqrt({src}{{o}})", f"divide({one}, {{r}}{{o}})", keep=False)


def _fraction(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    e.need("floor", "subtract")
    src = e.read(op.srcs[0], op.dsts[0].kind)
    e.chain(op, op.dsts[0], f"floor({src}{{o}})", f"subtract({src}, {{r}}{{o}})")


def _mix(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    a, b, t = (e.read(s, kind) for s in op.srcs)
    if not op.srcs[2].varying:
        e.fresh(op, op.dsts[0], f"{e.function(op.data)}({a}, {b}, {t})")
        return
    e.need("subtract", "multiply", "add")
    one = e.constant(kind, _ONE[kind], True)
    e.chain(
        op,
        op.dsts[0],
        f"subtract({one}, {t}{{o}})",
        f"multiply({a}, {{r}}{{o}})",
        f"add({{r}}, multiply({b}, {t}){{o}})",
    )


def _power(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    e.need("log2", "multiply", "exp2")
    x, y = (e.read(s, kind) for s in op.srcs)
    if not op.srcs[0].varying:
        e.fresh(op, op.dsts[0], f"{e.function(op.data)}({x}, {y})")
        return
    e.chain(op, op.dsts[0], f"log2({x}{{o}})", f"multiply({{r}}, {y}{{o}})", "exp2({r}{o})")


def _convert(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    dst = op.dsts[0]
    e.fresh(op, dst, f"{e.read(op.srcs[0], kinds[0])}.astype({dst.kind})")


def _derive(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    step, coarse = _DERIVATIVES[op.data.name]
    text = f"derivative({e.read(op.srcs[0], op.dsts[0].kind)}, {step}, {coarse})"
    e.fresh(op, op.dsts[0], text)


def _direct(e: OpEmitter, op: Op, kinds: list[str]) -> None:
    """Library functions: our arrays are always contiguous, so the ufunc can be called as it is."""
    name = {"fexp2": "exp2", "flog2": "log2", "fsin": "sin", "fcos": "cos"}[op.data.name]
    e.need(name)
    e.chain(op, op.dsts[0], f"{name}({e.read(op.srcs[0], kinds[0])}{{o}})", keep=False)


_SPECIAL: dict[str, _Special] = {
    "bcsel": _select,
    "fsat": _saturate,
    "fmin": _extremum,
    "fmax": _extremum,
    "frcp": _reciprocal,
    "frsq": _reciprocal_root,
    "ffract": _fraction,
    "flrp": _mix,
    "fpow": _power,
    **dict.fromkeys(("fexp2", "flog2", "fsin", "fcos"), _direct),
    **dict.fromkeys(_DERIVATIVES, _derive),
    **{f"{s}2{t}{n}": _convert for s, t in ("ff", "if", "uf", "bf") for n in (16, 32, 64)},
    **{f"{s}2{t}{n}": _convert for s, t in ("ii", "uu", "bi") for n in (8, 16, 32, 64)},
}
