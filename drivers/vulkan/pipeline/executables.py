"""The device's description of its code for a pipeline (VK_KHR_pipeline_executable_properties)."""

from __future__ import annotations

from typing import Any

from gallette.drivers.vulkan.api.binding import byref, listed, make

__all__ = ["CAPTURE", "EXTENSION", "executables"]

EXTENSION = "VK_KHR_pipeline_executable_properties"
CAPTURE = 0x40
"""The flag of pipelines that can be asked for statistics."""
_MEMBERS = ("b32", "i64", "u64", "f64")  # by VkPipelineExecutableStatisticFormatKHR


def executables(device: Any, pipeline: int) -> list[str]:
    """A line for each executable, and one for each of its statistics."""
    if not device.feature("pipelineExecutableInfo"):
        return [f"the device has no {EXTENSION}"]
    vk, lines = device.vk, []
    of = make("VkPipelineInfoKHR", pipeline=pipeline)
    found = listed(
        lambda *out: vk.vkGetPipelineExecutablePropertiesKHR(device.handle, byref(of), *out),
        "VkPipelineExecutablePropertiesKHR",
    )
    for index, each in enumerate(found):
        lines.append(f"{each.name.decode()}: {each.description.decode()}")
        one = make("VkPipelineExecutableInfoKHR", pipeline=pipeline, executableIndex=index)
        statistics = listed(
            lambda *out: vk.vkGetPipelineExecutableStatisticsKHR(device.handle, byref(one), *out),  # noqa: B023
            "VkPipelineExecutableStatisticKHR",
        )
        for told in statistics:
            lines.append(f"    {told.name.decode()}: {getattr(told.value, _MEMBERS[told.format])}")
    return lines
