"""The lesson: colours in 16 bits, and why the variant key must know the colour buffer."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.machines.tiler.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from gallette.drivers.machines.tiler.screen import HalfColors
from gallette.lessons.experiments import compared, fragment_of
from gallette.scenes.common import COMMON
from gallette.scenes.contours import GLSL

SETTINGS: dict[HalfColors, str] = {
    "never": "32 bits everywhere",
    "always": "16 bits everywhere: a key that forgets the buffer",
    "auto": "16 bits where no buffer has more: the key's field `half_colors`",
}


def compiled(half: bool) -> Compiled:
    """The first pass's fragment shader, with its colours in half or full registers."""
    shader = fragment_of(COMMON["full_screen"], GLSL["heights"])
    lowered_for_tiler(shader, OptimizeOptions(scalar=True))
    made = compile_shader(shader, BackendOptions(), half_colors=half)
    shader.unref()
    return made


def wrong_pixels(setting: HalfColors) -> tuple[int, npt.NDArray[Any]]:
    """How many pixels differ from numpipe's by more than 1/255, and tiler's picture."""
    return compared("tiler", "contours", {"half_colors": setting}, -1, 1)
