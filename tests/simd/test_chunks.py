"""The machine computes the bits the reference interpreter computes."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.work import Work
from gallette.drivers.machines.program import BoundMachine, Counters, MachineProgram
from gallette.drivers.machines.simd.backend.liveness import LiveRanges
from gallette.drivers.machines.simd.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.simulator.threads import MachineHangError
from tests.numpipe.shader.random_lane_shaders import random_shader
from tests.numpipe.shader.shader_harness import PictureEnvironment, agree, compare
from tests.simd.divergent_programs import divergent_shader, scalar


def compiled(shader: Shader, options: BackendOptions | None = None) -> MachineProgram[Compiled]:
    made = compile_shader(shader, options or BackendOptions())
    return MachineProgram(shader, made, Counters())


@pytest.mark.parametrize("seed", range(15))
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


@pytest.mark.parametrize("seed", range(600, 606))
@pytest.mark.parametrize("width", [8, 16])
def test_spilling_changes_nothing(seed: int, width: int) -> None:
    few = BackendOptions(width=width, registers=48)
    shader = scalar(random_shader(seed, exact=True))
    compare(shader, PictureEnvironment(50, seed), compiler=lambda s: compiled(s, few))


class Impatient(MachineProgram[Compiled]):
    """Gives up soon: what forgets its channels may loop for ever."""

    def bind(self, resources: ShaderResources) -> BoundMachine:
        resources.work = Work(1 << 28)
        return super().bind(resources)


def wrong(seed: int, *settings: LiveRanges) -> list[LiveRanges]:
    """Those with which the machine computes something else than the interpreter, or hangs."""
    shader, env = divergent_shader(seed), PictureEnvironment(37, seed)
    expected = interpret(shader, env)
    found = []
    for live_ranges in settings:
        options = BackendOptions(live_ranges=live_ranges)

        def compiler(shader: Shader, options: BackendOptions = options) -> Impatient:
            return Impatient(shader, compile_shader(shader, options), Counters())

        try:
            agree(expected, shader, env, compiler=compiler)
        except (AssertionError, MachineHangError):
            found.append(live_ranges)
    return found


def test_programs_with_divergent_loops_are_right_with_either_remedy() -> None:
    """And without one, some are wrong: these programs show the problem."""
    found = [wrong(seed, "naive", "loop_extended", "mask_aware") for seed in range(30, 90)]
    assert {one for each in found for one in each} == {"naive"}
    assert found.count(["naive"]) >= 3


def test_unreachable_code_writes_no_phi() -> None:
    assert not wrong(2111, "mask_aware")
