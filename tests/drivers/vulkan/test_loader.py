"""What the application is told where no Vulkan loader or device is there."""

from __future__ import annotations

import ctypes.util

import pytest

from gallette.drivers.vulkan import screen
from gallette.drivers.vulkan.device import loader
from gallette.pipe.loader import create_screen

from .device import needs_device


def test_without_a_loader_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader.ctypes, "CDLL", _no_library)
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    monkeypatch.setattr(screen, "_open", {})
    with pytest.raises(loader.NoVulkanError, match="install libvulkan1 and a driver"):
        create_screen("vulkan")


def _no_library(name: str) -> None:
    raise OSError(name)


@needs_device
def test_a_device_that_is_not_there_is_named_beside_those_that_are() -> None:
    with pytest.raises(loader.NoVulkanError, match=r"called 'no such GPU' \(found: .+\)"):
        create_screen("vulkan", device="no such GPU")


@needs_device
def test_the_environment_chooses_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [device.name for device in loader.Instance().physical_devices()]
    monkeypatch.setenv("GALLETTE_VULKAN_DEVICE", str(len(names) - 1))
    assert create_screen("vulkan").describe() == f"vulkan ({names[-1]})"
