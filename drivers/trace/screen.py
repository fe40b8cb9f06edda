"""The traced screen: forwards to the screen it wraps and records every call."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from gallette.pipe.derived_methods import calls, complete_class
from gallette.pipe.interface import Context, Screen
from gallette.pipe.loader import create_screen as create_inner
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.settings import TRUSTED

from .context import TraceContext, recording
from .writer import TraceWriter

DEFAULT_PATH = "gallette-trace.jsonl"


class TraceScreenBase(Screen):
    """A screen that records every call and forwards it to the inner screen."""

    def __init__(self, inner: Screen, writer: TraceWriter) -> None:
        self.inner = inner
        self.writer = writer
        self.label = writer.name_new("screen", self)
        self.name = f"trace:{inner.name}"
        # Writes by the application to its own memory cannot be recorded.
        self.caps = replace(inner.caps, user_memory=False)
        self.resources = inner.resources

    def context_create(self) -> Context:
        inner = self.inner.context_create()
        context: Context = TraceContext(self, inner, self.writer)
        self.writer.record(self.label, "context_create", args={}, result=self.writer.plain(context))
        return context

    def resource_create(self, desc: ResourceDesc) -> Resource:
        resource: Resource = _record_creation(self, desc)
        self._record_death(resource)
        return resource

    def _record_death(self, resource: Resource) -> None:
        """Record the end of a resource's life, which is not a call."""
        end = resource._destroy

        def destroy(dying: Resource) -> None:
            self.writer.record(
                self.label, "resource_destroy", args={"resource": self.writer.plain(dying)}
            )
            self.writer.forget(dying)
            end(dying)

        resource._destroy = destroy

    def destroy(self) -> None:
        self.writer.record(self.label, "destroy", args={})
        self.inner.destroy()
        self.writer.close()

    def __getattr__(self, name: str) -> Any:
        """Forward what a driver offers beyond the interface."""
        return getattr(self.inner, name)


_record_creation = recording(calls(Screen)["resource_create"])

TraceScreen = complete_class("TraceScreen", TraceScreenBase, Screen, recording)


def create_screen(
    inner: str = "numpipe",
    path: Annotated[str | Path | None, TRUSTED] = None,
    sink: Annotated[Callable[[dict[str, Any]], None] | None, TRUSTED] = None,
    **options: Any,
) -> Screen:
    """Trace the driver named `inner` (which gets the other options).

    Records go to `sink` if given, else to `path`, else to the file `GALLETTE_TRACE` names.
    """
    target = sink or path or os.environ.get("GALLETTE_TRACE") or DEFAULT_PATH
    device = create_inner(inner, **options)
    screen: Screen = TraceScreen(device, TraceWriter(target))
    return screen
