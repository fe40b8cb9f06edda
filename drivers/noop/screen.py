"""The noop device: claims every capability, keeps resources in host memory."""

from __future__ import annotations

import time
from typing import Any

from gallette.drivers.common.memory.storage import allocate
from gallette.pipe.caps import Caps
from gallette.pipe.enums import Bind, Target
from gallette.pipe.formats import Format
from gallette.pipe.interface import Context, Screen
from gallette.pipe.resource import Resource, ResourceDesc, ResourceLedger

__all__ = ["NoopScreen", "create_screen"]

_CAPS = Caps(
    max_shader_buffers=16,
    max_shader_images=8,
    max_stream_output_buffers=4,
    max_samples=4,
    max_dual_source_render_targets=1,
    max_viewports=16,
    stages=frozenset({"vertex", "tess_ctrl", "tess_eval", "geometry", "fragment", "compute"}),
    fp64=True,
    int64=True,
    layered_rendering=True,
    compute=True,
)


class NoopScreen(Screen):
    """A device that can do anything, because it does nothing."""

    name = "noop"

    def __init__(self, caps: Caps = _CAPS) -> None:
        self.caps = caps
        self.resources = ResourceLedger()

    def describe(self) -> str:
        return "noop (draws nothing)"

    def is_format_supported(self, format: Format, target: Target, samples: int, bind: Bind) -> bool:
        return samples <= self.caps.max_samples

    def context_create(self) -> Context:
        from .context import NoopContext

        context: Context = NoopContext(self)
        return context

    def resource_create(self, desc: ResourceDesc) -> Resource:
        def destroy(resource: Resource) -> None:
            self.resources.remove(resource)
            resource.storage = []

        resource = Resource(desc, destroy, allocate(desc))
        self.resources.add(resource)
        return resource

    def get_timestamp(self) -> int:
        return time.perf_counter_ns()

    def destroy(self) -> None:
        """Nothing to let go of."""


def create_screen(**options: Any) -> NoopScreen:
    """A noop screen; `caps` may be given, to see what a state tracker makes of them."""
    return NoopScreen(**options)
