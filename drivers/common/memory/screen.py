"""A screen whose resources are in host memory; a driver adds its caps and its contexts."""

from __future__ import annotations

import functools
import time

from gallette.pipe.caps import Caps
from gallette.pipe.enums import Bind, Target
from gallette.pipe.formats import Format
from gallette.pipe.interface import Screen
from gallette.pipe.resource import Resource, ResourceDesc, ResourceLedger

from .resource import create_resource


class MemoryScreen(Screen):
    """A screen with its resources in host memory."""

    name = "memory"

    def __init__(self, caps: Caps) -> None:
        self.caps = caps
        self.resources = ResourceLedger()

    def describe(self) -> str:
        return self.name

    def is_format_supported(self, format: Format, target: Target, samples: int, bind: Bind) -> bool:
        return samples <= max(1, self.caps.max_samples) and _can_do(format, target, bind)

    def resource_create(self, desc: ResourceDesc) -> Resource:
        return create_resource(desc, self.resources)

    def get_timestamp(self) -> int:
        return time.perf_counter_ns()

    def destroy(self) -> None:
        """Do nothing: resources live as long as there are references to them."""


_UNCOMPRESSED_TARGETS = (Target.BUFFER, Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY)


@functools.cache
def _can_do(format: Format, target: Target, bind: Bind) -> bool:
    """Whether the codecs support every use in `bind` for textures of this format."""
    if bind & Bind.DEPTH_STENCIL and not format.is_depth_stencil:
        return False
    if bind & Bind.RENDER_TARGET and not _renders_color(format):
        return False
    if bind & Bind.VERTEX_BUFFER and format.is_compressed:
        return False
    return not (format.is_compressed and target in _UNCOMPRESSED_TARGETS)


def _renders_color(format: Format) -> bool:
    """Whether single pixels can be written: any format with a codec, except scaled and
    fixed-point.
    """
    if not format.is_color or format.is_compressed or format.codec == "shared_exponent":
        return False
    kinds = {channel.type for channel in format.channels}
    return not kinds & {"USCALED", "SSCALED", "FIXED"} and format.channels[0].bits <= 32
