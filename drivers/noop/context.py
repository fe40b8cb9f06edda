"""The noop command stream. Only what has an effect is written out; the rest is derived.

`create_X`, `bind_X` and `delete_X` methods are made from the interface's own list of names: they
hand out handles that remember their kind and check them. Every other abstract method that nobody
wrote here accepts its arguments and returns None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gallette.compiler.errors import GalletteError
from gallette.drivers.common.memory.storage import box_window, copy_region
from gallette.pipe.derive import with_derived_methods
from gallette.pipe.enums import MapFlags, QueryType
from gallette.pipe.interface import Context, Fence, Handle
from gallette.pipe.resource import LeakError, Resource, Transfer
from gallette.pipe.state import Box, StreamOutputInfo
from gallette.pipe.variant_log import VariantLog

if TYPE_CHECKING:
    from gallette.compiler.nir.ir import Shader
    from gallette.compiler.nir.ir.modes import Stage

    from .screen import NoopScreen

__all__ = ["ContractError", "NoopContext", "NoopHandle"]


class ContractError(GalletteError):
    """The caller broke a rule of the pipe interface."""


@dataclass(eq=False, slots=True)
class NoopHandle:
    """A state object: its kind (`blend_state`), what it was made from, and whether it lives."""

    kind: str
    state: Any
    alive: bool = True
    bound: int = 0


class _Signalled(Fence):
    def wait(self, timeout_ns: int) -> bool:
        return True


class NoopBase(Context):
    """A context that accepts every call of the interface: the part that does something."""

    def __init__(self, screen: NoopScreen) -> None:
        self.screen = screen
        self.variant_log = VariantLog()
        self._shaders: list[NoopHandle] = []
        self._bound: dict[Any, NoopHandle | None] = {}

    def check(self, kind: str, handle: Any) -> NoopHandle:
        """The handle, if it is a living one of that kind."""
        if not isinstance(handle, NoopHandle) or handle.kind != kind:
            shown = handle.kind if isinstance(handle, NoopHandle) else repr(handle)
            raise ContractError(f"{shown} used as a {kind}")
        if not handle.alive:
            raise ContractError(f"{kind} used after its deletion")
        return handle

    def bind(self, kind: str, slot: Any, handle: Handle) -> None:
        """Put a handle (or None) into a binding point."""
        new = None if handle is None else self.check(kind, handle)
        old = self._bound.get((kind, slot))
        if old is not None:
            old.bound -= 1
        if new is not None:
            new.bound += 1
        self._bound[kind, slot] = new

    def delete(self, kind: str, handle: Handle) -> None:
        """End a handle's life."""
        found = self.check(kind, handle)
        if found.bound:
            raise ContractError(f"{kind} deleted while bound")
        found.alive = False

    def bind_sampler_states(self, stage: Stage, start: int, handles: Sequence[Handle]) -> None:
        for i, handle in enumerate(handles):
            self.bind("sampler_state", (stage, start + i), handle)

    def create_shader_state(
        self, stage: Stage, shader: Shader, stream_output: StreamOutputInfo | None = None
    ) -> NoopHandle:
        handle = NoopHandle("shader_state", shader)
        self._shaders.append(handle)
        return handle

    def bind_shader_state(self, stage: Stage, handle: Handle) -> None:
        self.bind("shader_state", stage, handle)

    def delete_shader_state(self, handle: Handle) -> None:
        self.delete("shader_state", handle)
        self._shaders.remove(handle)
        handle.state.unref()

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
        origin = (dst_x, dst_y, dst_z)
        to, source = dst.storage[dst_level], src.storage[src_level]
        copy_region(dst.desc, to, dst_level, origin, src.desc, source, src_level, src_box)

    def transfer_map(self, resource: Resource, level: int, flags: MapFlags, box: Box) -> Transfer:
        window = box_window(resource.desc, level, box)
        return Transfer(resource, level, box, flags, resource.storage[level][window])

    def create_query(self, type: QueryType, index: int = 0) -> NoopHandle:
        return NoopHandle("query", type)

    def get_query_result(self, query: Handle, wait: bool) -> int | dict[str, int]:
        kind = self.check("query", query).state
        return {} if kind is QueryType.PIPELINE_STATISTICS else 0

    def destroy_query(self, query: Handle) -> None:
        self.delete("query", query)

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


def _derived(name: str) -> Callable[..., Any]:
    """The method the noop driver gives an interface method nobody wrote."""
    kind = name.partition("_")[2]
    if re.fullmatch(r"create_\w+_state", name):

        def create(self: NoopBase, state: Any) -> NoopHandle:
            return NoopHandle(kind, state)

        return create
    if re.fullmatch(r"bind_\w+_state", name):
        return lambda self, handle: self.bind(kind, None, handle)
    if re.fullmatch(r"delete_\w+_state", name):
        return lambda self, handle: self.delete(kind, handle)
    return lambda self, *args, **kwargs: None


NoopContext = with_derived_methods("NoopContext", NoopBase, _derived)
