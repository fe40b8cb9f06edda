"""Fragment outputs written by dynamic index or in a branch: those not written are zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from tests.machines.programs import compiled_for_simd, compiled_for_tiler, judged
from tests.numpipe.shader.shader_harness import PictureEnvironment, run_compiled
from tests.simd.divergent_programs import scalar


def lowered(shader: Shader) -> Shader:
    lowered_for_tiler(shader, OptimizeOptions(scalar=True))
    return shader


MACHINES: dict[str, tuple[Callable[[Shader], Shader], Callable[[Shader], Any]]] = {
    "simd": (scalar, compiled_for_simd),
    "tiler": (lowered, compiled_for_tiler),
}
LANES, SLOTS = 40, 4
NUMBER, VALUE = 32, 33
"""Slots of varyings."""


def picked(where: str) -> Shader:
    """One of the colours, or none, gets two components; then the one behind it, or the last."""
    b = Builder.shader_main(Stage.FRAGMENT, "picked")
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")

    def varying(slot: int, component: int) -> Any:
        srcs = [bary, b.imm_int(0)]
        return b.intrinsic(
            "load_interpolated_input", srcs, num_components=1, location=slot, component=component
        )

    def store(index: Any, *values: Any) -> None:
        b.intrinsic(
            "store_output",
            [b.vec(list(values)), index],
            location=FragResult.DATA0,
            component=1,
            num_slots=SLOTS,
            write_mask=3,
        )

    number = b.f2i32(varying(NUMBER, 0))
    one, other = varying(VALUE, 0), varying(VALUE, 1)
    sum, product = b.fadd(one, other), b.fmul(one, other)
    if where != "known in a branch":
        store(number, sum, product)
    if where != "everywhere":
        b.push_if(b.flt(one, other))
    known = where == "known in a branch"
    store(b.imm_int(SLOTS - 1) if known else b.iadd(number, b.imm_int(1)), one, other)
    if where != "everywhere":
        b.pop_if()
    return b.shader


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("where", ["everywhere", "in a branch", "known in a branch"])
def test_colours_that_are_picked(machine: str, where: str) -> None:
    rng = np.random.default_rng(3)
    number = rng.integers(0, SLOTS + 1, LANES)
    values = rng.uniform(1, 9, (2, LANES)).astype(np.float32)
    inputs = {(VALUE, 0): values[0], (VALUE, 1): values[1]}
    inputs[NUMBER, 0] = number.astype(np.float32)
    wanted = np.zeros((SLOTS + 2, 2, LANES), np.float32)
    lanes = np.arange(LANES)
    if where != "known in a branch":
        both = values[0] + values[1], values[0] * values[1]
        wanted[number, :, lanes] = np.stack(both, axis=1)
    again = lanes if where == "everywhere" else np.flatnonzero(values[0] < values[1])
    second = np.full(LANES, SLOTS - 1) if where == "known in a branch" else number + 1
    wanted[second[again], :, again] = values[:, again].T
    lower, compiled = MACHINES[machine]
    environment = PictureEnvironment(LANES, inputs=inputs)
    found, _, _ = run_compiled(lower(picked(where)), environment, compiler=compiled)
    assert found
    for (slot, component), have in found.items():
        colour = wanted[slot - FragResult.DATA0, component - 1]
        assert have.view(np.float32).tolist() == colour.tolist(), (slot, component)
    # Whose registers were never written show zeros here, but not on a machine.
    verdict = judged(machine, lower(picked(where)), 5).verdict
    assert not verdict.problems
    assert verdict.undefined < verdict.values / 2
