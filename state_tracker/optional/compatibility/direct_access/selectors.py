"""Context managers that make the object named by a function of EXT_direct_state_access current.

A selector takes the leading arguments of such a function. Inside it, the ordinary function finds
the named object in place of the bound one. It yields the arguments that the ordinary function gets
instead. Nothing is drawn inside, so only the binding changes: no reference is counted and nothing
becomes dirty. Objects are created when first named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_operation
from gallette.state_tracker.targets.framebuffers import Framebuffer
from gallette.state_tracker.targets.renderbuffers import Renderbuffer
from gallette.state_tracker.texturing.texture_objects import lookup as lookup_texture
from gallette.state_tracker.texturing.texture_targets import CUBE_FACES, PROXIES
from gallette.state_tracker.vertices import buffers
from gallette.state_tracker.vertices.vertex_arrays import VertexArray

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Selector = Callable[..., AbstractContextManager[tuple[Any, ...]]]


@contextmanager
def _texture(ctx: Context, name: int, target: int) -> Iterator[tuple[Any, ...]]:
    if target in PROXIES:
        if name:
            raise invalid_operation("a proxy has no texture of its own")
        yield (target,)
        return
    point = int(GL.TEXTURE_CUBE_MAP) if target in CUBE_FACES else target
    found = lookup_texture(ctx, point, name)
    bound = ctx.textures.unit.bound
    saved, bound[point] = bound[point], found
    try:
        yield (target,)
    finally:
        bound[point] = saved


@contextmanager
def texture_unit(ctx: Context, texunit: int) -> Iterator[tuple[Any, ...]]:
    """Select a texture unit, by its enum."""
    state, index = ctx.textures, texunit - GL.TEXTURE0
    if not 0 <= index < len(state.units):
        raise invalid_enum(texunit, "texture unit")
    saved, state.active = state.active, index
    try:
        yield ()
    finally:
        state.active = saved


@contextmanager
def client_unit(ctx: Context, index: int) -> Iterator[None]:
    """Select the set of texture coordinates that client arrays refer to."""
    saved, ctx.arrays.client_unit = ctx.arrays.client_unit, index
    try:
        yield
    finally:
        ctx.arrays.client_unit = saved


@contextmanager
def _matrix(ctx: Context, mode: int) -> Iterator[tuple[Any, ...]]:
    """Select a matrix stack: a mode of glMatrixMode, or a texture unit for that unit's texture
    matrix.
    """
    state, unit = ctx.matrices, ctx.textures.active
    if 0 <= mode - GL.TEXTURE0 < 8:
        mode, unit = GL.TEXTURE, mode - GL.TEXTURE0
    elif mode not in (GL.MODELVIEW, GL.PROJECTION, GL.TEXTURE, *state.more):
        raise invalid_enum(mode, "matrix mode")
    saved = state.mode, ctx.textures.active
    state.mode, ctx.textures.active = mode, unit
    try:
        yield ()
    finally:
        state.mode, ctx.textures.active = saved


def _make_framebuffer(ctx: Context, name: int) -> Framebuffer:
    if not name:
        return ctx.framebuffers.window
    limit = ctx.caps.max_render_targets
    return ctx.framebuffers.names.bind(name, lambda n: Framebuffer(n, limit), ctx.is_core)


@contextmanager
def _bound_framebuffer(ctx: Context, name: int) -> Iterator[tuple[Any, ...]]:
    state = ctx.framebuffers
    saved, state.draw = state.draw, _make_framebuffer(ctx, name)
    try:
        yield (GL.FRAMEBUFFER,)
    finally:
        state.draw = saved


@contextmanager
def _framebuffer(ctx: Context, name: int) -> Iterator[tuple[Any, ...]]:
    _make_framebuffer(ctx, name)
    yield (name,)


@contextmanager
def _renderbuffer(ctx: Context, name: int) -> Iterator[tuple[Any, ...]]:
    if name:
        ctx.renderbuffers.names.bind(name, Renderbuffer, ctx.is_core)
    yield (name,)


@contextmanager
def _buffer(ctx: Context, name: int) -> Iterator[tuple[Any, ...]]:
    buffers.lookup(ctx, name)
    yield (name,)


@contextmanager
def _buffers(ctx: Context, read: int, write: int) -> Iterator[tuple[Any, ...]]:
    buffers.lookup(ctx, read)
    buffers.lookup(ctx, write)
    yield (read, write)


def find_vertex_array(ctx: Context, name: int) -> VertexArray:
    """The vertex array object of a name, which must be generated but may not be bound yet; 0 is
    none.
    """
    if not name:
        raise invalid_operation("0 is not the name of a vertex array")
    return ctx.arrays.names.bind(name, VertexArray, True)


@contextmanager
def _named_array(ctx: Context, name: int) -> Iterator[tuple[Any, ...]]:
    find_vertex_array(ctx, name)
    yield (name,)


@contextmanager
def vertex_array(ctx: Context, name: int) -> Iterator[tuple[Any, ...]]:
    """Select a vertex array object in place of the bound one."""
    state = ctx.arrays
    saved, state.current = state.current, find_vertex_array(ctx, name)
    try:
        yield ()
    finally:
        state.current = saved


@contextmanager
def array_buffer(ctx: Context, name: int) -> Iterator[None]:
    """Select a buffer in place of the bound array buffer."""
    found = buffers.lookup(ctx, name) if name else None
    bound = ctx.buffers.bound
    saved, bound[GL.ARRAY_BUFFER] = bound[GL.ARRAY_BUFFER], found
    try:
        yield
    finally:
        bound[GL.ARRAY_BUFFER] = saved


SELECTORS: dict[str, tuple[int, Selector]] = {
    "matrix": (1, _matrix),
    "texture": (2, _texture),
    "unit": (1, texture_unit),
    "bound framebuffer": (1, _bound_framebuffer),
    "framebuffer": (1, _framebuffer),
    "renderbuffer": (1, _renderbuffer),
    "buffer": (1, _buffer),
    "buffers": (2, _buffers),
    "array": (1, _named_array),
}
"""selectors, with the number of arguments that each takes"""
