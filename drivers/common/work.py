"""The work a draw or a dispatch may do: nothing runs for ever, whatever counts a call names.

Work is counted as it is done, in units of about a nanosecond each: vertices and invocations,
primitives, shaded fragments, rounds of loops. What is known beforehand is counted beforehand, so
that a launch of 2^48 invocations fails at once. Past the budget a `ShaderBudgetError` ends the
draw; the context that made it is lost.
"""

from __future__ import annotations

from gallette.compiler.errors import ResetError

__all__ = ["DEFAULT_BUDGET", "FRAGMENT", "LANE", "PRIMITIVE", "ShaderBudgetError", "Work"]

LANE = 64  # an invocation of a vertex, tessellation, geometry or compute shader
PRIMITIVE = 256
FRAGMENT = 8
_ROUND = 4096  # what a round of a loop costs besides its lanes

DEFAULT_BUDGET = 1 << 33


class ShaderBudgetError(ResetError):
    """A draw or dispatch went past its budget; the context that made it is to be reset."""


class Work:
    """What the draw that runs may still do."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int = DEFAULT_BUDGET) -> None:
        self.limit = self.left = limit

    def begin(self) -> None:
        """A new draw or dispatch."""
        self.left = self.limit

    def spend(self, units: int) -> None:
        """Some work is done, or about to be."""
        self.left -= units
        if self.left < 0:
            raise ShaderBudgetError(
                f"a draw or dispatch wants more work than its budget of {self.limit} units "
                f"(about {self.limit / 1e9:.1f} s): it has an endless loop, or too many vertices, "
                "patches or invocations; the context is to be reset"
            )

    def round(self, lanes: int) -> None:
        """Another round of a loop of a shader, for so many lanes."""
        self.spend(_ROUND + lanes)
