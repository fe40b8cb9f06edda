"""Projective texture lookups divide first."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_txp", preserves=Metadata.CONTROL_FLOW)
def lower_txp(shader: Shader) -> bool:
    """Before: `tex (coord=%c, projector=%q)`; after: `tex (coord=%c / %q)`.

    The comparator is divided too, an array layer is not.
    """
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            if isinstance(instr, Tex) and instr.src("projector") is not None:
                divide_by_projector(Builder(impl).at_before(instr), instr)
                progress = True
    return progress


def divide_by_projector(b: Builder, tex: Tex) -> None:
    projector, coord = tex.src("projector"), tex.src("coord")
    assert projector is not None
    assert coord is not None
    q = projector.value
    parts = b.channels(coord.value)
    for i in range(tex.dim.coordinates):
        parts[i] = b.fdiv(parts[i], q)
    coord.rewrite(b.vec(parts))
    comparator = tex.src("comparator")
    if comparator is not None:
        comparator.rewrite(b.fdiv(comparator.value, q))
    tex.remove_src("projector")
