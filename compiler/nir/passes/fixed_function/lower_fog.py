"""Fixed-function fog is added to a fragment shader."""

from __future__ import annotations

import math

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.questions import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_fog", preserves=Metadata.CONTROL_FLOW, exact=False)
def lower_fog(shader: Shader, *, mode: str = "linear") -> bool:
    """Blend colour output 0 with `load_fog_color` by the factor of the FOGC input.

    `mode` is linear, exp or exp2; `load_fog_params` is (density, start, end, 1 / (end - start)).
    Alpha is left alone.
    """
    if shader.stage is not Stage.FRAGMENT:
        return False
    progress = False
    for impl in shader.impls():
        for store in intrinsics_of(impl, "store_output"):
            if store["location"] not in (FragResult.COLOR, FragResult.DATA0):
                continue
            _blend(Builder(impl).at_before(store), store, mode)
            progress = True
    return progress


def _blend(b: Builder, store: Intrinsic, mode: str) -> None:
    bary = b.intrinsic("load_barycentric_pixel")
    coord = b.intrinsic(
        "load_interpolated_input",
        [bary, b.imm_int(0)],
        num_components=1,
        location=VaryingSlot.FOGC,
    )
    factor = fog_factor(b, coord, b.intrinsic("load_fog_params"), mode)
    color = b.intrinsic("load_fog_color")
    parts = b.channels(store.srcs[0].value)
    first = store["component"]
    for i in range(len(parts)):
        if first + i < 3:
            fog = b.channel(color, first + i)
            parts[i] = b.fadd(fog, b.fmul(factor, b.fsub(parts[i], fog)))
    store.srcs[0].rewrite(b.vec(parts))


def fog_factor(b: Builder, coord: Def, params: Def, mode: str) -> Def:
    """How much of the fragment's own colour is left, 0..1."""
    density, _, end, scale = b.channels(params)
    distance = b.fabs(coord)
    if mode == "linear":
        return b.fsat(b.fmul(b.fsub(end, distance), scale))
    x = b.fmul(density, distance)
    if mode == "exp2":
        x = b.fmul(x, x)
    return b.fsat(b.fexp2(b.fmul(x, b.imm_float(-math.log2(math.e)))))
