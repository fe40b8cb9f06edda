"""Values and arithmetic of the translation: vectors become components.

This is the base of the translator; `translate_memory` adds intrinsics, `translate` control flow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import (
    Alu,
    Def,
    Deref,
    Intrinsic,
    LoadConst,
    Metadata,
    Shader,
    Src,
    Tex,
    Undef,
)
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode

from .lane_ir import LaneProgram, LaneValue, LoopOp, Op, Region

_LETTER = {"float": "f", "int": "i", "uint": "u", "bool": "b"}
_MOVES = frozenset({"mov", "vec2", "vec3", "vec4", "vec5", "vec8", "vec16"})


def kind_of(base: str, bits: int) -> str:
    """The dtype of a size and type: `f4`, `u2`, `b1`...; every one-bit value is a boolean."""
    return "b1" if bits == 1 else f"{_LETTER[base]}{bits // 8}"


class ValueTranslator:
    """Keeps the component values of each definition, and makes operations."""

    def __init__(self, shader: Shader, flat_colors: bool):
        self.shader = shader
        self.flat_colors = flat_colors
        root = Region(None, None, "root")
        self.program = LaneProgram(shader.stage.value, root)
        self.program.patch_size = max(1, shader.info.vertices_out)
        self.region = root
        self.loc = 0
        self.components: dict[Def, list[LaneValue]] = {}
        self.escapes: dict[tuple[int, int], LaneValue] = {}
        shader.entry.require(Metadata.DIVERGENCE)
        self.divergent_locals = shader.entry.divergent_locals

    # -- values --------------------------------------------------------------------------------

    def new(self, bits: int, kind: str = "", region: Region | None = None) -> LaneValue:
        value = LaneValue(len(self.program.values), bits, region or self.region, kind)
        self.program.values.append(value)
        return value

    def results(self, result: Def, kind: str = "") -> list[LaneValue]:
        """New components for the result of an instruction."""
        kind = "b1" if result.bit_size == 1 else kind
        values = [self.new(result.bit_size, kind) for _ in range(result.num_components)]
        for i, value in enumerate(values):
            value.varying = bool(result.divergent_components >> i & 1)
        self.components[result] = values
        return values

    def constant(self, raw: int, bits: int) -> LaneValue:
        value = self.new(bits, region=self.program.root)
        value.const = raw
        return value

    def emit(
        self, what: str, data: Any, dsts: list[LaneValue], srcs: list[LaneValue]
    ) -> list[LaneValue]:
        op = Op(what, data, dsts, srcs)
        op.loc = self.loc
        varying = any(src.varying for src in srcs)
        for dst in dsts:
            dst.op = op
            dst.varying |= varying
        self.region.items.append(op)
        return dsts

    def component(self, src: Src, index: int) -> LaneValue:
        """Component `index` of a source, valid in the current region."""
        swizzled = src.swizzle[index] if src.swizzle else index
        return self.visible(self.components[src.value][swizzled])

    def whole(self, src: Src) -> list[LaneValue]:
        return [self.component(src, i) for i in range(src.num_components)]

    def visible(self, value: LaneValue) -> LaneValue:
        """`value`, or its copy in this region if it was defined in a loop that has ended."""
        region = value.region
        if value.const is not None or self.encloses(region):
            return value
        while not self.encloses(region):
            loop = region.loop
            if loop is None:  # impossible: the remaining side of an if was moved after it
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
            found.varying = value.varying or loop.divergent
            self.escapes[key] = found
            loop.exits.append(found)
            for leave in loop.breaks:
                leave.values.append(value)
        return found

    # -- instructions --------------------------------------------------------------------------

    def instruction(self, instr: Any) -> None:
        self.loc = instr.loc
        if isinstance(instr, Alu):
            self.alu(instr)
        elif isinstance(instr, LoadConst):
            bits = instr.result.bit_size
            self.components[instr.result] = [self.constant(v, bits) for v in instr.values]
        elif isinstance(instr, Intrinsic):
            self.intrinsic(instr)
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
        for src, size in zip(instr.srcs, op.input_sizes, strict=True):
            flat.extend(self.component(src, i) for i in range(max(size, 1)))
        kind = kind_of(op.output_type.base, dest.bit_size)
        self.emit("alu_n", op, self.results(dest, kind), flat)

    def tex(self, instr: Tex) -> None:
        groups = {
            kind: self.whole(src) for kind, src in zip(instr.src_kinds, instr.srcs, strict=True)
        }
        layout = tuple((kind, len(values)) for kind, values in groups.items())
        flat = [value for values in groups.values() for value in values]
        d = instr.result
        base = instr.dest_type.rstrip("0123456789")
        self.emit("tex", (instr, layout), self.results(d, kind_of(base, d.bit_size)), flat)

    def intrinsic(self, instr: Intrinsic) -> None:
        raise AssertionError("the translator proper knows intrinsics")


def _unsized_bits(op: Opcode, srcs: tuple[LaneValue, ...]) -> int:
    for type, src in zip(op.input_types, srcs, strict=True):
        if not type.bits:
            return src.bits
    return 32


def _dot(t: ValueTranslator, a: list[LaneValue], b: list[LaneValue]) -> LaneValue:
    return _with_products(t, t.scalar("fmul", a[-1], b[-1]), a[:-1], b[:-1])


def _with_products(
    t: ValueTranslator, total: LaneValue, a: list[LaneValue], b: list[LaneValue]
) -> LaneValue:
    for x, y in zip(a[::-1], b[::-1], strict=True):
        total = t.scalar("fadd", total, t.scalar("fmul", x, y))
    return total


def _sum(t: ValueTranslator, a: list[LaneValue]) -> LaneValue:
    total = a[0]
    for x in a[1:]:
        total = t.scalar("fadd", total, x)
    return total


def _dph(t: ValueTranslator, a: list[LaneValue], b: list[LaneValue]) -> LaneValue:
    return _with_products(t, b[3], a, b[:3])


def _compare_all(compare: str, combine: str) -> Callable[..., LaneValue]:
    def expand(t: ValueTranslator, a: list[LaneValue], b: list[LaneValue]) -> LaneValue:
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
