"""The pipelines of a screen, created on first use and cached."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.vulkan.api.binding import array, byref, make
from gallette.drivers.vulkan.device.device import Device
from gallette.drivers.vulkan.spirv.program import Program

from .executables import CAPTURE
from .keys import PipelineKey
from .layouts import STAGE_BITS, Layout, Link, linked

__all__ = ["Pipeline", "PipelineCache"]

_DYNAMIC_STATES = (
    2, 3, 4, 6, 7, 8,  # line width, depth bias, blend constants, stencil masks and reference
    1000267000, 1000267001, 1000267002, 1000267003, 1000267004,  # cull, front, topology, counts
    1000267006, 1000267007, 1000267008, 1000267010, 1000267011,  # depth and stencil tests
    1000377001, 1000377002, 1000377004,  # discard, depth bias enable, primitive restart
)  # fmt: skip
_LINE_STIPPLE = 1000259000


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

    def graphics(self, programs: Sequence[Program], key: PipelineKey) -> Pipeline:
        """The pipeline of some stages in a state."""
        link = self.link(programs)
        whole = (id(link), key)
        with self._lock:
            found = self._pipelines.get(whole)
            if found is None:
                made = Pipeline(self.device, self._create(link, key), link)
                found = self._pipelines[whole] = made
            return found

    def _create(self, link: Link, key: PipelineKey) -> int:
        device = self.device
        modules = [self._module(words) for words in link.modules]
        stages = [
            make("VkPipelineShaderStageCreateInfo", stage=STAGE_BITS[program.stage],
                 module=module, pName="main")
            for program, module in zip(link.programs, modules, strict=True)
        ]  # fmt: skip
        dynamic = list(_DYNAMIC_STATES)
        if key.line_stipple:
            dynamic.append(_LINE_STIPPLE)
        info = make(
            "VkGraphicsPipelineCreateInfo",
            pNext=make(
                "VkPipelineRenderingCreateInfo",
                colorAttachmentCount=len(key.colors),
                pColorAttachmentFormats=array(key.colors, ctypes.c_int32) if key.colors else None,
                depthAttachmentFormat=key.depth,
                stencilAttachmentFormat=key.stencil,
            ),
            flags=CAPTURE * device.feature("pipelineExecutableInfo"),
            stageCount=len(stages),
            pStages=stages,
            pVertexInputState=_vertex_input(key),
            pInputAssemblyState=make(
                "VkPipelineInputAssemblyStateCreateInfo", topology=key.topology
            ),
            pTessellationState=_tessellation(key) if key.patch_vertices else None,
            pViewportState=make(
                "VkPipelineViewportStateCreateInfo",
                pNext=make(
                    "VkPipelineViewportDepthClipControlCreateInfoEXT",
                    negativeOneToOne=int(not key.halfz),
                ),
            ),
            pRasterizationState=self._rasterization(key),
            pMultisampleState=_multisampling(key),
            pDepthStencilState=make("VkPipelineDepthStencilStateCreateInfo", maxDepthBounds=1.0),
            pColorBlendState=_blending(key),
            pDynamicState=make(
                "VkPipelineDynamicStateCreateInfo",
                dynamicStateCount=len(dynamic),
                pDynamicStates=array(dynamic, ctypes.c_int32),
            ),
            layout=link.layout.handle,
        )
        handle = ctypes.c_uint64()
        device.vk.vkCreateGraphicsPipelines(
            device.handle, self._cache, 1, byref(info), None, byref(handle)
        )
        for module in modules:
            device.drop("ShaderModule", module)
        return handle.value

    def _rasterization(self, key: PipelineKey) -> Any:
        device = self.device
        chain = make(
            "VkPipelineRasterizationProvokingVertexStateCreateInfoEXT",
            provokingVertexMode=int(key.provoking_last and device.feature("provokingVertexLast")),
        )
        if device.feature("depthClipEnable"):
            chain = make(
                "VkPipelineRasterizationDepthClipStateCreateInfoEXT",
                pNext=chain,
                depthClipEnable=int(key.depth_clip),
            )
        if device.has("VK_EXT_line_rasterization"):
            chain = make(
                "VkPipelineRasterizationLineStateCreateInfoEXT",
                pNext=chain,
                lineRasterizationMode=key.line_mode,
                stippledLineEnable=int(key.line_stipple),
                lineStippleFactor=1,
                lineStipplePattern=0xFFFF,
            )
        return make(
            "VkPipelineRasterizationStateCreateInfo",
            pNext=chain,
            depthClampEnable=int(key.depth_clamp),
            polygonMode=key.polygon_mode,
            lineWidth=1.0,
        )


def _vertex_input(key: PipelineKey) -> Any:
    rates = {binding: rate for _, binding, _, _, rate in key.elements}
    bindings = [
        make("VkVertexInputBindingDescription", binding=binding, stride=key.strides[binding],
             inputRate=int(rate > 0))
        for binding, rate in rates.items()
    ]  # fmt: skip
    divisors = [
        make("VkVertexInputBindingDivisorDescriptionEXT", binding=binding, divisor=rate)
        for binding, rate in rates.items()
        if rate > 1
    ]
    attributes = [
        make("VkVertexInputAttributeDescription", location=location, binding=binding,
             format=format, offset=offset)
        for location, binding, format, offset, _ in key.elements
    ]  # fmt: skip
    chain = None
    if divisors:
        chain = make(
            "VkPipelineVertexInputDivisorStateCreateInfoEXT",
            vertexBindingDivisorCount=len(divisors),
            pVertexBindingDivisors=divisors,
        )
    return make(
        "VkPipelineVertexInputStateCreateInfo",
        pNext=chain,
        vertexBindingDescriptionCount=len(bindings),
        pVertexBindingDescriptions=bindings or None,
        vertexAttributeDescriptionCount=len(attributes),
        pVertexAttributeDescriptions=attributes or None,
    )


def _tessellation(key: PipelineKey) -> Any:
    return make(
        "VkPipelineTessellationStateCreateInfo",
        pNext=make("VkPipelineTessellationDomainOriginStateCreateInfo", domainOrigin=1),
        patchControlPoints=key.patch_vertices,
    )


def _multisampling(key: PipelineKey) -> Any:
    return make(
        "VkPipelineMultisampleStateCreateInfo",
        rasterizationSamples=key.samples,
        sampleShadingEnable=int(key.min_samples > 1),
        minSampleShading=min(1.0, key.min_samples / key.samples),
        pSampleMask=array([key.sample_mask & 0xFFFFFFFF]),
        alphaToCoverageEnable=int(key.alpha_to_coverage),
        alphaToOneEnable=int(key.alpha_to_one),
    )


def _blending(key: PipelineKey) -> Any:
    names = (
        "blendEnable", "srcColorBlendFactor", "dstColorBlendFactor", "colorBlendOp",
        "srcAlphaBlendFactor", "dstAlphaBlendFactor", "alphaBlendOp", "colorWriteMask",
    )  # fmt: skip
    attachments = [
        make("VkPipelineColorBlendAttachmentState", **dict(zip(names, members, strict=True)))
        for members in key.blend
    ]
    return make(
        "VkPipelineColorBlendStateCreateInfo",
        logicOpEnable=int(key.logic_op >= 0),
        logicOp=max(key.logic_op, 0),
        attachmentCount=len(attachments),
        pAttachments=attachments or None,
    )
