"""Point sizes stay within limits."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.questions import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_point_size", preserves=Metadata.CONTROL_FLOW)
def lower_point_size(
    shader: Shader, *, minimum: float = 0.0, maximum: float = 0.0, default: float = 0.0
) -> bool:
    """Clamp `gl_PointSize` to `minimum` and `maximum` (0: no limit).

    With `default`, a shader that does not write it writes that size.
    """
    if shader.stage is Stage.FRAGMENT:
        return False
    progress = False
    found = False
    for impl in shader.impls():
        for store in intrinsics_of(impl, "store_output"):
            if store["location"] != VaryingSlot.PSIZ:
                continue
            found = True
            b = Builder(impl).at_before(store)
            size = store.srcs[0].value
            if minimum > 0.0:
                size = b.fmax(size, b.imm_float(minimum))
            if maximum > 0.0:
                size = b.fmin(size, b.imm_float(maximum))
            if size is not store.srcs[0].value:
                store.srcs[0].rewrite(size)
                progress = True
    if not found and default > 0.0:
        b = Builder(shader.entry).at_end(shader.entry.last)
        b.intrinsic(
            "store_output",
            [b.imm_float(default), b.imm_int(0)],
            write_mask=1,
            location=VaryingSlot.PSIZ,
        )
        progress = True
    return progress
