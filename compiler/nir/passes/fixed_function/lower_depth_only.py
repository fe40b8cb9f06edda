"""The depth-only variant: colours and varyings are removed."""

from __future__ import annotations

from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.link.linking import FIXED_FUNCTION
from gallette.compiler.nir.run.pass_runner import nir_pass

_DEPTH = frozenset({FragResult.DEPTH, FragResult.STENCIL, FragResult.SAMPLE_MASK})


@nir_pass("lower_depth_only", preserves=Metadata.CONTROL_FLOW)
def lower_depth_only(shader: Shader, *, keep: tuple[int, ...] = ()) -> bool:
    """Remove outputs that cannot affect a depth buffer.

    A vertex shader keeps position, point size, clip distances and the like (and the slots in
    `keep`, for varyings the fragment shader still reads); a fragment shader keeps depth, stencil
    and sample mask. The computation of the others is dead afterwards, which changes use counts: see
    `OptimizeOptions.inexact_used_once`.
    """
    wanted: frozenset[int] = _DEPTH if shader.stage is Stage.FRAGMENT else FIXED_FUNCTION
    progress = False
    for impl in shader.impls():
        for store in intrinsics_of(impl, "store_output"):
            slot = int(store["location"])
            if slot not in wanted and slot not in keep:
                store.remove()
                progress = True
    return progress
