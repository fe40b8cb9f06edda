"""The parser of function bodies: instructions, blocks, ifs and loops.

It uses an explicit stack, so no nesting in the text can exhaust Python's. Only phis may refer to a
value or a block that comes later; their sources are filled in when the body is complete.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir.cf import Block, Body, If, Loop
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
from gallette.compiler.nir.ir.intrinsics import INDICES, INTRINSICS
from gallette.compiler.nir.ir.modes import Access
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.texops import TEX_OPS, TEX_SRCS
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.text.lexer import Token
from gallette.compiler.work_limits import MOST_NESTED

if TYPE_CHECKING:
    from gallette.compiler.nir.text.parser import ShaderParser

_SIZES = frozenset({1, 8, 16, 32, 64})
_WIDTHS = frozenset({1, 2, 3, 4, 5, 8, 16})
_JUMPS = ("break", "continue", "return", "halt")
_LETTERS = {c: i for i, c in enumerate("abcdefghijklmnop")}
_XYZW = {"x": 0, "y": 1, "z": 2, "w": 3}
_DIMS = {d.value: d for d in Dim}
_DEST_TYPE = re.compile(r"(?:float|int|uint|bool)(?:1|8|16|32|64)")
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|\d+)")
_FLOATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}


class CodeParser:
    """Parses one function's body into its `FunctionImpl`."""

    def __init__(self, tokens: ShaderParser, impl: FunctionImpl):
        self.t = tokens
        self.impl = impl
        self.values: dict[str, Def] = {}
        self.blocks: dict[str, Block] = {}
        self.pending: list[tuple[Phi, Token, Token]] = []
        self.block: Block = impl.first
        self.named = False

    def body(self) -> None:
        """Parse up to the closing brace of the function."""
        t = self.t
        stack: list[If | Loop] = []
        while True:
            if t.accept("block"):
                self._block_header()
            elif t.at("if") or t.at("loop"):
                if len(stack) >= MOST_NESTED:
                    t.fail(f"nesting deeper than {MOST_NESTED}")
                stack.append(self._open())
            elif t.at("}"):
                if not stack:
                    t.advance()
                    break
                self._close(stack)
            elif t.current.kind == "end":
                t.fail("unexpected end of the text: a brace is not closed")
            else:
                self._instruction()
        for phi, block, value in self.pending:
            if block.text not in self.blocks:
                t.fail(f"there is no block {block.text!r}", block)
            phi.add_phi_src(self.blocks[block.text], self._known(value))
        self.impl.invalidate()

    # Structure.

    def _block_header(self) -> None:
        t = self.t
        where = t.current
        name = t.word("a block name")
        t.expect(":")
        if name in self.blocks:
            t.fail(f"block {name!r} occurs twice", where)
        if self.named or self.block.first is not None:
            t.fail("two blocks must have an if or a loop between them", where)
        self.blocks[name] = self.block
        self.named = True

    def _enter(self, body: Body, position: int) -> None:
        block = body[position]
        assert isinstance(block, Block)
        self.block = block
        self.named = False

    def _open(self) -> If | Loop:
        t = self.t
        owner, parent = self.block.owner, self.block.parent
        node: If | Loop
        if t.accept("loop"):
            node = Loop(parent, owner)
        else:
            t.expect("if")
            node = If(parent, owner, self._value())
        t.expect("{")
        owner.append(node)
        owner.append(Block(parent, owner))
        self._enter(node.then_body if isinstance(node, If) else node.body, 0)
        return node

    def _close(self, stack: list[If | Loop]) -> None:
        t = self.t
        t.expect("}")
        node = stack[-1]
        if isinstance(node, If) and self.block.owner is node.then_body and t.accept("else"):
            t.expect("{")
            self._enter(node.else_body, 0)
            return
        stack.pop()
        self._enter(node.owner, node.owner.index(node) + 1)

    # Values.

    def _known(self, token: Token) -> Def:
        if token.kind != "value":
            self.t.fail(f"expected a value such as %1, found {token.text!r}", token)
        value = self.values.get(token.text)
        if value is None:
            self.t.fail(f"{token.text} is not defined", token)
        return value

    def _value(self) -> Def:
        value = self._known(self.t.current)
        self.t.advance()
        return value

    def _swizzled(self, width: int) -> tuple[Def, tuple[int, ...]]:
        """A source of an ALU instruction that reads `width` components."""
        t = self.t
        where = t.current
        value = self._value()
        n = value.num_components
        if not t.accept("."):
            if n >= width and width:
                return value, IDENTITY[width] if n != width else IDENTITY[n]
            if n == 1:
                return value, (0,) * width
            t.fail(f"{where.text} has {n} components, {width} are read", where)
        where = t.current
        letters = t.word_or_number("a swizzle")
        table = _XYZW if n <= 4 else _LETTERS
        swizzle = tuple([table.get(c, 99) for c in letters])
        if any(c >= n for c in swizzle) or len(swizzle) != width:
            t.fail(f"no swizzle for {width} of {n} components", where)
        return value, swizzle

    def _values(self, close: str = ")") -> list[Def]:
        found: list[Def] = []
        while not self.t.accept(close):
            found.append(self._value())
            if not self.t.at(close):
                self.t.expect(",")
        return found

    # Instructions.

    def _instruction(self) -> None:
        t = self.t
        name: Token | None = None
        bits, width = 0, 0
        start = t.current
        if start.text[:1].isdigit() and t.peek().kind == "value":
            bits, width = self._size()
            name = t.advance()
            if name.text in self.values:
                t.fail(f"{name.text} is defined twice", name)
            t.expect("=")
        if self.block.last is not None and isinstance(self.block.last, Jump):
            t.fail("nothing may follow a jump in its block", start)
        instr = self._operation(bits, width, name)
        if (instr.dest is None) != (name is None):
            needs = "has no result" if instr.dest is None else "needs a result such as 32 %1 ="
            t.fail(f"this instruction {needs}", start)
        if instr.dest is not None:
            assert name is not None
            if instr.dest.bit_size != bits or instr.dest.num_components != width:
                made = f"{instr.dest.bit_size}x{instr.dest.num_components}"
                t.fail(f"the result is {made}, not {bits}x{width}", start)
            self.values[name.text] = instr.dest
        self.block.append(instr)

    def _size(self) -> tuple[int, int]:
        t = self.t
        where = t.current
        bits, _, width = t.advance().text.partition("x")
        if not bits.isdigit() or not (width or "1").isdigit():
            t.fail("expected a size such as 32x4", where)
        b, w = int(bits), int(width or 1)
        if b not in _SIZES or w not in _WIDTHS:
            t.fail(f"no value has {w} components of {b} bits", where)
        return b, w

    def _operation(self, bits: int, width: int, name: Token | None) -> Instr:
        t = self.t
        if t.accept("@"):
            return self._intrinsic(bits, width)
        where = t.current
        word = t.word_or_number("an instruction")
        if word in OPCODES:
            return self._alu(word, bits, width, where, name)
        if word == "load_const":
            return self._load_const(bits, width, where)
        if word == "undef":
            return Undef(width or 1, bits or 32)
        if word == "phi":
            return self._phi(bits, width, where)
        if word.startswith("deref_"):
            return self._deref(word.removeprefix("deref_"), bits, where)
        if word in _JUMPS:
            return self._jump(word, where)
        if word == "call":
            return self._call()
        if word in TEX_OPS:
            return self._tex(word, width)
        return t.fail(f"unknown instruction {word!r}", where)

    def _alu(self, word: str, bits: int, width: int, where: Token, name: Token | None) -> Alu:
        op, t = OPCODES[word], self.t
        exact = t.accept("!")
        if name is None:
            t.fail(f"{word} needs a result such as 32 %1 =", where)
        if op.output_size and op.output_size != width:
            t.fail(f"{word} has {op.output_size} components", where)
        srcs = []
        for i, size in enumerate(op.input_sizes):
            if i:
                t.expect(",")
            srcs.append(self._swizzled(size or width))
        if t.at(","):
            t.fail(f"{word} takes {op.num_inputs} sources")
        return Alu(op, srcs, width, bits, exact)

    def _load_const(self, bits: int, width: int, where: Token) -> LoadConst:
        t = self.t
        if not bits:
            t.fail("load_const needs a result such as 32 %1 =", where)
        t.expect("(")
        values: list[int] = []
        while not t.accept(")"):
            values.append(self._constant(bits))
            if not t.at(")"):
                t.expect(",")
        if len(values) != width:
            t.fail(f"{width} components, but {len(values)} numbers", where)
        return LoadConst(tuple(values), bits)

    def _constant(self, bits: int) -> int:
        """One number: raw bits (`0x..`), an integer, a float, or true/false."""
        t = self.t
        token = t.advance()
        text = token.text
        if text in ("true", "false"):
            return int(text == "true")
        try:
            if token.kind == "number" and _INTEGER.fullmatch(text):
                value = int(text, 0)
                if -(1 << (bits - 1)) <= value < 1 << bits:
                    return value & ((1 << bits) - 1)
            elif bits in _FLOATS and token.kind in ("number", "signed", "word"):
                code, raw = _FLOATS[bits]
                return int(struct.unpack(raw, struct.pack(code, float(text)))[0])
        except (ValueError, OverflowError):
            pass
        return t.fail(f"expected a constant of {bits} bits", token)

    def _phi(self, bits: int, width: int, where: Token) -> Phi:
        t = self.t
        if not bits:
            t.fail("phi needs a result such as 32 %1 =", where)
        if self.block.last is not None and not self.block.last.is_phi:
            t.fail("phis come first in their block", where)
        phi = Phi(width, bits)
        while t.current.kind == "word" and t.peek().text == ":":
            block = t.advance()
            t.expect(":")
            self.pending.append((phi, block, t.advance()))
            if not t.accept(","):
                break
        return phi

    def _deref(self, form: str, bits: int, where: Token) -> Deref:
        t = self.t
        deref = Deref(form, 0, _any_type(), bits or 32)
        if form == "var":
            t.expect("&")
            token = t.current
            name = t.name("a variable")
            deref.var = t.variables.get(name)
            if deref.var is None:
                t.fail(f"there is no variable {name!r}", token)
        elif form == "cast":
            deref.add_src(self._value())
        elif form in ("struct", "array", "ptr_as_array"):
            t.expect("&")
            deref.add_src(self._value())
            if form == "struct":
                t.expect(".")
                deref.field = t.integer("a member number")
            else:
                t.expect("[")
                deref.add_src(self._value())
                t.expect("]")
        else:
            t.fail(f"unknown instruction 'deref_{form}'", where)
        t.expect("(")
        deref.modes = t.modes()
        deref.type = t.read_type()
        t.expect(")")
        if form == "cast" and t.accept("stride"):
            t.expect("=")
            deref.stride = t.integer("a stride")
        return deref

    def _intrinsic(self, bits: int, width: int) -> Intrinsic:
        t = self.t
        where = t.current
        name = t.word("an intrinsic")
        info = INTRINSICS.get(name)
        if info is None:
            t.fail(f"unknown intrinsic {name!r}", where)
        t.expect("(")
        srcs = self._values()
        if len(srcs) != len(info.srcs):
            t.fail(f"{name} takes {len(info.srcs)} sources, not {len(srcs)}", where)
        indices: dict[str, Any] = {}
        if t.accept("("):
            while not t.accept(")"):
                token = t.current
                index = t.word("an index")
                if index not in info.indices:
                    t.fail(f"{name} has no index {index!r}", token)
                t.expect("=")
                indices[index] = self._index(INDICES[index][0])
                if not t.at(")"):
                    t.expect(",")
        return Intrinsic(info, srcs, width or 1, bits or 32, indices)

    def _index(self, kind: str) -> Any:
        t = self.t
        if kind == "mask":
            token = t.current
            text = t.word("a write mask")
            if text == "none":
                return 0
            table = _XYZW if all(c in _XYZW for c in text) else _LETTERS
            if not all(c in table for c in text):
                t.fail("a write mask is made of x, y, z, w (or a to p)", token)
            return sum({1 << table[c] for c in text})
        if kind == "modes":
            return t.modes()
        if kind == "name":
            return t.string() if t.current.kind == "string" else t.word_or_number("a name")
        if kind == "bool":
            return bool(t.literal())
        if kind == "slot" and t.peek().text == ".":
            return t.attribute_value(int)
        value = t.integer("an integer")
        return Access(value) if kind == "access" else value

    def _jump(self, word: str, where: Token) -> Jump:
        if word in ("break", "continue"):
            at: Any = self.block.parent
            while isinstance(at, If):
                at = at.parent
            if not isinstance(at, Loop):
                self.t.fail(f"{word} outside of a loop", where)
        return Jump(word)

    def _call(self) -> Call:
        t = self.t
        where = t.current
        name = t.name("a function name")
        function = t.functions.get(name)
        if function is None:
            t.fail(f"function {name!r} is not declared", where)
        t.expect("(")
        return Call(function, self._values())

    def _tex(self, op: str, width: int) -> Tex:
        t = self.t
        where = t.current
        dim = t.word_or_number("a texture dimension")
        if dim not in _DIMS:
            t.fail(f"unknown texture dimension {dim!r}", where)
        where = t.current
        dest_type = t.word("the type of the result")
        if not _DEST_TYPE.fullmatch(dest_type):
            t.fail("expected a type such as float32", where)
        t.expect("(")
        srcs: list[tuple[str, Def]] = []
        while not t.accept(")"):
            where = t.current
            role = t.word("a texture source")
            if role not in TEX_SRCS:
                t.fail(f"unknown texture source {role!r}", where)
            t.expect("=")
            srcs.append((role, self._value()))
            if not t.at(")"):
                t.expect(",")
        options: dict[str, Any] = {}
        if t.accept("("):
            while not t.accept(")"):
                where = t.current
                name = t.word("a texture attribute")
                if name not in _TEX_ATTRIBUTES:
                    t.fail(f"unknown texture attribute {name!r}", where)
                attribute, kind = _TEX_ATTRIBUTES[name]
                value = t.literal() if t.accept("=") else True
                if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
                    t.fail(f"{name} is a {kind.__name__}", where)
                options[attribute] = value
                if not t.at(")"):
                    t.expect(",")
        return Tex(op, srcs, _DIMS[dim], num_components=width or 4, dest_type=dest_type, **options)


_TEX_ATTRIBUTES: dict[str, tuple[str, type]] = {
    "texture": ("texture_index", int),
    "sampler": ("sampler_index", int),
    "is_array": ("is_array", bool),
    "is_shadow": ("is_shadow", bool),
    "coord_components": ("coord_components", int),
    "component": ("component", int),
    "tg4_offsets": ("tg4_offsets", tuple),
}


def _any_type() -> Any:
    """A placeholder until the type has been parsed."""
    return None
