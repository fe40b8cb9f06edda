"""The state that is part of a pipeline, and the tables from the pipe's enumerants to Vulkan's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.drivers.vulkan.api.binding import Row, row
from gallette.drivers.vulkan.memory.formats import DEPTH, STENCIL, vulkan_format
from gallette.drivers.vulkan.memory.resources import VulkanTexture
from gallette.drivers.vulkan.variants import Selection, polygon_mode
from gallette.pipe.enums import BlendFactor, BlendFunc, PolygonMode, Primitive, StencilOp
from gallette.pipe.formats import Format
from gallette.pipe.state import BlendState, RenderTargetBlend

from .layouts import Link
from .vertices import vertex_input

if TYPE_CHECKING:
    from gallette.drivers.vulkan.context import VulkanContext


def _numbered(enum: Any, names: str) -> dict[Any, int]:
    """The members of an enumeration, which are in Vulkan's order here."""
    return {enum[name]: number for number, name in enumerate(names.split())}


TOPOLOGIES = _numbered(Primitive, """
POINTS LINES LINE_STRIP TRIANGLES TRIANGLE_STRIP TRIANGLE_FAN LINES_ADJACENCY
LINE_STRIP_ADJACENCY TRIANGLES_ADJACENCY TRIANGLE_STRIP_ADJACENCY PATCHES
""")  # fmt: skip
STENCIL_OPS = _numbered(StencilOp, "KEEP ZERO REPLACE INCR DECR INVERT INCR_WRAP DECR_WRAP")
_FUNCS = _numbered(BlendFunc, "ADD SUBTRACT REVERSE_SUBTRACT MIN MAX")
_FACTORS = _numbered(BlendFactor, """
ZERO ONE SRC_COLOR INV_SRC_COLOR DST_COLOR INV_DST_COLOR SRC_ALPHA INV_SRC_ALPHA DST_ALPHA
INV_DST_ALPHA CONST_COLOR INV_CONST_COLOR CONST_ALPHA INV_CONST_ALPHA SRC_ALPHA_SATURATE
SRC1_COLOR INV_SRC1_COLOR SRC1_ALPHA INV_SRC1_ALPHA
""")  # fmt: skip
_DST_ALPHA, _INV_DST_ALPHA, _SATURATE = 8, 9, 14
_BLENDING = (
    "blendEnable", "srcColorBlendFactor", "dstColorBlendFactor", "colorBlendOp",
    "srcAlphaBlendFactor", "dstAlphaBlendFactor", "alphaBlendOp", "colorWriteMask",
)  # fmt: skip
_DYNAMIC_STATES = (
    2, 3, 4, 6, 7, 8,  # line width, depth bias, blend constants, stencil masks and reference
    1000267000, 1000267001, 1000267002, 1000267003, 1000267004,  # cull, front, topology, counts
    1000267006, 1000267007, 1000267008, 1000267010, 1000267011,  # depth and stencil tests
    1000377001, 1000377002, 1000377004,  # discard, depth bias enable, primitive restart
)  # fmt: skip
_DYNAMIC_STIPPLE = 1000259000
_LINE_DEFAULT, _LINE_RECTANGULAR, _LINE_BRESENHAM, _LINE_SMOOTH = range(4)


def topology_class(topology: int) -> int:
    """A topology that represents all those between which dynamic state can choose."""
    return (0, 1, 1, 3, 3, 3, 6, 6, 8, 8, 10)[topology]


def pipeline_key(
    context: VulkanContext, selection: Selection, link: Link, mode: Primitive, patch: int
) -> tuple[tuple[str, Row], ...]:  # fmt: skip
    """The state that is part of a pipeline: members of its create info."""
    bound, device = context.bound, context.device
    raster, blend, framebuffer = bound.rasterizer.state, bound.blend.state, bound.framebuffer
    samples = max(1, framebuffer.samples)
    line_mode = _line_mode(context, samples) if selection.lines else _LINE_DEFAULT
    stippled = selection.lines and raster.line_stipple_enable
    stippled = stippled and line_mode in (_LINE_BRESENHAM, _LINE_SMOOTH)
    min_samples = bound.min_samples if samples > 1 else 1
    logic_op = blend.logicop_enable
    multisample = row(
        "PipelineMultisampleStateCreateInfo",
        rasterizationSamples=samples,
        sampleShadingEnable=int(min_samples > 1),
        minSampleShading=min(1.0, min_samples / samples),
        pSampleMask=(bound.sample_mask & 0xFFFFFFFF if samples > 1 else 0xFFFFFFFF,),
        alphaToCoverageEnable=int(blend.alpha_to_coverage and samples > 1),
        alphaToOneEnable=int(blend.alpha_to_one and samples > 1 and device.feature("alphaToOne")),
    )
    attachments, formats = _attachments(context)
    blending = row(
        "PipelineColorBlendStateCreateInfo", logicOpEnable=int(logic_op),
        logicOp=int(blend.logicop) * logic_op, attachmentCount=len(attachments),
        pAttachments=attachments,
    )  # fmt: skip
    negative = int(not raster.clip_halfz)
    clip_control = row("PipelineViewportDepthClipControlCreateInfoEXT", negativeOneToOne=negative)
    dynamic = (*_DYNAMIC_STATES, _DYNAMIC_STIPPLE) if stippled else _DYNAMIC_STATES
    found = [
        ("pNext", formats),
        ("pVertexInputState", vertex_input(context, link)),
        ("pInputAssemblyState", row(
            "PipelineInputAssemblyStateCreateInfo", topology=topology_class(TOPOLOGIES[mode]))),
        ("pViewportState", row("PipelineViewportStateCreateInfo", pNext=clip_control)),
        ("pRasterizationState", _rasterization(context, line_mode, stippled)),
        ("pMultisampleState", multisample),
        ("pDepthStencilState", row("PipelineDepthStencilStateCreateInfo", maxDepthBounds=1.0)),
        ("pColorBlendState", blending),
        ("pDynamicState", row("PipelineDynamicStateCreateInfo",
                               dynamicStateCount=len(dynamic), pDynamicStates=dynamic)),
    ]  # fmt: skip
    if patch:
        origin = row("PipelineTessellationDomainOriginStateCreateInfo", domainOrigin=1)
        state = row("PipelineTessellationStateCreateInfo", pNext=origin, patchControlPoints=patch)
        found.append(("pTessellationState", state))
    return tuple(found)


def _line_mode(context: VulkanContext, samples: int) -> int:
    raster, device = context.bound.rasterizer.state, context.device
    if raster.line_smooth and device.feature("smoothLines"):
        return _LINE_SMOOTH
    if samples > 1 and raster.multisample and device.feature("rectangularLines"):
        return _LINE_RECTANGULAR
    return _LINE_BRESENHAM


def _rasterization(context: VulkanContext, line_mode: int, stippled: bool) -> Row:
    raster = context.bound.rasterizer.state
    last = not raster.flatshade_first and context.device.feature("provokingVertexLast")
    kind, clip = "PipelineRasterization", int(raster.depth_clip_near)
    chain = row(f"{kind}ProvokingVertexStateCreateInfoEXT", provokingVertexMode=int(last))
    chain = row(f"{kind}DepthClipStateCreateInfoEXT", pNext=chain, depthClipEnable=clip)
    chain = row(
        f"{kind}LineStateCreateInfoEXT", pNext=chain,
        lineRasterizationMode=line_mode, stippledLineEnable=int(stippled),
        lineStippleFactor=1, lineStipplePattern=0xFFFF,
    )  # fmt: skip
    return row(
        f"{kind}StateCreateInfo",
        pNext=chain,
        depthClampEnable=int(raster.depth_clamp),
        polygonMode=int(polygon_mode(raster) is PolygonMode.LINE),
        lineWidth=1.0,
    )


def _attachments(context: VulkanContext) -> tuple[tuple[Row, ...], Row]:
    """How each colour buffer is blended, and the formats of all attachments."""
    bound = context.bound
    colors, attachments = [], []
    for index, surface in enumerate(bound.framebuffer.cbufs):
        found = None if surface is None else vulkan_format(surface.format)
        members: tuple[int, ...] = (0, 1, 0, 0, 1, 0, 0, 0)
        if surface is not None and found is not None:
            features = context.device.physical.format_features(found.number)[1]
            members = _blended(bound.blend.state, index, surface.format, bool(features & 0x100))
        colors.append(0 if found is None else found.number)
        named = dict(zip(_BLENDING, members, strict=True))
        attachments.append(row("PipelineColorBlendAttachmentState", **named))
    zsbuf, number, aspect = bound.framebuffer.zsbuf, 0, 0
    if zsbuf is not None:
        assert isinstance(zsbuf.resource, VulkanTexture)
        number, aspect = zsbuf.resource.format.number, zsbuf.resource.format.aspect
    formats = row(
        "PipelineRenderingCreateInfo", colorAttachmentCount=len(colors),
        pColorAttachmentFormats=tuple(colors), depthAttachmentFormat=number * bool(aspect & DEPTH),
        stencilAttachmentFormat=number * bool(aspect & STENCIL),
    )  # fmt: skip
    return tuple(attachments), formats


def _blended(blend: BlendState, index: int, format: Format, blendable: bool) -> tuple[int, ...]:
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
