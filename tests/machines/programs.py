"""Random programs for both machines, compiled and checked by the oracle of each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.machines.program import Counters, MachineProgram
from gallette.drivers.machines.simd import compile as simd_compile
from gallette.drivers.machines.tiler import compile as tiler_compile
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from tests.machines import simd, tiler
from tests.machines.effects import Verdict
from tests.simd.divergent_programs import DivergentShader, divergent_shader

MACHINES = ("simd", "tiler")
_WIDE = 8
"""The tiler computes 64 bits by long sequences: only every so many of its programs has some."""


class NarrowShader(DivergentShader):
    """The same without 64-bit values."""

    def wide(self, depth: int) -> Def:
        return self.float_value(depth + 2)


@dataclass(slots=True)
class Checked:
    """What the oracle says of a program."""

    seed: int
    verdict: Verdict
    registers: int
    spills: int
    instructions: int


@functools.lru_cache(maxsize=64)
def program(machine: str, seed: int) -> Shader:
    """The program that grows from a seed, lowered for the machine; back ends only read it."""
    if machine == "simd":
        return divergent_shader(seed)
    grower = DivergentShader if seed % _WIDE == 0 else NarrowShader
    shader = grower(seed, Stage.FRAGMENT, exact=True).build()
    lowered_for_tiler(shader, OptimizeOptions(scalar=True))
    return shader


def compiled(machine: str, shader: Shader, **options: Any) -> MachineProgram[Any]:
    """The machine's program; `options` are those of its back end."""
    backend: Any = simd_compile if machine == "simd" else tiler_compile
    made = backend.compile_shader(shader, backend.BackendOptions(**options))
    return MachineProgram(shader, made, Counters())


compiled_for_simd = functools.partial(compiled, "simd")
compiled_for_tiler = functools.partial(compiled, "tiler")


def checked_program(machine: str, seed: int, **options: Any) -> Checked:
    """Compile the program and judge it; `options` are those of the machine's back end."""
    return judged(machine, program(machine, seed), seed, **options)


def judged(machine: str, shader: Shader, seed: int, **options: Any) -> Checked:
    """The same for any shader that is lowered for the machine."""
    made: Any
    if machine == "simd":
        width = options.pop("width", (0, 8, 16)[seed % 3])
        backend = simd_compile.BackendOptions(width=width, **options)
        verdict, made = simd.checked(shader, backend, seed)
    else:
        verdict, made = tiler.checked(shader, tiler_compile.BackendOptions(**options), seed)
    return Checked(seed, verdict, made.registers, made.allocation.spills, made.instructions)
