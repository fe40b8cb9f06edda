"""The screen of numpipe: its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from gallette.drivers.common.screen import HostScreen
from gallette.drivers.common.variants.compiler import LoweringOptions
from gallette.drivers.common.work import DEFAULT_BUDGET, DEFAULT_TIME_LIMIT
from gallette.pipe.settings import TRUSTED

from .variants.compiler import ShaderCompiler

__all__ = ["NumpipeScreen", "ScreenOptions", "create_screen"]


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """The options of a numpipe screen; GALLETTE_DEBUG changes the defaults.

    `inexact_used_once` and `position_invariant` are remedies for multi-pass rendering: which
    inexact rewrites may depend on use counts, and whether every position is computed invariantly.
    """

    inexact_used_once: str = ""  # "always", "never" or "not_position" (the default)
    position_invariant: bool | None = None
    fuse_ffma: bool | None = None
    # work one draw may do, in units of about a nanosecond
    budget: Annotated[int, TRUSTED] = DEFAULT_BUDGET
    # seconds one draw may take
    time_limit: Annotated[float, TRUSTED] = DEFAULT_TIME_LIMIT
    record_passes: bool = False
    inline_uniforms: int = 0  # variants per shader for values of uniforms that decide branches
    ownership: str = "counted"  # or "driver_owns", "always_clone": who may modify NIR

    def compiler(self) -> ShaderCompiler:
        """The shader compiler for these options."""
        lowering = LoweringOptions.chosen(
            self.inexact_used_once,
            self.position_invariant,
            self.fuse_ffma,
            self.ownership,
            self.record_passes,
            self.inline_uniforms,
        )
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
