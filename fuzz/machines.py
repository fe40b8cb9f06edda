"""Random programs with divergent loops on the simulated machines.

    python -m fuzz machines --driver simd
    python -m fuzz machines --driver tiler --rules

Every program runs under several settings of a machine's compiler and is compared, bit by bit, with
the interpreter of NIR; registers, spills and instructions are added up. Settings that are remedies
must always be right, naive ones are counted. A program that the interpreter does not finish within
its budget has a meaning, too: it must not come to an end on the machine either.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fuzz.harness import Finding, Fuzzer
from gallette.compiler.nir.interp.environment import Environment, Result
from gallette.compiler.nir.interp.interpreter import ExecutionBudgetError, interpret
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.compiler.nir.text.printer import print_shader
from gallette.drivers.common.work import Work
from gallette.drivers.machines.program import Counters, MachineProgram
from gallette.drivers.machines.simd import compile as simd_compile
from gallette.drivers.machines.simulator.threads import MachineHangError
from gallette.drivers.machines.tiler import compile as tiler_compile
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from tests.numpipe.shader.shader_harness import PictureEnvironment, agree, run_compiled
from tests.simd.divergent_programs import DivergentShader, divergent_shader
from tests.tiler.oracle import clashes, early_reads, missing_waits

BUDGET = 4_000_000
"""Instructions the interpreter may execute; a random program wants some 300,000 at most."""

WORK = 1 << 34
"""The limit of a machine, in the units of `work`: about four million instructions in loops."""

LANES = 37


@dataclass
class Setting:
    """Options of a compiler."""

    name: str
    options: Any
    holds: bool  # it must always be right
    again: Callable[[Any], Any] | None = None  # the setting before has the code; run it like this


@dataclass(frozen=True)
class Machine:
    """How a driver compiles; the first of its settings holds."""

    shader: Callable[[int], Shader]
    settings: Callable[[argparse.Namespace], list[Setting]]
    compile: Callable[[Shader, Any], Any]
    rules: Callable[[Any], list[str]]


def _simd_settings(asked: argparse.Namespace) -> list[Setting]:
    def setting(ranges: Any, holds: bool) -> Setting:
        room = asked.registers or simd_compile.ROOM
        return Setting(ranges, simd_compile.BackendOptions(ranges, asked.width, room), holds)

    return [setting("mask_aware", True), setting("loop_extended", True), setting("naive", False)]


def _tiler_settings(asked: argparse.Namespace) -> list[Setting]:
    def setting(writes: Any, barriers: Any, holds: bool) -> Setting:
        room = asked.registers or tiler_compile.ROOM
        options = tiler_compile.BackendOptions(barriers, writes, room)
        return Setting(f"{writes}, {barriers} wait", options, holds)

    naive = setting("late", "reads", False)
    naive.again = _landing_late
    return [setting("late", "writes", True), setting("in_order", "reads", True), naive]


def _landing_late(made: tiler_compile.Compiled) -> tiler_compile.Compiled:
    """The code on a machine whose textures land late."""
    code = made.executable
    return replace(made, executable=tiler_compile.Executable(code.words, code.facts, "late"))


def _tiler_shader(seed: int) -> Shader:
    shader = DivergentShader(seed, Stage.FRAGMENT, exact=True).build()
    lowered_for_tiler(shader, OptimizeOptions(scalar=True))
    return shader


def _tiler_rules(made: Any) -> list[str]:
    found = clashes(made.allocation.virtual, made.allocation.places)
    return found + early_reads(made) + missing_waits(made)


MACHINES = {
    "simd": Machine(
        divergent_shader,
        _simd_settings,
        simd_compile.compile_shader,
        lambda made: [],
    ),
    "tiler": Machine(
        _tiler_shader,
        _tiler_settings,
        tiler_compile.compile_shader,
        _tiler_rules,
    ),
}


def meaning(shader: Shader, env: Environment, budget: int = BUDGET) -> Result | None:
    """What the interpreter makes of a program; None if it does not end within the budget."""
    try:
        return interpret(shader, env, budget=budget)
    except ExecutionBudgetError:
        return None


def outcome(
    expected: Result | None, shader: Shader, env: Environment, program: Any, work: Work
) -> bool:
    """Does the program do what the interpreter says: these results, or no end?"""
    bind = program.bind

    def limited(resources: Any) -> Any:
        resources.work = work
        return bind(resources)

    program.bind = limited
    try:
        if expected is None:
            run_compiled(shader, env, compiler=lambda _: program)
            return False
        agree(expected, shader, env, compiler=lambda _: program)
    except MachineHangError:
        return expected is None
    except AssertionError:
        return False
    return True


class Machines(Fuzzer[tuple[int, Shader]]):
    """Programs for one machine, under all settings of its compiler."""

    limit = 600.0

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(driver="simd")
        parser.add_argument("--registers", type=int, default=0, help="fewer make programs spill")
        parser.add_argument("--width", type=int, default=0, help="channels of a thread of simd")
        parser.add_argument("--rules", action="store_true", help="look at the code as well (tiler)")

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.machine = MACHINES[options.driver]

    def make(self, number: int) -> tuple[int, Shader]:
        return number, self.machine.shader(number)

    def attempt(self, given: tuple[int, Shader]) -> Counter[str]:
        number, shader = given
        env = PictureEnvironment(LANES, number)
        expected = meaning(shader, env)
        limit, made, counts = WORK, None, Counter[str]()
        counts["programs without an end"] = expected is None
        for index, setting in enumerate(self.machine.settings(self.options)):
            again = setting.again
            made = again(made) if again else self.machine.compile(shader, setting.options)
            name = setting.name
            counts[f"registers of {name}"] += made.registers
            counts[f"spills of {name}"] += made.allocation.spills
            counts[f"instructions of {name}"] += made.instructions
            work = Work(limit)
            program = MachineProgram(shader, made, Counters())
            if not outcome(expected, shader, env, program, work):
                if setting.holds:
                    raise Finding(f"{name} is wrong")
                counts[f"wrong with {name}"] += 1
            if index == 0 and self.options.rules and (broken := self.machine.rules(made)):
                raise Finding(f"{name} is against the rules", "\n".join(broken))
            if index == 0 and work.left > 0:
                # What forgets its channels may loop for ever: longer than this is too long.
                limit = 4 * (work.limit - work.left) + (1 << 24)
        return counts

    @staticmethod
    def text(given: tuple[int, Shader]) -> str:
        return print_shader(given[1])


FUZZER = Machines
