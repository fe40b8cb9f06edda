"""The lesson: texture results that arrive late, and the instructions that must wait for them."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.machines.tiler.backend.scoreboard import Barriers
from gallette.drivers.machines.tiler.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from gallette.drivers.machines.tiler.simulator.executable import TextureWrites
from gallette.lessons.experiments import compared, every_eighth, fragment_of
from gallette.scenes.common import COMMON
from gallette.scenes.late_texels import GLSL

Setting = tuple[TextureWrites, Barriers]
SETTINGS: dict[str, Setting] = {
    "answers land at once": ("in_order", "reads"),
    "the bug: they land late, only readers wait": ("late", "reads"),
    "the remedy: writers wait as well": ("late", "writes"),
}


@lazy_dataclass()
class Cost:
    """The costs of a setting over a corpus."""

    shaders: int = 0
    instructions: int = 0
    waits: int = 0  # instructions with (sy)
    cycles: int = 0

    def count(self, made: Compiled) -> None:
        self.shaders += 1
        self.instructions += made.instructions
        self.waits += made.measures()["(sy)"]
        self.cycles += made.cycles


def compiled(barriers: Barriers) -> Compiled:
    """The scene's fragment shader."""
    fragment = fragment_of(COMMON["full_screen"], GLSL["fragment"])
    lowered_for_tiler(fragment, OptimizeOptions(scalar=True, select_limit=12))
    made = compile_shader(fragment, BackendOptions(barriers=barriers))
    fragment.unref()
    return made


def wrong_pixels(setting: Setting) -> tuple[int, npt.NDArray[Any]]:
    """Pixels of the scene that differ from numpipe's, and the picture."""
    options = {"texture_writes": setting[0], "barriers": setting[1], "half_colors": "never"}
    return compared("tiler", "late_texels", options)


def costs() -> dict[Barriers, Cost]:
    """The cost of each choice of barriers for every eighth pair of the bundled shaders."""
    found: dict[Barriers, Cost] = {"reads": Cost(), "writes": Cost()}
    for shader in every_eighth():
        lowered_for_tiler(shader, OptimizeOptions(scalar=True))
        for barriers, cost in found.items():
            cost.count(compile_shader(shader, BackendOptions(barriers=barriers)))
        shader.unref()
    return found
