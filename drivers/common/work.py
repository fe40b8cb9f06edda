"""Limits of the work of a draw or dispatch, so that every call ends, whatever its counts are.

There are two limits, and exceeding either raises a `ShaderBudgetError`; the context that made the
call is lost.

* A count of work, in units of about a nanosecond: vertices and invocations, primitives, shaded
  fragments, loop iterations. It is deterministic, and known work is counted in advance, so that a
  launch of 2^48 invocations fails at once.
* A clock, because how long a unit takes depends on the shader and the machine. `spend` reads it,
  and all code that scales with a draw calls `spend` at least every few milliseconds: between parts
  of a draw, between chunks of lanes, in every iteration of a loop in NumPy. Machine code calls
  `grant` when it has used up the units it was granted.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

from gallette.compiler.errors import ResetError

LANE = 64  # an invocation of a vertex, tessellation, geometry or compute shader
PRIMITIVE = 256
FRAGMENT = 8
_ROUND = 4096  # the cost of a loop iteration besides its lanes

GRANT = 1 << 24
"""Units that machine code may spend before it asks again: some 5 to 50 milliseconds."""

_MERGED = 6
"""How many times the limit of one draw a merged draw may spend.

Each of its draws is legal within its own limit, but an endless loop in hundreds of them has to end
within a minute.
"""

DEFAULT_BUDGET = 1 << 36
DEFAULT_TIME_LIMIT = 10.0
"""Seconds."""


class ShaderBudgetError(ResetError):
    """A draw or dispatch exceeded its limits; its context is lost."""


class Work:
    """The remaining budget of the current draw."""

    __slots__ = ("_deadline", "_seconds", "callback", "left", "limit", "rounds", "time_limit")
    _excluded: ClassVar[float] = 0.0
    """Seconds of this process that are not charged to draws."""

    def __init__(self, limit: int = DEFAULT_BUDGET, time_limit: float = DEFAULT_TIME_LIMIT) -> None:
        self.limit, self.time_limit = limit, time_limit
        self.rounds = 0  # of all draws: lanes of all loop iterations
        self.callback: Any = None  # the callback of machine code for `grant`, once it exists
        self.begin()

    def begin(self, merged: bool = False) -> None:
        """Begin a new draw or dispatch, or several merged draws."""
        share = _MERGED if merged else 1
        self.left = self.limit * share
        self._seconds = self.time_limit * share
        self._deadline = 0.0  # the clock starts when it is first read

    def spend(self, units: int) -> None:
        """Charge work that is done, or about to be."""
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
        """Do not charge the time that a draw waited for compilation."""
        Work._excluded += seconds

    def round(self, lanes: int) -> None:
        """Charge another iteration of a shader's loop, for this many lanes."""
        self.rounds += lanes
        self.spend(_ROUND + lanes)

    def grant(self) -> int:
        """Charge the units that machine code has spent, and grant it more."""
        self.spend(GRANT)
        return GRANT
