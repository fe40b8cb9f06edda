"""The printer: IR as text that a person can read and `parser` reads back.

    shader vertex "name"
    info { position_invariant = True }
    type $Light = struct "Light" { vec3 color; float power }
    var shader_in vec4 position (location=VERT.POS)
    function main () entry
    impl main {
        var function_temp float x
        block b0:
            32 %0 = deref_var &position (shader_in vec4)
            32x4 %1 = @load_deref (%0)
            32x4 %2 = fadd! %1, %1.wwww
            32 %3 = load_const (0x3f800000) // 1.0
        if %4 {
            block b1:
        } else {
            block b2:
        }
        block b3: // preds: b1 b2
            32x4 %5 = phi b1: %2, b2: %1
    }

A result is shown with its bit size and, if more than one, its number of components. Values and
blocks are numbered in source order; a swizzle is shown unless it is all components in order; `!`
marks exact; attributes and indices with default values are omitted; `//` starts a comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from enum import IntEnum
from itertools import zip_longest
from typing import Any

from gallette.compiler.nir.ir.bits import bits_to_float
from gallette.compiler.nir.ir.cf import Block, Body, If, Node, events
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.instrs import (
    IDENTITY,
    Alu,
    Call,
    Deref,
    Instr,
    Intrinsic,
    Jump,
    LoadConst,
    Phi,
    Tex,
    Undef,
)
from gallette.compiler.nir.ir.intrinsics import INDICES
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import Function, FunctionImpl, Shader
from gallette.compiler.nir.ir.slots import Slot
from gallette.compiler.nir.ir.types import Base, Field, Type
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.ir.variables import Variable

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")
_VARIABLE_SKIP = frozenset({"name", "type", "mode"})
_INFO_DEFAULTS = ShaderInfo()


def quoted(name: str) -> str:
    """A name as spelled in the text: bare if it is an identifier."""
    return name if _PLAIN_NAME.fullmatch(name) else json.dumps(name)


def slot_text(slot: int) -> str:
    return f"{slot.prefix}.{slot.name}" if isinstance(slot, Slot) else str(int(slot))


def swizzle_text(swizzle: tuple[int, ...], width: int) -> str:
    letters = "xyzw" if width <= 4 else "abcdefghijklmnop"
    return "".join(letters[c] for c in swizzle)


def mask_text(mask: int) -> str:
    """A write mask as component letters (`xw`); more than four components use a..p."""
    letters = "xyzw" if mask < 16 else "abcdefghijklmnop"
    return "".join(c for i, c in enumerate(letters) if mask >> i & 1) or "none"


class Printer:
    """Prints one shader; keeps the numbering of its values, variables and types."""

    def __init__(
        self,
        annotate: bool = False,
        lines: bool = False,
        numbers: dict[Def, int] | None = None,
    ):
        """`numbers` are earlier numbers of values, so that they keep their names."""
        self.annotate, self.source_lines = annotate, lines
        self.lines: list[str] = []
        self.values: dict[Def, int] = {} if numbers is None else numbers
        self.blocks: dict[Block, int] = {}
        self.variables: dict[Variable, str] = {}
        self.names: set[str] = set()
        self.types: dict[Type, str] = {}
        self.functions: dict[Function, str] = {}

    # Names.

    def value(self, value: Def) -> str:
        number = self.values.get(value)
        if number is None:
            number = self.values[value] = len(self.values)
        return f"%{number}"

    def block(self, block: Block) -> str:
        number = self.blocks.get(block)
        return f"b{number if number is not None else block.index}"

    def variable(self, var: Variable) -> str:
        name = self.variables.get(var)
        if name is None:
            base, name, count = var.name, var.name, 0
            while name in self.names:
                count += 1
                name = f"{base}#{count}"
            self.names.add(name)
            name = self.variables[var] = quoted(name)
        return name

    def function(self, function: Function) -> str:
        """The name of a function; overloads share a name, and the second is `"name#1"`."""
        name = self.functions.get(function)
        if name is None:
            taken, base, count = set(self.functions.values()), function.name, 0
            name = quoted(base)
            while name in taken:
                count += 1
                name = quoted(f"{base}#{count}")
            self.functions[function] = name
        return name

    def type(self, type: Type) -> str:
        """A type with its layout, so that it can be parsed exactly."""
        dims = ""
        while type.element is not None:
            dims += f"[{type.length or ''}{f':{type.stride}' if type.stride else ''}]"
            type = type.element
        if type.is_struct:
            return f"{self.types.get(type, '$' + type.name)}{dims}"
        text = str(type)
        if type.base is Base.SUBROUTINE:
            text = f"subroutine:{type.name}"
        if type.stride or type.row_major:
            text += f"<{type.stride}{',row_major' if type.row_major else ''}>"
        return text + dims

    # Shader level.

    def shader(self, shader: Shader) -> str:
        self.lines.append(f"shader {shader.stage.value} {json.dumps(shader.name)}")
        self._info(shader.info)
        self._types(shader)
        for var in shader.variables:
            self.lines.append(self._variable(var))
        for function in shader.functions:
            self.lines.append(self._function(function))
        for function in shader.functions:
            if function.impl is not None:
                self.impl(function.impl)
        return "\n".join(self.lines) + "\n"

    def _info(self, info: ShaderInfo) -> None:
        parts = []
        for f in fields(info):
            value = getattr(info, f.name)
            if value != getattr(_INFO_DEFAULTS, f.name):
                if isinstance(value, set):
                    value = sorted(int(v) for v in value)
                parts.append(f"{f.name} = {value!r}")
        if parts:
            self.lines.append("info { " + "; ".join(parts) + " }")

    def _types(self, shader: Shader) -> None:
        """Declare every struct and interface type in use, inner ones first."""
        for root in _used_types(shader):
            stack = [(root.without_array, False)]
            while stack:
                type, ready = stack.pop()
                if not type.is_struct or type in self.types:
                    continue
                if not ready:
                    stack.append((type, True))
                    stack.extend((f.type.without_array, False) for f in reversed(type.fields))
                    continue
                base = "$" + re.sub(r"\W", "_", type.name or "anon")
                name, count = base, 0
                taken = set(self.types.values())
                while name in taken:
                    count += 1
                    name = f"{base}.{count}"
                self.types[type] = name
                kind = "interface" if type.is_interface else "struct"
                extra = f" {type.packing}" if type.packing else ""
                extra += " row_major" if type.row_major else ""
                members = "; ".join(self._field(f) for f in type.fields)
                self.lines.append(
                    f"type {name} = {kind} {json.dumps(type.name)}{extra} {{ {members} }}"
                )

    def _field(self, member: Field) -> str:
        parts = []
        for f in fields(member):
            value = getattr(member, f.name)
            if f.name not in ("name", "type") and value != f.default:
                parts.append(f"{f.name}={self._attribute(f.name, value)}")
        attributes = f" ({', '.join(parts)})" if parts else ""
        return f"{self.type(member.type)} {quoted(member.name)}{attributes}"

    def _attribute(self, name: str, value: Any) -> str:
        if isinstance(value, Type):
            return self.type(value)
        if isinstance(value, IntEnum):
            return slot_text(value)
        if isinstance(value, str):
            return quoted(value)
        if isinstance(value, tuple):
            return repr(value).replace(" ", "")
        return str(int(value)) if isinstance(value, int) and value is not True else repr(value)

    def _variable(self, var: Variable) -> str:
        parts = []
        for f in fields(var):
            value = getattr(var, f.name)
            if f.name not in _VARIABLE_SKIP and value != f.default:
                parts.append(f"{f.name}={self._attribute(f.name, value)}")
        attributes = f" ({', '.join(parts)})" if parts else ""
        return f"var {var.mode.text} {self.type(var.type)} {self.variable(var)}{attributes}"

    def _function(self, function: Function) -> str:
        params = []
        for p in function.params:
            kind = "deref" if p.is_deref else f"{p.bit_size}x{p.num_components}"
            params.append(f"{kind} {self.type(p.type)} {quoted(p.name)}")
        entry = " entry" if function.is_entry else ""
        return f"function {self.function(function)} ({', '.join(params)}){entry}"

    # Code.

    def impl(self, impl: FunctionImpl) -> None:
        self.lines.append(f"impl {self.function(impl.function)} {{")
        for var in impl.locals:
            self.lines.append("    " + self._variable(var))
        for i, block in enumerate(impl.blocks()):
            self.blocks[block] = i
            for instr in block.instrs():
                if instr.dest is not None:
                    self.values.setdefault(instr.dest, len(self.values))
        self.body(impl.body, 1)
        self.lines.append("}")

    def body(self, body: Body, depth: int) -> None:
        for kind, node in events(body):
            if kind == "block":
                assert isinstance(node, Block)
                self._block(node, "    " * depth)
                continue
            if kind in ("else", "end"):
                depth -= 1
            pad = "    " * depth
            if kind == "if":
                assert isinstance(node, If)
                self.lines.append(f"{pad}if {self.value(node.condition.value)} {{{self._div(node)}")
            elif kind == "loop":
                self.lines.append(f"{pad}loop {{{self._div(node)}")
            else:
                self.lines.append(pad + ("} else {" if kind == "else" else "}"))
            if kind != "end":
                depth += 1

    def _div(self, node: Node) -> str:
        return " // divergent" if self.annotate and getattr(node, "divergent", False) else ""

    def _block(self, block: Block, pad: str) -> None:
        note = ""
        if block.predecessors and self.annotate:
            note = " // preds: " + " ".join(self.block(p) for p in block.predecessors)
        self.lines.append(f"{pad}block {self.block(block)}:{note}")
        pad += "    "
        at = block.first
        while at is not None:
            mark = f" //@{at.loc}" if self.source_lines and at.loc else ""
            self.lines.append(pad + self.instr(at) + mark)
            at = at.next

    def instr(self, instr: Instr) -> str:
        dest = instr.dest
        text: str = _WRITERS[instr.kind](self, instr)
        if dest is None:
            return text
        width = f"x{dest.num_components}" if dest.num_components != 1 else ""
        div = " // div" if self.annotate and dest.divergent else ""
        return f"{dest.bit_size}{width} {self.value(dest)} = {text}{div}"

    def _src(self, src: Src) -> str:
        width = src.value.num_components
        if not src.swizzle or src.swizzle == IDENTITY[width]:
            return self.value(src.value)
        return f"{self.value(src.value)}.{swizzle_text(src.swizzle, width)}"

    def _srcs(self, instr: Instr) -> str:
        return ", ".join([self._src(s) for s in instr.srcs])

    def _alu(self, instr: Alu) -> str:
        return f"{instr.op.name}{'!' if instr.exact else ''} {self._srcs(instr)}"

    def _load_const(self, instr: LoadConst) -> str:
        bits = instr.result.bit_size
        if bits == 1:
            return f"load_const ({', '.join('true' if v else 'false' for v in instr.values)})"
        raw = ", ".join(f"0x{v:0{bits // 4}x}" for v in instr.values)
        return f"load_const ({raw}) // {', '.join(_readable(v, bits) for v in instr.values)}"

    def _undef(self, instr: Undef) -> str:
        return "undef"

    def _deref(self, instr: Deref) -> str:
        pointee = f"({Mode(instr.modes).text} {self.type(instr.type)})"
        if instr.form == "var":
            if instr.var is None:  # malformed, printed for a validation error
                return f"deref_var &? {pointee}"
            return f"deref_var &{self.variable(instr.var)} {pointee}"
        parent = self.value(instr.srcs[0].value)
        if instr.form == "struct":
            return f"deref_struct &{parent}.{instr.field} {pointee}"
        if instr.form == "cast":
            stride = f" stride={instr.stride}" if instr.stride else ""
            return f"deref_cast {parent} {pointee}{stride}"
        index = self.value(instr.srcs[1].value)
        return f"deref_{instr.form} &{parent}[{index}] {pointee}"

    def _intrinsic(self, instr: Intrinsic) -> str:
        parts = []
        defaults = instr.info.defaults
        for name, value in instr.indices.items():
            if value != defaults.get(name):
                parts.append(f"{name}={self._index(name, value)}")
        indices = f" ({', '.join(parts)})" if parts else ""
        return f"@{instr.info.name} ({self._srcs(instr)}){indices}"

    def _index(self, name: str, value: Any) -> str:
        kind = INDICES[name][0] if name in INDICES else ""
        if kind == "mask":
            return mask_text(value)
        if kind == "modes":
            return Mode(value).text
        return self._attribute(name, value)

    def _tex(self, instr: Tex) -> str:
        pairs = zip_longest(instr.src_kinds, instr.srcs)  # broken IR must print, too
        srcs = ", ".join([f"{kind}={self.value(src.value) if src else '?'}" for kind, src in pairs])
        parts = [f"texture={instr.texture_index}", f"sampler={instr.sampler_index}"]
        for flag in ("is_array", "is_shadow"):
            if getattr(instr, flag):
                parts.append(flag)
        if instr.coord_components != instr.dim.coordinates + instr.is_array:
            parts.append(f"coord_components={instr.coord_components}")
        if instr.component:
            parts.append(f"component={instr.component}")
        if instr.tg4_offsets:
            parts.append(f"tg4_offsets={repr(instr.tg4_offsets).replace(' ', '')}")
        return f"{instr.op} {instr.dim.value} {instr.dest_type} ({srcs}) ({', '.join(parts)})"

    def _phi(self, instr: Phi) -> str:
        ordered = sorted(instr.phi_srcs, key=lambda s: self.blocks.get(s.pred, s.pred.index))
        srcs = ", ".join(f"{self.block(s.pred)}: {self.value(s.value)}" for s in ordered)
        return f"phi {srcs}"

    def _jump(self, instr: Jump) -> str:
        return instr.type

    def _call(self, instr: Call) -> str:
        return f"call {self.function(instr.callee)} ({self._srcs(instr)})"


_WRITERS: dict[str, Any] = {
    "alu": Printer._alu,
    "load_const": Printer._load_const,
    "undef": Printer._undef,
    "deref": Printer._deref,
    "intrinsic": Printer._intrinsic,
    "tex": Printer._tex,
    "phi": Printer._phi,
    "jump": Printer._jump,
    "call": Printer._call,
}


def _readable(bits: int, bit_size: int) -> str:
    """A constant as the float it most likely is, else as an integer."""
    if bits < 1 << (bit_size // 4):
        return str(bits)
    if bits >= (1 << bit_size) - (1 << (bit_size // 4)):
        return str(bits - (1 << bit_size))
    return f"{bits_to_float(bits, bit_size):.9g}" if bit_size >= 16 else str(bits)


def _used_types(shader: Shader) -> Iterator[Type]:
    for var in shader.variables:
        yield var.type
        if var.interface is not None:
            yield var.interface
    for function in shader.functions:
        for param in function.params:
            yield param.type
        if function.impl is not None:
            for var in function.impl.locals:
                yield var.type
            for block in function.impl.blocks():
                for instr in block.instrs():
                    if isinstance(instr, Deref):
                        yield instr.type


def print_shader(
    shader: Shader,
    annotate: bool = False,
    lines: bool = False,
    numbers: dict[Def, int] | None = None,
) -> str:
    """The shader as text; `annotate` adds predecessors and divergence as comments, `lines` the
    source lines that instructions were made for (`//@12`).
    """
    if annotate:
        for impl in shader.impls():
            impl.require(Metadata.CFG | Metadata.DIVERGENCE)
    return Printer(annotate, lines, numbers).shader(shader)
