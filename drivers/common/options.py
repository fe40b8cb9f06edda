"""Options of every driver that compiles NIR and runs it over lanes."""

from __future__ import annotations

from typing import Annotated

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.variants.compiler import LoweringOptions
from gallette.drivers.common.work import DEFAULT_BUDGET, DEFAULT_TIME_LIMIT
from gallette.pipe.settings import TRUSTED


@lazy_dataclass(frozen=True)
class SharedOptions:
    """Options of a screen; GALLETTE_DEBUG changes the defaults of some.

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
    ownership: str = "counted"  # or "driver_owns", "always_clone": who may modify NIR

    def lowering(self, inline_uniforms: int = 0) -> LoweringOptions:
        """The lowering options that follow from these options."""
        return LoweringOptions.chosen(
            self.inexact_used_once,
            self.position_invariant,
            self.fuse_ffma,
            self.ownership,
            self.record_passes,
            inline_uniforms,
        )
