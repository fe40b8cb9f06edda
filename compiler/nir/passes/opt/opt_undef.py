"""Undefined values become whatever is cheapest."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Alu, Intrinsic, LoadConst, Undef
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.surgery import remove_unused
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("opt_undef", preserves=Metadata.CONTROL_FLOW)
def opt_undef(shader: Shader) -> bool:
    """Make use of values that may be anything.

    `bcsel(c, undef, x)` is x; moves and vectors of nothing but undef are undef; storing undef
    components is dropped; any other arithmetic reads zero, so that results stay the same from
    variant to variant.
    """
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if instr.__class__ is Alu:
                for src in instr.srcs:
                    if src.value.instr.__class__ is Undef:
                        progress |= use_undefined(instr)
                        break
            elif isinstance(instr, Intrinsic) and instr.info.name == "store_output":
                progress |= store_less(instr)
    return progress


def _is_undef(value: Def) -> bool:
    return isinstance(value.instr, Undef)


def use_undefined(instr: Alu) -> bool:
    """Simplify an operation one of whose sources is undefined."""
    name, dest = instr.op.name, instr.result
    if name == "mov" or instr.op.is_vec:
        if not all(_is_undef(src.value) for src in instr.srcs):
            return False
        undef = Undef(dest.num_components, dest.bit_size)
        undef.insert_before(instr)
        _replace(instr, undef.result)
        return True
    if name == "bcsel" and not _is_undef(instr.srcs[0].value):
        keep = instr.srcs[2] if _is_undef(instr.srcs[1].value) else instr.srcs[1]
        copy = Alu("mov", [(keep.value, keep.swizzle)], dest.num_components, dest.bit_size)
        copy.insert_before(instr)
        _replace(instr, copy.result)
        return True
    for src in instr.srcs:
        undefined = src.value
        if _is_undef(undefined):
            zero = LoadConst((0,) * undefined.num_components, undefined.bit_size)
            zero.insert_before(instr)
            src.rewrite(zero.result)
            if not undefined.uses:
                undefined.instr.remove()
    return True


def _replace(instr: Alu, value: Def) -> None:
    instr.dest.rewrite_uses(value)
    remove_unused(instr)


def store_less(instr: Intrinsic) -> bool:
    """Leave undefined components out of a `store_output`."""
    value = instr.srcs[0].value
    source = value.instr
    if isinstance(source, Undef):
        remove_unused(instr)
        return True
    if not isinstance(source, Alu) or not source.op.is_vec:
        return False
    mask = instr["write_mask"]
    kept = mask
    for i, src in enumerate(source.srcs):
        if _is_undef(src.value):
            kept &= ~(1 << i)
    if kept == mask:
        return False
    if kept == 0:
        remove_unused(instr)
    else:
        instr["write_mask"] = kept
    return True
