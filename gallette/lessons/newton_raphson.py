"""The lesson: a division from eight bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.lower import Machine
from gallette.precision import shader_of

STEPS = (0, 1, 2, 3)
_SHOWN = ("1/x", "inversesqrt", "sqrt", "x/y", "tan", "atan2")


def machine(steps: int, ffma: bool = True) -> Machine:
    """A machine with tables of eight bits, and sines of small angles."""
    return Machine.of("frcp_8bit frsq_8bit fsin_reduced fcos_reduced", steps=steps, ffma=ffma)


def errors_between_one_and_two(
    name: str, machine: Machine, count: int = 400
) -> npt.NDArray[np.float64]:
    """Relative errors of 1/x or 1/sqrt(x) at places from 1 to 2 (to 4)."""
    x = np.linspace(1, 2 if name == "1/x" else 4, count, endpoint=False).astype(np.float32)
    shader = shader_of(name, machine, 1)
    inputs = {(32, 0): x.view(np.uint32)}
    found = interpret(shader, Environment(count, inputs=inputs), budget=10**8)
    have = found.floats(int(VaryingSlot.VAR0), 0).astype(np.float64)
    wide = x.astype(np.float64)
    truth = 1 / wide if name == "1/x" else 1 / np.sqrt(wide)
    return np.asarray(np.abs(have / truth - 1))
