"""Generated code computes the very bits the reference interpreter computes."""

from __future__ import annotations

import numpy as np
import pytest
from random_lane_shaders import random_shader
from shader_harness import PictureEnvironment, compare

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize


@pytest.mark.parametrize("seed", range(30))
def test_random_fragment_shader(seed: int) -> None:
    shader = random_shader(seed)
    validate(shader)
    compare(shader, PictureEnvironment(37, seed))


@pytest.mark.parametrize("seed", range(100, 110))
def test_random_fragment_shader_optimised(seed: int) -> None:
    shader = random_shader(seed)
    optimize(shader, OptimizeOptions(scalar=True))
    compare(shader, PictureEnvironment(29, seed))


@pytest.mark.parametrize("seed", range(200, 210))
def test_random_vertex_shader(seed: int) -> None:
    compare(random_shader(seed, Stage.VERTEX), PictureEnvironment(17, seed))


@pytest.mark.parametrize("seed", range(300, 310))
def test_large_chunks_compact(seed: int) -> None:
    compare(random_shader(seed), PictureEnvironment(3000, seed))


@pytest.mark.parametrize("seed", range(400, 410))
def test_results_do_not_depend_on_the_chunk_size(seed: int) -> None:
    compare(random_shader(seed), PictureEnvironment(100, seed), chunk=7)


@pytest.mark.parametrize("seed", range(500, 512))
def test_derivatives_come_from_quads(seed: int) -> None:
    compare(random_shader(seed, derivatives=True), PictureEnvironment(64, seed), quads=True)


def test_two_carried_values_may_share_their_next_value() -> None:
    compare(random_shader(3116), PictureEnvironment(33, 3116))


VECTORS = {
    name: op
    for name, op in OPCODES.items()
    if not op.per_component and not op.is_vec and len(op.input_sizes) <= 2 and op.output_size == 1
    and all(type.bits in (0, 32) for type in op.input_types) and op.output_type.bits in (0, 1, 32)
    and any(size > 1 for size in op.input_sizes)
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORS)
def test_whole_vectors(name: str) -> None:
    """Sums, products and comparisons of vectors, which optimised code has component by component.

    Half of the lanes compare equal vectors.
    """
    op = VECTORS[name]
    b = Builder.shader_main(Stage.FRAGMENT, name)
    zero = b.imm_int(0)
    sources = []
    for k, size in enumerate(op.input_sizes):
        wide = b.intrinsic("load_input", [zero], num_components=4, location=32 + k)
        sources.append(b.vec(b.channels(wide)[: max(1, size)]))
    found = b.alu(name, *sources)
    if found.bit_size == 1:
        found = b.alu("b2i32", found)
    b.intrinsic(
        "store_output",
        [found, zero],
        location=FragResult.DATA0,
        write_mask=(1 << found.num_components) - 1,
    )
    lanes = 40
    one, other = np.random.default_rng(len(name)).uniform(-4, 4, (2, 4, lanes)).astype(np.float32)
    other[:, ::2] = one[:, ::2]
    other[3, 4] = np.nan
    inputs = {(32 + k, c): rows[c] for k, rows in enumerate((one, other)) for c in range(4)}
    validate(b.shader)
    compare(b.shader, PictureEnvironment(lanes, inputs=inputs))
