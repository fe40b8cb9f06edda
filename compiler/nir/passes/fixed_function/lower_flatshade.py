"""Flat shading: colours are not interpolated."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_flatshade", preserves=Metadata.CONTROL_FLOW)
def lower_flatshade(shader: Shader) -> bool:
    """`glShadeModel(GL_FLAT)`: interpolated loads of colour inputs become plain `load_input`.

    Before: `load_interpolated_input (%bary, %0) (location=VARYING.COL0)`; after: `load_input (%0)
    (location=VARYING.COL0)`. Colours that are qualified themselves (GLSL 1.30) stay as they are.
    """
    if shader.stage is not Stage.FRAGMENT:
        return False
    progress = False
    for impl in shader.impls():
        for load in intrinsics_of(impl, "load_interpolated_input"):
            slot = load["location"]
            where = load.srcs[0].value.instr
            assert isinstance(where, Intrinsic)
            if not isinstance(slot, VaryingSlot) or not slot.is_color or where["interp"] != "none":
                continue
            dest = load.result
            flat = Intrinsic(
                "load_input",
                [load.srcs[1].value],
                dest.num_components,
                dest.bit_size,
                load.indices,
            )
            flat.insert_before(load)
            load.replace_by(flat.result)
            shader.info.flat_inputs.add(int(slot))
            progress = True
    return progress
