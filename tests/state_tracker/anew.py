"""At draws of any test: is what the driver has bound what it would have if all were derived anew?

`Watch` records every state object and parameter a driver is given. At a draw the state tracker
derives all of it once more, with everything dirty, while the driver hears nothing; what comes out
must be what it was told before. So a forgotten dirty bit shows wherever any test changes something
between two draws, whether or not it would show in the picture.

Nothing is different afterwards: what the state tracker remembers is put back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.binding import BindingContext
from gallette.pipe.derived_methods import calls
from gallette.pipe.interface import Context as PipeContext
from gallette.pipe.state import VertexBuffer
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing import draw
from gallette.state_tracker.vertices.vertex_input import VertexInput

MOST = 25
"""draws that are looked at, of each context"""
Bound = dict[tuple[Any, ...], Any]
_KEYS = ("stage", "index")
_METHODS = [n for n, c in calls(PipeContext).items() if c.verb in ("set", "bind")]
_METHODS.remove("set_failure_callback")


def plain(value: Any) -> Any:
    """Something to compare: temporary memory counts by what it holds."""
    if isinstance(value, bytes | bytearray | memoryview | np.ndarray):
        return bytes(value)
    if isinstance(value, list | tuple):
        return tuple(plain(v) for v in value)
    if isinstance(value, VertexBuffer) and value.buffer.desc.label == "upload":
        return value.stride, value.offset, value.buffer.storage[0].tobytes()
    return value


def by_slot(name: str) -> Callable[..., Bound]:
    """What a call of a method of the pipe binds, place by place."""
    _, *parameters = calls(PipeContext)[name].signature.parameters.values()
    # Not `Signature.bind`: it takes longer than all else that is done for a call.
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    names = [p.name for p in parameters]

    def told(*given: Any, **named: Any) -> Bound:
        taken = defaults | dict(zip(names, given, strict=False)) | named
        values = {n: taken[n] for n in names}
        key = (name, *(values.pop(n) for n in _KEYS if n in values))
        if "start" not in values:
            return {key: tuple(values.values())}
        start = values.pop("start")
        return {(*key, slot): v for slot, v in enumerate(next(iter(values.values())), start)}

    return told


class Watch:
    """Looks at the first draws of each context, as long as the patch is in place."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.wrong: list[str] = []
        self._bound: dict[Any, Bound] = {}  # by pipe
        self._anew: Bound | None = None  # while everything is derived once more
        self._left: dict[Any, int] = {}
        for name in _METHODS:
            patch.setattr(BindingContext, name, self._heard(name))
        self._prepare = draw._prepare
        patch.setattr(draw, "_prepare", self._prepared)
        self._read: dict[Any, bool] = {}  # copies of client arrays: whether pending draws held them
        patch.setattr(VertexInput, "_is_read", self._asked(VertexInput._is_read))

    def _heard(self, name: str) -> Callable[..., Any]:
        original, told = getattr(BindingContext, name), by_slot(name)

        def method(pipe: Any, *given: Any, **named: Any) -> Any:
            if self._anew is not None:
                self._anew |= told(*given, **named)
                return None
            self._bound.setdefault(pipe, {}).update(told(*given, **named))
            return original(pipe, *given, **named)

        return method

    def _asked(self, original: Callable[..., bool]) -> Callable[..., bool]:
        def method(vertex_input: Any, kept: Any) -> bool:
            if self._anew is not None:
                return self._read.get(kept, False)
            self._read[kept] = found = original(vertex_input, kept)
            return found

        return method

    def _prepared(self, ctx: Any, *how: int) -> bool:
        if self._anew is None:
            self._read = {}
        draws = self._prepare(ctx, *how)
        if draws and self._anew is None and isinstance(ctx.pipe, BindingContext):
            self._look(ctx, self._bound[ctx.pipe], how)
        return draws

    def _look(self, ctx: Any, bound: Bound, how: tuple[int, ...]) -> None:
        left = self._left.get(ctx, MOST)
        if not left or ctx.caches.full:
            return
        self._left[ctx] = left - 1
        with _as_it_was(ctx):
            current = ctx.vertex_input._current_bytes.copy()
            ctx.dirty = Dirty.ALL
            ctx.vertex_input.unbind()
            ctx.arrays.current.layouts = {}
            self._anew = {}
            try:
                self._prepare(ctx, *how)
                anew = self._anew
            finally:
                self._anew = None
            off = [k for k, v in anew.items() if plain(v) != plain(bound.get(k))]
            if not np.array_equal(current, ctx.vertex_input._current_bytes):
                off.append(("current attributes",))
        self.wrong += [f"not derived for a draw: {' '.join(map(str, key))}" for key in off]


@contextlib.contextmanager
def _as_it_was(ctx: Any) -> Iterator[None]:
    """What the state tracker remembers of what it said is put back at the end."""
    caches = [c for c in vars(ctx.caches).values() if hasattr(c, "_bound")]
    places: list[tuple[Any, str, Any]] = [
        *((c, n, getattr(c, n)) for c in caches for n in ("_bound", "_state")),
        *((ctx.vertex_input, n, getattr(ctx.vertex_input, n)) for n in ("_bound", "_elements")),
        (ctx, "dirty", ctx.dirty),
        (ctx, "pipe_framebuffer", ctx.pipe_framebuffer),
        (ctx.arrays.current, "layouts", ctx.arrays.current.layouts),
    ]
    # In place: contexts that share objects share some of these.
    tables = [(t, dict(t)) for t in (ctx.bound_shaders,)]
    try:
        yield
    finally:
        for owner, name, value in places:
            setattr(owner, name, value)
        for table, kept in tables:
            table.clear()
            table.update(kept)
