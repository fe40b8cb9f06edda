"""Point sprites: texture coordinates are replaced by the position within the point."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_sprite_coord", preserves=Metadata.CONTROL_FLOW)
def lower_sprite_coord(shader: Shader, *, mask: int = 0, flip_y: bool = False) -> bool:
    """`GL_COORD_REPLACE`: TEXi inputs with bit i in `mask` read `(point_coord, 0, 1)`.

    `flip_y` is for a lower-left sprite origin.
    """
    if shader.stage is not Stage.FRAGMENT or not mask:
        return False
    progress = False
    for impl in shader.impls():
        for load in intrinsics_of(impl, "load_input", "load_interpolated_input"):
            unit = int(load["location"]) - VaryingSlot.TEX0
            if not 0 <= unit < 8 or not mask >> unit & 1:
                continue
            b = Builder(impl).at_before(load)
            point = b.intrinsic("load_point_coord")
            x, y = b.channels(point)
            if flip_y:
                y = b.fsub(b.imm_float(1.0), y)
            values = [x, y, b.imm_float(0.0), b.imm_float(1.0)]
            first = load["component"]
            load.replace_by(b.vec(values[first : first + load.result.num_components]))
            progress = True
    return progress
