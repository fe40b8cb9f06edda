"""Columns and components of matrices in buffers: the same through pointers as through offsets."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.run.pass_runner import run_passes

LANES = 3
LOWERED = {Mode.SSBO: "lower_io", Mode.SHARED: "lower_explicit_io"}


@pytest.mark.parametrize("row_major", [False, True])
@pytest.mark.parametrize("mask", [0b111, 0b101, 0b010])
@pytest.mark.parametrize("mode", LOWERED)
def test_columns_of_matrices(row_major: bool, mask: int, mode: Mode) -> None:
    """Rows that lie one after the other: a column's components lie apart."""
    matrix = t.mat(t.Base.FLOAT, 4, 3, 16, row_major)
    size = 16 * (3 if row_major else 4)
    block = t.interface(
        "Block",
        [
            t.Field("first", t.VEC4, offset=0),
            t.Field("m", matrix, offset=16, row_major=row_major),
            t.Field("more", t.array(matrix, 2, size), offset=96, row_major=row_major),
        ],
        "std430",
    )
    b = Builder.shader_main(Stage.COMPUTE, "columns")
    var = b.shader.add_variable("block", block, mode, binding=0)
    lane = b.intrinsic("load_subgroup_invocation")
    root = b.deref_var(var)
    column = b.deref_array(b.deref_struct(root, 1), lane)
    given = b.load_deref(column)
    last = b.deref_array(b.deref_array_imm(b.deref_struct(root, 2), 1), b.iadd(lane, b.imm_int(1)))
    moved = b.fadd(given, b.vec([b.u2f32(b.iadd(lane, b.imm_int(k))) for k in range(3)]))
    b.store_deref(last, moved, mask)
    component = b.deref_array(column, lane)
    b.store_deref(component, b.fmul(b.load_deref(component), b.imm_float(2.0)))
    out = b.vec([*b.channels(given), b.load_deref(component)])
    b.intrinsic("store_output", [out, b.imm_int(0)], location=FragResult.DATA0, write_mask=15)
    before = clone_shader(b.shader)
    assert run_passes(b.shader, [LOWERED[mode]])
    words = np.arange(64, dtype=np.float32)
    found = []
    kind = "ssbo" if mode is Mode.SSBO else "shared"
    for shader in (before, b.shader):
        environment = Environment(LANES)
        environment.buffer(kind, 0)[:256] = words.view(np.uint8)
        found.append(interpret(shader, environment))
        shader.unref()
    wanted = words.copy()
    cells = np.array([[4 + (4 * r + c if row_major else 4 * c + r) for r in range(3)]
                      for c in range(4)])  # fmt: skip
    seen = words[cells[:LANES]]
    for k in range(LANES):
        for r in range(3):
            if mask >> r & 1:
                wanted[cells[k + 1][r] - 4 + (96 + size) // 4] = seen[k][r] + k + r
        wanted[cells[k][k]] *= 2
    # Variables of a workgroup lie nowhere in particular before.
    for result in found[mode is Mode.SHARED :]:
        data = result.buffers[kind, 0]
        assert data[:256].view(np.float32).tolist() == wanted.tolist()
        columns = [result.floats(FragResult.DATA0, c).tolist() for c in range(4)]
        assert columns[:3] == seen.T.tolist()
        assert columns[3] == [2 * seen[k][k] for k in range(LANES)]
