"""State that the driver's caps leave to the state tracker: fixed-function state lowered in NIR.

A driver may declare that it does not support two-sided colour, user clip planes, the alpha test,
flat shading, GL_CLAMP, point sprites or colour clamping (`caps.lower_*`). For such a driver the
state tracker derives a *key* from this state, lowers a clone of the shader for each key, and no
longer passes the state to the driver. Without such a cap the key is always the null key and nothing
is cloned.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage, mutable
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.pipe.enums import CompareFunc, Wrap
from gallette.pipe.keys import LOWERINGS, key_passes, lowered, lowered_by
from gallette.pipe.state import DepthStencilAlphaState, RasterizerState
from gallette.state_tracker.entry_points.gl_types import sampler_target
from gallette.state_tracker.shading.pipeline_varyings import Moves
from gallette.state_tracker.texturing.sampling import WRAPS

if TYPE_CHECKING:
    from gallette.compiler.nir.ir import Shader
    from gallette.pipe.caps import Caps
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

State = TypeVar("State", RasterizerState, DepthStencilAlphaState)


@lazy_dataclass(frozen=True)
class LoweringKey:
    """The state a shader is lowered for; the default lowers nothing."""

    two_sided_color: bool = lowered("two_sided_color")
    flatshade: bool = lowered("flatshade")
    sprite_coords: int = lowered("sprite_coords")
    saturate_s: int = lowered("saturate_s")
    saturate_t: int = lowered("saturate_t")
    saturate_r: int = lowered("saturate_r")
    clip_planes: int = lowered("clip_planes")
    clamp_color: bool = lowered("clamp_color")
    alpha_func: CompareFunc = lowered("alpha_func")
    edge_flags: bool = lowered_by(False, "edge flags are passed on", "pass_edge_flag")
    alpha_bits: int = lowered("alpha_bits")
    input_moves: Moves = lowered_by(
        (), "(own slot, slot written) of inputs of a program linked apart", "move_inputs", "slots"
    )


NULL_KEY = LoweringKey()
_LAST_FIRST = (Stage.GEOMETRY, Stage.TESS_EVAL, Stage.VERTEX)


def lowers_anything(caps: Caps) -> bool:
    """Whether the driver leaves any lowering to the state tracker."""
    return any(
        getattr(caps, f.name) for f in dataclasses.fields(caps) if f.name.startswith("lower_")
    )


def key_of(ctx: Context, stage: Stage, executable: Executable) -> LoweringKey:
    """The key of a stage in the current state."""
    caps, raster, dsa = ctx.caps, ctx.full_rasterizer, ctx.full_depth_stencil
    points = ctx.drawing_points
    if stage is Stage.FRAGMENT:
        saturate = (0, 0, 0)
        if caps.lower_tex_saturate and ctx.is_compat:
            saturate = _saturate(ctx, executable)
        alpha = CompareFunc.ALWAYS
        if caps.lower_alpha_test and dsa.alpha_enabled:
            alpha = dsa.alpha_func
        tests = alpha is not CompareFunc.ALWAYS
        return LoweringKey(
            two_sided_color=caps.lower_two_sided_color and raster.light_twoside and not points,
            alpha_func=alpha,
            alpha_bits=ctx.pipe_framebuffer.alpha_test_bits if tests else 0,
            flatshade=caps.lower_flatshade and raster.flatshade,
            saturate_s=saturate[0],
            saturate_t=saturate[1],
            saturate_r=saturate[2],
            sprite_coords=raster.sprite_coord_enable if caps.lower_point_sprite and points else 0,
            clamp_color=caps.lower_clamp_color and raster.clamp_fragment_color,
        )
    last = next(s for s in _LAST_FIRST if s in ctx.programs.stages)
    clips = caps.lower_clip_planes and stage is last
    return LoweringKey(
        clip_planes=raster.clip_plane_enable if clips else 0,
        clamp_color=caps.lower_clamp_color and raster.clamp_vertex_color,
    )


def _saturate(ctx: Context, executable: Executable) -> tuple[int, int, int]:
    """The samplers that wrap with GL_CLAMP, per coordinate."""
    masks = [0, 0, 0]
    for first, index, kind in executable.textures.get(Stage.FRAGMENT, ()):
        for i, unit_index in enumerate(executable.uniforms.units[index]):
            unit = ctx.textures.units[unit_index]
            texture = unit.bound[sampler_target(kind)]
            params = unit.sampler.params if unit.sampler is not None else texture.params
            for axis, wrap in enumerate((params.wrap_s, params.wrap_t, params.wrap_r)):
                if WRAPS[wrap] is Wrap.CLAMP:
                    masks[axis] |= 1 << (first + i)
    return masks[0], masks[1], masks[2]


def lower(shader: Shader, key: LoweringKey) -> Shader:
    """The shader lowered for a key; takes over the caller's reference and returns a new one."""
    if key == NULL_KEY:
        return shader
    mine = mutable(shader)
    run_passes(mine, ["gather_info", *key_passes(key)])
    optimize(mine)
    run_passes(mine, ["gather_info"])
    return mine


def driver_rasterizer(caps: Caps, state: RasterizerState) -> RasterizerState:
    """The rasterizer state for the driver: without lowered fields."""
    return _without_lowered_fields(caps, state, RasterizerState())


def driver_depth_stencil(caps: Caps, state: DepthStencilAlphaState) -> DepthStencilAlphaState:
    """The depth-stencil-alpha state for the driver; the reference value is kept."""
    return _without_lowered_fields(caps, state, DepthStencilAlphaState())


def _without_lowered_fields(caps: Caps, state: State, plain: State) -> State:
    """`state` with the fields that the state tracker lowers reset to their defaults."""
    hidden = {
        name: getattr(plain, name)
        for entry in LOWERINGS.values()
        if entry.cap and getattr(caps, entry.cap)
        for name in entry.hides
        if hasattr(plain, name)
    }
    return dataclasses.replace(state, **hidden) if hidden else state
