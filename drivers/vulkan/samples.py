"""Samples of multisampled textures for the host: a compute shader unpacks each into words.

Vulkan copies no multisampled image to memory, and resolving keeps one value of a pixel. The host
packs what the shader fetched in the texture's format again, which is exact.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.text.parser import parse
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

_SOURCE = """
shader compute "read_samples"
info {{ textures_used = [0]; num_ubos = 1; num_ssbos = 1; workgroup_size = (8, 8, 1) }}
function main () entry
impl main {{
    block b0:
        32x3 %0 = @load_global_invocation_id ()
        32 %1 = load_const (0x00000000)
        32x3 %2 = @load_ubo (%1, %1) (range=12)
        1x2 %3 = ige! %0.xy, %2.xy
        1 %4 = ior %3.x, %3.y
    if %4 {{
        block b1:
    }} else {{
        block b2:
            32 %5 = idiv %0.z, %2.z
            32 %6 = irem %0.z, %2.z
            32 %7 = imul %0.z, %2.y
            32 %8 = iadd %7, %0.y
            32 %9 = imul %8, %2.x
            32 %10 = iadd %9, %0.x
            32x3 %11 = vec3 %0.x, %0.y, %5
            32x4 %12 = txf_ms 2DMS {type} (coord=%11, ms_index=%6) (texture=0, sampler=0, is_array)
            32 %13 = load_const (0x00000004)
            32 %14 = ishl %10, %13
            @store_ssbo (%12, %1, %14) (write_mask=xyzw)
    }}
    block b3:
}}
"""
"""One invocation for a sample: uniforms are width, height and samples."""


@cache
def _shader(type: str) -> Shader:
    """The shader for texels of a type: float32, int32 or uint32."""
    return parse(_SOURCE.format(type=type))


def read_samples(context: VulkanContext, texture: VulkanTexture) -> None:
    """Bring the mirror of a multisampled texture up to date."""
    format = texture.desc.format
    if format.is_depth_stencil:
        stencil = _fetched(context, texture, "uint32", True)[..., 0] if format.has_stencil else None
        depth = None
        if format.has_depth:
            depth = _fetched(context, texture, "float32", False)[..., 0].view(np.float32)
        grid = texel_grid(texture, 0, format)
        raw = np.ascontiguousarray(grid)
        if depth is not None:
            raw = pack_depth(format, raw, depth)
        if stencil is not None:
            raw = pack_stencil(format, raw, stencil)
        grid[...] = raw
    else:
        type = "float32"
        if format.is_pure_integer:
            type = "int32" if format.is_signed_integer else "uint32"
        words = _fetched(context, texture, type, False)
        planes = [words[..., i].view(format.rgba_dtype) for i in range(4)]
        grid = texel_grid(texture, 0, format)
        grid[...] = pack_planes(format, planes).reshape(grid.shape)
    texture.newer_image.clear()


def _fetched(context: VulkanContext, texture: VulkanTexture, type: str, stencil: bool) -> Any:
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
        _shader(type).ref(), screen.compiler, context.variant_log
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
        context.draws.forget_shader(shader)
        shader.destroy()
        out.unref()
    return found
