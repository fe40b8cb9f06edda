"""Back faces read back colours."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_BACK = {VaryingSlot.COL0: VaryingSlot.BFC0, VaryingSlot.COL1: VaryingSlot.BFC1}


@nir_pass("lower_two_sided_color", preserves=Metadata.CONTROL_FLOW)
def lower_two_sided_color(shader: Shader) -> bool:
    """A fragment's colour input becomes `front_face ? COL : BFC`.

    For `GL_VERTEX_PROGRAM_TWO_SIDE`. Before: `%1 = load_interpolated_input (location=COL0)`;
    after: a second load from BFC0 and a `bcsel`. Runs on lowered I/O, once.
    """
    if shader.stage is not Stage.FRAGMENT:
        return False
    progress = False
    for impl in shader.impls():
        for load in intrinsics_of(impl, "load_input", "load_interpolated_input"):
            back = _BACK.get(load["location"])
            if back is None:
                continue
            b = Builder(impl).at_after(load)
            other = _back_color(b, load, back)
            face = b.intrinsic("load_front_face")
            dest = load.result
            users = list(dest.uses)
            chosen = b.bcsel(face, dest, other)
            for src in users:
                src.rewrite(chosen)
            progress = True
    return progress


def _back_color(b: Builder, load: Intrinsic, location: VaryingSlot) -> Def:
    dest = load.result
    indices = {**load.indices, "location": location}
    srcs = [s.value for s in load.srcs]
    twin = Intrinsic(load.info, srcs, dest.num_components, dest.bit_size, indices)
    b.insert(twin)
    return twin.result
