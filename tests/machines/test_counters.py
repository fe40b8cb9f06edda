"""What a machine has done is counted: nothing at first, and each launch as much as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.types import INT
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.drivers.common.draw.compute import GroupLanes
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.work import Work
from gallette.drivers.machines.program import Counters, MachineProgram
from gallette.drivers.machines.simd import compile as simd_compile
from gallette.drivers.machines.tiler import compile as tiler_compile

MACHINES: dict[str, tuple[Callable[[Shader], Any], int]] = {
    # how a program is made; how many invocations a thread has
    "simd": (
        lambda shader: simd_compile.compile_shader(shader, simd_compile.BackendOptions(width=16)),
        16,
    ),
    "tiler": (
        lambda shader: tiler_compile.compile_shader(shader, tiler_compile.BackendOptions()),
        64,
    ),
}
machines = pytest.mark.parametrize("machine", MACHINES)
INVOCATIONS = 32


def rounds(count: int) -> Shader:
    """A loop of so many rounds."""
    b = Builder.shader_main(Stage.COMPUTE, "rounds")
    counter = b.impl.add_local("n", INT)
    b.store_var(counter, b.imm_int(count))
    b.push_loop()
    b.break_if(b.ieq(b.load_var(counter), b.imm_int(0)))
    b.store_var(counter, b.iadd(b.load_var(counter), b.imm_int(-1)))
    b.pop_loop()
    run_passes(b.shader, ["lower_vars_to_ssa", "copy_prop", "remove_phis", "dce"])
    return b.shader


class Counted:
    """A program and what was counted since it was made."""

    def __init__(self, machine: str, shader: Shader) -> None:
        self.counters = Counters()
        self.program = MachineProgram(shader, MACHINES[machine][0](shader), self.counters)
        self.before = asdict(self.counters)

    def launch(self, groups: int = 2) -> dict[str, int]:
        """What a launch of some workgroups adds."""
        lanes = GroupLanes(0, groups, (groups, 1, 1), (INVOCATIONS, 1, 1), 0)
        self.program.bind(ShaderResources(work=Work(1 << 24))).compute(lanes)
        now = asdict(self.counters)
        added = {name: now[name] - self.before[name] for name in now}
        self.before = now
        return added


def test_at_first_nothing_is_counted() -> None:
    assert set(asdict(Counters()).values()) == {0}


@machines
def test_each_launch_counts_as_much(machine: str) -> None:
    counted = Counted(machine, rounds(5))
    first = counted.launch()
    assert first["launches"] == 1
    assert first["threads"] == -(-2 * INVOCATIONS // MACHINES[machine][1])
    assert first["cycles"] >= first["instructions"] > first["threads"]
    assert counted.launch() == first == counted.launch()
    assert asdict(counted.counters) == {name: 3 * value for name, value in first.items()}


@machines
def test_each_round_and_each_thread_counts_as_much(machine: str) -> None:
    one, two, four = (Counted(machine, rounds(count)).launch() for count in (1, 2, 4))
    for name in ("cycles", "instructions"):
        assert two[name] > one[name]
        assert four[name] - two[name] == 2 * (two[name] - one[name])
    many = Counted(machine, rounds(2)).launch(groups=8)
    assert {name: many[name] for name in ("threads", "cycles", "instructions")} == {
        name: 4 * two[name] for name in ("threads", "cycles", "instructions")
    }
