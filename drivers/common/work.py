"""The work a draw or a dispatch may do: nothing runs for ever, whatever counts a call names.

There are two bounds, and past either of them a `ShaderBudgetError` ends the draw; the context that
made it is lost.

* A count of work, in units of about a nanosecond each: vertices and invocations, primitives, shaded
  fragments, rounds of loops. It is deterministic, and what is known beforehand is counted
  beforehand, so that a launch of 2^48 invocations fails at once.
* A clock, because how long a unit takes depends on the shader and the machine. `spend` looks at it,
  and whatever scales with a draw calls `spend` at least every few milliseconds: between parts of a
  draw, between chunks of lanes, in every round of a loop in NumPy. Machine code calls `grant` when
  it has used up the units it was last granted.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

from gallette.compiler.errors import ResetError

__all__ = [
    "DEFAULT_BUDGET",
    "DEFAULT_TIME_LIMIT",
    "FRAGMENT",
    "GRANT",
    "LANE",
    "PRIMITIVE",
    "ShaderBudgetError",
    "Work",
]

LANE = 64  # an invocation of a vertex, tessellation, geometry or compute shader
PRIMITIVE = 256
FRAGMENT = 8
_ROUND = 4096  # what a round of a loop costs besides its lanes

GRANT = 1 << 24
"""Units that machine code may spend before it asks again: some 5 to 50 milliseconds."""

_MERGED = 6
"""Times what one draw may do that all draws merged into one may do. Each of them is legal if it
keeps within its own limit, but an endless loop in hundreds of them has to end within a minute.
"""

DEFAULT_BUDGET = 1 << 36
DEFAULT_TIME_LIMIT = 10.0
"""Seconds."""


class ShaderBudgetError(ResetError):
    """A draw or dispatch went past its budget; the context that made it is to be reset."""


class Work:
    """What the draw that runs may still do."""

    __slots__ = ("_deadline", "_seconds", "callback", "left", "limit", "time_limit")
    _excluded: ClassVar[float] = 0.0
    """Seconds of this process that count for no draw."""

    def __init__(self, limit: int = DEFAULT_BUDGET, time_limit: float = DEFAULT_TIME_LIMIT) -> None:
        self.limit, self.time_limit = limit, time_limit
        self.callback: Any = None  # through which machine code calls `grant`, once there is some
        self.begin()

    def begin(self, merged: bool = False) -> None:
        """A new draw or dispatch begins, or several draws that are merged into one."""
        share = _MERGED if merged else 1
        self.left = self.limit * share
        self._seconds = self.time_limit * share
        self._deadline = 0.0  # the clock starts when it is first looked at

    def spend(self, units: int) -> None:
        """Some work is done, or about to be."""
        self.left -= units
        if self.left < 0:
            raise ShaderBudgetError(
                f"a draw or dispatch wants more work than its budget of {self.limit} units "
                f"(about {self.limit / 1e9:.1f} s): it has an endless loop, or too many vertices, "
                "patches or invocations; the context is to be reset"
            )
        now = time.monotonic() - Work._excluded
        if not self._deadline:
            self._deadline = now + self._seconds
        elif now > self._deadline:
            raise ShaderBudgetError(
                f"a draw or dispatch ran for longer than its time limit of {self.time_limit:g} s "
                "(the driver's option time_limit); the context is to be reset"
            )

    @staticmethod
    def exclude(seconds: float) -> None:
        """So long a draw waited for its code, which is no work of the draw's."""
        Work._excluded += seconds

    def round(self, lanes: int) -> None:
        """Another round of a loop of a shader, for so many lanes."""
        self.spend(_ROUND + lanes)

    def grant(self) -> int:
        """Pay for the units that machine code has spent, and grant it more."""
        self.spend(GRANT)
        return GRANT
