"""Records and forwards a call, for any method of the interface, by its signature."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gallette.pipe.derived_methods import Call
from gallette.pipe.enums import MapFlags
from gallette.pipe.resource import Transfer

__all__ = ["recording"]


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
