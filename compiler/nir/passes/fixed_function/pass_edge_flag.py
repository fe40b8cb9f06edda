"""The vertex shader passes the edge flag to the rasterizer."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot, VertAttrib
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("pass_edge_flag", preserves=Metadata.CONTROL_FLOW)
def pass_edge_flag(shader: Shader) -> bool:
    """A vertex shader also copies the attribute `EDGEFLAG` to the output `EDGE`.

    The attribute becomes the last input. This is needed where polygons are drawn as lines or
    points; it does nothing for other stages, or if the output is already written.
    """
    impl = shader.entry
    outputs = intrinsics_of(impl, "store_output")
    if shader.stage is not Stage.VERTEX or any(s["location"] == VaryingSlot.EDGE for s in outputs):
        return False
    base = 0
    for load in intrinsics_of(impl, "load_input"):
        base = max(base, load["base"] + max(load["num_slots"], 1))
    b = Builder(impl).at_end(impl.last)
    flag = b.intrinsic(
        "load_input",
        [b.imm_int(0)],
        num_components=1,
        bit_size=32,
        base=base,
        location=VertAttrib.EDGEFLAG,
        num_slots=1,
        dest_type="float32",
    )
    b.intrinsic(
        "store_output",
        [flag, b.imm_int(0)],
        write_mask=1,
        location=VaryingSlot.EDGE,
        num_slots=1,
        src_type="float32",
    )
    return True
