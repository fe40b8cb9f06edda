"""The alpha test becomes a discard."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass


def compare(b: Builder, func: str, value: Def, ref: Def) -> Def:
    """`value func ref` as a boolean."""
    if func == "never":
        return b.imm_bool(False)
    if func == "less":
        return b.flt(value, ref)
    if func == "equal":
        return b.feq(value, ref)
    if func == "lequal":
        return b.fge(ref, value)
    if func == "greater":
        return b.flt(ref, value)
    if func == "notequal":
        return b.fneu(value, ref)
    if func == "gequal":
        return b.fge(value, ref)
    return b.imm_bool(True)


def _fixed_point(b: Builder, value: Def, bits: int) -> Def:
    return b.fround_even(b.fmul(b.fsat(value), b.imm_float(float((1 << bits) - 1))))


@nir_pass("lower_alpha_test", preserves=Metadata.CONTROL_FLOW)
def lower_alpha_test(shader: Shader, *, func: str = "always", bits: int = 0) -> bool:
    """Discard fragments whose alpha does not pass `func` against `load_alpha_ref`.

    The alpha is that of colour output 0. A store without alpha passes with alpha 1. With `bits`
    both are compared as unsigned fixed-point numbers of so many bits: clamped and rounded, as a
    colour buffer would store them.
    """
    if shader.stage is not Stage.FRAGMENT or func == "always":
        return False
    progress = False
    for impl in shader.impls():
        for store in intrinsics_of(impl, "store_output"):
            if store["location"] not in (FragResult.COLOR, FragResult.DATA0):
                continue
            if store["dual_source"]:
                continue
            b = Builder(impl).at_before(store)
            value = store.srcs[0].value
            index = 3 - store["component"]
            if index < value.num_components and store["write_mask"] >> index & 1:
                alpha = b.channel(value, index)
            else:
                alpha = b.imm_float(1.0)
            ref = b.intrinsic("load_alpha_ref")
            if bits:
                alpha, ref = (_fixed_point(b, value, bits) for value in (alpha, ref))
            passes = compare(b, func, alpha, ref)
            b.intrinsic("discard_if", [b.inot(passes)])
            shader.info.uses_discard = True
            progress = True
    return progress
