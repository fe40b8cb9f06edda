"""The wrapper: forwards every call, and changes one piece of state around the selected draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gallette.compiler.errors import InputError
from gallette.pipe.derived_methods import Call, complete_class
from gallette.pipe.interface import Context, Screen
from gallette.pipe.loader import create_screen as create_inner

from .faults import FAULTS, Fault

# The call that sets a piece of state, and (for state objects) the call that creates it.
_OBJECTS = {
    "blend": "blend_state",
    "rasterizer": "rasterizer_state",
    "depth_stencil_alpha": "depth_stencil_alpha_state",
    "vertex_elements": "vertex_elements_state",
}
_LISTS = {"viewport": "set_viewport_states", "scissor": "set_scissor_states"}


def _forward(call: Call) -> Callable[..., Any]:
    name = call.name

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = getattr(self.inner, name)(*args, **kwargs)
        self._seen(name, args, result)
        return result

    return method


class FaultyContextBase(Context):
    """A context that makes one mistake. `spoiled` lists the draws with the mistake, from 1."""

    def __init__(self, screen: Screen, inner: Context, fault: Fault, only: int) -> None:
        self.screen, self.inner, self.fault, self.only = screen, inner, fault, only
        self.number = 0
        self.spoiled: list[int] = []
        self._made: dict[tuple[str, int], Any] = {}
        self._alive: list[Any] = []  # kept alive, so that their identities are not reused
        self._bound: dict[str, tuple[Any, ...]] = {}

    @property
    def variant_log(self) -> Any:  # type: ignore[override]
        return self.inner.variant_log

    def __getattr__(self, name: str) -> Any:
        """Forward what a driver offers beyond the interface."""
        return getattr(self.inner, name)

    def _seen(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        if name.startswith("create_") and name.endswith("_state") and "shader" not in name:
            kind = name.removeprefix("create_")
            self._made[kind, id(result)] = args[0]
            self._alive.append(result)
        elif name == "bind_sampler_states" or name == "set_sampler_views":
            self._bound[f"{name} {args[0]}"] = args
        elif name.startswith(("bind_", "set_")):
            self._bound[name] = args

    # -- draw calls --------------------------------------------------------------------------------

    def draw_vbo(self, info: Any) -> None:
        with self._mistake() as now:
            if now and self.fault.on == "draw":
                info = self._wrong(info, info)
            self.inner.draw_vbo(info)

    def clear(self, *args: Any, **kwargs: Any) -> None:
        with self._mistake() as now:
            if now and self.fault.on == "clear":
                args = self._wrong(args, args)
            self.inner.clear(*args, **kwargs)

    def blit(self, info: Any) -> None:
        with self._mistake() as now:
            if now and self.fault.on == "blit":
                info = self._wrong(info, info)
            self.inner.blit(info)

    def _wrong(self, given: Any, otherwise: Any) -> Any:
        spoiled = self.fault.spoil(given)
        if spoiled is None:
            return otherwise
        self.spoiled.append(self.number)
        return spoiled

    @contextmanager
    def _mistake(self) -> Iterator[bool]:
        """A block around a call that draws: applies the mistake to the state if the draw is
        selected, and undoes it afterwards.
        """
        self.number += 1
        now = self.only in (0, self.number)
        mend: list[Callable[[], Any]] = []
        if now and self.fault.on not in ("draw", "clear", "blit"):
            mend = self._spoil_state()
            if mend:
                self.spoiled.append(self.number)
        try:
            yield now
        finally:
            for undo in mend:
                undo()

    def _spoil_state(self) -> list[Callable[[], Any]]:
        on, inner = self.fault.on, self.inner
        if on in _OBJECTS:
            kind = _OBJECTS[on]
            (handle,) = self._bound.get(f"bind_{kind}", (None,))
            state = self._made.get((kind, id(handle)))
            wrong = None if state is None else self.fault.spoil(state)
            if wrong is None:
                return []
            bind = getattr(inner, f"bind_{kind}")
            bind(getattr(inner, f"create_{kind}")(wrong))
            return [lambda: bind(handle)]
        if on in _LISTS:
            return self._spoil_call(_LISTS[on], lambda states: [self.fault.spoil(states[0])])
        if on == "vertex_buffers":
            return self._spoil_call("set_vertex_buffers", self.fault.spoil)
        undo = []
        for key in [k for k in self._bound if k.startswith(("bind_sampler", "set_sampler"))]:
            undo += self._spoil_textures(key)
        return undo

    def _spoil_call(self, name: str, wrong_one: Callable[[Any], Any]) -> list[Callable[[], Any]]:
        args = self._bound.get(name)
        if args is None:
            return []
        wrong = wrong_one(args[-1])
        if wrong is None:
            return []
        call = getattr(self.inner, name)
        call(*args[:-1], wrong)
        return [lambda: call(*args)]

    def _spoil_textures(self, key: str) -> list[Callable[[], Any]]:
        name, args = key.split()[0], self._bound[key]
        call = getattr(self.inner, name)
        if name == "bind_sampler_states" and self.fault.on == "samplers":
            states = [self._made.get(("sampler_state", id(h))) if h else None for h in args[2]]
            wrong = self.fault.spoil(states)
            if wrong is None:
                return []
            handles = [s if s is None else self.inner.create_sampler_state(s) for s in wrong]
            call(args[0], args[1], handles)
        elif name == "set_sampler_views" and self.fault.on == "views":
            wrong = self.fault.spoil(args[2])
            if wrong is None:
                return []
            call(args[0], args[1], wrong)
        else:
            return []
        return [lambda: call(*args)]


class FaultyScreenBase(Screen):
    """A screen whose contexts make a mistake."""

    def __init__(self, inner: Screen, fault: Fault, only: int) -> None:
        self.inner, self.fault, self.only = inner, fault, only
        self.name = f"faulty:{inner.name}"
        self.caps, self.resources = inner.caps, inner.resources

    def context_create(self) -> Context:
        context: Context = FaultyContext(self, self.inner.context_create(), self.fault, self.only)
        return context

    def describe(self) -> str:
        return f"{self.inner.name} with a deliberate mistake ({self.fault.name})"

    def _seen(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        """Record nothing for a screen."""

    def __getattr__(self, name: str) -> Any:
        """Forward what a driver offers beyond the interface."""
        return getattr(self.inner, name)


FaultyContext = complete_class(
    "FaultyContext", FaultyContextBase, Context, _forward, everything=True
)
FaultyScreen = complete_class("FaultyScreen", FaultyScreenBase, Screen, _forward)


def create_screen(inner: str = "half_pixel", **options: Any) -> Screen:
    """A driver that makes the mistake named by `inner`: `NAME`, `NAME@NUMBER`, and `:DRIVER`
    (numpipe).
    """
    what, _, driver = inner.partition(":")
    name, _, number = what.partition("@")
    if name not in FAULTS or (number and not number.isdigit()):
        raise InputError(f"faulty: no mistake is called {what!r} ({', '.join(FAULTS)})")
    device = create_inner(driver or "numpipe", **options)
    screen: Screen = FaultyScreen(device, FAULTS[name], int(number or 0))
    return screen
