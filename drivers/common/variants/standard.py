"""The keys most drivers start from, and how they are derived from bound state.

A driver subclasses them to add fields, or declares its own keys (see `gallette.pipe.keys`) and
derives only what it needs. A field that cannot matter to the shader keeps its default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.enums import CompareFunc, Primitive, Wrap
from gallette.pipe.keys import lowered, steers
from gallette.pipe.state import (
    DepthStencilAlphaState,
    FramebufferState,
    RasterizerState,
    SamplerState,
)

from .reads import ShaderReads


@lazy_dataclass(frozen=True)
class VertexKey:
    """The state besides its NIR that the code of a vertex (or geometry, ...) shader depends on."""

    clip_planes: int = lowered("clip_planes")
    clamp_color: bool = lowered("clamp_color")
    depth_only: bool = lowered(
        "depth_only", "position and clip distances only: varyings are not read"
    )

    @classmethod
    def of(cls, reads: ShaderReads, rasterizer: RasterizerState, depth_only: bool = False) -> Self:
        """The key of the last stage before the rasterizer, for this state.

        `depth_only`: the fragment stage uses no varyings (no colour buffer is bound or written, and
        the fragment program has no inputs).
        """
        return cls(
            clip_planes=0 if reads.writes_clip_distance else rasterizer.clip_plane_enable,
            clamp_color=rasterizer.clamp_vertex_color and reads.writes_color,
            depth_only=depth_only and reads.has_varyings,
        )


@lazy_dataclass(frozen=True)
class FragmentKey:
    """The state besides its NIR that the code of a fragment shader depends on."""

    two_sided_color: bool = lowered("two_sided_color")
    sprite_coords: int = lowered("sprite_coords")
    saturate_s: int = lowered("saturate_s")
    saturate_t: int = lowered("saturate_t")
    saturate_r: int = lowered("saturate_r")
    clamp_color: bool = lowered("clamp_color")
    alpha_func: CompareFunc = lowered("alpha_func")
    alpha_bits: int = lowered("alpha_bits")
    depth_only: bool = lowered("depth_only", "no colour buffer is written: drop the colours")
    flat_colors: bool = steers(False, "colour varyings take the provoking vertex's value")
    sample_shading: bool = steers(False, "run once per sample: interpolate at the sample")

    @classmethod
    def of(
        cls,
        reads: ShaderReads,
        rasterizer: RasterizerState,
        dsa: DepthStencilAlphaState,
        framebuffer: FramebufferState,
        primitive: Primitive,
        samplers: Sequence[SamplerState | None],
        colormask: int = ~0,
        sample_shading: bool = False,
    ) -> Self:
        """The key of a fragment shader for this state.

        `primitive` is what is rasterized (points, for example, after polygon mode). `colormask` is
        zero when no colour buffer is written at all.
        """
        points = primitive == Primitive.POINTS
        saturate = saturated(reads, samplers)
        alpha = dsa.alpha_func if dsa.alpha_enabled else CompareFunc.ALWAYS
        if not reads.writes_color0:
            alpha = CompareFunc.ALWAYS
        writes_color = bool(colormask) and any(c is not None for c in framebuffer.cbufs)
        return cls(
            two_sided_color=rasterizer.light_twoside and not points and reads.reads_color,
            sprite_coords=rasterizer.sprite_coord_enable & reads.sprite_mask if points else 0,
            saturate_s=saturate[0],
            saturate_t=saturate[1],
            saturate_r=saturate[2],
            clamp_color=rasterizer.clamp_fragment_color and reads.writes_color and writes_color,
            alpha_func=alpha,
            alpha_bits=framebuffer.alpha_test_bits if alpha is not CompareFunc.ALWAYS else 0,
            depth_only=not writes_color and reads.writes_color,
            flat_colors=rasterizer.flatshade and reads.reads_color,
            sample_shading=sample_shading,
        )


def saturated(reads: ShaderReads, samplers: Sequence[SamplerState | None]) -> tuple[int, int, int]:
    """Masks of the samplers in use that wrap with GL_CLAMP, per coordinate: the only sampler state
    in keys.
    """
    masks = [0, 0, 0]
    for index in reads.samplers:
        state = samplers[index] if index < len(samplers) else None
        if state is not None:
            for axis, wrap in enumerate((state.wrap_s, state.wrap_t, state.wrap_r)):
                if wrap is Wrap.CLAMP:
                    masks[axis] |= 1 << index
    return masks[0], masks[1], masks[2]
