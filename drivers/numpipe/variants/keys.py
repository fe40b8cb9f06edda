"""Variant keys: the bound state a shader's code depends on, frozen, hashable and explainable.

A key's all-default value is the *null key*: the code made when the shader is created serves it. A
field whose metadata says `nir` asks for lowering in NIR, hence for a second round on a clone; the
others only steer the code generator.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from gallette.pipe.enums import CompareFunc, Primitive, Wrap
from gallette.pipe.state import (
    DepthStencilAlphaState,
    FramebufferState,
    RasterizerState,
    SamplerState,
)

__all__ = ["FragmentKey", "VariantKey", "VertexKey", "fragment_key", "vertex_key"]


ALWAYS = CompareFunc.ALWAYS


def _nir(default: Any, doc: str) -> Any:
    return field(default=default, metadata={"doc": doc, "nir": True})


def _backend(default: Any, doc: str) -> Any:
    return field(default=default, metadata={"doc": doc, "nir": False})


@dataclass(frozen=True, slots=True)
class VertexKey:
    """What a vertex (or geometry) shader's code depends on besides its NIR."""

    clip_planes: int = _nir(0, "mask of enabled user clip planes to turn into clip distances")
    clamp_color: bool = _nir(False, "clamp colour outputs to 0..1")
    depth_only: bool = _nir(False, "position and clip distances only: nobody reads the varyings")
    merged: int = _nir(0, "many draws at once: bytes of each one's row in the table of constants")


@dataclass(frozen=True, slots=True)
class FragmentKey:
    """What a fragment shader's code depends on besides its NIR."""

    two_sided_color: bool = _nir(False, "choose front or back colour by facing")
    alpha_func: CompareFunc = _nir(ALWAYS, "alpha test: discard unless it passes")  # noqa: RUF009
    clamp_color: bool = _nir(False, "clamp colour outputs to 0..1")
    sprite_coords: int = _nir(0, "mask of TEXi inputs replaced by the point coordinate")
    saturate_s: int = _nir(0, "mask of samplers whose s coordinate is clamped to 0..1 (GL_CLAMP)")
    saturate_t: int = _nir(0, "mask of samplers whose t coordinate is clamped to 0..1")
    saturate_r: int = _nir(0, "mask of samplers whose r coordinate is clamped to 0..1")
    depth_only: bool = _nir(False, "no colour buffer is written: drop the colours")
    merged: int = _nir(0, "many draws at once: bytes of each one's row in the table of constants")
    flat_colors: bool = _backend(False, "colour varyings take the provoking vertex's value")
    sample_shading: bool = _backend(False, "run once per sample: interpolate at the sample")


VariantKey = VertexKey | FragmentKey


def null_key(stage: str) -> VariantKey:
    """The key that asks for nothing."""
    return FragmentKey() if stage == "fragment" else VertexKey()


def needs_nir(key: VariantKey) -> bool:
    """Does the key ask for anything that is lowered in NIR?"""
    return any(f.metadata["nir"] and getattr(key, f.name) != f.default for f in fields(key))


def differing_fields(a: VariantKey, b: VariantKey) -> list[str]:
    """Names of the fields in which two keys of one stage differ."""
    return [f.name for f in fields(a) if getattr(a, f.name) != getattr(b, f.name)]


def describe_key(key: VariantKey) -> str:
    """The fields that are not at their defaults, or `null key`."""
    parts = []
    for f in fields(key):
        value = getattr(key, f.name)
        if value != f.default:
            shown = value.name.lower() if isinstance(value, CompareFunc) else value
            parts.append(f"{f.name}={shown}")
    return ", ".join(parts) or "null key"


def vertex_key(
    shader: Any,
    rasterizer: RasterizerState,
    primitive: Primitive,
    depth_only: bool = False,
) -> VertexKey:
    """Derive the key of a `ShaderObject` of the vertex stage from bound state.

    `depth_only`: the fragment stage reads nothing of what varyings carry (no colour buffer is
    bound or written, and the fragment program's facts show no inputs).
    """
    reads = shader.reads
    return VertexKey(
        clip_planes=0 if reads.writes_clip_distance else rasterizer.clip_plane_enable,
        clamp_color=rasterizer.clamp_vertex_color and reads.writes_color,
        depth_only=depth_only and reads.has_varyings,
    )


def fragment_key(
    shader: Any,
    rasterizer: RasterizerState,
    dsa: DepthStencilAlphaState,
    framebuffer: FramebufferState,
    primitive: Primitive,
    samplers: list[SamplerState | None],
    colormask: int = ~0,
    sample_shading: bool = False,
) -> FragmentKey:
    """Derive the key of a `ShaderObject` of the fragment stage from bound state.

    `primitive` is what is rasterized (points after polygon mode, too). `colormask` is zero when no
    colour buffer is written at all.
    """
    reads = shader.reads
    points = primitive == Primitive.POINTS
    saturate = [0, 0, 0]
    for index in reads.samplers:
        state = samplers[index] if index < len(samplers) else None
        if state is not None:
            for axis, wrap in enumerate((state.wrap_s, state.wrap_t, state.wrap_r)):
                if wrap is Wrap.CLAMP:
                    saturate[axis] |= 1 << index
    alpha = dsa.alpha_func if dsa.alpha_enabled else CompareFunc.ALWAYS
    writes_color = bool(colormask) and any(c is not None for c in framebuffer.cbufs)
    return FragmentKey(
        two_sided_color=rasterizer.light_twoside and not points and reads.reads_color,
        alpha_func=alpha if reads.writes_color0 else CompareFunc.ALWAYS,
        clamp_color=rasterizer.clamp_fragment_color and reads.writes_color and writes_color,
        sprite_coords=rasterizer.sprite_coord_enable & reads.sprite_mask if points else 0,
        saturate_s=saturate[0],
        saturate_t=saturate[1],
        saturate_r=saturate[2],
        depth_only=not writes_color and reads.writes_color,
        flat_colors=rasterizer.flatshade and reads.reads_color,
        sample_shading=sample_shading,
    )
