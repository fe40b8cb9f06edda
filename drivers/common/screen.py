"""A screen that runs shaders over lanes: the caps of drivers built on the shared code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gallette.drivers.common.caps import EVERYTHING
from gallette.drivers.common.memory.heap import keep_freed_memory
from gallette.drivers.common.memory.screen import MemoryScreen
from gallette.drivers.common.variants.compiler import VariantCompiler
from gallette.drivers.common.work import DEFAULT_BUDGET, DEFAULT_TIME_LIMIT, LANE, Work
from gallette.pipe.interface import Context


class HostScreen(MemoryScreen):
    """A screen for drivers built on the shared code; the driver adds its shader compiler."""

    plans = False
    """Whether small draws follow the plan of their state, if it has one; others become pending, to
    be merged.
    """
    counts_draws = False
    """Whether the driver counts per draw when draws are executed together."""
    user_memory = False
    """Whether vertex fetch stays inside a buffer, so that the application's memory can be used
    directly.
    """

    def __init__(
        self,
        compiler: VariantCompiler[Any, Any],
        budget: int = DEFAULT_BUDGET,
        time_limit: float = DEFAULT_TIME_LIMIT,
    ) -> None:
        """`budget` and `time_limit` bound the work of one draw or dispatch (see `work`)."""
        self.compiler, self.budget, self.time_limit = compiler, budget, time_limit
        keep_freed_memory()
        caps = replace(EVERYTHING, shader_clock=compiler.tells_time, user_memory=self.user_memory)
        if compiler.options.ownership == "driver_owns":
            caps = replace(caps, driver_owns_shaders=True)
        super().__init__(caps)

    def check_work(self, vertices: int) -> None:
        Work(self.budget).spend(LANE * vertices)

    def context_create(self) -> Context:
        from gallette.drivers.common.context import HostContext

        return HostContext(self)
