"""A device whose memory is the host's: what drivers built on the shared parts can do."""

from __future__ import annotations

import time
from typing import Any

from gallette.drivers.common.memory.heap import keep_freed_memory
from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.common.raster.points import LARGEST_POINT
from gallette.drivers.common.raster.samples import SAMPLES
from gallette.drivers.common.variants.compiler import VariantCompiler
from gallette.pipe.caps import Caps
from gallette.pipe.enums import Bind, Target
from gallette.pipe.formats import Format
from gallette.pipe.interface import Context, Screen
from gallette.pipe.resource import Resource, ResourceDesc, ResourceLedger

__all__ = ["HostScreen"]


class HostScreen(Screen):
    """What the screens have in common; a driver brings the compiler of its shaders."""

    def __init__(self, compiler: VariantCompiler[Any, Any]) -> None:
        self.compiler = compiler
        keep_freed_memory()
        self.caps = Caps(
            glsl_version=430,
            fp64=True,
            int64=True,
            max_point_size=LARGEST_POINT,
            layered_rendering=True,
            max_dual_source_render_targets=1,
            max_samples=SAMPLES,
            max_shader_buffers=16,
            max_shader_images=8,
            max_stream_output_buffers=4,
            stages=frozenset(
                {"vertex", "tess_ctrl", "tess_eval", "geometry", "fragment", "compute"}
            ),
            compute=True,
        )
        self.resources = ResourceLedger()

    def is_format_supported(self, format: Format, target: Target, samples: int, bind: Bind) -> bool:
        if samples > max(1, self.caps.max_samples):
            return False
        if bind & Bind.DEPTH_STENCIL and not _renders_depth(format):
            return False
        if bind & Bind.RENDER_TARGET and not _renders_color(format):
            return False
        if bind & Bind.VERTEX_BUFFER and format.is_compressed:
            return False
        return not (format.is_compressed and target in _UNCOMPRESSED_TARGETS)

    def context_create(self) -> Context:
        from gallette.drivers.common.context import HostContext

        return HostContext(self)

    def resource_create(self, desc: ResourceDesc) -> Resource:
        return create_resource(desc, self.resources)

    def get_timestamp(self) -> int:
        return time.perf_counter_ns()

    def destroy(self) -> None:
        """Nothing to let go of: resources belong to those who hold references."""


_UNCOMPRESSED_TARGETS = (Target.BUFFER, Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY)


def _renders_depth(format: Format) -> bool:
    return format.is_depth_stencil


def _renders_color(format: Format) -> bool:
    """Anything whose codec can write single pixels, but no scaled or fixed-point integers."""
    if not format.is_color or format.is_compressed or format.codec == "shared_exponent":
        return False
    kinds = {channel.type for channel in format.channels}
    return not kinds & {"USCALED", "SSCALED", "FIXED"} and format.channels[0].bits <= 32
