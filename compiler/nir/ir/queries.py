"""Small queries about IR that many passes use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from gallette.compiler.nir.ir.cf import (
    Block,
    Body,
    If,
    Loop,
    blocks_in,
    enclosing_loop,
    list_blocks,
    walk,
)
from gallette.compiler.nir.ir.instrs import (
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
from gallette.compiler.nir.ir.metadata import Analysis, Metadata, register
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.ir.variables import Variable

_ALL_MODES = int(Mode.ALL)


def const_int(value: Def) -> int | None:
    """A constant scalar as a signed integer, else None."""
    instr = value.instr
    if not isinstance(instr, LoadConst) or len(instr.values) != 1:
        return None
    bits = value.bit_size
    raw = instr.values[0]
    return raw - (1 << bits) if bits > 1 and raw >> (bits - 1) else raw


def is_multiple(src: Src, factor: int, component: int = 0, steps: int = 8) -> bool:
    """Whether a component is certainly a multiple of a power of two, even on overflow."""
    instr = src.value.instr
    if src.swizzle:
        component = src.swizzle[component]
    if isinstance(instr, LoadConst):
        return instr.values[component] % factor == 0
    if not isinstance(instr, Alu) or not steps:
        return False

    def of(operand: Src, wanted: int) -> bool:
        return is_multiple(operand, wanted, component, steps - 1)

    match instr.op.name:
        case "iadd" | "isub":
            return all(of(operand, factor) for operand in instr.srcs)
        case "imul" | "iand":
            return any(of(operand, factor) for operand in instr.srcs)
        case "ishl":
            places = instr.srcs[1].value.instr
            if not isinstance(places, LoadConst):
                return False
            left = places.values[instr.srcs[1].swizzle[component]] % instr.result.bit_size
            return factor >> left <= 1 or of(instr.srcs[0], factor >> left)
    return False


def has_side_effects(instr: Instr) -> bool:
    """Whether the instruction must stay even if its result is unused."""
    if instr.__class__ is Intrinsic:
        return not instr.info.can_eliminate or bool(instr.indices.get("access", 0) & 2)
    return instr.may_have_effects


def can_speculate(instr: Instr) -> bool:
    """Whether the instruction may run where the program would not have reached it."""
    if isinstance(instr, Alu):
        return not instr.op.is_derivative
    if isinstance(instr, Intrinsic):
        return instr.info.is_pure
    return isinstance(instr, (LoadConst, Undef, Deref))


def only_accessed_by(deref: Deref, intrinsics: Collection[str], forms: Collection[str]) -> bool:
    """Whether all that uses a deref is derefs of these forms, as their parent, and these
    intrinsics, as what they access.
    """
    for src in deref.result.uses:
        user = src.parent
        if not isinstance(user, Deref | Intrinsic) or user.srcs[0] is not src:
            return False
        if user.form not in forms if isinstance(user, Deref) else user.name not in intrinsics:
            return False
    return True


def deref_key(deref: Deref) -> tuple[Variable, tuple[int, ...]] | None:
    """Variable and constant path of a deref; None if a step is not constant.

    Array steps count as their index, struct steps as the member's number.
    """
    steps: list[int] = []
    at: Deref | None = deref
    while at is not None and at.form != "var":
        if at.form == "struct":
            steps.append(at.field)
        elif at.form == "array":
            index = const_int(at.srcs[1].value)
            if index is None:
                return None
            steps.append(index)
        else:
            return None
        at = at.parent
    if at is None or at.var is None:
        return None
    steps.reverse()
    return at.var, tuple(steps)


def in_bounds(type: Type, path: tuple[int, ...]) -> bool:
    """Whether the constant path stays inside the type."""
    for step in path:
        if type.is_struct:
            type = type.fields[step].type
        else:
            length = type.indexed_length()
            if not 0 <= step < length:
                return False
            type = type.indexed()
    return True


def instrs_of(impl: FunctionImpl) -> Iterator[Instr]:
    """Every instruction in source order; the current one may be removed."""
    for block in blocks_in(impl.body):
        at = block.first
        while at is not None:
            following = at.next
            yield at
            at = following


def impls_with_branches(shader: Shader) -> list[FunctionImpl]:
    """The functions whose code has more than one block."""
    return [impl for impl in shader.impls() if len(impl.body) > 1]


class ByKind:
    """The instructions of a function that most passes process, in source order.

    Most shaders have few of them. Passes share one walk while `Metadata.KINDS` is valid: until one
    of these is inserted. Removed instructions are still in the lists.
    """

    __slots__ = ("calls", "derefs", "forms", "intrinsics", "modes", "textures")

    def __init__(self, impl: FunctionImpl):
        derefs: list[Deref] = []
        intrinsics: list[Intrinsic] = []
        textures: list[Tex] = []
        calls: list[Call] = []
        lists: dict[type, list[Any]] = {
            Deref: derefs,
            Intrinsic: intrinsics,
            Tex: textures,
            Call: calls,
        }
        for block in list_blocks(impl.body):
            at = block.first
            while at is not None:
                if at.is_listed:
                    lists[at.__class__].append(at)
                at = at.next
        modes = 0
        for deref in derefs:
            modes |= deref.modes + 0  # plain integers are faster to combine
        self.derefs, self.intrinsics = derefs, intrinsics
        self.textures, self.calls = textures, calls
        self.modes = modes
        """the modes of all derefs"""
        self.forms = {deref.form for deref in derefs}


def by_kind(impl: FunctionImpl) -> ByKind:
    """The lists of a function, recomputed if they are invalid."""
    if not impl.valid & _KINDS:
        _list_kinds(impl)
        impl.valid |= _KINDS
    found: ByKind = impl.by_kind
    return found


_KINDS = int(Metadata.KINDS)


def _list_kinds(impl: FunctionImpl) -> None:
    impl.by_kind = ByKind(impl)


def _describe_kinds(impl: FunctionImpl) -> tuple[Any, ...]:
    """The instructions left in each list, and the deref modes that the summary lacks."""
    found: ByKind = impl.by_kind
    modes, forms = 0, set()
    for deref in found.derefs:
        if deref.block is not None:
            modes |= deref.modes & ~found.modes
            forms.add(deref.form)
    lists = (found.derefs, found.intrinsics, found.textures, found.calls)
    left = [[instr for instr in some if instr.block is not None] for some in lists]
    return left, modes, forms - found.forms


register(Analysis(Metadata.KINDS, Metadata.NONE, _list_kinds, _describe_kinds))


def derefs_of(shader: Shader, modes: int = _ALL_MODES) -> list[Deref]:
    """The derefs that may point into memory of those modes, as a list that survives edits."""
    return [deref for impl in shader.impls() for deref in derefs_in(impl, modes)]


def derefs_in(impl: FunctionImpl, modes: int = _ALL_MODES) -> list[Deref]:
    """The derefs of one function that may point into memory of those modes."""
    found = by_kind(impl)
    if not found.modes & modes:
        return []
    return [d for d in found.derefs if d.modes & modes and d.block is not None]


def calls_of(impl: FunctionImpl) -> list[Call]:
    """The calls of a function, as a list that survives edits."""
    return [call for call in by_kind(impl).calls if call.block is not None]


def textures_of(impl: FunctionImpl) -> list[Tex]:
    """The texture operations of a function, as a list that survives edits."""
    return [tex for tex in by_kind(impl).textures if tex.block is not None]


def all_intrinsics_of(impl: FunctionImpl) -> list[Intrinsic]:
    """The intrinsics of a function, as a list that survives edits."""
    return [i for i in by_kind(impl).intrinsics if i.block is not None]


def intrinsics_of(impl: FunctionImpl, *names: str) -> list[Intrinsic]:
    """The intrinsics of those names, as a list that survives edits."""
    found = by_kind(impl).intrinsics
    if len(names) == 1:
        name = names[0]
        return [i for i in found if i.info.name == name and i.block is not None]
    wanted = frozenset(names)
    return [i for i in found if i.info.name in wanted and i.block is not None]


def accesses_of(impl: FunctionImpl, modes: int, *names: str) -> list[tuple[Intrinsic, Deref]]:
    """The intrinsics (of those names, if any) that may touch memory of those modes, each with its
    deref.
    """
    if not by_kind(impl).modes & modes:
        return []
    found: list[tuple[Intrinsic, Deref]] = []
    for access in intrinsics_of(impl, *names) if names else by_kind(impl).intrinsics:
        deref = access.srcs[0].value.instr if access.srcs else None
        if deref.__class__ is Deref and deref.modes & modes:
            found.append((access, deref))
    return found


def may_share_a_variable(accesses: list[tuple[Intrinsic, Deref]]) -> bool:
    """Whether two of these accesses may be to the same variable."""
    roots = [deref.root_var for _, deref in accesses]
    return len(roots) > 1 and (None in roots or len(set(roots)) < len(roots))


def contains_jump(body: Body, wanted: Callable[[Jump], bool]) -> bool:
    for block in list_blocks(body):
        jump = block.last
        if jump.__class__ is Jump and wanted(jump):
            return True
    return False


def always_jumps(body: Body) -> bool:
    """Whether control never reaches the end of `body`."""
    while True:
        last = body[-1]
        assert isinstance(last, Block)
        if last.jump is not None:
            return True
        if len(body) < 2 or last.first is not None:
            return False
        before = body[-2]
        if isinstance(before, Loop):
            return not contains_own_break(before)
        if not isinstance(before, If) or not always_jumps(before.then_body):
            return False
        body = before.else_body


def contains_own_break(loop: Loop) -> bool:
    """Whether there is a break that leaves this loop (not one inside it)."""
    for node in walk(loop.body):
        if isinstance(node, Block):
            jump = node.jump
            if jump is not None and jump.type == "break" and enclosing_loop(node) is loop:
                return True
    return False


def is_phi_of_same(phi: Phi) -> Def | None:
    """The value that all sources (other than the phi itself) have, or None."""
    same: Def | None = None
    for src in phi.srcs:
        value = src.value
        if value is phi.dest or value is same:
            continue
        if same is not None:
            return None
        same = value
    return same
