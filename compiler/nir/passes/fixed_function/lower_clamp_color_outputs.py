"""Colours are clamped to 0..1."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_clamp_color_outputs", preserves=Metadata.CONTROL_FLOW)
def lower_clamp_color_outputs(shader: Shader) -> bool:
    """`glClampColor`: a fragment shader's colours, or a vertex shader's front and back colours, are
    saturated with `fsat` before they are stored.

    Integer outputs are not changed.
    """
    progress = False
    for impl in shader.impls():
        for store in intrinsics_of(impl, "store_output"):
            slot = store["location"]
            if shader.stage is Stage.FRAGMENT:
                is_color = slot == FragResult.COLOR or slot >= FragResult.DATA0
            else:
                is_color = isinstance(slot, VaryingSlot) and slot.is_color
            if not is_color or not str(store["src_type"]).startswith("float"):
                continue
            b = Builder(impl).at_before(store)
            store.srcs[0].rewrite(b.fsat(store.srcs[0].value))
            progress = True
    return progress
