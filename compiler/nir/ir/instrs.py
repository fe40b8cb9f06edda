"""Instructions: the nine kinds, and their uses of values.

Every instruction has `srcs` (a list of `Src`), at most one `dest` (`Def`), and links to its
neighbours in the block. The meaning of an `Alu` or an `Intrinsic` is data: see `opcodes` and
`intrinsics`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir.intrinsics import INTRINSICS, IntrinsicInfo
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.compiler.nir.ir.texops import TEX_OPS, TexOp
from gallette.compiler.nir.ir.types import Dim, Type
from gallette.compiler.nir.ir.values import Def, PhiSrc, Src

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.cf import Block
    from gallette.compiler.nir.ir.shader import Function
    from gallette.compiler.nir.ir.variables import Variable

IDENTITY = tuple(tuple(range(n)) for n in range(17))


class Instr:
    """Base of all instructions: a node of its block's linked list."""

    __slots__ = ("block", "dest", "loc", "next", "prev", "srcs")
    kind = "instr"
    is_phi = False
    is_listed = False  # by `queries.by_kind`
    may_have_effects = False  # beyond its result; see `queries.has_side_effects`

    def __init__(self) -> None:
        self.loc = 0  # source line it was made for, 0 if unknown
        self.block: Block | None = None
        self.prev: Instr | None = None
        self.next: Instr | None = None
        self.srcs: list[Src] = []
        self.dest: Def | None = None

    def add_src(self, value: Def, swizzle: tuple[int, ...] = ()) -> Src:
        src = Src(value, self, swizzle)
        self.srcs.append(src)
        return src

    @property
    def result(self) -> Def:
        """The destination of an instruction that has one."""
        assert self.dest is not None
        return self.dest

    def unlink(self) -> None:
        """Remove the instruction from its block; its uses remain, so it can be inserted
        elsewhere.
        """
        block = self.block
        assert block is not None
        if self.prev is not None:
            self.prev.next = self.next
        else:
            block.first = self.next
        if self.next is not None:
            self.next.prev = self.prev
        else:
            block.last = self.prev
        self.block = None
        self.prev = self.next = None

    def remove(self) -> None:
        """Delete the instruction: remove it from the block and its uses from all values.

        Its sources and result are dropped, since they refer back to it: callers that need them read
        them before. Without such cycles the objects are freed at once, without the garbage
        collector.
        """
        block = self.block
        if block is not None:
            # `unlink`, inlined, because most instructions are removed eventually
            before, after = self.prev, self.next
            if before is not None:
                before.next = after
            else:
                block.first = after
            if after is not None:
                after.prev = before
            else:
                block.last = before
            self.block = self.prev = self.next = None
        dest = self.dest
        if dest is not None:
            if dest.names:
                self.pass_on_names()
            self.dest = None
        srcs = self.srcs
        if srcs:
            self.srcs = []
            for src in srcs:
                del src.value.uses[src]

    def pass_on_names(self) -> None:
        """Give the names of the result to the values it was assembled from."""

    def replace_by(self, value: Def) -> None:
        """Make every user read `value` instead, then delete the instruction."""
        self.result.rewrite_uses(value)
        self.remove()

    def insert_before(self, other: Instr) -> None:
        """Link this (unlinked) instruction before another one."""
        assert other.block is not None
        self.loc = self.loc or other.loc
        other.block.insert_after(other.prev, self)

    def insert_after(self, other: Instr) -> None:
        """Link this (unlinked) instruction after another one."""
        assert other.block is not None
        self.loc = self.loc or other.loc
        other.block.insert_after(other, self)

    def __repr__(self) -> str:
        size = f" {self.dest.num_components}x{self.dest.bit_size}" if self.dest is not None else ""
        return f"<{self.kind}{size}>"


class Alu(Instr):
    """`dest = op(srcs...)`, component-wise unless the opcode says otherwise.

    `exact` forbids inexact rewrites (`precise`, `invariant`).
    """

    __slots__ = ("exact", "op")
    kind = "alu"
    dest: Def

    def __init__(
        self,
        op: Opcode | str,
        srcs: Sequence[tuple[Def, tuple[int, ...]]],
        num_components: int,
        bit_size: int,
        exact: bool = False,
    ):
        self.block = self.prev = self.next = None
        self.loc = 0
        self.op = op if isinstance(op, Opcode) else OPCODES[op]
        self.exact = exact
        self.srcs = uses = []
        for value, swizzle in srcs:
            uses.append(Src(value, self, swizzle))
        self.dest = Def(self, num_components, bit_size)

    @classmethod
    def even(
        cls, op: Opcode, values: Sequence[Def], num_components: int, bit_size: int, exact: bool
    ) -> Alu:
        """An instruction whose sources are as wide as the result, without swizzles."""
        instr = cls.__new__(cls)
        instr.block = instr.prev = instr.next = None
        instr.loc = 0
        instr.op = op
        instr.exact = exact
        swizzle = IDENTITY[num_components]
        instr.srcs = [Src(value, instr, swizzle) for value in values]
        instr.dest = Def(instr, num_components, bit_size)
        return instr

    def pass_on_names(self) -> None:
        assert self.dest is not None
        if self.op.name == "mov":
            self.srcs[0].value.take_names(self.dest, self.srcs[0].swizzle)
        elif self.op.name.startswith("vec"):
            for i, src in enumerate(self.srcs):
                src.value.take_names(self.dest, src.swizzle, i)


class LoadConst(Instr):
    """A constant; `values` are raw bits, one unsigned integer per component."""

    __slots__ = ("values",)
    kind = "load_const"
    dest: Def

    def __init__(self, values: tuple[int, ...], bit_size: int):
        self.block = self.prev = self.next = None
        self.loc = 0
        self.srcs = []
        self.values = values
        self.dest = Def(self, len(values), bit_size)


class Undef(Instr):
    """An undefined value: arbitrary bits, but the same bits for every use."""

    __slots__ = ()
    kind = "undef"
    dest: Def

    def __init__(self, num_components: int, bit_size: int):
        super().__init__()
        self.dest = Def(self, num_components, bit_size)


class Deref(Instr):
    """One step of a chain that names a variable or a part of it.

    `form` is var, array, struct, cast or ptr_as_array. All but `var` have the parent deref as
    `srcs[0]`; array forms have the index as `srcs[1]`. `modes` says which storage classes the
    result may point into, `type` what it points to.
    """

    __slots__ = ("field", "form", "modes", "stride", "type", "var")
    kind = "deref"
    is_listed = True
    dest: Def

    def __init__(self, form: str, modes: int, type: Type, bit_size: int = 32):
        self.block = self.prev = self.next = None
        self.loc = 0
        self.srcs = []
        self.form = form
        self.modes = modes
        self.type = type
        self.var: Variable | None = None
        self.field = -1
        self.stride = 0
        self.dest = Def(self, 1, bit_size)

    @property
    def parent(self) -> Deref | None:
        """The deref that this one extends; None at the root or if the base is no deref."""
        if not self.srcs:
            return None
        parent = self.srcs[0].value.instr
        return parent if isinstance(parent, Deref) else None

    @property
    def array_index(self) -> Src:
        return self.srcs[1]

    def path(self) -> list[Deref]:
        """The chain from its root to this deref."""
        chain = [self]
        at: Instr = self
        while at.srcs:
            at = at.srcs[0].value.instr
            if at.__class__ is not Deref:
                break
            chain.append(at)
        chain.reverse()
        return chain

    @property
    def root_var(self) -> Variable | None:
        """The variable at the root, if the chain starts at one."""
        at: Instr = self
        while at.srcs:
            at = at.srcs[0].value.instr
            if at.__class__ is not Deref:
                return None
        return at.var  # type: ignore[attr-defined, no-any-return]


class Intrinsic(Instr):
    """An operation with side effects or access to something outside the SSA world.

    `indices` are its compile-time arguments; every index the table names is present.
    """

    __slots__ = ("indices", "info")
    kind = "intrinsic"
    is_listed = True
    may_have_effects = True

    def __init__(
        self,
        info: IntrinsicInfo | str,
        srcs: Sequence[Def] = (),
        num_components: int = 0,
        bit_size: int = 32,
        indices: dict[str, Any] | None = None,
    ):
        self.block = self.prev = self.next = None
        self.loc = 0
        if info.__class__ is str:
            info = INTRINSICS[info]
        assert isinstance(info, IntrinsicInfo)
        self.info = info
        self.srcs = uses = []
        for value in srcs:
            uses.append(Src(value, self))
        self.indices: dict[str, Any] = (
            {**info.defaults, **indices} if indices else {**info.defaults}
        )
        self.dest = Def(self, num_components, bit_size) if info.has_dest else None

    @property
    def name(self) -> str:
        return self.info.name

    def become(self, name: str, srcs: Sequence[Def], indices: dict[str, Any] | None = None) -> None:
        """Change into another operation with a result of the same size (or none, as before).

        Users of the result keep it, and the instruction stays in place: lowering an access to
        another kind of access needs no new instruction.
        """
        dropped = self.srcs
        self.info = info = INTRINSICS[name]
        self.srcs = [Src(value, self) for value in srcs]
        for src in dropped:
            del src.value.uses[src]
        self.indices = {**info.defaults, **indices} if indices else {**info.defaults}

    def __getitem__(self, index: str) -> Any:
        return self.indices[index]

    def __setitem__(self, index: str, value: Any) -> None:
        self.indices[index] = value

    @property
    def deref(self) -> Deref | None:
        """The deref of the first source, or None."""
        instr = self.srcs[0].value.instr if self.srcs else None
        return instr if isinstance(instr, Deref) else None


class Tex(Instr):
    """A texture operation; `src_kinds[i]` (a key of `TEX_SRCS`) says what `srcs[i]` is.

    The texture is `texture_index` (plus a `texture_offset` source) once sampler derefs are
    lowered. `coord_components` counts the coordinates including the layer.
    """

    __slots__ = (
        "component",
        "coord_components",
        "dest_type",
        "dim",
        "is_array",
        "is_shadow",
        "op",
        "sampler_index",
        "src_kinds",
        "texture_index",
        "tg4_offsets",
    )
    kind = "tex"
    is_listed = True
    dest: Def

    def __init__(
        self,
        op: str,
        srcs: Sequence[tuple[str, Def]],
        dim: Dim,
        *,
        num_components: int = 4,
        dest_type: str = "float32",
        is_array: bool = False,
        is_shadow: bool = False,
        coord_components: int = 0,
        texture_index: int = 0,
        sampler_index: int = 0,
        component: int = 0,
        tg4_offsets: tuple[tuple[int, int], ...] = (),
    ):
        super().__init__()
        self.op = op
        self.dim = dim
        self.dest_type = dest_type
        self.is_array = is_array
        self.is_shadow = is_shadow
        self.coord_components = coord_components or dim.coordinates + is_array
        self.texture_index = texture_index
        self.sampler_index = sampler_index
        self.component = component
        self.tg4_offsets = tg4_offsets
        self.src_kinds = [kind for kind, _ in srcs]
        self.srcs = [Src(value, self) for _, value in srcs]
        bits = int(dest_type.lstrip("abcdefghijklmnopqrstuvwxyz"))
        self.dest = Def(self, num_components, bits)

    @property
    def info(self) -> TexOp:
        """The row of the table for this operation."""
        return TEX_OPS[self.op]

    def src(self, kind: str) -> Src | None:
        """The source of that kind, or None."""
        for k, src in zip(self.src_kinds, self.srcs, strict=True):
            if k == kind:
                return src
        return None

    def add_tex_src(self, kind: str, value: Def) -> None:
        self.src_kinds.append(kind)
        self.srcs.append(Src(value, self))

    def remove_src(self, kind: str) -> None:
        i = self.src_kinds.index(kind)
        self.srcs[i].drop()
        del self.srcs[i], self.src_kinds[i]


class Phi(Instr):
    """Selects a value by the predecessor block."""

    __slots__ = ()
    kind = "phi"
    is_phi = True
    dest: Def

    def __init__(self, num_components: int, bit_size: int):
        super().__init__()
        self.dest = Def(self, num_components, bit_size)

    @property
    def phi_srcs(self) -> list[PhiSrc]:
        return self.srcs  # type: ignore[return-value]

    def add_phi_src(self, pred: Block, value: Def) -> PhiSrc:
        src = PhiSrc(value, self, pred)
        self.srcs.append(src)
        return src

    def src_for(self, pred: Block) -> PhiSrc:
        for src in self.phi_srcs:
            if src.pred is pred:
                return src
        raise KeyError(pred)

    def remove_pred(self, pred: Block) -> None:
        """Remove the source from `pred`."""
        kept: list[Src] = []
        for src in self.phi_srcs:
            if src.pred is pred:
                src.drop()
            else:
                kept.append(src)
        self.srcs = kept


class Jump(Instr):
    """Leaves the block: `type` is break, continue, return or halt (ends the invocation)."""

    __slots__ = ("type",)
    kind = "jump"
    may_have_effects = True

    def __init__(self, type: str):
        super().__init__()
        self.type = type


class Call(Instr):
    """Calls a function; sources are its parameters (values, or derefs for out parameters)."""

    __slots__ = ("callee",)
    kind = "call"
    is_listed = True
    may_have_effects = True

    def __init__(self, callee: Function, params: Sequence[Def]):
        super().__init__()
        self.callee = callee
        self.srcs = [Src(value, self) for value in params]
