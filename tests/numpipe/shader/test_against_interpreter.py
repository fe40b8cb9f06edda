"""Generated code computes the very bits the reference interpreter computes."""

from __future__ import annotations

import pytest
from random_lane_shaders import random_shader
from shader_harness import PictureEnvironment, compare

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize


@pytest.mark.parametrize("seed", range(60))
def test_random_fragment_shader(seed: int) -> None:
    shader = random_shader(seed)
    validate(shader)
    compare(shader, PictureEnvironment(37, seed))


@pytest.mark.parametrize("seed", range(100, 120))
def test_random_fragment_shader_optimised(seed: int) -> None:
    shader = random_shader(seed)
    optimize(shader, OptimizeOptions(scalar=True))
    compare(shader, PictureEnvironment(29, seed))


@pytest.mark.parametrize("seed", range(200, 220))
def test_random_vertex_shader(seed: int) -> None:
    compare(random_shader(seed, Stage.VERTEX), PictureEnvironment(17, seed))


@pytest.mark.parametrize("seed", range(300, 310))
def test_large_chunks_compact(seed: int) -> None:
    compare(random_shader(seed), PictureEnvironment(3000, seed))


@pytest.mark.parametrize("seed", range(400, 410))
def test_results_do_not_depend_on_the_chunk_size(seed: int) -> None:
    compare(random_shader(seed), PictureEnvironment(100, seed), chunk=7)


@pytest.mark.parametrize("seed", range(500, 530))
def test_derivatives_come_from_quads(seed: int) -> None:
    compare(random_shader(seed, derivatives=True), PictureEnvironment(64, seed), quads=True)


def test_two_carried_values_may_share_their_next_value() -> None:
    compare(random_shader(3116), PictureEnvironment(33, 3116))
