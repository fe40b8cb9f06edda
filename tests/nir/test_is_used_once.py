"""The problem the project was founded on, at the level of the compiler.

One vertex shader, two variants. The full one also hands the products of the position computation to
the next stage; the depth-only variant does not, so there each product is used once and may be fused
into a sum that is rounded once instead of twice. The positions then differ in the last bit, unless
a remedy is on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import VEC4
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import run_pass

LANES = 256


def vertex_shader() -> Shader:
    b = Builder.shader_main(Stage.VERTEX, "prepass")
    zero = b.imm_int(0)
    b.shader.add_variable("position", VEC4, Mode.SHADER_IN, location=VertAttrib.POS)
    vertex = b.intrinsic("load_input", [zero], num_components=4, location=VertAttrib.POS)
    columns = [
        b.intrinsic("load_ubo", [zero, b.imm_int(16 * i)], num_components=4) for i in range(4)
    ]
    products = [b.fmul(columns[i], b.channel(vertex, i)) for i in range(4)]
    total = products[0]
    for product in products[1:]:
        total = b.fadd(total, product)

    def out(slot: VaryingSlot, value: Any) -> None:
        b.intrinsic("store_output", [value, b.imm_int(0)], write_mask=15, location=slot)

    out(VaryingSlot.POS, total)
    for i, product in enumerate(products):
        out(VaryingSlot(VaryingSlot.VAR0 + i), product)
    return b.shader


def positions(shader: Shader) -> np.ndarray[Any, Any]:
    result = interpret(shader, Environment(LANES, seed=3))
    return np.stack([result.outputs[int(VaryingSlot.POS), c] for c in range(4)])


def variants(options: OptimizeOptions) -> tuple[Shader, Shader]:
    full = vertex_shader()
    optimize(full, options)
    depth_only = clone_shader(full)
    assert run_pass(depth_only, "lower_depth_only")
    optimize(depth_only, options)
    for shader in (full, depth_only):
        validate(shader)
    return full, depth_only


def test_a_depth_only_variant_moves_vertices_when_inexact_rules_count_uses() -> None:
    full, depth_only = variants(OptimizeOptions(fuse_ffma=True, inexact_used_once="always"))
    a, b = positions(full), positions(depth_only)
    assert (a != b).any()
    difference = np.abs(a.astype(np.uint32).view(np.float32) - b.astype(np.uint32).view(np.float32))
    assert difference.max() < 1e-4


@pytest.mark.parametrize(
    "remedy",
    [
        OptimizeOptions(fuse_ffma=True, inexact_used_once="never"),
        OptimizeOptions(fuse_ffma=True, inexact_used_once="not_position"),
        OptimizeOptions(fuse_ffma=True, inexact_used_once="always", position_invariant=True),
        OptimizeOptions(),
    ],
    ids=["never", "not_position", "position_invariant", "default"],
)
def test_each_remedy_keeps_positions_bit_for_bit(remedy: OptimizeOptions) -> None:
    full, depth_only = variants(remedy)
    assert np.array_equal(positions(full), positions(depth_only))


def test_dropping_the_varyings_makes_the_shader_shorter() -> None:
    full, depth_only = variants(OptimizeOptions())
    assert depth_only.count_instrs() < full.count_instrs()


def test_an_invariant_output_needs_no_option() -> None:
    options = OptimizeOptions(fuse_ffma=True, inexact_used_once="always")
    shader = vertex_shader()
    for instr in shader.entry.first.instrs():
        if instr.kind == "intrinsic" and getattr(instr, "name", "") == "store_output":
            instr.indices["invariant"] = instr["location"] == VaryingSlot.POS  # type: ignore[attr-defined, index]
    assert run_pass(shader, "propagate_invariant")
    optimize(shader, options)
    depth_only = clone_shader(shader)
    run_pass(depth_only, "lower_depth_only")
    optimize(depth_only, options)
    assert np.array_equal(positions(shader), positions(depth_only))
