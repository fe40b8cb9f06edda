"""Builds the replacement of an instruction that a rule of the tables matched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.algebraic.pattern import Const, Pattern, Rule, Var
from gallette.compiler.nir.algebraic.values import raw_bits
from gallette.compiler.nir.ir.fold import evaluated
from gallette.compiler.nir.ir.instrs import IDENTITY, Alu, LoadConst
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.rewrite.matching import Binding, Match, Swizzle

if TYPE_CHECKING:
    from gallette.compiler.nir.rewrite.rewriter import Rewriter


def apply_match(rw: Rewriter, rule: Rule, match: Match, alu: Alu) -> bool:
    """Replace the matched operation by a rule's replacement."""
    if rw.protected is not None and rule.depends_on_use_counts and alu.dest in rw.protected:
        return False
    builder = _Builder(alu, match)
    value, swizzle = builder.value(rule.replace, alu.dest.num_components)
    users = list(alu.dest.uses)
    if len(value.uses) == 1:
        rw.share_readers(value)
    _substitute(alu, value, swizzle, builder.new)
    made = [instr for instr in builder.new if instr.dest.uses or _is_left(instr)]
    if rw.protected is not None:
        rw.protected.inherit(alu.dest, [i.dest for i in made if i.__class__ is Alu])
    rw.erase(alu)
    for src in users:
        rw.changed(src.parent)
    for instr in reversed(made):  # the first one is visited first
        rw.appeared(instr)
    return True


def _is_left(instr: Alu | LoadConst) -> bool:
    """Remove a constant that was folded into another one; returns whether the instruction
    remains.
    """
    if instr.__class__ is LoadConst:
        instr.remove()
        return False
    return True


class _Builder:
    """Builds one replacement in front of the instruction it replaces."""

    __slots__ = ("alu", "match", "new")

    def __init__(self, alu: Alu, match: Match):
        self.alu = alu
        self.match = match
        self.new: list[Alu | LoadConst] = []

    def value(self, node: Pattern, num_components: int) -> Binding:
        """(value, swizzle) of a node of the replacement, `num_components` wide."""
        if isinstance(node, Var):
            bound = self.match.bindings[node.index]
            assert bound is not None
            value, swizzle = bound
            if node.swizzle:
                swizzle = tuple([swizzle[c] for c in node.swizzle])
            if len(swizzle) < num_components:  # repeat a single component
                swizzle = (swizzle * num_components)[:num_components]
            return value, swizzle[:num_components]
        size = self.match.size(node.size, self.alu)
        if isinstance(node, Const):
            const = LoadConst((raw_bits(node.value, node.base, size),), size)
            const.insert_before(self.alu)
            self.new.append(const)
            return const.dest, (0,) * num_components
        op = node.op
        width = op.output_size or num_components
        srcs = [
            self.value(sub, n or num_components)
            for sub, n in zip(node.srcs, op.input_sizes, strict=True)
        ]
        made: Alu | LoadConst
        if all(value.instr.__class__ is LoadConst for value, _ in srcs):
            made = LoadConst(_folded(op, srcs, width, size), size)
        else:
            made = Alu(op, srcs, width, size, self.match.exact)
        self.new.append(made)
        made.insert_before(self.alu)
        read = IDENTITY[num_components] if width >= num_components else (0,) * num_components
        return made.dest, read


def _folded(op: Opcode, srcs: list[Binding], width: int, bit_size: int) -> tuple[int, ...]:
    """Fold constants while building, since rules that move constants would not terminate
    otherwise.
    """
    sources = []
    for value, swizzle in srcs:
        const = value.instr
        assert isinstance(const, LoadConst)
        sources.append(tuple([const.values[c] for c in swizzle]))
    sizes = tuple([value.bit_size for value, _ in srcs])
    return evaluated(op, tuple(sources), sizes, bit_size)


def _substitute(alu: Alu, value: Def, swizzle: Swizzle, new: list[Alu | LoadConst]) -> None:
    """Make users of `alu` read `value` at `swizzle`."""
    dest = alu.dest
    if len(swizzle) == value.num_components and swizzle == IDENTITY[value.num_components]:
        dest.rewrite_uses(value)
        return
    mov: Alu | None = None
    if dest.names:
        value.take_names(dest, swizzle)
    for src in list(dest.uses):
        if src.swizzle:  # compose with the swizzle of an Alu source
            src.swizzle = tuple([swizzle[c] for c in src.swizzle])
            src.rewrite(value)
            continue
        if mov is None:
            mov = Alu(OPCODES["mov"], [(value, swizzle)], len(swizzle), value.bit_size, alu.exact)
            mov.insert_before(alu)
            new.append(mov)
        src.rewrite(mov.dest)
