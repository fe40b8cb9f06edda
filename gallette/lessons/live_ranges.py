"""The lesson: waiting values, and instructions that overwrite them on a SIMD machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.drivers.machines.simd.backend.liveness import LiveRanges
from gallette.drivers.machines.simd.backend.register_map import register_map
from gallette.drivers.machines.simd.compile import BackendOptions, Compiled, compile_shader
from gallette.lessons.experiments import compared, every_eighth, fragment_of
from gallette.scenes.common import COMMON
from gallette.scenes.waiting_lanes import GLSL

SETTINGS: dict[str, LiveRanges] = {
    "the bug: live from definition to use": "naive",
    "ranges extended over what they leave": "loop_extended",
    "masked definitions spare waiting channels": "mask_aware",
}


@lazy_dataclass()
class Cost:
    """The costs of a setting over a corpus."""

    shaders: int = 0
    registers: int = 0
    spills: int = 0
    instructions: int = 0
    cycles: int = 0

    def count(self, made: Compiled) -> None:
        self.shaders += 1
        self.registers += made.registers
        self.spills += made.allocation.spills
        self.instructions += made.instructions
        self.cycles += made.cycles


def compiled(setting: LiveRanges) -> Compiled:
    """The scene's fragment shader."""
    fragment = fragment_of(COMMON["full_screen"], GLSL["fragment"])
    optimize(fragment, OptimizeOptions(scalar=True))
    made = compile_shader(fragment, BackendOptions(live_ranges=setting, record=True))
    fragment.unref()
    return made


def registers_over_time(made: Compiled, setting: LiveRanges) -> npt.NDArray[Any]:
    """The value in each register at each instruction; a negative number for values of pixels that
    have left the loop.
    """
    assert made.allocation.virtual is not None
    return register_map(made.allocation.virtual, made.allocation.places, setting)


def wrong_pixels(setting: LiveRanges) -> tuple[int, npt.NDArray[Any]]:
    """Pixels of the scene that differ from numpipe's, and the picture."""
    return compared("simd", "waiting_lanes", {"live_ranges": setting})


def costs(registers: Sequence[int]) -> dict[int, dict[LiveRanges, Cost]]:
    """The costs of each setting, with each number of registers, in SIMD16, for every eighth pair of
    the bundled shaders.
    """
    found = {count: {setting: Cost() for setting in SETTINGS.values()} for count in registers}
    for shader in every_eighth():
        optimize(shader, OptimizeOptions(scalar=True))
        for count, settings in found.items():
            for setting, cost in settings.items():
                options = BackendOptions(live_ranges=setting, width=16, registers=count)
                cost.count(compile_shader(shader, options))
        shader.unref()
    return found
