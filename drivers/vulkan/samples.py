"""Samples of multisampled textures for the host, because Vulkan does not copy them to or from
memory.

A compute shader unpacks each sample into words, and a draw writes each sample from words. The host
converts between the words and the texture's format, which is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.memory.blit import texel_grid
from gallette.pipe.codecs import (
    pack_depth,
    pack_planes,
    pack_stencil,
    unpack_depth,
    unpack_planes,
    unpack_stencil,
)
from gallette.pipe.enums import ClearFlags, Target
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import ComputeInfo, SamplerView, ScissorState, ShaderBuffer, Surface

from .internal import texel_type
from .lowering import source
from .memory.resources import VulkanBuffer, VulkanTexture

if TYPE_CHECKING:
    from .context import VulkanContext


def _linear(format: Format) -> Format:
    """The format with the same bits and linear colours."""
    return FORMATS[format.name.replace("_SRGB", "_UNORM")]


def _words(context: VulkanContext, texture: VulkanTexture) -> tuple[VulkanBuffer, Any]:
    """A buffer of four words for each sample, and the words: `[plane, y, x, component]`."""
    desc = texture.desc
    shape = (desc.array_size * texture.samples, desc.height, desc.width, 4)
    size = 4 * int(np.prod(shape))
    made = context.screen.resource_create(ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], size))
    assert isinstance(made, VulkanBuffer)
    return made, made.bytes_at(0, size).view(np.uint32).reshape(shape)


def read_samples(context: VulkanContext, texture: VulkanTexture) -> None:
    """Update the mirror of a multisampled texture."""
    format = _linear(texture.desc.format)
    grid = texel_grid(texture, 0, format)
    if format.is_color:
        words = _fetched(context, texture, texel_type(format))
        planes = [words[..., i].view(format.rgba_dtype) for i in range(4)]
        grid[...] = pack_planes(format, planes).reshape(grid.shape)
    else:
        raw = np.ascontiguousarray(grid)
        if format.has_depth:
            depth = _fetched(context, texture, "float32")[..., 0].view(np.float32)
            raw = pack_depth(format, raw, depth)
        if format.has_stencil:
            raw = pack_stencil(format, raw, _fetched(context, texture, "stencil")[..., 0])
        grid[...] = raw
    texture.newer_image.clear()


def _fetched(context: VulkanContext, texture: VulkanTexture, type: str) -> Any:
    """Every sample of the device's image as four words."""
    desc, stencil = texture.desc, type == "stencil"
    buffer, words = _words(context, texture)
    format, target, last = _linear(desc.format), Target.TEXTURE_2D_ARRAY, desc.array_size - 1
    view = SamplerView(texture, format, target, last_layer=last, sample_stencil=stencil)
    planes, height, width, _ = words.shape
    sizes = np.array([width, height, texture.samples, 0], np.int32).tobytes()
    with context.internal.aside() as bound:
        stage = bound.stages[Stage.COMPUTE]
        stage.constants, stage.views = [ConstantBuffer(sizes)], [view]
        stage.buffers = [ShaderBuffer(buffer, 0, words.nbytes)]
        text = source("fetch", type="uint32" if stencil else type)
        bound.shaders[Stage.COMPUTE] = context.internal.shader(text)
        context.draws.compute(ComputeInfo((-(-width // 8), -(-height // 8), planes), (8, 8, 1)))
    buffer.gpu.wait(write=False)
    found = words.copy()
    buffer.unref()
    return found


def write_samples(context: VulkanContext, texture: VulkanTexture) -> None:
    """Update the image of a multisampled texture from its mirror."""
    format, desc = _linear(texture.desc.format), texture.desc
    raw = np.ascontiguousarray(texel_grid(texture, 0, format))
    surface = Surface(texture, format, 0, 0, desc.array_size - 1)
    if format.is_color:
        _written(context, surface, "color", unpack_planes(format, raw))
    if format.has_depth:
        _written(context, surface, "depth", [unpack_depth(format, raw)])
    if format.has_stencil:
        whole = ScissorState(0, 0, desc.width, desc.height)
        context.clear_depth_stencil(surface, ClearFlags.STENCIL, 0.0, 0, whole)
        _written(context, surface, "stencil", [unpack_stencil(format, raw)])


def _written(context: VulkanContext, surface: Surface, what: str, planes: list[Any]) -> None:
    assert isinstance(surface.resource, VulkanTexture)
    buffer, words = _words(context, surface.resource)
    for component, plane in enumerate(planes):
        wide = plane if plane.dtype.itemsize == 4 else plane.astype(np.uint32)
        words[..., component] = wide.view(np.uint32)
    context.internal.write(surface, ShaderBuffer(buffer, 0, words.nbytes), what)
    buffer.unref()
