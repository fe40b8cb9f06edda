"""The pipelines of a screen, created on first use and cached."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Sequence
from typing import Any

from gallette.compiler.nir.ir import Stage
from gallette.drivers.vulkan.api.binding import Row, built, byref, listed, make
from gallette.drivers.vulkan.device.device import Device
from gallette.drivers.vulkan.spirv.program import Program

from .layouts import STAGE_BITS, Layout, Link, linked

_EXTENSION = "VK_KHR_pipeline_executable_properties"
_CAPTURE = 0x40
"""The flag of pipelines that can be asked for statistics."""
_MEMBERS = ("b32", "i64", "u64", "f64")  # by VkPipelineExecutableStatisticFormatKHR

Key = tuple[tuple[str, Row], ...]
"""Members of a pipeline's create info, as rows."""


class Pipeline:
    """A pipeline, with the data that is needed to draw with it."""

    def __init__(self, device: Device, handle: int, link: Link) -> None:
        self.device, self.handle, self.link = device, handle, link
        device.live["Pipeline", handle] = None

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.device.drop("Pipeline", self.handle)


class PipelineCache:
    """Pipeline layouts, shader modules and pipelines, found by the state they are made from."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.layouts: dict[object, Layout] = {}
        self._links: dict[tuple[int, ...], Link] = {}
        self._pipelines: dict[Any, Pipeline] = {}
        self._cache = device.new("PipelineCache")
        self._lock = threading.RLock()  # contexts of several threads make pipelines

    def link(self, programs: Sequence[Program]) -> Link:
        """Link the shaders of a draw: their SPIR-V and pipeline layout, which are cached."""
        key = tuple(id(program) for program in programs)
        with self._lock:
            found = self._links.get(key)
            if found is None:
                found = self._links[key] = linked(self.device, programs, self.layouts)
            return found

    def using(self, program: Program) -> list[Pipeline]:
        """The pipelines that a program is part of."""
        with self._lock:
            found = list(self._pipelines.values())
        return [pipeline for pipeline in found if program in pipeline.link.programs]

    def forget(self, program: Program) -> None:
        """Drop the pipelines of a deleted program."""
        with self._lock:
            for links in [key for key in self._links if id(program) in key]:
                link = self._links.pop(links)
                for whole in [key for key in self._pipelines if key[0] == id(link)]:
                    del self._pipelines[whole]

    def pipeline(self, programs: Sequence[Program], key: Key = ()) -> Pipeline:
        """The pipeline of some stages in a state, or of a compute shader."""
        link = self.link(programs)
        whole = (id(link), key)
        with self._lock:
            found = self._pipelines.get(whole)
            if found is None:
                found = self._pipelines[whole] = self._created(link, key)
            return found

    def _created(self, link: Link, key: Key) -> Pipeline:
        device, modules, stages = self.device, [], []
        for program, words in zip(link.programs, link.modules, strict=True):
            pointer = int(words.ctypes.data)
            modules.append(device.new("ShaderModule", codeSize=words.nbytes, pCode=pointer))
            stages.append(
                make("VkPipelineShaderStageCreateInfo", stage=STAGE_BITS[program.stage],
                     module=modules[-1], pName="main")
            )  # fmt: skip
        kind, members = "Graphics", {"stageCount": len(stages), "pStages": stages}
        if link.programs[0].stage is Stage.COMPUTE:
            kind, members = "Compute", {"stage": stages[0]}
        members.update({member: built(row) for member, row in key})
        flags = _CAPTURE * device.feature("pipelineExecutableInfo")
        layout = link.layout.handle
        info = make(f"Vk{kind}PipelineCreateInfo", flags=flags, layout=layout, **members)
        handle, create = ctypes.c_uint64(), getattr(device.vk, f"vkCreate{kind}Pipelines")
        create(device.handle, self._cache, 1, byref(info), None, byref(handle))
        for module in modules:
            device.drop("ShaderModule", module)
        return Pipeline(device, handle.value, link)


def executables(device: Any, pipeline: int) -> list[str]:
    """The device's description of its code: a line for each executable and each statistic."""
    if not device.feature("pipelineExecutableInfo"):
        return [f"the device has no {_EXTENSION}"]
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
