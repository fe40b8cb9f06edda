"""64-bit vertex inputs wider than 16 bytes become two inputs."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import vec
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("split_64bit_vs_inputs", preserves=Metadata.CONTROL_FLOW)
def split_64bit_vs_inputs(shader: Shader) -> bool:
    """A `dvec3` or `dvec4` vertex input occupies two 16-byte slots: give each its own variable.

    The variable is truncated to `dvec2`, a second one in the next slot has the rest, both are
    loaded and the full vector rebuilt; uses read the rebuilt value. Following variables are not
    renumbered, since locations of an explicit API count slots already. An array, whose elements
    take two slots each, stays whole. Runs before `lower_io`.
    """
    if shader.stage is not Stage.VERTEX:
        return False
    progress = False
    for var in list(shader.variables_of(Mode.SHADER_IN)):
        t = var.type
        if t.is_vector_or_scalar and t.bit_size == 64 and t.components > 2:
            _split(shader, var)
            progress = True
    return progress


def _split(shader: Shader, var: Variable) -> None:
    n = var.type.components
    high = var.copy()
    high.name = f"{var.name}@high"
    high.type = vec(var.type.base, n - 2)
    high.location = var.location + 1
    high.driver_location = var.driver_location + 1 if var.driver_location >= 0 else -1
    shader.variables.insert(shader.variables.index(var) + 1, high)
    var.type = vec(var.type.base, 2)
    for impl in shader.impls():
        for load in intrinsics_of(impl, "load_deref"):
            deref = load.deref
            if deref is not None and deref.var is var:
                _split_load(Builder(impl).at_before(load), load, deref, high, n)
        for block in impl.blocks():
            for instr in block.instrs():
                if isinstance(instr, Deref) and instr.var is var:
                    instr.type = var.type


def _split_load(b: Builder, load: Intrinsic, deref: Deref, high: Variable, n: int) -> None:
    at = b.deref_var(high)
    low = Intrinsic("load_deref", [deref.result], 2, 64, {"access": load["access"]})
    b.insert(low)
    rest = b.load_deref(at)
    parts = [(low.result, (0,)), (low.result, (1,))]
    parts += [(rest, (i,)) for i in range(n - 2)]
    whole = b.alu_swizzled(f"vec{n}", parts)
    load.result.rewrite_uses_after(whole, load)
    load.remove()
