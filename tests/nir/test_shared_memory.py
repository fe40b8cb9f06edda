"""Where the variables of a workgroup lie."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.passes.io.lower_io import lower_io

PAIR = t.struct("Pair", [t.Field("a", t.FLOAT), t.Field("b", t.vec(t.Base.DOUBLE, 2))])
SIZES = {
    t.FLOAT: 4,
    t.vec(t.Base.INT, 3): 12,
    t.vec(t.Base.DOUBLE, 3): 24,
    t.array(t.FLOAT, 5): 20,
    t.mat(t.Base.FLOAT, 2, 3): 24,  # columns without gaps
    PAIR: 24,  # members of 8 bytes lie at multiples of 8
    t.array(PAIR, 3): 72,
    t.array(t.vec(t.Base.UINT, 4), 2): 32,
}
"""Bytes of a variable: elements and members follow one another."""


def test_variables_of_a_workgroup_begin_at_multiples_of_sixteen() -> None:
    """One after the other, and after what the program said itself; those with a place keep it."""
    for taken in (0, 1, 16, 20):
        b = Builder.shader_main(Stage.COMPUTE)
        b.shader.info.shared_bytes = end = taken
        placed = b.shader.add_variable("placed", t.FLOAT, Mode.SHARED)
        placed.offset = 4
        variables = [b.shader.add_variable("v", type, Mode.SHARED) for type in SIZES]
        lower_io(b.shader)
        for var, size in zip(variables, SIZES.values(), strict=True):
            assert var.offset == (end + 15) // 16 * 16, var.type
            end = var.offset + size
        assert (b.shader.info.shared_bytes, placed.offset) == (end, 4)
        lower_io(b.shader)
        assert b.shader.info.shared_bytes == end
