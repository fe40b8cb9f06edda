"""Equal expressions are computed once."""

from __future__ import annotations

from collections.abc import Hashable

from gallette.compiler.nir.ir.instrs import Alu, Deref, Instr, Intrinsic, LoadConst, Phi, Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.passes.opt.copy_prop import see_through
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("cse", preserves=Metadata.CONTROL_FLOW)
def cse(shader: Shader) -> bool:
    """A value that an equal instruction in a dominating block has computed is reused.

    Commutative sources are compared in any order. If one of the two is exact, the survivor is.
    Copies are seen through on the way (see `copy_prop`), because finding that two values are one
    can make a copy of what was none.
    """
    progress = False
    for impl in shader.impls():
        if len(impl.body) > 1:  # in one block what comes first dominates
            impl.require(Metadata.DOMINANCE)
        progress |= _cse_impl(impl)
    return progress


def _cse_impl(impl: FunctionImpl) -> bool:
    progress = False
    seen: dict[Hashable, Instr] = {}
    for block in impl.blocks():
        following = block.first
        while following is not None:
            instr, following = following, following.next
            if instr.__class__ is Alu:
                if instr.op.is_copy and see_through(instr):
                    progress = True
                    if not instr.dest.uses:
                        instr.remove()
                        continue
                key: Hashable | None = _alu_key(instr)
            elif instr.__class__ is LoadConst:
                key = (instr.values, instr.dest.bit_size)
            else:
                key = _key(instr)
                if key is None:
                    continue
            known = seen.setdefault(key, instr)
            if known is instr:
                continue
            assert known.block is not None
            if known.block is not block and not known.block.dominates(block):
                seen[key] = instr
                continue
            if isinstance(instr, Alu) and isinstance(known, Alu):
                known.exact |= instr.exact
            instr.replace_by(known.result)
            progress = True
    return progress


def _key(instr: Instr) -> Hashable | None:
    """What two instructions (no arithmetic) must agree in to compute the same value."""
    if isinstance(instr, Intrinsic):
        dest = instr.dest
        if dest is None or not instr.info.is_pure:
            return None
        parts = [id(s.value) for s in instr.srcs]
        indices = instr.indices.values()
        return (instr.info.name, dest.num_components, dest.bit_size, *indices, *parts)
    if isinstance(instr, Deref):
        parts = [id(s.value) for s in instr.srcs]
        return ("deref", instr.form, id(instr.var), instr.field, instr.type, *parts)
    if isinstance(instr, Tex):
        return _tex_key(instr)
    if isinstance(instr, Phi):
        pairs = sorted((s.pred.index, id(s.value)) for s in instr.phi_srcs)
        return ("phi", id(instr.block), *pairs)
    return None


def _alu_key(instr: Alu) -> Hashable:
    """Opcode, width and sources; this is asked for every instruction in every round."""
    op, srcs = instr.op, instr.srcs
    first = srcs[0]
    if len(srcs) == 1:
        return (op, len(first.swizzle), id(first.value), first.swizzle)
    second = srcs[1]
    a, b = (id(first.value), first.swizzle), (id(second.value), second.swizzle)
    if op.commutative and b < a:
        a, b = b, a
    width = instr.dest.num_components
    if len(srcs) == 2:
        return (op, width, a, b)
    if len(srcs) == 3:
        third = srcs[2]
        return (op, width, a, b, id(third.value), third.swizzle)
    return (op, width, a, b, *[(id(s.value), s.swizzle) for s in srcs[2:]])


def _tex_key(instr: Tex) -> Hashable:
    srcs = tuple([(k, id(s.value)) for k, s in zip(instr.src_kinds, instr.srcs, strict=True)])
    return (
        instr.op,
        instr.dim,
        instr.is_array,
        instr.is_shadow,
        instr.dest_type,
        instr.texture_index,
        instr.sampler_index,
        instr.component,
        instr.tg4_offsets,
        instr.result.num_components,
        srcs,
    )
