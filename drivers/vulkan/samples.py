"""Samples of multisampled textures for the host: a compute shader unpacks each into words.

Vulkan copies no multisampled image to memory, and resolving keeps one value of a pixel. The host
packs what the shader fetched in the texture's format again, which is exact.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.glsl.api import compile_shader, link_program
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.bound import ConstantBuffer, StageBindings
from gallette.drivers.common.memory.blit import texel_grid
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.pipe.codecs import pack_depth, pack_planes, pack_stencil
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import ComputeInfo, SamplerView, ShaderBuffer

from .memory.resources import VulkanBuffer, VulkanTexture

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["read_samples"]

_SOURCE = """#version 430
layout(local_size_x = 8, local_size_y = 8) in;
uniform ivec3 size;
uniform {letter}sampler2DMSArray image;
layout(std430, binding = 0) buffer Texels {{ {letter}vec4 texels[]; }};
void main() {{
    ivec3 at = ivec3(gl_GlobalInvocationID);
    if (any(greaterThanEqual(at.xy, size.xy))) return;
    int plane = at.z / size.z, number = at.z % size.z;
    texels[(at.z * size.y + at.y) * size.x + at.x] = texelFetch(image, ivec3(at.xy, plane), number);
}}
"""


@cache
def _shader(letter: str) -> Shader:
    """The NIR of the shader for floats, `i`ntegers or `u`nsigned ones."""
    compiled = compile_shader(Stage.COMPUTE, _SOURCE.format(letter=letter))
    program = link_program([compiled])
    assert program.ok, program.info_log
    return program.shaders[Stage.COMPUTE]


def read_samples(context: VulkanContext, texture: VulkanTexture) -> None:
    """Bring the mirror of a multisampled texture up to date."""
    format = texture.desc.format
    if format.is_depth_stencil:
        stencil = _fetched(context, texture, "u", True)[..., 0] if format.has_stencil else None
        depth = None
        if format.has_depth:
            depth = _fetched(context, texture, "", False)[..., 0].view(np.float32)
        grid = texel_grid(texture, 0, format)
        raw = np.ascontiguousarray(grid)
        if depth is not None:
            raw = pack_depth(format, raw, depth)
        if stencil is not None:
            raw = pack_stencil(format, raw, stencil)
        grid[...] = raw
    else:
        letter = ""
        if format.is_pure_integer:
            letter = "i" if format.is_signed_integer else "u"
        words = _fetched(context, texture, letter, False)
        planes = [words[..., i].view(format.rgba_dtype) for i in range(4)]
        grid = texel_grid(texture, 0, format)
        grid[...] = pack_planes(format, planes).reshape(grid.shape)
    texture.newer_image.clear()


def _fetched(context: VulkanContext, texture: VulkanTexture, letter: str, stencil: bool) -> Any:
    """Every sample as four words: `[plane, y, x, component]`."""
    desc = texture.desc
    width, height, planes = desc.width, desc.height, desc.array_size * texture.samples
    size = planes * height * width * 16
    screen = context.screen
    out = screen.resource_create(ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], size))
    assert isinstance(out, VulkanBuffer)
    view = SamplerView(
        texture,
        desc.format,
        Target.TEXTURE_2D_ARRAY,
        last_layer=desc.array_size - 1,
        sample_stencil=stencil,
    )
    shader: ShaderObject[Any, Any] = ShaderObject(
        _shader(letter).ref(), screen.compiler, context.variant_log
    )
    bound = context.bound
    kept = bound.stages[Stage.COMPUTE], bound.shaders.get(Stage.COMPUTE)
    sizes = np.array([width, height, texture.samples, 0], np.int32).tobytes()
    bound.stages[Stage.COMPUTE] = StageBindings(
        constants=[ConstantBuffer(sizes)], views=[view], buffers=[ShaderBuffer(out, 0, size)]
    )
    bound.shaders[Stage.COMPUTE] = shader
    try:
        grid = (-(-width // 8), -(-height // 8), planes)
        context.draws.compute(ComputeInfo(grid, (8, 8, 1)))
        out.gpu.wait(write=False)
        found = out.bytes_at(0, size).view(np.uint32).reshape(planes, height, width, 4).copy()
    finally:
        bound.stages[Stage.COMPUTE], bound.shaders[Stage.COMPUTE] = kept
        screen.pipelines.forget(shader.null.program)
        shader.destroy()
        out.unref()
    return found
