"""The screen of numpipe: its options."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.options import SharedOptions
from gallette.drivers.common.screen import HostScreen

from .variants.compiler import ShaderCompiler


@lazy_dataclass(frozen=True)
class ScreenOptions(SharedOptions):
    """The options of a numpipe screen; GALLETTE_DEBUG changes the defaults."""

    inline_uniforms: int = 0  # variants a shader gets for values of uniforms that decide branches

    def compiler(self) -> ShaderCompiler:
        """The shader compiler for these options."""
        lowering = self.lowering(self.inline_uniforms)
        return ShaderCompiler(lowering)


class NumpipeScreen(HostScreen):
    """A numpipe screen."""

    name = "numpipe"
    counts_draws = True
    user_memory = True

    def __init__(self, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        super().__init__(self.options.compiler(), self.options.budget, self.options.time_limit)

    def describe(self) -> str:
        return f"numpipe (NumPy {np.__version__})"


def create_screen(**options: Any) -> NumpipeScreen:
    """The entry point `numpipe` of the group `gallette.drivers`."""
    return NumpipeScreen(ScreenOptions(**options))
