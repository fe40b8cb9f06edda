"""Phis that have no choice dissolve."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Phi
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import is_phi_of_same
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("remove_phis", preserves=Metadata.CONTROL_FLOW)
def remove_phis(shader: Shader) -> bool:
    """A phi whose sources are all one value (or the phi itself) is that value."""
    progress = False
    for impl in shader.impls():
        work = [p for block in impl.blocks() for p in block.phis()]
        while work:
            phi = work.pop()
            if phi.block is None:
                continue
            same = is_phi_of_same(phi)
            if same is None:
                continue
            users = [s.parent for s in phi.result.uses if isinstance(s.parent, Phi)]
            phi.replace_by(same)
            work.extend(u for u in users if u is not phi)
            progress = True
    return progress
