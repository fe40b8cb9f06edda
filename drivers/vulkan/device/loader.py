"""Finding the Vulkan loader, an instance and a physical device.

`GALLETTE_VULKAN_DEVICE` chooses among several devices: a number, or a part of the name. Without it
the first discrete GPU is taken, then an integrated one, then any device.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.drivers.vulkan.api.binding import (
    Commands,
    VulkanError,
    address,
    byref,
    listed,
    make,
    struct,
)

VALIDATION = "VK_LAYER_KHRONOS_validation"
_LIBRARIES = {"win32": "vulkan-1.dll", "darwin": "libvulkan.1.dylib"}
_PREFERENCE = {2: 0, 1: 1, 3: 2, 4: 3}  # VkPhysicalDeviceType: discrete, integrated, virtual, CPU
_LEAST = (1, 3)
_MOST_MESSAGES = 1000


class NoVulkanError(GalletteError):
    """The machine has no Vulkan loader or no usable Vulkan device."""


def _library() -> Any:
    name = _LIBRARIES.get(sys.platform, "libvulkan.so.1")
    try:
        return ctypes.CDLL(name)
    except OSError:
        found = ctypes.util.find_library("vulkan")
        if found is None:
            raise NoVulkanError(
                f"no Vulkan loader ({name}) is installed: install libvulkan1 and a driver such as "
                "mesa-vulkan-drivers, or the GPU vendor's driver"
            ) from None
        return ctypes.CDLL(found)


class Instance:
    """A connection to the Vulkan loader."""

    def __init__(self, validation: bool = False) -> None:
        self.handle: int | None = None
        self.devices, self.unused, self._messenger = 0, False, 0
        self.library = _library()
        lookup = self.library.vkGetInstanceProcAddr
        lookup.restype, lookup.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
        self.vk = Commands(lambda name: lookup(None, name))
        self.messages: list[str] = []  # of the validation layers
        version = 1 << 22 | 3 << 12
        application = make("VkApplicationInfo", pApplicationName="gallette", apiVersion=version)
        layers, extensions = ([VALIDATION], ["VK_EXT_debug_utils"]) if validation else ([], [])
        info = make(
            "VkInstanceCreateInfo", pApplicationInfo=application,
            enabledLayerCount=len(layers), ppEnabledLayerNames=layers,
            enabledExtensionCount=len(extensions), ppEnabledExtensionNames=extensions,
        )  # fmt: skip
        handle = ctypes.c_void_p()
        try:
            self.vk.vkCreateInstance(byref(info), None, byref(handle))
        except VulkanError as error:
            package = "vulkan-validationlayers" if validation else "mesa-vulkan-drivers"
            hint = "are the validation layers" if validation else "is one installed"
            hint += f"? On Debian: apt-get install {package}"
            raise NoVulkanError(f"there is no Vulkan driver ({error}); {hint}") from error
        self.handle = handle.value
        owner = self.handle
        self.vk = Commands(lambda name: lookup(owner, name))
        if validation:
            self._messenger = self._listen()

    def _listen(self) -> int:
        """Collect warnings and errors of the validation layers, and print them.

        `GALLETTE_VULKAN_VALIDATION` turns the layers on; a value with a slash is a file to which
        the messages are appended instead.
        """
        where, messages = os.environ.get("GALLETTE_VULKAN_VALIDATION", ""), self.messages
        data = struct("VkDebugUtilsMessengerCallbackDataEXT")

        def hear(severity: int, kind: int, pointer: int, user: int) -> int:
            text = ctypes.string_at(data.from_address(pointer).pMessage).decode(errors="replace")
            if len(messages) < _MOST_MESSAGES:
                messages.append(text)
            with Path(where).open("a") if "/" in where else nullcontext(sys.stderr) as file:
                print(text if "/" in where else f"vulkan: {text}", file=file)
            return 0

        word = ctypes.c_uint32
        # Vulkan calls from any thread, and Python's lock may be released there.
        self._callback = ctypes.CFUNCTYPE(word, word, word, ctypes.c_void_p, ctypes.c_void_p)(hear)
        info = make(
            "VkDebugUtilsMessengerCreateInfoEXT",
            messageSeverity=0x1100,  # warnings and errors
            messageType=0x2,  # of the rules, not of speed
            pfnUserCallback=ctypes.cast(self._callback, ctypes.c_void_p).value,
        )
        handle = ctypes.c_uint64()
        self.vk.vkCreateDebugUtilsMessengerEXT(self.handle, byref(info), None, byref(handle))
        return handle.value

    def physical_devices(self) -> list[PhysicalDevice]:
        """Every device of the machine, in the loader's order."""
        count, enumerate = ctypes.c_uint32(), self.vk.vkEnumeratePhysicalDevices
        enumerate(self.handle, byref(count), None)
        handles = (ctypes.c_void_p * count.value)()
        enumerate(self.handle, byref(count), byref(handles))
        return [PhysicalDevice(self, handle or 0) for handle in handles[: count.value]]

    def chosen(self, wanted: str = "") -> PhysicalDevice:
        """The device to draw with."""
        found = self.physical_devices()
        wanted = wanted or os.environ.get("GALLETTE_VULKAN_DEVICE", "")
        if wanted.isdigit() and int(wanted) < len(found):
            chosen = [found[int(wanted)]]
        else:
            chosen = [device for device in found if wanted.lower() in device.name.lower()]
        usable = [device for device in chosen if device.version >= _LEAST]
        if not usable:
            names = ", ".join(f"{d.name} (Vulkan {d.version[0]}.{d.version[1]})" for d in found)
            raise NoVulkanError(
                f"no Vulkan 1.3 device{f' called {wanted!r}' if wanted else ''} "
                f"(found: {names or 'none'}): install mesa-vulkan-drivers or the GPU vendor's "
                "driver, or let VK_ICD_FILENAMES name one"
            )
        return min(usable, key=lambda device: _PREFERENCE.get(device.type, 4))

    def __del__(self) -> None:
        """Destroy the instance; the garbage collector may finalize it before its devices."""
        self.unused = True
        self.leave()

    def leave(self) -> None:
        """Destroy the instance, once no device is open and nothing refers to it."""
        if not self.unused or self.devices or not self.handle or sys.is_finalizing():
            return
        if self._messenger:
            self.vk.vkDestroyDebugUtilsMessengerEXT(self.handle, self._messenger, None)
        self.vk.vkDestroyInstance(self.handle, None)
        self.handle = None


class PhysicalDevice:
    """A device as the loader describes it, before it is opened."""

    def __init__(self, instance: Instance, handle: int) -> None:
        self.instance, self.handle = instance, handle
        name = "PhysicalDeviceProperties2"
        told = self._asked(f"Vk{name}", f"vkGet{name}").properties
        self.name: str = told.deviceName.decode(errors="replace")
        self.type: int = told.deviceType
        self.version = (told.apiVersion >> 22 & 0x7F, told.apiVersion >> 12 & 0x3FF)
        self.limits = told.limits
        self.extensions = self._extensions()

    def _asked(self, name: str, command: str, *chain: Any) -> Any:
        made = make(name)
        previous = made
        for link in chain:
            previous.pNext = address(link)
            previous = link
        made.kept += list(chain)
        getattr(self.instance.vk, command)(self.handle, byref(made))
        return made

    def features(self, *names: str) -> Any:
        """The supported features, in a chain of the structs with these names."""
        links = [make(name) for name in names]
        return self._asked("VkPhysicalDeviceFeatures2", "vkGetPhysicalDeviceFeatures2", *links)

    def _extensions(self) -> frozenset[str]:
        ask = partial(self.instance.vk.vkEnumerateDeviceExtensionProperties, self.handle, None)
        found = listed(ask, "VkExtensionProperties")
        return frozenset(each.extensionName.decode() for each in found)

    def format_features(self, format: int) -> tuple[int, int, int]:
        """Features of a format: linear, optimal, of buffers."""
        made = make("VkFormatProperties2")
        self.instance.vk.vkGetPhysicalDeviceFormatProperties2(self.handle, format, byref(made))
        told = made.formatProperties
        return told.linearTilingFeatures, told.optimalTilingFeatures, told.bufferFeatures
