"""Rules that cannot be patterns in a table: folding, copies, undefined values, phis, slots.

Each has a name and a reason, and changes code through the rewriter. Rules about arithmetic are
selected by the definitions of an operation's sources (`matching.RuleSet`), others by the kind of
instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.io.slots import slot_enum
from gallette.compiler.nir.ir.cf import If
from gallette.compiler.nir.ir.fold import fold_alu
from gallette.compiler.nir.ir.instrs import IDENTITY, Alu, Instr, Intrinsic, LoadConst, Phi, Undef
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import const_int, is_phi_of_same
from gallette.compiler.nir.ir.values import Def, Src

if TYPE_CHECKING:
    from gallette.compiler.nir.rewrite.rewriter import Rewriter


@lazy_dataclass(frozen=True)
class StructuralRule:
    """A rule implemented by a function, which returns whether it changed anything."""

    name: str
    reason: str
    apply: Callable[[Rewriter, Any], bool]


STRUCTURAL_RULES: dict[str, StructuralRule] = {}


def _rule(name: str, reason: str) -> Callable[[Callable[[Rewriter, Any], bool]], StructuralRule]:
    def register(function: Callable[[Rewriter, Any], bool]) -> StructuralRule:
        rule = STRUCTURAL_RULES[name] = StructuralRule(name, reason, function)
        return rule

    return register


def _by_the_rewriter(rw: Rewriter, instr: Instr) -> bool:
    return False


UNUSED = _rule("unused", "What no effect and no branch needs is not computed.")(_by_the_rewriter)
EQUAL_EXPRESSIONS = _rule(
    "equal-expressions", "A value that an equal instruction in front has computed is read again."
)(_by_the_rewriter)


@_rule("fold-constants", "An operation on constants has the result the driver would compute.")
def fold_constants(rw: Rewriter, alu: Alu) -> bool:
    """Evaluate an operation on constants. Derivatives of constants are zero."""
    dest = alu.dest
    values = (0,) * dest.num_components if alu.op.is_derivative else fold_alu(alu)
    assert values is not None
    const = LoadConst(values, dest.bit_size)
    rw.insert(const, alu)
    rw.replace(alu, const.dest)
    return True


@_rule("copy-to-users", "The users of a `mov` or `vecN` read what it copies, swizzled.")
def copy_to_users(rw: Rewriter, copy: Alu) -> bool:
    """Let users of a copy read its source: `%2 = mov %1.yx; %3 = fadd %2.xx, %2` becomes `%3 = fadd
    %1.yy, %1.yx`.
    """
    progress = False
    whole = _whole_value(copy)
    for src in list(copy.dest.uses):
        user = src.parent
        if user.__class__ is Alu:
            progress |= _absorb(rw, copy, src)
        elif whole is not None and (user.__class__ is If or not src.swizzle):
            rw.read(src, whole, src.swizzle)
            progress = True
    return progress


@_rule("read-through-copy", "A source that reads a `mov` or `vecN` reads what that copies.")
def read_through_copy(rw: Rewriter, alu: Alu) -> bool:
    """Apply `copy-to-users` to sources that were created after the copy was visited."""
    progress = False
    for src in alu.srcs:
        source = src.value.instr
        if source.__class__ is Alu and source.op.is_copy:
            progress |= _absorb(rw, source, src)
    return progress


def _whole_value(copy: Alu) -> Def | None:
    """The value that `copy` repeats component for component, or None."""
    n = copy.dest.num_components
    first = copy.srcs[0]
    if first.value.num_components != n:
        return None
    if not copy.op.is_vec:
        return first.value if first.swizzle == IDENTITY[n] else None
    for i, src in enumerate(copy.srcs):
        if src.value is not first.value or src.swizzle[0] != i:
            return None
    return first.value


def _absorb(rw: Rewriter, copy: Alu, src: Src) -> bool:
    """Fold a copy into the swizzle of an ALU source that reads it."""
    if not copy.op.is_vec:
        inner = copy.srcs[0]
        rw.read(src, inner.value, tuple([inner.swizzle[c] for c in src.swizzle]))
        return True
    chosen = [copy.srcs[c] for c in src.swizzle]
    value = chosen[0].value
    for part in chosen:
        if part.value is not value:
            return False
    rw.read(src, value, tuple([part.swizzle[0] for part in chosen]))
    return True


@_rule("undefined-source", "A value that may be anything becomes whatever is cheapest.")
def use_undefined(rw: Rewriter, alu: Alu) -> bool:
    """Simplify a use of an undefined value: `bcsel(c, undef, x)` is x; moves and vectors of nothing
    but undef are undef; any other arithmetic reads zero, so that results are equal in all variants.
    """
    dest = alu.dest
    if alu.op.is_copy:
        if not all(_is_undef(src.value) for src in alu.srcs):
            return False
        undef = Undef(dest.num_components, dest.bit_size)
        rw.insert(undef, alu)
        rw.replace(alu, undef.dest)
        return True
    if alu.op.name == "bcsel" and not _is_undef(alu.srcs[0].value):
        keep = alu.srcs[2] if _is_undef(alu.srcs[1].value) else alu.srcs[1]
        copy = Alu("mov", [(keep.value, keep.swizzle)], dest.num_components, dest.bit_size)
        rw.insert(copy, alu)
        rw.replace(alu, copy.dest)
        return True
    for src in alu.srcs:
        undefined = src.value
        if _is_undef(undefined):
            zero = LoadConst((0,) * undefined.num_components, undefined.bit_size)
            rw.insert(zero, alu)
            rw.read(src, zero.dest, src.swizzle)
            if not undefined.uses and undefined.instr.block is not None:
                rw.erase(undefined.instr)
    return True


def _is_undef(value: Def) -> bool:
    return value.instr.__class__ is Undef


@_rule("undefined-store", "Undefined components need not be stored.")
def _store_less(rw: Rewriter, store: Intrinsic) -> bool:
    source = store.srcs[0].value.instr
    mask = kept = store["write_mask"]
    if source.__class__ is Undef:
        kept = 0
    elif source.__class__ is Alu and source.op.is_vec:
        for i, src in enumerate(source.srcs):
            if _is_undef(src.value):
                kept &= ~(1 << i)
    if kept == mask and source.__class__ is not Undef:
        return False
    if kept == 0:
        rw.erase(store)
    else:
        store["write_mask"] = kept
        rw.changed(store)
    return True


@_rule("phi-of-same", "A phi whose sources are all one value (or the phi itself) is that value.")
def _dissolve_phi(rw: Rewriter, phi: Phi) -> bool:
    same = is_phi_of_same(phi)
    if same is None:
        return False
    rw.replace(phi, same)
    return True


@_rule("constant-slot", "An input or output at a constant offset names the slot itself.")
def _fold_slot(rw: Rewriter, access: Intrinsic) -> bool:
    """Fold a constant offset into the slot; out of range a load becomes zero, and a store is
    removed.

        32 %two = load_const (2)
        32x4 %v = load_input (%two) (location=VAR0, num_slots=3)
        32x4 %v = load_input (%zero) (location=VAR2, num_slots=1)

    Drivers and the linking of stages rely on slots being valid.
    """
    last, indices = access.srcs[-1], access.indices
    number = last.value
    offset, slots = const_int(number), max(1, indices["num_slots"])
    if offset is None or (offset == 0 and slots == 1):
        return False
    if not 0 <= offset < slots:
        if access.dest is not None:
            zero = LoadConst((0,) * access.dest.num_components, access.dest.bit_size)
            rw.insert(zero, access)
            rw.replace(access, zero.dest)
        else:
            rw.erase(access)
        return True
    stage = rw.impl.shader.stage
    mode = Mode.SHADER_IN if "input" in access.info.name else Mode.SHADER_OUT
    indices["location"] = slot_enum(stage, mode, int(indices["location"]) + offset)
    indices["base"] += offset
    indices["num_slots"] = 1
    if offset:
        zero = LoadConst((0,), number.bit_size)
        rw.insert(zero, access)
        rw.read(last, zero.dest, last.swizzle)
        if not number.uses and number.instr.block is not None:
            rw.erase(number.instr)
    rw.changed(access)
    return True


OTHER_RULES: dict[type[Instr] | str, tuple[StructuralRule, ...]] = {
    Phi: (_dissolve_phi,),
    "load_input": (_fold_slot,),
    "load_interpolated_input": (_fold_slot,),
    "load_per_vertex_input": (_fold_slot,),
    "load_output": (_fold_slot,),
    "load_per_vertex_output": (_fold_slot,),
    "store_output": (_fold_slot, _store_less),
    "store_per_vertex_output": (_fold_slot,),
}
"""Rules about instructions other than arithmetic, by kind or name of the intrinsic."""
