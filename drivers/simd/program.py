"""Compiled shaders as the shared draw room wants them (`drivers.common.program`)."""

from __future__ import annotations

from gallette.compiler.nir.ir import Shader
from gallette.drivers.common.machine.program import Counters, MachineProgram

from .compile import BackendOptions, Compiled, compile_shader
from .explaining import listing

__all__ = ["Counters", "SimdProgram", "compile_program"]


def compile_program(
    shader: Shader, options: BackendOptions, counters: Counters, *, flat_colors: bool = False
) -> SimdProgram:
    """Machine code for an optimised shader (which is only read)."""
    return SimdProgram(shader, compile_shader(shader, options, flat_colors), counters)


class SimdProgram(MachineProgram):
    """A program of the execution unit."""

    def __init__(self, shader: Shader, compiled: Compiled, counters: Counters) -> None:
        self.compiled = compiled
        super().__init__(
            shader,
            compiled.selector,
            compiled.executable,
            compiled.code.constants,
            compiled.block_cycles,
            counters,
        )

    @property
    def code(self) -> str:
        """The program as people read it."""
        return listing(self.compiled)
