"""The noop context. Only methods with an effect are written out; the others are derived.

Methods that create, bind or delete a state object are derived from the interface's list of methods:
handles remember their kind and are checked. Every other method that is not written out accepts its
arguments and returns None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.memory.resource import HostResource, copy_region, transfer_map
from gallette.pipe.derived_methods import Call, complete_class
from gallette.pipe.enums import MapFlags, QueryType
from gallette.pipe.interface import Context, Fence, Handle
from gallette.pipe.resource import LeakError, Resource, Transfer
from gallette.pipe.state import Box
from gallette.pipe.variant_log import VariantLog

if TYPE_CHECKING:
    from .screen import NoopScreen


class ContractError(GalletteError):
    """The caller broke a rule of the pipe interface."""


@lazy_dataclass(eq=False)
class NoopHandle:
    """A state object: its kind (`blend_state`), the state it was created from, and whether it is
    alive.
    """

    kind: str
    state: Any
    alive: bool = True
    bound: int = 0


class _Signalled(Fence):
    def wait(self, timeout_ns: int) -> bool:
        return True


class NoopBase(Context):
    """The methods of the noop context that have an effect."""

    def __init__(self, screen: NoopScreen) -> None:
        self.screen = screen
        self.variant_log = VariantLog()
        self._shaders: list[NoopHandle] = []
        self._bound: dict[Any, NoopHandle | None] = {}

    # -- handles ---------------------------------------------------------------------------------

    def created(self, kind: str, state: Any) -> NoopHandle:
        """Create a handle."""
        handle = NoopHandle(kind, state)
        if kind == "shader_state":
            self._shaders.append(handle)
        return handle

    def check(self, kind: str, handle: Any) -> NoopHandle:
        """Check that a handle is alive and of that kind."""
        if not isinstance(handle, NoopHandle) or handle.kind != kind:
            shown = handle.kind if isinstance(handle, NoopHandle) else repr(handle)
            raise ContractError(f"{shown} used as a {kind}")
        if not handle.alive:
            raise ContractError(f"{kind} used after its deletion")
        return handle

    def bind(self, kind: str, slot: Any, handle: Handle) -> None:
        """Bind a handle (or None)."""
        new = None if handle is None else self.check(kind, handle)
        old = self._bound.get((kind, slot))
        if old is not None:
            old.bound -= 1
        if new is not None:
            new.bound += 1
        self._bound[kind, slot] = new

    def ended(self, kind: str, handle: Handle) -> None:
        """Delete a handle."""
        found = self.check(kind, handle)
        if found.bound:
            raise ContractError(f"{kind} deleted while bound")
        found.alive = False
        if kind == "shader_state":
            self._shaders.remove(found)
            found.state.unref()

    # -- calls with an effect ----------------------------------------------------------------------

    def resource_copy_region(
        self,
        dst: Resource,
        dst_level: int,
        dst_x: int,
        dst_y: int,
        dst_z: int,
        src: Resource,
        src_level: int,
        src_box: Box,
    ) -> None:
        copy_region(dst, dst_level, dst_x, dst_y, dst_z, src, src_level, src_box)

    def transfer_map(self, resource: Resource, level: int, flags: MapFlags, box: Box) -> Transfer:
        assert isinstance(resource, HostResource)
        return transfer_map(resource, level, flags, box)

    def get_query_result(self, query: Handle, wait: bool) -> int | dict[str, int]:
        kind = self.check("query", query).state
        return {} if kind is QueryType.PIPELINE_STATISTICS else 0

    def flush(self) -> Fence:
        return _Signalled()

    def explain(self, handle: Handle) -> dict[str, Any]:
        shader = self.check("shader_state", handle).state
        name, stage = getattr(shader, "name", ""), getattr(shader, "stage", "")
        return {"name": name, "stage": str(stage), "passes": [], "variants": []}

    def destroy(self) -> None:
        if self._shaders:
            names = ", ".join(str(getattr(h.state, "name", h.state)) for h in self._shaders)
            raise LeakError(f"context destroyed with live shaders: {names}")


def _derived(call: Call) -> Callable[..., Any]:
    """Derives the noop version of an interface method that is not written out."""
    kind = call.kind
    if call.verb == "create":
        place, name = next((i, p) for i, p in enumerate(call.parameters) if p != "stage")

        def create(self: NoopBase, *args: Any, **named: Any) -> NoopHandle:
            return self.created(kind, args[place] if place < len(args) else named[name])

        return create
    if call.ends and kind != "transfer":
        return lambda self, handle: self.ended(kind, handle)
    if call.verb != "bind":
        return lambda self, *args, **kwargs: None
    if call.parameters[-1] != "handles":
        return lambda self, *given: self.bind(kind, given[:-1], given[-1])

    def bind_several(self: NoopBase, stage: Any, start: int, handles: Any) -> None:
        for slot, handle in enumerate(handles, start):
            self.bind(kind, (stage, slot), handle)

    return bind_several


NoopContext = complete_class("NoopContext", NoopBase, Context, _derived)
