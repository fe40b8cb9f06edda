"""Settings that come again, told by numbers: blending, and the tests of depth and stencil.

A program that sets everything before each of its draws sets the same few things again and again.
What they are is looked at when something was set, and each combination gets a number of its own,
by which draws are told apart (see `repeats`). For draws like one before, nothing is bound; what is
dirty by these settings alone is *owed* to the pipe until a draw takes the long way.
"""

from __future__ import annotations

import itertools
import operator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.blending import Blend
from gallette.state_tracker.drawing.stencil import Stencil

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.drawing.fragment_ops import FragmentState

__all__ = ["SETTINGS", "Settings"]

SETTINGS = Dirty.BLEND | Dirty.DEPTH_STENCIL

_MOST = 1024

_BLENDING = operator.attrgetter(*[field.name for field in fields(Blend)])
_STENCIL = operator.attrgetter(*[field.name for field in fields(Stencil)])
_OF_BLENDING = operator.attrgetter(
    "blend_enabled", "logic_enabled", "logic_op", "alpha_to_coverage", "alpha_to_one"
)
_OF_TESTS = operator.attrgetter(
    *("depth_test", "depth_mask", "depth_func", "stencil_test", "stencil_two_side"),
    *("alpha_test", "alpha_func", "alpha_ref", "depth_bounds_test", "depth_bounds"),
)


class Settings:
    """The numbers of a context's settings."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._stale = SETTINGS
        self._known: dict[Any, int] = {}
        self._next = itertools.count()
        self._blending = self._tests = -1

    def changed(self, dirty: int) -> None:
        """The pipe is about to be told of what is dirty."""
        self._stale |= dirty & SETTINGS

    @property
    def numbers(self) -> tuple[int, int]:
        """Those of what is set now."""
        ctx = self._ctx
        dirty = ctx.dirty & SETTINGS
        if dirty:
            ctx.dirty ^= dirty
            ctx.owed |= dirty
        stale = dirty | self._stale
        if stale:
            self._stale = 0
            if stale & Dirty.BLEND:
                self._blending = self._number(_blending(ctx.fragment))
            if stale & Dirty.DEPTH_STENCIL:
                self._tests = self._number(_tests(ctx.fragment))
        return self._blending, self._tests

    def _number(self, values: Any) -> int:
        """A number that is never used for other values."""
        number = self._known.get(values)
        if number is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            number = self._known[values] = next(self._next)
        return number


def _blending(state: FragmentState) -> tuple[Any, ...]:
    """All that the pipe's blend state is made of."""
    buffers = list(map(_BLENDING, state.blend))
    if buffers.count(buffers[0]) == len(buffers):  # mostly: there is less to be told apart
        buffers = buffers[:1]
    return "blending", _OF_BLENDING(state), *buffers


def _tests(state: FragmentState) -> tuple[Any, ...]:
    """The same for its depth, stencil and alpha tests."""
    return "tests", _OF_TESTS(state), *map(_STENCIL, state.stencil)
