"""Live ranges and divergent loops: what the interpreter computes, or not without a remedy."""

from __future__ import annotations

from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Shader
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.work import Work
from gallette.drivers.machines.program import BoundMachine, Counters, MachineProgram
from gallette.drivers.machines.simd.backend.liveness import LiveRanges
from gallette.drivers.machines.simd.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.simulator.threads import MachineHangError
from tests.numpipe.shader.shader_harness import PictureEnvironment, agree
from tests.simd.divergent_programs import divergent_shader


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
