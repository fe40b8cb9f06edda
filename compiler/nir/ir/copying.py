"""Deep copies of parts of a function.

Everything is copied by one iterative walk, so nesting depth is not limited. `Remap` maps values,
variables and blocks of the original to those of the copy; inlining and loop unrolling use it to
copy a body into another function.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gallette.compiler.nir.ir.cf import Block, Body, If, Loop, Parent, walk
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
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.shader import Function


class Remap:
    """Maps originals to copies; unlisted objects are shared."""

    __slots__ = ("blocks", "functions", "pending_phis", "values", "variables")

    def __init__(self) -> None:
        self.values: dict[Def, Def] = {}
        self.variables: dict[Variable, Variable] = {}
        self.blocks: dict[Block, Block] = {}
        self.functions: dict[Function, Function] = {}
        self.pending_phis: list[tuple[Phi, Phi]] = []

    def value(self, value: Def) -> Def:
        return self.values.get(value, value)

    def variable(self, var: Variable) -> Variable:
        """Copy a variable and record the copy."""
        copy = self.variables[var] = var.copy()
        return copy

    def finish_phis(self) -> None:
        """Set the sources of copied phis, after every value has been copied."""
        for old, new in self.pending_phis:
            for src in old.phi_srcs:
                new.add_phi_src(self.blocks.get(src.pred, src.pred), self.value(src.value))
        self.pending_phis.clear()


def clone_instr(instr: Instr, remap: Remap) -> Instr:
    """A copy, not yet in a block; its phi sources are set by `Remap.finish_phis`."""
    values = remap.values
    new: Instr
    if isinstance(instr, Alu):
        assert instr.dest is not None
        pairs = [(values.get(s.value, s.value), s.swizzle) for s in instr.srcs]
        new = Alu(instr.op, pairs, instr.dest.num_components, instr.dest.bit_size, instr.exact)
    elif isinstance(instr, LoadConst):
        new = LoadConst(instr.values, instr.result.bit_size)
    elif isinstance(instr, Intrinsic):
        srcs = [values.get(s.value, s.value) for s in instr.srcs]
        dest = instr.dest
        n, bits = (dest.num_components, dest.bit_size) if dest is not None else (0, 32)
        new = Intrinsic(instr.info, srcs, n, bits, instr.indices)
    elif isinstance(instr, Deref):
        new = Deref(instr.form, instr.modes, instr.type, instr.result.bit_size)
        new.field, new.stride = instr.field, instr.stride
        if instr.var is not None:
            new.var = remap.variables.get(instr.var, instr.var)
        for src in instr.srcs:
            new.add_src(values.get(src.value, src.value))
    elif isinstance(instr, Tex):
        new = _clone_tex(instr, remap)
    elif isinstance(instr, Phi):
        new = Phi(instr.result.num_components, instr.result.bit_size)
        remap.pending_phis.append((instr, new))
    elif isinstance(instr, Undef):
        new = Undef(instr.result.num_components, instr.result.bit_size)
    elif isinstance(instr, Jump):
        new = Jump(instr.type)
    else:
        assert isinstance(instr, Call)
        callee = remap.functions.get(instr.callee, instr.callee)
        new = Call(callee, [values.get(s.value, s.value) for s in instr.srcs])
    new.loc = instr.loc
    if instr.dest is not None:
        assert new.dest is not None
        new.dest.divergent_components = instr.dest.divergent_components
        new.dest.names = instr.dest.names
        values[instr.dest] = new.dest
    return new


def _clone_tex(instr: Tex, remap: Remap) -> Tex:
    pairs = zip(instr.src_kinds, instr.srcs, strict=True)
    return Tex(
        instr.op,
        [(kind, remap.value(src.value)) for kind, src in pairs],
        instr.dim,
        num_components=instr.result.num_components,
        dest_type=instr.dest_type,
        is_array=instr.is_array,
        is_shadow=instr.is_shadow,
        coord_components=instr.coord_components,
        texture_index=instr.texture_index,
        sampler_index=instr.sampler_index,
        component=instr.component,
        tg4_offsets=instr.tg4_offsets,
    )


def clone_body(body: Iterable[Block | If | Loop], parent: Parent, remap: Remap) -> Body:
    """Copy nodes for `parent`; call `remap.finish_phis()` when all code is copied."""
    result: Body = []
    stack: list[tuple[Iterable[Block | If | Loop], Parent, Body]] = [(body, parent, result)]
    # Code must be copied in source order so that values precede uses: collect first, copy after.
    while stack:
        nodes, owner_parent, out = stack.pop()
        for node in nodes:
            if isinstance(node, Block):
                copy = Block(owner_parent, out)
                remap.blocks[node] = copy
                out.append(copy)
            elif isinstance(node, If):
                # The condition is a placeholder until its own copy exists.
                new_if = If(owner_parent, out, node.condition.value)
                new_if.divergent = node.divergent
                new_if.then_body.clear()
                new_if.else_body.clear()
                out.append(new_if)
                stack.append((node.then_body, new_if, new_if.then_body))
                stack.append((node.else_body, new_if, new_if.else_body))
            else:
                loop = Loop(owner_parent, out)
                loop.divergent = node.divergent
                loop.divergent_continue = node.divergent_continue
                loop.body.clear()
                out.append(loop)
                stack.append((node.body, loop, loop.body))
    for old in walk(list(body)):
        if isinstance(old, Block):
            block = remap.blocks[old]
            for instr in old.instrs():
                block.append(clone_instr(instr, remap))
    for node in walk(result):
        if isinstance(node, If):
            node.condition.rewrite(remap.value(node.condition.value))
    return result
