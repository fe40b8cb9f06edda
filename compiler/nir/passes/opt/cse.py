"""Equal expressions are computed once."""

from __future__ import annotations

from collections.abc import Hashable

from gallette.compiler.nir.ir.instrs import Alu, Deref, Instr, Intrinsic, LoadConst, Phi, Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import is_pure
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
        impl.require(Metadata.DOMINANCE)
        progress |= _cse_impl(impl)
    return progress


def _cse_impl(impl: FunctionImpl) -> bool:
    progress = False
    seen: dict[Hashable, Instr] = {}
    for block in impl.blocks():
        for instr in block.instrs():
            if isinstance(instr, Alu) and instr.op.is_copy and see_through(instr):
                progress = True
                if not instr.result.uses:
                    instr.remove()
                    continue
            key = _key(instr)
            if key is None:
                continue
            known = seen.get(key)
            if known is None:
                seen[key] = instr
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
    """What two instructions must agree in to compute the same value."""
    if isinstance(instr, Alu):
        return _alu_key(instr)
    if isinstance(instr, LoadConst):
        return (instr.values, instr.result.bit_size)
    if isinstance(instr, Deref):
        parts = [id(s.value) for s in instr.srcs]
        return ("deref", instr.form, id(instr.var), instr.field, instr.type, *parts)
    if isinstance(instr, Intrinsic):
        if not is_pure(instr) or instr.dest is None:
            return None
        indices = tuple(instr.indices.values())
        parts = [id(s.value) for s in instr.srcs]
        return (instr.info.name, instr.dest.num_components, instr.dest.bit_size, indices, *parts)
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
    width = instr.result.num_components
    if len(srcs) == 2:
        return (op, width, a, b)
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
