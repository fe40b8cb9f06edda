"""The machine computes the bits the reference interpreter computes."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.drivers.simd.compile import BackendOptions
from gallette.drivers.simd.program import Counters, SimdProgram, compile_program
from tests.numpipe.shader.random_lane_shaders import random_shader
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare


def scalar(shader: Shader) -> Shader:
    """As the driver does it: optimised, a component at a time."""
    optimize(shader, OptimizeOptions(scalar=True))
    return shader


def compiled(shader: Shader, options: BackendOptions | None = None) -> SimdProgram:
    return compile_program(shader, options or BackendOptions(), Counters())


@pytest.mark.parametrize("seed", range(30))
def test_random_fragment_shader(seed: int) -> None:
    shader = scalar(random_shader(seed, exact=True))
    validate(shader)
    compare(shader, PictureEnvironment(37, seed), compiler=compiled)


@pytest.mark.parametrize("seed", range(200, 210))
def test_random_vertex_shader(seed: int) -> None:
    shader = scalar(random_shader(seed, Stage.VERTEX, exact=True))
    compare(shader, PictureEnvironment(17, seed), compiler=compiled)


@pytest.mark.parametrize("seed", range(400, 404))
def test_results_do_not_depend_on_the_chunk_size(seed: int) -> None:
    compare(
        scalar(random_shader(seed, exact=True)), PictureEnvironment(100, seed), 7, compiler=compiled
    )


@pytest.mark.parametrize("seed", range(500, 510))
def test_derivatives_come_from_quads(seed: int) -> None:
    shader = scalar(random_shader(seed, derivatives=True, exact=True))
    compare(shader, PictureEnvironment(64, seed), quads=True, compiler=compiled)


@pytest.mark.parametrize("seed", range(600, 612))
@pytest.mark.parametrize("width", [8, 16])
def test_spilling_changes_nothing(seed: int, width: int) -> None:
    few = BackendOptions(width=width, registers=48)
    shader = scalar(random_shader(seed, exact=True))
    compare(shader, PictureEnvironment(50, seed), compiler=lambda s: compiled(s, few))
