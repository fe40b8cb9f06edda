"""The pipelines of a screen, created on first use and cached."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.vulkan.api.binding import Row, built, byref, make
from gallette.drivers.vulkan.device.device import Device
from gallette.drivers.vulkan.spirv.program import Program

from .executables import CAPTURE
from .layouts import STAGE_BITS, Layout, Link, linked

__all__ = ["Pipeline", "PipelineCache"]


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
        self._links: dict[tuple[int, ...], tuple[Sequence[Program], Link]] = {}
        self._pipelines: dict[Any, Pipeline] = {}
        self._cache = device.new("PipelineCache")
        self._lock = threading.RLock()  # contexts of several threads make pipelines

    def link(self, programs: Sequence[Program]) -> Link:
        """Link the shaders of a draw: their SPIR-V and pipeline layout, which are cached."""
        key = tuple(id(program) for program in programs)
        with self._lock:
            found = self._links.get(key)
            if found is None:
                found = self._links[key] = (programs, linked(self.device, programs, self.layouts))
            return found[1]

    def _module(self, words: npt.NDArray[np.uint32]) -> int:
        return self.device.new("ShaderModule", codeSize=words.nbytes, pCode=int(words.ctypes.data))

    def compute(self, program: Program) -> Pipeline:
        """The pipeline of a compute shader."""
        key = ("compute", id(program))
        found = self._pipelines.get(key)
        if found is None:
            link = self.link([program])
            module = self._module(link.modules[0])
            stage = make("VkPipelineShaderStageCreateInfo", stage=0x20, module=module, pName="main")
            info = make("VkComputePipelineCreateInfo", stage=stage, layout=link.layout.handle)
            handle = ctypes.c_uint64()
            device = self.device
            device.vk.vkCreateComputePipelines(
                device.handle, self._cache, 1, byref(info), None, byref(handle)
            )
            device.drop("ShaderModule", module)
            found = self._pipelines[key] = Pipeline(device, handle.value, link)
        return found

    def using(self, program: Program) -> list[Pipeline]:
        """The pipelines that a program is part of."""
        with self._lock:
            found = list(self._pipelines.values())
        return [pipeline for pipeline in found if program in pipeline.link.programs]

    def forget(self, program: Program) -> None:
        """Drop the pipelines of a deleted program."""
        with self._lock:
            self._pipelines.pop(("compute", id(program)), None)
            for links in [key for key in self._links if id(program) in key]:
                _, link = self._links.pop(links)
                for whole in [key for key in self._pipelines if key[0] == id(link)]:
                    del self._pipelines[whole]

    def graphics(self, programs: Sequence[Program], key: tuple[tuple[str, Row], ...]) -> Pipeline:
        """The pipeline of some stages in a state."""
        link = self.link(programs)
        whole = (id(link), key)
        with self._lock:
            found = self._pipelines.get(whole)
            if found is None:
                made = Pipeline(self.device, self._create(link, key), link)
                found = self._pipelines[whole] = made
            return found

    def _create(self, link: Link, key: tuple[tuple[str, Row], ...]) -> int:
        device = self.device
        modules = [self._module(words) for words in link.modules]
        stages = [
            make("VkPipelineShaderStageCreateInfo", stage=STAGE_BITS[program.stage],
                 module=module, pName="main")
            for program, module in zip(link.programs, modules, strict=True)
        ]  # fmt: skip
        info = make(
            "VkGraphicsPipelineCreateInfo",
            flags=CAPTURE * device.feature("pipelineExecutableInfo"),
            stageCount=len(stages),
            pStages=stages,
            layout=link.layout.handle,
            **{member: built(row) for member, row in key},
        )
        handle = ctypes.c_uint64()
        device.vk.vkCreateGraphicsPipelines(
            device.handle, self._cache, 1, byref(info), None, byref(handle)
        )
        for module in modules:
            device.drop("ShaderModule", module)
        return handle.value
