"""The state that is part of a pipeline, and the tables from the pipe's enumerants to Vulkan's."""

from __future__ import annotations

from dataclasses import dataclass

from gallette.drivers.vulkan.memory.formats import vulkan_format
from gallette.pipe.enums import BlendFactor, BlendFunc, PolygonMode, Primitive, StencilOp
from gallette.pipe.formats import Format
from gallette.pipe.state import BlendState, RenderTargetBlend

__all__ = [
    "POLYGON_MODES",
    "STENCIL_OPS",
    "TOPOLOGIES",
    "Attachment",
    "PipelineKey",
    "attachment",
    "topology_class",
]

TOPOLOGIES = {
    Primitive.POINTS: 0,
    Primitive.LINES: 1,
    Primitive.LINE_STRIP: 2,
    Primitive.TRIANGLES: 3,
    Primitive.TRIANGLE_STRIP: 4,
    Primitive.TRIANGLE_FAN: 5,
    Primitive.LINES_ADJACENCY: 6,
    Primitive.LINE_STRIP_ADJACENCY: 7,
    Primitive.TRIANGLES_ADJACENCY: 8,
    Primitive.TRIANGLE_STRIP_ADJACENCY: 9,
    Primitive.PATCHES: 10,
}
POLYGON_MODES = {PolygonMode.FILL: 0, PolygonMode.LINE: 1, PolygonMode.POINT: 2}
STENCIL_OPS = {
    StencilOp.KEEP: 0, StencilOp.ZERO: 1, StencilOp.REPLACE: 2, StencilOp.INCR: 3,
    StencilOp.DECR: 4, StencilOp.INVERT: 5, StencilOp.INCR_WRAP: 6, StencilOp.DECR_WRAP: 7,
}  # fmt: skip
_FUNCS = {BlendFunc.ADD: 0, BlendFunc.SUBTRACT: 1, BlendFunc.REVERSE_SUBTRACT: 2,
          BlendFunc.MIN: 3, BlendFunc.MAX: 4}  # fmt: skip
_FACTORS = {
    BlendFactor.ZERO: 0, BlendFactor.ONE: 1, BlendFactor.SRC_COLOR: 2,
    BlendFactor.INV_SRC_COLOR: 3, BlendFactor.DST_COLOR: 4, BlendFactor.INV_DST_COLOR: 5,
    BlendFactor.SRC_ALPHA: 6, BlendFactor.INV_SRC_ALPHA: 7, BlendFactor.DST_ALPHA: 8,
    BlendFactor.INV_DST_ALPHA: 9, BlendFactor.CONST_COLOR: 10, BlendFactor.INV_CONST_COLOR: 11,
    BlendFactor.CONST_ALPHA: 12, BlendFactor.INV_CONST_ALPHA: 13,
    BlendFactor.SRC_ALPHA_SATURATE: 14, BlendFactor.SRC1_COLOR: 15,
    BlendFactor.INV_SRC1_COLOR: 16, BlendFactor.SRC1_ALPHA: 17, BlendFactor.INV_SRC1_ALPHA: 18,
}  # fmt: skip
_DST_ALPHA, _INV_DST_ALPHA, _SATURATE = 8, 9, 14
Attachment = tuple[int, ...]
"""A VkPipelineColorBlendAttachmentState's members."""


@dataclass(frozen=True, slots=True)
class PipelineKey:
    """A pipeline's state that is not dynamic."""

    elements: tuple[tuple[int, int, int, int, int], ...]  # location, binding, format, offset, rate
    strides: tuple[int, ...]  # of the bindings
    topology: int
    patch_vertices: int
    polygon_mode: int
    depth_clamp: bool
    depth_clip: bool
    halfz: bool
    provoking_last: bool
    line_mode: int
    line_stipple: bool
    samples: int
    sample_mask: int
    min_samples: int
    alpha_to_coverage: bool
    alpha_to_one: bool
    logic_op: int  # -1: none
    blend: tuple[Attachment, ...]
    colors: tuple[int, ...]
    depth: int
    stencil: int


def topology_class(topology: int) -> int:
    """A topology that represents all those between which dynamic state can choose."""
    return (0, 1, 1, 3, 3, 3, 6, 6, 8, 8, 10)[topology]


def attachment(blend: BlendState, index: int, format: Format, blendable: bool) -> Attachment:
    """How one colour buffer is blended."""
    rt: RenderTargetBlend = blend.target(index)
    found = vulkan_format(format)
    mask = rt.colormask
    alpha_only = found is not None and format.channels[0].name == "A"
    if alpha_only:
        mask = mask >> 3 & 1
    if not rt.blend_enable or not blendable or rt.rgb_func.is_advanced:
        return 0, 1, 0, 0, 1, 0, 0, mask
    factors = [
        _FACTORS[f]
        for f in (rt.rgb_src_factor, rt.rgb_dst_factor, rt.alpha_src_factor, rt.alpha_dst_factor)
    ]
    if found is not None and not found.has_alpha:
        # The format has no alpha of its own: the destination's alpha is one.
        known = {_DST_ALPHA: 1, _INV_DST_ALPHA: 0}
        factors = [known.get(f, f) for f in factors]
        factors[:2] = [0 if f == _SATURATE else f for f in factors[:2]]
    rgb, alpha = _FUNCS[rt.rgb_func], _FUNCS[rt.alpha_func]
    if alpha_only:
        turned = {_DST_ALPHA: 4, _INV_DST_ALPHA: 5, _SATURATE: 1}
        factors[:2] = [turned.get(f, f) for f in factors[2:]]
        rgb = alpha
    return 1, factors[0], factors[1], rgb, factors[2], factors[3], alpha, mask
