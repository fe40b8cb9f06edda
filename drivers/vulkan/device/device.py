"""An open device: its queue, its commands, and which features and extensions are enabled.

Everything the device supports of the lists below is enabled; `has` answers for an extension,
`feature` for a single feature. A device that lacks one of those that the driver needs is refused
with its name.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any

from gallette.compiler.errors import ResetError
from gallette.drivers.vulkan.api.binding import Commands, array, byref, exists, listed, make

from .loader import Instance, NoVulkanError, PhysicalDevice

NEEDED = (
    "VK_EXT_provoking_vertex", "VK_EXT_depth_clip_control", "VK_EXT_vertex_attribute_divisor",
    "VK_EXT_depth_clip_enable", "VK_EXT_line_rasterization", "VK_EXT_custom_border_color",
    "VK_EXT_transform_feedback", "VK_EXT_primitives_generated_query", "VK_EXT_index_type_uint8",
)  # fmt: skip
"""Extensions without which OpenGL's rules cannot be kept."""
EXTENSIONS = (
    *NEEDED, "VK_EXT_robustness2", "VK_EXT_non_seamless_cube_map", "VK_EXT_image_2d_view_of_3d",
    "VK_EXT_shader_atomic_float", "VK_EXT_4444_formats", "VK_KHR_shader_clock",
    "VK_KHR_pipeline_executable_properties", "VK_EXT_shader_stencil_export",
    "VK_EXT_post_depth_coverage", "VK_EXT_depth_range_unrestricted",
)  # fmt: skip
"""Extensions that are enabled where they are, with all their features."""
NEEDED_FEATURES = (
    "tessellationShader", "geometryShader", "geometryStreams", "multiViewport", "independentBlend",
    "dualSrcBlend", "logicOp", "fillModeNonSolid", "wideLines", "depthClamp", "depthBiasClamp",
    "samplerAnisotropy", "shaderOutputLayer", "bresenhamLines", "stippledBresenhamLines",
)  # fmt: skip
"""Features of OpenGL 4.6 that GPUs for it have, whatever Vulkan requires."""

_CORE = tuple(f"VkPhysicalDeviceVulkan{version}Features" for version in ("11", "12", "13"))
_NOT_WANTED = frozenset({"bufferDeviceAddressCaptureReplay", "bufferDeviceAddressMultiDevice"})


class Device:
    """A logical device with one queue. Its commands are `device.vk`."""

    def __init__(self, instance: Instance, physical: PhysicalDevice) -> None:
        self.handle = 0
        self.live: dict[tuple[str, int], None] = {}  # what was made, in order
        self.instance, self.physical = instance, physical
        self.enabled = frozenset(EXTENSIONS) & physical.extensions
        structs = [found for name in sorted(self.enabled) if (found := _features_of(name))]
        self.features = physical.features(*_CORE, *structs)
        self._told: dict[str, bool] = {}
        for link in (self.features.features, *self.features.kept):
            for name, kind in link._fields_:
                if kind is ctypes.c_uint32 and name != "sType":
                    if name in _NOT_WANTED:
                        setattr(link, name, 0)
                    self._told[name] = bool(getattr(link, name))
        missing = [name for name in NEEDED if name not in self.enabled]
        missing += [name for name in NEEDED_FEATURES if not self.feature(name)]
        if missing:
            raise NoVulkanError(f"the device {physical.name} has no {', '.join(missing)}")
        self.lock = threading.Lock()
        self.family = self._queue_family()
        self.handle = self._created()
        instance.devices += 1
        handle, lookup = self.handle, instance.vk.vkGetDeviceProcAddr
        self.vk = Commands(lambda name: lookup(handle, name))
        queue = ctypes.c_void_p()
        self.vk.vkGetDeviceQueue(self.handle, self.family, 0, byref(queue))
        self.queue = queue.value
        self.memory = make("VkPhysicalDeviceMemoryProperties")
        instance.vk.vkGetPhysicalDeviceMemoryProperties(physical.handle, byref(self.memory))

    def has(self, extension: str) -> bool:
        """Whether an extension is enabled."""
        return extension in self.enabled

    def feature(self, name: str) -> bool:
        """Whether a feature of any struct is enabled."""
        return self._told.get(name, False)

    def _queue_family(self) -> int:
        command = self.instance.vk.vkGetPhysicalDeviceQueueFamilyProperties
        found = listed(partial(command, self.physical.handle), "VkQueueFamilyProperties")
        for index, family in enumerate(found):
            if family.queueFlags & 3 == 3:  # graphics and compute
                return index
        raise NoVulkanError(f"the device {self.physical.name} has no queue that draws")

    def _created(self) -> int:
        names, priority = sorted(self.enabled), array([1.0], ctypes.c_float)
        queue = make("VkDeviceQueueCreateInfo", queueFamilyIndex=self.family, queueCount=1,
                     pQueuePriorities=priority)  # fmt: skip
        info = make(
            "VkDeviceCreateInfo", pNext=self.features,
            queueCreateInfoCount=1, pQueueCreateInfos=queue,
            enabledExtensionCount=len(names), ppEnabledExtensionNames=names,
        )  # fmt: skip
        handle = ctypes.c_void_p()
        create = self.instance.vk.vkCreateDevice
        create(self.physical.handle, byref(info), None, byref(handle))
        assert handle.value is not None
        return handle.value

    def new(self, kind: str, **members: Any) -> int:
        """Create an object such as "Sampler" from the members of its create info."""
        made, info = ctypes.c_uint64(), make(f"Vk{kind}CreateInfo", **members)
        getattr(self.vk, f"vkCreate{kind}")(self.handle, byref(info), None, byref(made))
        self.live[kind, made.value] = None
        return made.value

    def drop(self, kind: str, handle: int) -> None:
        """Destroy an object, unless the device is lost and its objects with it."""
        if self.live.pop((kind, handle), 0) is None:
            name = "vkFreeMemory" if kind == "Memory" else f"vkDestroy{kind}"
            getattr(self.vk, name)(self.handle, handle, None)

    def wait_idle(self) -> None:
        """Wait until the device is idle."""
        with self.lock:
            self.vk.vkDeviceWaitIdle(self.handle)

    def __del__(self) -> None:
        """Destroy the device with its objects, because nothing refers to it."""
        if self.handle and not sys.is_finalizing():
            with suppress(ResetError):
                self.vk.vkDeviceWaitIdle(self.handle)
            for kind, handle in reversed(list(self.live)):
                self.drop(kind, handle)
            self.vk.vkDestroyDevice(self.handle, None)
            self.handle = 0
            self.instance.devices -= 1
            self.instance.leave()


def _features_of(extension: str) -> str:
    """The name of an extension's struct of features, if it has one."""
    _, vendor, *words = extension.split("_")
    title = "".join(word.title() for word in words)
    name = f"VkPhysicalDevice{title}Features{vendor}"
    return name if exists(name) else ""
