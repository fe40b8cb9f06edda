"""The oracle of random programs: it sees results, wrong ones, and programs without an end."""

from __future__ import annotations

from typing import Any

import pytest

from fuzz.machines import LANES, MACHINES, meaning, outcome
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.types import INT
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.drivers.common.work import Work
from gallette.drivers.machines.program import Counters, MachineProgram
from tests.numpipe.shader.shader_harness import PictureEnvironment

ENV = PictureEnvironment(LANES, 1)
machines = pytest.mark.parametrize("name", MACHINES)


def countdown(first: int, ends: bool = True) -> Shader:
    """A loop that counts down to zero, or past it, and the number it ends with."""
    b = Builder.shader_main(Stage.FRAGMENT, "countdown")
    counter = b.impl.add_local("n", INT)
    b.store_var(counter, b.imm_int(first))
    b.push_loop()
    found = b.load_var(counter)
    b.break_if(b.ieq(found, b.imm_int(0)) if ends else b.ilt(found, b.iadd(found, b.imm_int(0))))
    b.store_var(counter, b.iadd(b.load_var(counter), b.imm_int(-1)))
    b.pop_loop()
    value = b.i2f32(b.iadd(b.load_var(counter), b.imm_int(first)))
    b.intrinsic("store_output", [value, b.imm_int(0)], location=4, write_mask=1)
    run_passes(b.shader, ["lower_vars_to_ssa", "copy_prop", "remove_phis", "dce"])
    return b.shader


def compiled(name: str, shader: Shader) -> Any:
    machine = MACHINES[name]
    options = machine.settings(_Asked())[0].options
    return MachineProgram(shader, machine.compile(shader, options), Counters())


class _Asked:
    """What the command line says by default."""

    registers = width = 0


def judged(name: str, shader: Shader, expected: Any, work: int = 1 << 24) -> bool:
    return outcome(expected, shader, ENV, compiled(name, shader), Work(work))


@machines
def test_results_are_compared(name: str) -> None:
    expected = meaning(countdown(60), ENV)
    assert expected is not None
    assert judged(name, countdown(60), expected)
    assert not judged(name, countdown(61), expected)


@machines
def test_a_program_without_an_end_has_none_on_the_machine_either(name: str) -> None:
    assert meaning(countdown(60, ends=False), ENV, budget=5000) is None
    assert judged(name, countdown(60, ends=False), None)
    assert not judged(name, countdown(60), None)
    expected = meaning(countdown(60), ENV)
    assert not judged(name, countdown(60, ends=False), expected)


@machines
def test_a_small_budget_is_no_verdict(name: str) -> None:
    """What the interpreter and the machine both give up on is the same on both."""
    assert meaning(countdown(60), ENV, budget=100) is None
    assert judged(name, countdown(60), None, work=1 << 14)
