"""The screen: a Vulkan device as the state tracker sees it, with what its features allow.

Capabilities that the device lacks are not advertised, so the state tracker never uses them.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from gallette.compiler.errors import ResetError
from gallette.compiler.nir.ir.modes import DRAWING, Stage
from gallette.drivers.common.memory.screen import MemoryScreen
from gallette.pipe.caps import Caps
from gallette.pipe.enums import Bind, Target
from gallette.pipe.formats import Format
from gallette.pipe.interface import Context
from gallette.pipe.resource import Resource, ResourceDesc

from .api.binding import VulkanError, byref, make
from .device.device import Device
from .device.loader import Instance
from .memory.formats import vulkan_format
from .memory.resources import create_resource, image_members, stored_format
from .memory.storage import Allocator
from .pipeline.cache import PipelineCache
from .pipeline.textures import Samplers
from .variants import VulkanCompiler

_SAMPLES = {1: ((0.5, 0.5),), 2: ((0.75, 0.75), (0.25, 0.25)),
            4: ((0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875))}  # fmt: skip
"""Vulkan's standard sample positions, which are the same for every device that has them."""
_FEATURES = {Bind.SAMPLER_VIEW: 0x1, Bind.RENDER_TARGET: 0x80, Bind.DEPTH_STENCIL: 0x200,
             Bind.SHADER_IMAGE: 0x2}  # fmt: skip
_BUFFER_FEATURES = {Bind.SAMPLER_VIEW: 0x8, Bind.SHADER_IMAGE: 0x10, Bind.VERTEX_BUFFER: 0x40}
_UNCOMPRESSED = (Target.BUFFER, Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY)


class _OpenDevice:
    """A device with what all screens on it share: pipelines and samplers.

    Memory belongs to each screen: a device that ignores the sizes of vertex buffers reads beyond
    them in the same block, and must not find there what another application wrote.
    """

    def __init__(self, name: str, validation: bool) -> None:
        self.instance = Instance(validation)
        self.device = Device(self.instance, self.instance.chosen(name))
        self.pipelines = PipelineCache(self.device)
        self.samplers = Samplers(self.device, Allocator(self.device))
        self.supported: dict[Any, bool] = {}  # formats and their uses


_open: dict[Any, _OpenDevice] = {}
_opening = threading.Lock()


def _opened(name: str, validation: bool) -> _OpenDevice:
    """The open device of these settings; it stays open, since opening one starts its driver's
    threads and takes longer than a small program draws. A lost device is opened anew, and so is
    one that a process has from the process it was forked from.
    """
    variables = "GALLETTE_VULKAN_DEVICE", "GALLETTE_VULKAN_VALIDATION"
    key = os.getpid(), name, validation, *map(os.environ.get, variables)
    with _opening:
        found = _open.get(key)
        if found is not None:
            try:
                found.device.wait_idle()
            except ResetError:
                found = None
        if found is None:
            found = _open[key] = _OpenDevice(name, validation)
        return found


class VulkanScreen(MemoryScreen):
    """A device with one queue."""

    name = "vulkan"

    def __init__(self, device: str = "", validation: bool = False) -> None:
        shared = _opened(device, validation)
        self.instance, self.device = shared.instance, shared.device
        self.allocator, self.pipelines = Allocator(self.device), shared.pipelines
        self.samplers, self._known = shared.samplers, shared.supported
        self.compiler = VulkanCompiler()
        super().__init__(_caps(self.device))

    def describe(self) -> str:
        return f"vulkan ({self.device.physical.name})"

    def is_format_supported(self, format: Format, target: Target, samples: int, bind: Bind) -> bool:
        key = (format, target, samples, bind)
        if key not in self._known:
            self._known[key] = self._can_do(*key)
        return self._known[key]

    def _can_do(self, format: Format, target: Target, samples: int, bind: Bind) -> bool:
        if bind & Bind.VERTEX_BUFFER:
            return super().is_format_supported(format, target, samples, bind)
        stored = stored_format(self.device, format)
        if stored is not None:
            if bind & ~Bind.SAMPLER_VIEW or target in _UNCOMPRESSED:
                return False
            return self._can_do(stored, target, samples, bind)
        found = vulkan_format(format)
        if found is None or (samples > 1 and samples not in _SAMPLES):
            return False
        if bind & (Bind.RENDER_TARGET if format.is_depth_stencil else Bind.DEPTH_STENCIL):
            return False
        _, optimal, buffers = self.device.physical.format_features(found.number)
        if target is Target.BUFFER:
            wanted = sum(bit for flag, bit in _BUFFER_FEATURES.items() if bind & flag)
            return buffers & wanted == wanted
        wanted = sum(bit for flag, bit in _FEATURES.items() if bind & flag) | 1
        if optimal & wanted != wanted or (format.is_compressed and target in _UNCOMPRESSED):
            return False
        return self._image_exists(format, target, samples)

    def _image_exists(self, format: Format, target: Target, samples: int) -> bool:
        layers = 6 if target.is_cube else 1
        desc = ResourceDesc(target, format, 8, 8, 1, layers, samples=samples)
        members = image_members(self.device, desc)
        if members is None:
            return False
        made = make("VkImageFormatProperties")
        try:
            self.instance.vk.vkGetPhysicalDeviceImageFormatProperties(
                self.device.physical.handle, members["format"], members["imageType"], 0,
                members["usage"], members["flags"], byref(made),
            )  # fmt: skip
        except VulkanError:
            return False
        return bool(made.sampleCounts & max(1, samples))

    def resource_create(self, desc: ResourceDesc) -> Resource:
        return create_resource(desc, self.resources, self.device, self.allocator)

    def context_create(self) -> Context:
        from .context import VulkanContext

        return VulkanContext(self)

    def get_timestamp(self) -> int:
        return time.perf_counter_ns()

    def notes(self) -> list[str]:
        """Features that the device lacks, and which are therefore not advertised or done by the
        host.
        """
        has, feature = self.device.has, self.device.feature
        return [f"no {what}: {need}" for what, need in _NEEDS if not (has(need) or feature(need))]

    @property
    def messages(self) -> list[str]:
        """The messages of the validation layers."""
        return self.instance.messages

    def destroy(self) -> None:
        self.device.wait_idle()


def _caps(device: Device) -> Caps:
    limits, has, feature = device.physical.limits, device.has, device.feature
    counts = limits.framebufferColorSampleCounts & limits.framebufferDepthSampleCounts
    samples = [count for count in _SAMPLES if counts & count]
    return Caps(
        glsl_version=460,
        fp64=feature("shaderFloat64"),
        int64=feature("shaderInt64"),
        max_texture_2d_size=min(limits.maxImageDimension2D, 1 << 14),
        max_texture_3d_size=min(limits.maxImageDimension3D, 1 << 11),
        max_texture_cube_size=min(limits.maxImageDimensionCube, 1 << 14),
        max_texture_array_layers=min(limits.maxImageArrayLayers, 1 << 11),
        max_texture_buffer_size=min(limits.maxTexelBufferElements, 1 << 27),
        max_render_targets=min(limits.maxColorAttachments, 8),
        max_dual_source_render_targets=1,
        max_samplers=16,
        max_viewports=16,
        max_vertex_attribs=min(limits.maxVertexInputAttributes, 16),
        max_varyings=min(limits.maxVertexOutputComponents // 4 - 2, 32),
        max_const_buffers=min(limits.maxPerStageDescriptorUniformBuffers, 15),
        max_shader_buffers=8,
        max_shader_images=8,
        max_stream_output_buffers=4,
        max_vertex_streams=4,
        max_samples=max(samples) if len(samples) > 1 else 1,
        sample_positions=tuple(_SAMPLES[count] for count in samples) if len(samples) > 1 else (),
        max_clip_planes=min(limits.maxClipDistances, 8),
        max_point_size=limits.pointSizeRange[1],
        max_line_width=limits.lineWidthRange[1],
        max_anisotropy=limits.maxSamplerAnisotropy,
        max_lod_bias=limits.maxSamplerLodBias,
        stages=frozenset(stage.value for stage in (*DRAWING, Stage.COMPUTE)),
        compute=True,
        layered_rendering=True,
        seamless_cube_map=True,
        depth_clip_disable=True,
        indep_blend=True,
        depth_bounds=feature("depthBounds"),
        stencil_export=has("VK_EXT_shader_stencil_export"),
        filter_minmax=feature("samplerFilterMinmax"),
        post_depth_coverage=has("VK_EXT_post_depth_coverage"),
        shader_clock=feature("shaderSubgroupClock") and feature("shaderDeviceClock"),
    )


_NEEDS = (
    ("doubles", "shaderFloat64"),
    ("64-bit integers", "shaderInt64"),
    ("depth bounds test", "depthBounds"),
    ("filters that take the smallest texel", "samplerFilterMinmax"),
    ("blocks of ETC2 (the host decodes them)", "textureCompressionETC2"),
    ("blocks of ASTC (the host decodes them)", "textureCompressionASTC_LDR"),
    ("blocks of S3TC and BPTC (the host decodes them)", "textureCompressionBC"),
    ("the time in shaders", "shaderSubgroupClock"),
    ("stencil values from shaders", "VK_EXT_shader_stencil_export"),
    ("coverage after early tests", "VK_EXT_post_depth_coverage"),
)
"""Capabilities, and the feature or extension that each needs."""


def create_screen(device: str = "", validation: bool = False) -> VulkanScreen:
    """A screen on a Vulkan device; `device` is a number or a part of its name.

    `validation` turns the validation layers on; their messages go to standard error.
    """
    return VulkanScreen(device, validation or bool(os.environ.get("GALLETTE_VULKAN_VALIDATION")))
