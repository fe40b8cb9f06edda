"""Before a draw: turn changed GL state into pipe state, and nothing else.

`Dirty` bits record the changes. Each atom below derives one piece of pipe state; frozen
descriptions are looked up in a cache of the driver's objects, and bound only if they differ from
the bound state.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.modes import DRAWING
from gallette.compiler.nir.ir.types import Base
from gallette.pipe.enums import PolygonMode
from gallette.pipe.interface import Handle
from gallette.pipe.state import SamplerView
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.blending import blend_state
from gallette.state_tracker.drawing.fragment_ops import depth_stencil_alpha_state
from gallette.state_tracker.drawing.lowering import (
    NULL_KEY,
    driver_depth_stencil,
    driver_rasterizer,
    key_of,
)
from gallette.state_tracker.drawing.rasterization import (
    effective_sample_mask,
    rasterizer_state,
    sample_positions,
)
from gallette.state_tracker.drawing.storage import bind_images, bind_storage
from gallette.state_tracker.drawing.viewports import scissor_states, viewport_states
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_framebuffer, invalid_operation
from gallette.state_tracker.shading.builtin_uniforms import fill
from gallette.state_tracker.shading.pipeline_varyings import input_moves
from gallette.state_tracker.shading.sampler_units import sampler_conflict
from gallette.state_tracker.texturing.sampling import SamplerParams
from gallette.state_tracker.texturing.textures import TextureObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable


MOST_STATES = 1024
"""Limit of cached state objects of one kind; when it is exceeded, all are deleted and
made again.
"""


class StateCache:
    """The driver's objects for frozen state descriptions, created once and bound when they change.

    A program may use new state in every frame. When there are too many objects, the cache is
    `full`, and its owner deletes all of them when none is in use (`ShareGroup.trim`).
    """

    def __init__(self, create: Callable[[Any], Handle], bind: Callable[[Handle], None],
                 delete: Callable[[Handle], None], full: list[StateCache]):  # fmt: skip
        self._create, self._bind, self._delete, self._full = create, bind, delete, full
        self._handles: dict[Any, Handle] = {}
        # By the identity of descriptions, which are kept: hashing all their fields takes longer.
        self._known: dict[int, tuple[Any, Handle]] = {}
        self._bound: Handle = None
        self._state: Any = None  # the description of the bound state

    def get(self, state: Any) -> Handle:
        known = self._known.get(id(state))
        if known is not None:
            return known[1]
        handle = self._handles.get(state)
        if handle is None:
            handle = self._handles[state] = self._create(state)
            if len(self._handles) > MOST_STATES:
                self._full.append(self)
        if len(self._known) >= MOST_STATES:
            self._known.clear()
        self._known[id(state)] = state, handle
        return handle

    def bind(self, state: Any) -> Handle:
        if state is not self._state and (id(state) in self._known or state != self._state):
            handle = self.get(state)
            if handle is not self._bound:
                self._bind(handle)
            self._bound, self._state = handle, state
        return self._bound

    def clear(self) -> None:
        """Unbind and delete everything."""
        self._bind(None)
        for handle in self._handles.values():
            self._delete(handle)
        self._handles.clear()
        self._known.clear()
        self._bound = self._state = None


def _framebuffer(ctx: Context) -> None:
    draw = ctx.framebuffers.draw
    if draw.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
        raise invalid_framebuffer("the draw framebuffer is not complete")
    state = draw.state(ctx)
    if state != ctx.pipe_framebuffer:
        ctx.pipe.set_framebuffer_state(state)
        ctx.pipe_framebuffer = state


def _blend(ctx: Context) -> None:
    state = blend_state(ctx)
    ctx.caches.blend.bind(state)
    ctx.blends_advanced = any(rt.blend_enable and rt.rgb_func.is_advanced for rt in state.rt)


def _depth_stencil(ctx: Context) -> None:
    state = depth_stencil_alpha_state(ctx)
    if ctx.lowers:
        ctx.full_depth_stencil = state
        state = driver_depth_stencil(ctx.caps, state)
    ctx.caches.depth_stencil.bind(state)


def _rasterizer(ctx: Context) -> None:
    state = rasterizer_state(ctx)
    outlined = ctx.is_compat and not (state.fill_front is state.fill_back is PolygonMode.FILL)
    if outlined != ctx.passes_edge_flags:
        ctx.passes_edge_flags = outlined
        ctx.dirty |= Dirty.PROGRAM
    if ctx.lowers:
        ctx.full_rasterizer = state
        state = driver_rasterizer(ctx.caps, state)
    ctx.caches.rasterizer.bind(state)


def _viewport(ctx: Context) -> None:
    ctx.pipe.set_viewport_states(0, viewport_states(ctx))


def _scissor(ctx: Context) -> None:
    ctx.pipe.set_scissor_states(0, scissor_states(ctx))


def _stencil_ref(ctx: Context) -> None:
    front, back = ctx.fragment.stencil_faces
    limits = (max(0, min(front.ref, 255)), max(0, min(back.ref, 255)))
    ctx.pipe.set_stencil_ref(*limits)


def _blend_color(ctx: Context) -> None:
    ctx.pipe.set_blend_color(ctx.fragment.blend_color)


def _sample_mask(ctx: Context) -> None:
    ctx.pipe.set_sample_mask(effective_sample_mask(ctx))
    s, samples = ctx.raster, ctx.pipe_framebuffer.samples
    if ctx.caps.sample_locations:
        draw = ctx.framebuffers.draw
        chosen = (draw.programmable_locations or draw.is_window) and samples > 1
        ctx.pipe.set_sample_locations(sample_positions(ctx) if chosen else ())
    wanted = 1
    if s.sample_shading_enabled and samples > 1:
        wanted = max(1, -int(-s.min_sample_shading * samples // 1))
    ctx.pipe.set_min_samples(wanted)


def _clip(ctx: Context) -> None:
    """User clip planes: in clip coordinates, or in eye coordinates for gl_ClipVertex."""
    if ctx.is_compat:
        ctx.pipe.set_clip_planes(ctx.matrices.pipe_clip_planes())
    elif ctx.group.crowded:  # the planes bound by another context of the group differ
        ctx.pipe.set_clip_planes(())


def _stipple(ctx: Context) -> None:
    ctx.pipe.set_polygon_stipple(ctx.raster.stipple)


def _program(ctx: Context) -> None:
    stages = ctx.programs.stages
    apart = ctx.programs.current is None and ctx.pipelines.current is not None
    for stage in DRAWING:
        executable = stages.get(stage)
        key = NULL_KEY
        if ctx.lowers and executable is not None:
            key = key_of(ctx, stage, executable)
        if ctx.passes_edge_flags and stage is Stage.VERTEX:
            key = dataclasses.replace(key, edge_flags=True)
        if apart and executable is not None and (moves := input_moves(stages, stage)):
            key = dataclasses.replace(key, input_moves=moves)
        handle = executable.handle(stage, key) if executable is not None else None
        if ctx.bound_shaders.get(stage) is not handle:
            ctx.pipe.bind_shader_state(stage, handle)
            ctx.bound_shaders[stage] = handle


def _builtins(ctx: Context) -> None:
    last = 2 if ctx.dirty & Dirty.BUILTINS else 1 if ctx.dirty & Dirty.VALUES else 0
    changed = set()
    for executable in set(ctx.programs.stages.values()):
        if executable.has_builtins and fill(ctx, executable, last):
            changed.add(executable)
        if executable.fill is not None:
            executable.fill(ctx)
            changed.add(executable)
    if changed and not ctx.dirty & Dirty.CONSTANTS:
        _bind_blocks(ctx, changed)


def _constants(ctx: Context) -> None:
    _bind_blocks(ctx, ctx.programs.stages.values())


def _bind_blocks(ctx: Context, changed: Collection[Executable]) -> None:
    """Bind the default blocks of these executables."""
    ctx.group.constants_bound = max(ctx.group.constants_bound, 1)
    data, last = b"", None
    for stage, executable in ctx.programs.stages.items():
        if executable not in changed:
            continue
        if executable is not last:  # all stages share the bytes: drivers may compare by identity
            data, last = ctx.subroutines.default_block(executable), executable
        ctx.pipe.set_constant_buffer(stage, 0, data)


def _uniform_buffers(ctx: Context) -> None:
    for stage, executable in ctx.programs.stages.items():
        for block, binding in zip(
            executable.linked.uniform_blocks, executable.block_bindings, strict=True
        ):
            index = block.nir_index.get(stage)
            if index is None:
                continue
            point = ctx.buffers.uniform[binding]
            resource = point.buffer.resource if point.buffer is not None else None
            if resource is None:
                ctx.pipe.set_constant_buffer(stage, index)
                continue
            offset, size = point.range()
            ctx.pipe.set_constant_buffer(stage, index, buffer=resource, offset=offset, size=size)
            ctx.group.constants_bound = max(ctx.group.constants_bound, index + 1)


def view_and_sampler(
    ctx: Context,
    unit_index: int,
    target: int,
    scalar_shadow: bool,
    numbers: Base,
    fetched: bool = False,
) -> tuple[SamplerView, Any]:
    unit = ctx.textures.units[unit_index]
    texture: TextureObject = unit.bound[target]
    params = unit.sampler.params if unit.sampler is not None else texture.params
    return sampled_view(
        ctx, texture, params, scalar_shadow, unit.lod_bias, numbers, fetched=fetched
    )


def sampled_view(
    ctx: Context,
    texture: TextureObject,
    params: SamplerParams,
    scalar_shadow: bool,
    bias: float,
    numbers: Base = Base.FLOAT,
    by_handle: bool = False,
    fetched: bool = False,
) -> tuple[SamplerView, Any]:
    info, target = texture.target, texture.target.value
    if target != GL.TEXTURE_BUFFER and not texture.usable(params):
        return ctx.textures.nothing(info.pipe, numbers)
    decodes = fetched or params.srgb_decode == GL.DECODE_EXT
    view = texture.view(decodes, scalar_shadow)
    if view is None:
        return ctx.textures.nothing(info.pipe, numbers)
    format = view.format
    rect = target == GL.TEXTURE_RECTANGLE
    state = params.state(ctx, rect, format.is_pure_integer, format.has_depth, bias, by_handle)
    if format.is_compressed:
        base = texture.image(0, texture.base_level)
        if base is not None and base.info.base == "LA":  # stored as red and green
            r, _, b, a = state.border_color
            state = dataclasses.replace(state, border_color=(r, a, b, a))
    return view, state


def _textures(ctx: Context) -> None:
    sampling = {e for e in ctx.programs.stages.values() if e.samplers}
    if sum([e.samplers for e in sampling]) > 1 and (conflict := sampler_conflict(sampling)):
        raise invalid_operation(conflict)
    pipe = ctx.pipe
    for stage, executable in ctx.programs.stages.items():
        if executable.linked.info.has_handles:
            ctx.bindless.bind_textures(stage)
        sampled = executable.sampled.get(stage)
        if not sampled:
            continue
        count = max([sampler.place for sampler in sampled]) + 1
        views: list[SamplerView | None] = [None] * count
        samplers: list[Handle] = [None] * count
        for place, units, element, target, scalar, numbers, fetched in sampled:
            number = units[element]
            view, state = view_and_sampler(ctx, number, target, scalar, numbers, fetched)
            views[place], samplers[place] = view, ctx.caches.sampler.get(state)
        pipe.set_sampler_views(stage, 0, views)
        pipe.bind_sampler_states(stage, 0, samplers)


_UNIFORMS = Dirty.BUILTINS | Dirty.VALUES | Dirty.MATRICES
# In this order: later atoms may rely on what earlier ones set.
ATOMS: tuple[tuple[int, Callable[[Context], None]], ...] = (
    (Dirty.FRAMEBUFFER, _framebuffer),
    (Dirty.PROGRAM, _program),
    (_UNIFORMS, _builtins),
    (Dirty.CONSTANTS, _constants),
    (Dirty.UNIFORM_BUFFERS, _uniform_buffers),
    (Dirty.TEXTURES, _textures),
    (Dirty.STORAGE, bind_storage),
    (Dirty.IMAGES, bind_images),
    (Dirty.BLEND, _blend),
    (Dirty.DEPTH_STENCIL, _depth_stencil),
    (Dirty.RASTERIZER, _rasterizer),
    (Dirty.VIEWPORT, _viewport),
    (Dirty.SCISSOR, _scissor),
    (Dirty.STENCIL_REF, _stencil_ref),
    (Dirty.BLEND_COLOR, _blend_color),
    (Dirty.SAMPLE_MASK, _sample_mask),
    (Dirty.CLIP, _clip),
    (Dirty.STIPPLE, _stipple),
)
# State that selects the shaders: with fixed function, much more than glUseProgram.
_WHAT_RUNS = Dirty.PROGRAM | Dirty.BUILTINS | Dirty.TEXTURES
# State that goes into the keys of lowered shaders.
_KEYS = Dirty.PROGRAM | Dirty.RASTERIZER | Dirty.DEPTH_STENCIL | Dirty.TEXTURES
_OF_FRAMEBUFFER = (
    Dirty.BLEND | Dirty.DEPTH_STENCIL | Dirty.SCISSOR | Dirty.SAMPLE_MASK | Dirty.RASTERIZER
    | Dirty.BUILTINS
)  # fmt: skip


@functools.lru_cache(maxsize=1024)
def _plan(dirty: int) -> tuple[tuple[int, Callable[[Context], None]], ...]:
    """The atoms to execute for a set of dirty bits."""
    return tuple((bit, atom) for bit, atom in ATOMS if dirty & bit)


def validate(ctx: Context, wanted: int = Dirty.ALL) -> None:
    """Bring the pipe up to date with everything dirty in `wanted`."""
    if ctx.caches.full:
        ctx.group.trim()
    if ctx.dirty & wanted & Dirty.FRAMEBUFFER:
        ctx.dirty |= _OF_FRAMEBUFFER
    if ctx.dirty & wanted & (_WHAT_RUNS if ctx.is_compat else Dirty.PROGRAM):
        ctx.programs.resolve()
    dirty = ctx.dirty & wanted
    for bit, atom in _plan(dirty):
        atom(ctx)
        ctx.dirty &= ~bit
    if ctx.dirty & wanted & Dirty.PROGRAM or (ctx.lowers and dirty & _KEYS):
        _program(ctx)
        ctx.dirty &= ~Dirty.PROGRAM
