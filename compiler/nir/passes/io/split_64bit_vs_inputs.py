"""64-bit vertex inputs wider than 16 bytes become two inputs."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.questions import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Type, array, vec
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("split_64bit_vs_inputs", preserves=Metadata.CONTROL_FLOW)
def split_64bit_vs_inputs(shader: Shader) -> bool:
    """A `dvec3` or `dvec4` vertex input occupies two 16-byte slots: give each its own variable.

    The variable is clamped to `dvec2`, a second one in the next slot takes the rest, both are
    loaded and the full vector rebuilt; uses after the rebuilt value read it. Variables behind are
    not renumbered: an explicit API's locations count slots already. Runs before `lower_io`.
    """
    if shader.stage is not Stage.VERTEX:
        return False
    progress = False
    for var in list(shader.variables_of(Mode.SHADER_IN)):
        inner = var.type.without_array
        if inner.bit_size == 64 and inner.is_vector_or_scalar and inner.components > 2:
            _split(shader, var, inner)
            progress = True
    return progress


def _retype(type: Type, inner: Type) -> Type:
    lengths = []
    while type.element is not None:
        lengths.append(type.length)
        type = type.element
    for length in reversed(lengths):
        inner = array(inner, length)
    return inner


def _split(shader: Shader, var: Variable, inner: Type) -> None:
    n = inner.components
    first, rest = vec(inner.base, 2), vec(inner.base, n - 2)
    high = var.copy()
    high.name = f"{var.name}@high"
    high.type = _retype(var.type, rest)
    high.location = var.location + 1
    high.driver_location = var.driver_location + 1 if var.driver_location >= 0 else -1
    shader.variables.insert(shader.variables.index(var) + 1, high)
    low_type = _retype(var.type, first)
    for impl in shader.impls():
        for load in intrinsics_of(impl, "load_deref"):
            deref = load.deref
            if deref is not None and deref.root_var is var:
                _split_load(Builder(impl).at_before(load), load, deref, high, n)
        for block in impl.blocks():
            for instr in block.instrs():
                if isinstance(instr, Deref) and instr.root_var is var:
                    depth = len(instr.path()) - 1
                    t = low_type
                    for _ in range(depth):
                        t = t.indexed()
                    instr.type = t
    var.type = low_type


def _split_load(b: Builder, load: Intrinsic, deref: Deref, high: Variable, n: int) -> None:
    at = b.deref_var(high)
    for step in deref.path()[1:]:
        at = b.deref_array(at, step.srcs[1].value)
    low = Intrinsic("load_deref", [deref.result], 2, 64, {"access": load["access"]})
    b.insert(low)
    rest = b.load_deref(at)
    parts = [(low.result, (0,)), (low.result, (1,))]
    parts += [(rest, (i,)) for i in range(n - 2)]
    whole = b.alu_swizzled(f"vec{n}", parts)
    load.result.rewrite_uses_after(whole, load)
    load.remove()
