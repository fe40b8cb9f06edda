"""Out of SSA: phis become registers."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf import Block
from gallette.compiler.nir.ir.instrs import Intrinsic, ParallelCopy, Phi
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("convert_from_ssa", preserves=Metadata.CONTROL_FLOW)
def convert_from_ssa(shader: Shader) -> bool:
    """Give each phi a register, written at the end of every predecessor and read at the phi.

    Before: `%3 = phi b1: %1, b2: %2`; after: `parallel_copy %r <- %1` in b1, `parallel_copy %r <-
    %2` in b2 and `%3 = load_reg (%r)`. Only for shaders nobody else holds: passes that expect SSA
    do not look into registers. `lower_parallel_copies` comes next.
    """
    progress = False
    for impl in shader.impls():
        phis = [p for block in impl.blocks() for p in block.phis()]
        if not phis:
            continue
        registers = _declare(Builder(impl), impl.first, phis)
        copies: dict[Block, list[tuple[Phi, Def]]] = {}
        for phi in phis:
            for src in phi.phi_srcs:
                copies.setdefault(src.pred, []).append((phi, src.value))
        for block in impl.blocks():
            if block in copies:
                pairs = [(registers[phi], value) for phi, value in copies[block]]
                block.insert_after(block.before_jump, ParallelCopy(pairs))
        for phi in phis:
            _read_register(phi, registers[phi])
        progress = True
    return progress


def declare_register(b: Builder, components: int, bit_size: int, elements: int = 0) -> Def:
    """A new register (an array of `elements` if not 0) of that size."""
    indices = {"num_components": components, "bit_size": bit_size, "num_array_elems": elements}
    instr = Intrinsic("decl_reg", [], 1, 32, indices)
    b.insert(instr)
    return instr.result


def _declare(b: Builder, first: Block, phis: list[Phi]) -> dict[Phi, Def]:
    b.at_start(first)
    return {
        phi: declare_register(b, phi.result.num_components, phi.result.bit_size) for phi in phis
    }


def _read_register(phi: Phi, register: Def) -> None:
    block = phi.block
    assert block is not None
    dest = phi.result
    load = Intrinsic("load_reg", [register], dest.num_components, dest.bit_size)
    block.insert_after(block.last_phi, load)
    phi.replace_by(load.result)
