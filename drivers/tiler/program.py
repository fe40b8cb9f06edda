"""Compiled shaders as the shared draw room wants them (`drivers.common.program`)."""

from __future__ import annotations

from gallette.compiler.nir.ir import Shader
from gallette.drivers.common.machine.program import Counters, MachineProgram

from .compile import BackendOptions, Compiled, compile_shader
from .explaining import listing

__all__ = ["Counters", "TilerProgram", "compile_program"]


def compile_program(
    shader: Shader,
    options: BackendOptions,
    counters: Counters,
    *,
    flat_colors: bool = False,
    half_colors: bool = False,
) -> TilerProgram:
    """Machine code for an optimised shader (which is only read)."""
    made = compile_shader(shader, options, flat_colors, half_colors)
    return TilerProgram(shader, made, counters)


class TilerProgram(MachineProgram):
    """A program of the tiler."""

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
