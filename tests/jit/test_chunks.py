"""Compiled chunk functions compute the bits the reference interpreter computes."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.drivers.jit.program import JitProgram, compile_program
from tests.numpipe.shader.random_lane_shaders import random_shader
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare


def compiled(shader: Shader) -> JitProgram:
    return compile_program(shader)


@pytest.mark.parametrize("seed", range(20))
def test_random_fragment_shader(seed: int) -> None:
    shader = random_shader(seed, exact=True)
    validate(shader)
    compare(shader, PictureEnvironment(37, seed), compiler=compiled)


@pytest.mark.parametrize("seed", range(100, 110))
def test_random_fragment_shader_optimised(seed: int) -> None:
    shader = random_shader(seed, exact=True)
    optimize(shader, OptimizeOptions(scalar=True))
    compare(shader, PictureEnvironment(29, seed), compiler=compiled)


@pytest.mark.parametrize("seed", range(200, 210))
def test_random_vertex_shader(seed: int) -> None:
    shader = random_shader(seed, Stage.VERTEX, exact=True)
    compare(shader, PictureEnvironment(17, seed), compiler=compiled)


@pytest.mark.parametrize("seed", range(400, 404))
def test_results_do_not_depend_on_the_chunk_size(seed: int) -> None:
    compare(random_shader(seed, exact=True), PictureEnvironment(100, seed), 7, compiler=compiled)


@pytest.mark.parametrize("seed", range(500, 510))
def test_derivatives_come_from_quads(seed: int) -> None:
    shader = random_shader(seed, derivatives=True, exact=True)
    compare(shader, PictureEnvironment(64, seed), quads=True, compiler=compiled)
