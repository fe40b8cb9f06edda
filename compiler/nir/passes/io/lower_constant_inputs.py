"""Chosen inputs become constants."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_constant_inputs", preserves=Metadata.CONTROL_FLOW)
def lower_constant_inputs(
    shader: Shader, *, inputs: tuple[tuple[int, tuple[float, ...]], ...] = ()
) -> bool:
    """Loads of the listed slots give the listed values: `((slot, (x, y, z, w)), ...)`.

    For drawing with attributes that do not vary: `glDrawPixels` and `glBitmap` quads, current
    vertex attributes, unwritten varyings.
    """
    values = dict(inputs)
    progress = False
    for impl in shader.impls():
        for load in intrinsics_of(impl, "load_input", "load_interpolated_input"):
            known = values.get(int(load["location"]))
            if known is None or load.result.bit_size != 32:
                continue
            b = Builder(impl).at_before(load)
            first, count = load["component"], load.result.num_components
            chosen = known[first : first + count]
            if str(load["dest_type"]).startswith("float"):
                value = b.imm_vec(*chosen)
            else:
                value = b.imm_ivec(*[int(v) for v in chosen])
            load.replace_by(value)
            progress = True
    return progress
