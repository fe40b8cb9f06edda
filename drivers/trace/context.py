"""The traced context: every method of the interface, derived from the interface."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.pipe.derived_methods import Call, complete_class
from gallette.pipe.draw_series import Series
from gallette.pipe.enums import MapFlags
from gallette.pipe.interface import Context
from gallette.pipe.resource import Transfer
from gallette.pipe.state import DrawInfo
from gallette.pipe.variant_log import VariantLog

from .writer import TraceWriter

if TYPE_CHECKING:
    from .screen import TraceScreenBase


def recording(call: Call) -> Callable[..., Any]:
    """A method that records a call by argument names and makes it on `self.inner`."""
    name, signature, kind, ends = call.name, call.signature, call.creates, call.ends

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        writer = self.writer
        given = signature.bind(self, *args, **kwargs).arguments
        given.pop("self")
        parts: dict[str, Any] = {"args": {k: writer.plain(v) for k, v in given.items()}}
        if ends and isinstance(args[0], Transfer) and args[0].flags & MapFlags.WRITE:
            parts["data"] = writer.plain(args[0].data)
        start = time.perf_counter_ns()
        try:
            result = getattr(self.inner, name)(*args, **kwargs)
        except Exception as error:
            parts["error"] = f"{type(error).__name__}: {error}"
            writer.record(self.label, name, **parts)
            raise
        parts["us"] = (time.perf_counter_ns() - start) // 1000
        if kind and result is not None:
            writer.name_new(kind, result)
        if result is not None:
            parts["result"] = writer.plain(result)
        writer.record(self.label, name, **parts)
        if ends and args:
            writer.forget(args[0])
        return result

    return method


class TraceContextBase(Context):
    """A context that records every call and forwards it to the inner context."""

    def __init__(self, screen: TraceScreenBase, inner: Context, writer: TraceWriter) -> None:
        self.screen = screen
        self.inner = inner
        self.writer = writer
        self.label = writer.name_new("context", self)

    @property
    def variant_log(self) -> VariantLog:  # type: ignore[override]
        """The inner driver's log."""
        return self.inner.variant_log

    def prepared_draw(self, info: DrawInfo) -> Any:
        """None, so that every draw of a series is made, and recorded, by itself."""
        return None

    def prepared_call(self, token: Any, info: DrawInfo) -> Any:
        return None

    def draw_series(self, series: Series) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        """Forward what a driver offers beyond the interface."""
        return getattr(self.inner, name)


TraceContext = complete_class("TraceContext", TraceContextBase, Context, recording, everything=True)
