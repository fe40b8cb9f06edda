"""Random programs with divergent loops on the simulated machines.

    python -m bench.machine_fuzz simd [COUNT]
    python -m bench.machine_fuzz tiler [COUNT] [--rules]

Every program runs under several settings of a machine's compiler and is compared, bit by bit, with
the interpreter of NIR; registers, spills and instructions are added up. Settings that are remedies
must always be right. A program that the interpreter does not finish within its budget has a
meaning, too: it must not come to an end on the machine either.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gallette.compiler.nir.interp.environment import Environment, Result
from gallette.compiler.nir.interp.interpreter import ExecutionBudgetError, interpret
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.common.machine.hang import MachineHangError
from gallette.drivers.common.machine.program import Counters, MachineProgram
from gallette.drivers.common.work import Work
from gallette.drivers.simd import compile as simd_compile
from gallette.drivers.tiler import compile as tiler_compile
from gallette.drivers.tiler.lower import lowered_for_tiler
from tests.numpipe.shader.shader_harness import PictureEnvironment, agree, run_compiled
from tests.simd.divergent_programs import DivergentShader, divergent_shader
from tests.tiler.oracle import clashes, early_reads, missing_waits

__all__ = ["MACHINES", "Machine", "Setting", "main", "meaning", "outcome"]

BUDGET = 4_000_000
"""Instructions the interpreter may execute; a random program wants some 300,000 at most."""

WORK = 1 << 34
"""The same for a machine, in the units of `work`: about four million instructions in loops."""

LANES = 37


@dataclass
class Setting:
    """Options of a compiler, and what became of the programs."""

    name: str
    options: Any
    holds: bool  # it must always be right
    again: Callable[[Any], Any] | None = None  # the setting before has the code; run it like this
    wrong: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)  # rules of the machine
    registers: int = 0
    spills: int = 0
    instructions: int = 0

    def count(self, made: Any) -> None:
        self.registers += made.registers
        self.spills += made.allocation.spills
        self.instructions += made.instructions

    def __str__(self) -> str:
        shown = f"{self.name:20} {len(self.wrong)} wrong"
        if self.broken:
            shown += f", {len(self.broken)} against the rules {self.broken[:8]}"
        shown += f"  {self.registers:,} registers  {self.spills:,} spills"
        return f"{shown}  {self.instructions:,} instructions  {self.wrong[:8]}"


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
    """The same code on a machine whose textures land late."""
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


def try_program(machine: Machine, settings: list[Setting], seed: int, rules: bool) -> bool:
    """One program under every setting; true if it comes to an end."""
    shader = machine.shader(seed)
    env = PictureEnvironment(LANES, seed)
    expected = meaning(shader, env)
    limit, made = WORK, None
    for setting in settings:
        made = setting.again(made) if setting.again else machine.compile(shader, setting.options)
        setting.count(made)
        work = Work(limit)
        if not outcome(expected, shader, env, MachineProgram(shader, made, Counters()), work):
            setting.wrong.append(seed)
        if rules and setting is settings[0] and machine.rules(made):
            setting.broken.append(seed)
        if setting is settings[0] and work.left > 0:
            # What forgets its channels may loop for ever: longer than this is too long.
            limit = 4 * (work.limit - work.left) + (1 << 24)
    return expected is not None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.machine_fuzz")
    parser.add_argument("machine", choices=MACHINES)
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--registers", type=int, default=0, help="fewer make programs spill")
    parser.add_argument("--width", type=int, default=0, help="channels of a thread of simd")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so many")
    parser.add_argument("--rules", action="store_true", help="look at the code as well (tiler)")
    asked = parser.parse_args(arguments)
    machine = MACHINES[asked.machine]
    settings = machine.settings(asked)
    seeds = range(asked.first, asked.first + asked.count)
    tried = ended = 0
    stop = time.monotonic() + asked.seconds
    for seed in seeds:
        ended += try_program(machine, settings, seed, asked.rules)
        tried += 1
        if asked.seconds and time.monotonic() > stop:
            break
    last = asked.first + tried - 1
    print(f"{asked.machine}: programs {asked.first} to {last}, {tried - ended} without an end")
    for setting in settings:
        print(setting)
    return 0 if not any(s.holds and (s.wrong or s.broken) for s in settings) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
