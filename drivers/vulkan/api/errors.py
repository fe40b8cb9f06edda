"""Errors of the Vulkan device, as reported to the application."""

from __future__ import annotations

from gallette.compiler.errors import GalletteError

__all__ = ["DEVICE_LOST", "VulkanError"]

DEVICE_LOST = -4


class VulkanError(GalletteError):
    """A Vulkan command returned an error."""

    def __init__(self, command: str, result: int, name: str) -> None:
        super().__init__(f"{command} returned {name}")
        self.result = result
