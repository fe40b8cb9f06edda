"""The builder of IR.

A `Builder` has a cursor (a block and the instruction after which it inserts) and one method for
every opcode of the table: `b.fadd(x, y)`. Scalars are repeated to match vectors. Control flow is
built by `push_if`/`push_else`/`pop_if` and `push_loop`/`pop_loop`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir.bits import float_bits
from gallette.compiler.nir.ir.cf import (
    Block,
    If,
    Loop,
    next_block,
    place_of,
)
from gallette.compiler.nir.ir.cf_editing import insert_node_at
from gallette.compiler.nir.ir.fold import folded_now
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
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.shader import Function, FunctionImpl, Shader
from gallette.compiler.nir.ir.types import Dim, Type
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.ir.variables import Variable

_COMPONENT_NAMES = {c: i for s in ("xyzw", "rgba", "stpq") for i, c in enumerate(s)}


class _Exactly:
    """While it is active, a builder's instructions are exact."""

    __slots__ = ("builder", "outside", "really")

    def __init__(self, builder: Builder, really: bool) -> None:
        self.builder = builder
        self.really = really
        self.outside = False

    def __enter__(self) -> None:
        self.outside = self.builder.exact
        self.builder.exact = self.outside or self.really

    def __exit__(self, *error: object) -> None:
        self.builder.exact = self.outside


class Builder:
    """Inserts instructions into one function at a cursor."""

    __slots__ = (
        "after",
        "block",
        "constants",
        "exact",
        "forward",
        "impl",
        "loc",
        "shader",
        "stack",
    )

    def __init__(self, impl: FunctionImpl, cursor: Block | Instr | None = None):
        self.impl = impl
        self.shader: Shader = impl.shader
        self.exact = False
        self.constants: dict[tuple[tuple[int, ...], int], Def] | None = (
            None  # see `sharing_constants`
        )
        self.forward = False  # see `sharing_constants`
        self.loc = 0  # source line of the next instructions
        self.stack: list[If | Loop] = []
        last: Block = impl.body[-1]  # type: ignore[assignment]
        self.block = last
        self.after: Instr | None = last.last
        if isinstance(cursor, Block):
            self.at_end(cursor)
        elif cursor is not None:
            self.at_before(cursor)

    @classmethod
    def shader_main(cls, stage: Stage, name: str = "") -> Builder:
        """A new shader with an empty `main`, and a builder in it."""
        return cls(Shader(stage, name).add_entry())

    def exactly(self, really: bool = True) -> AbstractContextManager[None]:
        """Instructions built inside are exact (if `really`, or if they are anyway)."""
        return _Exactly(self, really)

    def sharing_constants(self, forward: bool = False) -> Builder:
        """Share equal constants from now on, and fold operations on constants, for code that builds
        much.

        Constants are shared with those of the same block and of the function's first block, for a
        cursor at the end of its block, where all of them precede it. `forward` says that the cursor
        will move on in source order only: then that holds everywhere, and the constants at the
        function's start are shared, too.
        """
        self.constants = constants = {}
        self.forward = forward
        if forward:
            at = self.impl.first.first
            while at.__class__ is LoadConst or at.__class__ is Deref:
                if at.__class__ is LoadConst:
                    constants[at.values, at.dest.bit_size] = at.dest
                at = at.next
        return self

    # Cursor.

    @property
    def cursor(self) -> tuple[Block, Instr | None]:
        """The block, and the instruction after which the next one is inserted (None: at
        the start).
        """
        return self.block, self.after

    @cursor.setter
    def cursor(self, where: tuple[Block, Instr | None]) -> None:
        self.block, self.after = where

    def at_before(self, instr: Instr) -> Builder:
        assert instr.block is not None
        self.loc = instr.loc
        self.block, self.after = instr.block, instr.prev
        return self

    def at_after(self, instr: Instr) -> Builder:
        """Move the cursor after `instr`, or after all phis if it is one."""
        assert instr.block is not None
        self.loc = instr.loc
        self.block, self.after = instr.block, instr
        if instr.is_phi:
            self.after = instr.block.last_phi
        return self

    def at_start(self, block: Block) -> Builder:
        """Move the cursor to the start of a block, after its phis."""
        self.block, self.after = block, block.last_phi
        return self

    def at_end(self, block: Block) -> Builder:
        """Move the cursor to the end of a block, before its jump."""
        self.block, self.after = block, block.before_jump
        return self

    def insert(self, instr: Instr) -> None:
        if not instr.loc:
            instr.loc = self.loc
        block, before = self.block, self.after
        # `Block.insert_after`, inlined, because every instruction is inserted here.
        instr.block = block
        instr.prev = before
        if before is None:
            following = instr.next = block.first
            block.first = instr
        else:
            following = instr.next = before.next
            before.next = instr
        if following is None:
            block.last = instr
        else:
            following.prev = instr
        self.after = instr
        impl = self.impl
        impl.version += 1
        if instr.is_listed:
            impl.valid &= _NOT_KINDS

    def dominates_cursor(self, value: Def) -> bool:
        """Whether a value built before the cursor certainly dominates it."""
        home = value.instr.block
        return home is self.block or home is self.impl.body[0]

    # Arithmetic. One method per opcode is added below the class.

    if TYPE_CHECKING:

        def __getattr__(self, opcode: str) -> Callable[..., Def]: ...

    def alu(self, op: Opcode | str, *srcs: Def) -> Def:
        """Build any opcode by name. Scalars among vectors are repeated."""
        if op.__class__ is not Opcode:
            op = OPCODES[op]  # type: ignore[index]
        assert isinstance(op, Opcode)
        assert len(srcs) == op.num_inputs, f"{op.name} takes {op.num_inputs} sources"
        if op.per_component:
            width = srcs[0].num_components
            for src in srcs:
                if src.num_components != width:
                    break
            else:
                size = op.output_type.bits or srcs[op.sized_by].bit_size
                if srcs[0].instr.__class__ is LoadConst and self.constants is not None:
                    folded = folded_now(op, srcs, size)
                    if folded is not None:
                        return self._constant(folded, size)
                made = Alu.even(op, srcs, width, size, self.exact)
                if self.constants is not None:
                    for read in made.srcs:
                        copy = read.value.instr
                        if copy.__class__ is Alu and copy.op is _MOV and _is_lasting(copy.srcs[0]):
                            read.swizzle = copy.srcs[0].swizzle
                            read.rewrite(copy.srcs[0].value)
                self.insert(made)
                return made.dest
        width = op.output_size
        if not width:
            width = 1
            for src, size in zip(srcs, op.input_sizes, strict=True):
                if not size and src.num_components > width:
                    width = src.num_components
        bits = op.output_type.bits
        pairs = []
        for src, size, type in zip(srcs, op.input_sizes, op.input_types, strict=True):
            n = size or width
            if src.num_components == n:
                pairs.append((src, IDENTITY[n]))
            else:
                assert src.num_components == 1 or size, f"{op.name}: cannot widen a vector"
                pairs.append((src, (0,) * n if src.num_components == 1 else IDENTITY[n]))
            if not bits and not type.bits:
                bits = src.bit_size
        instr = Alu(op, pairs, width, bits, self.exact)
        self.insert(instr)
        return instr.dest

    def alu_swizzled(
        self, op: Opcode | str, srcs: Sequence[tuple[Def, tuple[int, ...]]], bit_size: int = 0
    ) -> Def:
        """Build an opcode with an explicit swizzle for each source."""
        op = op if isinstance(op, Opcode) else OPCODES[op]
        width, bits = op.output_size, op.output_type.bits or bit_size
        for (value, swizzle), size, type in zip(srcs, op.input_sizes, op.input_types, strict=True):
            width = width or (len(swizzle) if not size else 0)
            bits = bits or (value.bit_size if not type.bits else 0)
        instr = Alu(op, srcs, width or 1, bits, self.exact)
        self.insert(instr)
        return instr.result

    def swizzle(self, value: Def, components: str | Sequence[int]) -> Def:
        """Select components, as `"xyz"`, `"bgra"` or indices."""
        if isinstance(components, str):
            chosen = tuple(_COMPONENT_NAMES[c] for c in components)
        else:
            chosen = tuple(components)
        if chosen == IDENTITY[value.num_components]:
            return value
        source = value.instr
        if source.__class__ is LoadConst and self.constants is not None:
            values = source.values
            return self._constant(tuple([values[c] for c in chosen]), value.bit_size)
        instr = Alu(_MOV, [(value, chosen)], len(chosen), value.bit_size)
        self.insert(instr)
        return instr.dest

    def channel(self, value: Def, index: int) -> Def:
        """One component."""
        return value if value.num_components == 1 else self.swizzle(value, (index,))

    def component(self, vector: Def, index: Def) -> Def:
        """`vector[index]`, zero when out of range."""
        n = vector.num_components
        constant = const_int(index)
        if constant is not None:
            in_range = 0 <= constant < n
            return self.channel(vector, constant) if in_range else self.imm_zero(1, vector.bit_size)
        result = self.imm_zero(1, vector.bit_size)
        for i in reversed(range(n)):
            hit = self.ieq(index, self.imm_int(i, index.bit_size))
            result = self.bcsel(hit, self.channel(vector, i), result)
        return result

    def channels(self, value: Def) -> list[Def]:
        """All components as scalars."""
        return [self.channel(value, i) for i in range(value.num_components)]

    def trim(self, value: Def, count: int) -> Def:
        """The first `count` components."""
        return value if value.num_components == count else self.swizzle(value, IDENTITY[count])

    def vec(self, components: Sequence[Def]) -> Def:
        """A vector of scalars."""
        if len(components) == 1:
            return components[0]
        n = len(components)
        instr = Alu(_VECS[n], [(c, (0,)) for c in components], n, components[0].bit_size)
        self.insert(instr)
        return instr.result

    def gather(self, components: Sequence[tuple[Def, int]]) -> Def:
        """A vector of selected components of other values."""
        value = components[0][0]
        for other, _ in components:
            if other is not value:
                break
        else:
            return self.swizzle(value, [c for _, c in components])
        n = len(components)
        instr = Alu(_VECS[n], [(v, (c,)) for v, c in components], n, value.bit_size)
        self.insert(instr)
        return instr.dest

    def concat(self, *values: Def) -> Def:
        """A vector of all components of `values`, in order."""
        pairs = [(v, (i,)) for v in values for i in range(v.num_components)]
        if len(pairs) == 1:
            return values[0]
        instr = Alu(_VECS[len(pairs)], pairs, len(pairs), values[0].bit_size)
        self.insert(instr)
        return instr.result

    def pad(self, value: Def, count: int, fill: float = 0.0) -> Def:
        """`value` truncated, or extended with `fill`, to `count` components."""
        if value.num_components >= count:
            return self.trim(value, count)
        if value.bit_size == 1:
            last = self.imm_bool(bool(fill))
        elif fill != int(fill):
            last = self.imm_float(fill, value.bit_size)
        else:
            last = self.imm_int(int(fill), value.bit_size)
        return self.concat(value, *[last] * (count - value.num_components))

    def replace_channel(self, value: Def, index: int, scalar: Def) -> Def:
        """`value` with one component replaced."""
        parts = self.channels(value)
        parts[index] = scalar
        return self.vec(parts)

    def dot(self, a: Def, b: Def) -> Def:
        """Dot product of float vectors of any width."""
        n = a.num_components
        return self.fmul(a, b) if n == 1 else self.alu(f"fdot{n}", a, b)

    def all_equal(self, a: Def, b: Def, is_float: bool) -> Def:
        """Whether all components are equal."""
        n, letter = a.num_components, "f" if is_float else "i"
        return self.alu(f"{letter}eq" if n == 1 else f"ball_{letter}equal{n}", a, b)

    # Constants.

    def const(self, values: Sequence[int], bit_size: int) -> Def:
        """A constant of raw bits."""
        mask = (1 << bit_size) - 1
        return self._constant(tuple([v & mask for v in values]), bit_size)

    def _constant(self, bits: tuple[int, ...], bit_size: int) -> Def:
        if self.constants is not None and (self.forward or self.after is self.block.last):
            known = self.constants.get((bits, bit_size))
            if known is not None and self.dominates_cursor(known):
                return known
        instr = LoadConst(bits, bit_size)
        self.insert(instr)
        if self.constants is not None:
            self.constants[bits, bit_size] = instr.dest
        return instr.dest

    def imm_float(self, value: float, bit_size: int = 32) -> Def:
        return self._constant((float_bits(value, bit_size),), bit_size)

    def imm_int(self, value: int, bit_size: int = 32) -> Def:
        return self._constant((value & ((1 << bit_size) - 1),), bit_size)

    def imm_bool(self, value: bool) -> Def:
        return self.const((int(value),), 1)

    def imm_vec(self, *values: float, bit_size: int = 32) -> Def:
        """A constant float vector."""
        return self.const([float_bits(v, bit_size) for v in values], bit_size)

    def imm_ivec(self, *values: int, bit_size: int = 32) -> Def:
        return self.const(values, bit_size)

    def imm_zero(self, num_components: int, bit_size: int) -> Def:
        return self.const((0,) * num_components, bit_size)

    def undef(self, num_components: int, bit_size: int) -> Def:
        instr = Undef(num_components, bit_size)
        self.insert(instr)
        return instr.result

    # Control flow.

    def push_if(self, condition: Def) -> If:
        """Begin an if; following instructions are built in its then-body."""
        node: If = insert_node_at(self.block, self.after, If, condition)
        self.stack.append(node)
        self.at_end(node.then_first)
        return node

    def push_else(self) -> None:
        node = self.stack[-1]
        assert isinstance(node, If)
        self.at_end(node.else_first)

    def pop_if(self) -> If:
        """End the innermost if; following instructions are built after it."""
        node = self.stack.pop()
        assert isinstance(node, If)
        self.at_start(next_block(node))
        return node

    def push_loop(self) -> Loop:
        """Begin an endless loop; leave it with `jump("break")`."""
        node: Loop = insert_node_at(self.block, self.after, Loop)
        self.stack.append(node)
        self.at_end(node.first)
        return node

    def pop_loop(self) -> Loop:
        node = self.stack.pop()
        assert isinstance(node, Loop)
        self.at_start(next_block(node))
        return node

    def jump(self, type: str) -> None:
        """Build a break, continue, return or halt. Nothing may follow in the same block."""
        self.insert(Jump(type))
        self.impl.invalidate()

    def break_if(self, condition: Def) -> None:
        self.push_if(condition)
        self.jump("break")
        self.pop_if()

    def phi(self, sources: Sequence[tuple[Block, Def]]) -> Def:
        """A phi at the start of the current block."""
        first = sources[0][1]
        instr = Phi(first.num_components, first.bit_size)
        for pred, value in sources:
            instr.add_phi_src(pred, value)
        behind = self.block.last_phi
        self.block.insert_after(behind, instr)
        if self.after is behind:
            self.after = instr
        return instr.result

    def if_phi(self, then_value: Def, else_value: Def) -> Def:
        """Merge two values after the if that was just popped."""
        owner = self.block.owner
        node = owner[place_of(self.block) - 1]
        assert isinstance(node, If)
        return self.phi([(node.then_last, then_value), (node.else_last, else_value)])

    # Variables.

    def deref_var(self, var: Variable) -> Deref:
        deref = Deref("var", var.mode, var.type)
        deref.var = var
        self.insert(deref)
        return deref

    def deref_array(self, parent: Deref, index: Def) -> Deref:
        deref = Deref("array", parent.modes, parent.type.indexed())
        deref.add_src(parent.result)
        deref.add_src(index)
        self.insert(deref)
        return deref

    def deref_array_imm(self, parent: Deref, index: int) -> Deref:
        return self.deref_array(parent, self.imm_int(index))

    def deref_struct(self, parent: Deref, index: int) -> Deref:
        deref = Deref("struct", parent.modes, parent.type.fields[index].type)
        deref.add_src(parent.result)
        deref.field = index
        self.insert(deref)
        return deref

    def deref_cast(self, value: Def, modes: Mode, type: Type, stride: int = 0) -> Deref:
        """Treat a value as a pointer to `type`."""
        deref = Deref("cast", modes, type, value.bit_size)
        deref.stride = stride
        deref.add_src(value)
        self.insert(deref)
        return deref

    def load_deref(self, deref: Deref, access: int = 0) -> Def:
        """Read a scalar or vector."""
        t = deref.type
        instr = Intrinsic(_LOAD_DEREF, [deref.dest], t.components, t.bit_size)
        if access:
            instr.indices["access"] = access
        self.insert(instr)
        return instr.result

    def store_deref(self, deref: Deref, value: Def, mask: int = -1, access: int = 0) -> None:
        """Write a scalar or vector (by default all components)."""
        mask = mask & ((1 << value.num_components) - 1)
        indices: dict[str, Any] = {"write_mask": mask, "access": access}
        instr = Intrinsic(_STORE_DEREF, [deref.dest, value], indices=indices)
        self.insert(instr)

    def copy_deref(self, dst: Deref, src: Deref) -> None:
        self.insert(Intrinsic("copy_deref", [dst.result, src.result]))

    def load_var(self, var: Variable) -> Def:
        return self.load_deref(self.deref_var(var))

    def store_var(self, var: Variable, value: Def, mask: int = -1) -> None:
        self.store_deref(self.deref_var(var), value, mask)

    # Everything else.

    def intrinsic(
        self,
        name: str,
        srcs: Sequence[Def] = (),
        *,
        num_components: int = 0,
        bit_size: int = 0,
        **indices: Any,
    ) -> Def:
        """Build any intrinsic; the value of one without a result must not be used."""
        info = INTRINSICS[name]
        n = num_components or (info.dest or 1)
        bits = bit_size or info.dest_bits or 32
        instr = Intrinsic(info, srcs, n, bits, indices)
        self.insert(instr)
        return instr.dest or _NO_DEF

    def load_system_value(self, name: str, num_components: int = 0) -> Def:
        return self.intrinsic(f"load_{name}", num_components=num_components)

    def load_param(self, index: int) -> Def:
        """A parameter of the function being built."""
        param = self.impl.function.params[index]
        n, bits = (1, 32) if param.is_deref else (param.num_components, param.bit_size)
        return self.intrinsic("load_param", num_components=n, bit_size=bits, param=index)

    def deref_param(self, index: int) -> Deref:
        """A deref parameter as something to load from and store to."""
        param = self.impl.function.params[index]
        return self.deref_cast(self.load_param(index), Mode.FUNCTION_TEMP, param.type)

    def call(self, callee: Function, params: Sequence[Def]) -> None:
        self.insert(Call(callee, params))

    def tex(self, op: str, srcs: Sequence[tuple[str, Def]], dim: Dim, **options: Any) -> Def:
        instr = Tex(op, srcs, dim, **options)
        self.insert(instr)
        return instr.result


_MOV = OPCODES["mov"]
_NOT_KINDS = ~int(Metadata.KINDS)
_VECS = {n: OPCODES[f"vec{n}"] for n in (2, 3, 4, 5, 8, 16)}
_LOAD_DEREF = INTRINSICS["load_deref"]
_STORE_DEREF = INTRINSICS["store_deref"]
_NO_DEF = Def(Undef(1, 32), 0, 0)


def _method(op: Opcode) -> Callable[..., Def]:
    def build(self: Builder, *srcs: Def) -> Def:
        return self.alu(op, *srcs)

    build.__name__ = op.name
    build.__doc__ = op.doc
    return build


def _is_lasting(src: Src) -> bool:
    """Whether the value that a source reads is final. (Contents of variables may still become
    constant.)
    """
    instr = src.value.instr
    if isinstance(instr, Intrinsic):
        return instr.info is not _LOAD_DEREF
    return isinstance(instr, Tex)


for _op in OPCODES.values():
    if not hasattr(Builder, _op.name):
        setattr(Builder, _op.name, _method(_op))
