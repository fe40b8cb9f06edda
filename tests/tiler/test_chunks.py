"""The machine computes the bits the reference interpreter computes."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.machines.program import Counters, MachineProgram
from gallette.drivers.machines.tiler.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from tests.numpipe.shader.random_lane_shaders import random_shader
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare
from tests.simd.divergent_programs import DivergentShader


def lowered(shader: Shader) -> Shader:
    lowered_for_tiler(shader, OptimizeOptions(scalar=True))
    return shader


def compiled(shader: Shader, options: BackendOptions | None = None) -> MachineProgram[Compiled]:
    made = compile_shader(shader, options or BackendOptions())
    return MachineProgram(shader, made, Counters())


@pytest.mark.parametrize("seed", range(20))
def test_random_fragment_shader(seed: int) -> None:
    shader = lowered(random_shader(seed, exact=True))
    validate(shader)
    compare(shader, PictureEnvironment(137, seed), compiler=compiled)


@pytest.mark.parametrize("seed", range(200, 206))
def test_random_vertex_shader(seed: int) -> None:
    shader = lowered(random_shader(seed, Stage.VERTEX, exact=True))
    compare(shader, PictureEnvironment(17, seed), compiler=compiled)


@pytest.mark.parametrize("seed", range(500, 506))
def test_derivatives_come_from_quads(seed: int) -> None:
    shader = lowered(random_shader(seed, derivatives=True, exact=True))
    compare(shader, PictureEnvironment(64, seed), quads=True, compiler=compiled)


@pytest.mark.parametrize("seed", range(700, 704))
def test_textures_and_doubles_in_divergent_loops(seed: int) -> None:
    shader = lowered(DivergentShader(seed, Stage.FRAGMENT, exact=True).build())
    compare(shader, PictureEnvironment(200, seed), compiler=compiled)
