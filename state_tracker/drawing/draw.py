"""Draw calls: validation of each glDraw*, which the pipe receives as one `DrawInfo`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.pipe.draw_series import Pieces, Series
from gallette.pipe.enums import Bind, Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.state import DrawInfo, StreamOutputTarget
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.blending import check_advanced_blending
from gallette.state_tracker.drawing.validate import validate
from gallette.state_tracker.entry_points.count_limits import MOST_DRAWS, check_count
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_enum,
    invalid_framebuffer,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    buffer_offset,
    read_array,
    read_bytes,
    read_pointers,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.vertices.vertex_input import upload

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.vertices.buffers import BufferObject

Ints = npt.NDArray[np.int64]
_LEGACY = frozenset((GL.QUADS, GL.QUAD_STRIP, GL.POLYGON))
_ADJACENCY = range(GL.LINES_ADJACENCY, GL.TRIANGLE_STRIP_ADJACENCY + 1)
_PLAIN = range(GL.POINTS, GL.TRIANGLE_FAN + 1)
_WORTH_A_LOOK = 1 << 16  # vertices that would have to be copied
PRIMITIVES = list(Primitive)
INDEX_TYPES: dict[int, tuple[int, str]] = {
    GL.UNSIGNED_BYTE: (1, "ubyte"),
    GL.UNSIGNED_SHORT: (2, "ushort"),
    GL.UNSIGNED_INT: (4, "uint"),
}
_FEEDBACK_MODES: dict[int, frozenset[int]] = {
    GL.POINTS: frozenset((GL.POINTS,)),
    GL.LINES: frozenset((GL.LINES, GL.LINE_STRIP, GL.LINE_LOOP)),
    GL.TRIANGLES: frozenset(
        (GL.TRIANGLES, GL.TRIANGLE_STRIP, GL.TRIANGLE_FAN, GL.QUADS, GL.QUAD_STRIP, GL.POLYGON)
    ),
}


def check_mode(ctx: Context, mode: int) -> None:
    """Check that this primitive type can be drawn now."""
    if not 0 <= mode < len(PRIMITIVES) or (mode in _LEGACY and not ctx.is_compat):
        raise invalid_enum(mode, "primitive type")
    if mode == GL.PATCHES and "tess_eval" not in ctx.caps.stages:
        raise invalid_enum(mode, "primitive type")
    if mode in _ADJACENCY and "geometry" not in ctx.caps.stages:
        raise invalid_enum(mode, "primitive type")
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    if ctx.lost:
        raise GLError(GL.CONTEXT_LOST, "the context was reset and must be made anew")


def _check_pipeline(ctx: Context, mode: int) -> None:
    """Check the primitive type against each stage, and the last stage's output against transform
    feedback.
    """
    feedback, mode = ctx.feedback.current, output_mode(ctx, mode)
    if feedback.running and mode not in _FEEDBACK_MODES[feedback.mode]:
        raise invalid_operation("the primitive type does not match transform feedback's")


def output_mode(ctx: Context, mode: int) -> int:
    """The primitive type that the last of the vertex stages outputs for a draw of `mode`."""
    evaluation = ctx.programs.stages.get(Stage.TESS_EVAL)
    if (evaluation is not None) != (mode == GL.PATCHES):
        raise invalid_operation("patches are for tessellation, and it takes nothing else")
    if evaluation is not None:
        info = evaluation.linked.shaders[Stage.TESS_EVAL].info
        mode = GL.LINES if info.tess_primitive == "isolines" else GL.TRIANGLES
        mode = GL.POINTS if info.tess_point_mode else mode
    geometry = ctx.programs.stages.get(Stage.GEOMETRY)
    if geometry is not None:
        info = geometry.linked.shaders[Stage.GEOMETRY].info
        if mode not in _GEOMETRY_INPUTS.get(info.input_primitive, ()):
            raise invalid_operation(f"the geometry shader takes {info.input_primitive}")
        mode = _GEOMETRY_OUTPUTS[info.output_primitive]
    return mode


_GEOMETRY_INPUTS: dict[str, tuple[int, ...]] = {
    "points": (GL.POINTS,),
    "lines": (GL.LINES, GL.LINE_STRIP, GL.LINE_LOOP),
    "lines_adjacency": (GL.LINES_ADJACENCY, GL.LINE_STRIP_ADJACENCY),
    "triangles": (GL.TRIANGLES, GL.TRIANGLE_STRIP, GL.TRIANGLE_FAN),
    "triangles_adjacency": (GL.TRIANGLES_ADJACENCY, GL.TRIANGLE_STRIP_ADJACENCY),
}
_GEOMETRY_OUTPUTS: dict[str, int] = {
    "points": GL.POINTS,
    "line_strip": GL.LINE_STRIP,
    "triangle_strip": GL.TRIANGLE_STRIP,
}


def _prepare(
    ctx: Context, mode: int, first: int, last: int, instances: int, base_instance: int = 0
) -> bool:
    """Bring state, program and vertex input up to date; false without a vertex shader to draw with.

    The draw reads vertices `first`..`last` of client arrays, none if `last` is smaller.
    """
    if ctx.is_core and ctx.arrays.current is ctx.arrays.default:
        raise invalid_operation("no vertex array object is bound")
    if ctx.lowers and ctx.drawing_points != (mode == GL.POINTS):
        ctx.drawing_points = not ctx.drawing_points
        ctx.dirty |= Dirty.RASTERIZER
    if ctx.dirty & ~_INPUT_ONLY:
        validate(ctx)
    if ctx.programs.problem:
        raise invalid_operation(ctx.programs.problem)
    vertex = ctx.programs.vertex
    if vertex is None:
        _check_alone(ctx, mode)
        return False
    if ctx.blends_advanced:
        check_advanced_blending(ctx)
    if ctx.programs.has_inner or mode == GL.PATCHES or ctx.feedback.current.active:
        _check_pipeline(ctx, mode)
    inputs = vertex.flagged_inputs if ctx.passes_edge_flags else vertex.inputs
    ctx.vertex_input.prepare(inputs, first, last, instances, base_instance)
    return True


def _check_alone(ctx: Context, mode: int) -> None:
    """Check a draw without a vertex shader; patches and an empty pipeline are errors there."""
    if ctx.is_core and ctx.arrays.current is ctx.arrays.default:
        raise invalid_operation("no vertex array object is bound")
    if ctx.framebuffers.draw.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
        raise invalid_framebuffer("the draw framebuffer is not complete")
    pipeline = ctx.pipelines.current if ctx.programs.current is None else None
    if mode == GL.PATCHES or (pipeline is not None and not pipeline.programs):
        raise invalid_operation("patches are for tessellation, and an empty pipeline for nothing")


_INPUT_ONLY = Dirty.CURRENT_ATTRIBS | Dirty.TRANSFORM_FEEDBACK


def _submit(ctx: Context) -> Callable[[DrawInfo], None]:
    """The function that executes draws: the driver's, or that of selection or feedback."""
    return ctx.rendering.draw if ctx.rendering.active else ctx.pipe.draw_vbo


@lru_cache(maxsize=256)
def _info(
    mode: int,
    first: int,
    count: int,
    instances: int,
    base_instance: int,
    vertices_per_patch: int,
    patch_levels: tuple[float, ...],
    draw_id: int,
    in_list: bool,
) -> DrawInfo:
    """The `DrawInfo` of a draw; cached, since most draws repeat an earlier one."""
    return DrawInfo(
        PRIMITIVES[mode],
        first,
        count,
        instances,
        base_instance,
        vertices_per_patch=vertices_per_patch,
        patch_levels=patch_levels,
        draw_id=draw_id,
        in_list=in_list,
    )


def draw(
    ctx: Context,
    mode: int,
    first: int,
    count: int,
    instances: int = 1,
    base_instance: int = 0,
    draw_id: int = 0,
) -> None:
    """Draw consecutive vertices."""
    if mode not in _PLAIN or ctx.immediate.active or ctx.lost:
        check_mode(ctx, mode)
    if first < 0 or count < 0 or instances < 0:
        raise invalid_value("negative first, count or instance count")
    if not ctx.can_draw():
        _check_alone(ctx, mode)
        return
    if count > _WORTH_A_LOOK and _has_client_arrays(ctx):
        ctx.screen.check_work(count * instances)
    try:
        ready = _prepare(ctx, mode, first, first + count - 1, instances, base_instance)
        if ready and count and instances:
            raster = ctx.raster
            info = _info(
                mode,
                first,
                count,
                instances,
                base_instance,
                raster.patch_vertices,
                raster.patch_levels,
                draw_id,
                ctx.arrays.current.in_list,
            )
            if ctx.rendering.active:
                ctx.rendering.draw(info)
            else:
                ctx.pipe.draw_vbo(info)
                ctx.stream.drawn = info
    finally:
        ctx.vertex_input.finish()


def joined(parts: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int, Any]]:
    """The draws of parts, which follow one another in the arrays: mode, first and count of each,
    and indices, if it needs any.

    Neighbouring parts of one mode are merged into one draw, with restart indices between strips and
    fans; not so quads, which indices would cut otherwise.
    """
    for mode, group in groupby(parts, itemgetter(0)):
        same = list(group)
        first, end = same[0][1], same[-1][1] + same[-1][2]
        if len(same) == 1 or mode == GL.QUADS:
            for _, start, count in same:
                yield mode, start, count, None
        else:
            numbers = np.arange(first, end, dtype="<u4")
            indices = np.insert(numbers, [start - first for _, start, _ in same[1:]], RESTART)
            yield mode, first, end - first, indices


def restarting(mode: int, indices: npt.NDArray[Any], resource: Resource) -> DrawInfo:
    """A draw with these indices, which restart primitives."""
    return DrawInfo(
        PRIMITIVES[mode],
        count=indices.size,
        index_size=4,
        index_buffer=resource,
        primitive_restart=True,
        restart_index=RESTART,
    )


def draw_parts(ctx: Context, parts: Sequence[tuple[int, int, int]]) -> None:
    """Draw mode, first and count of each part, with as few draws as possible."""
    for mode, first, count, indices in joined(parts):
        if indices is None:
            draw(ctx, mode, first, count)
            continue
        resource = upload(ctx, indices, Bind.INDEX_BUFFER)
        ctx.vertex_input.keep(resource)
        draw_info(ctx, mode, restarting(mode, indices, resource), first, first + count - 1)


RESTART = 0xFFFFFFFF


def draw_info(ctx: Context, mode: int, info: DrawInfo, first: int, last: int) -> None:
    """Draw as the state tracker says, with the vertices `first`..`last`."""
    try:
        ctx.screen.check_work(info.count)
        if _prepare(ctx, mode, first, last, 1):
            _submit(ctx)(info)
    finally:
        ctx.vertex_input.finish()


def _index_source(
    ctx: Context, count: int, size: int, indices: Pointer
) -> tuple[Resource | None, int]:
    """The location of indices: resource and byte offset."""
    buffer: BufferObject | None = ctx.arrays.current.element_buffer
    if buffer is None:
        if ctx.is_core and _is_offset(indices):
            raise invalid_operation("no element array buffer is bound")
        if indices is None:
            return None, 0
        raw = read_bytes(indices, count * size)
        resource = upload(ctx, raw, Bind.INDEX_BUFFER)
        ctx.vertex_input.keep(resource)
        return resource, 0
    if buffer.blocked:
        raise invalid_operation("the element array buffer is mapped")
    return buffer.resource, buffer_offset(indices)


def _is_offset(indices: Pointer) -> bool:
    """Whether the pointer is an offset into a missing buffer: no memory is at such addresses.

    The core profile has no indices in the application's memory; every driver accepts them.
    """
    return indices is None or (isinstance(indices, int) and indices < 1 << 16)


def _read_indices(ctx: Context, count: int, gl_type: str, indices: Pointer) -> npt.NDArray[Any]:
    """The indices of a draw, as far as its buffer holds them."""
    buffer = ctx.arrays.current.element_buffer
    if buffer is None:
        return read_array(indices, gl_type, count)
    size = {"ubyte": 1, "ushort": 2, "uint": 4}[gl_type]
    offset = buffer_offset(indices)
    room = max(buffer.size - offset, 0) // size
    return np.frombuffer(buffer.read(offset, min(count, room) * size), f"<u{size}")


def index_range(values: npt.NDArray[Any], restart: int | None) -> tuple[int, int]:
    """The smallest and the largest index that refers to a vertex; (0, -1) if none does."""
    if restart is not None:
        values = values[values != restart]
    return (int(values.min()), int(values.max())) if values.size else (0, -1)


def _has_client_arrays(ctx: Context) -> bool:
    vao = ctx.arrays.current
    return vao.name == 0 and any(a.enabled and vao.bindings[a.binding].address for a in vao.attribs)


def restart_index(ctx: Context, size: int) -> int | None:
    """The index that restarts primitives among indices of `size` bytes; None if restart is off."""
    if ctx.raster.primitive_restart_fixed:
        return (1 << (8 * size)) - 1
    return ctx.raster.restart_index if ctx.raster.primitive_restart else None


def draw_indexed(
    ctx: Context,
    mode: int,
    count: int,
    type: int,
    indices: Pointer,
    instances: int = 1,
    base_vertex: int = 0,
    base_instance: int = 0,
    draw_id: int = 0,
) -> None:
    """Draw vertices by index."""
    check_mode(ctx, mode)
    if count < 0 or instances < 0:
        raise invalid_value("negative count or instance count")
    if type not in INDEX_TYPES:
        raise invalid_enum(type, "index type")
    size, gl_type = INDEX_TYPES[type]
    restart = restart_index(ctx, size)
    if not ctx.can_draw():
        _check_alone(ctx, mode)
        return
    low, high = 0, -1
    if count and not ctx.is_core and _has_client_arrays(ctx):
        low, high = index_range(_read_indices(ctx, count, gl_type, indices), restart)
        low, high = max(low + base_vertex, 0), high + base_vertex
    try:
        ready = _prepare(ctx, mode, low, high, instances, base_instance)
        resource, offset = _index_source(ctx, count, size, indices)
        if ready and count and instances and resource is not None:
            info = DrawInfo(
                PRIMITIVES[mode],
                0,
                count,
                instances,
                base_instance,
                size,
                resource,
                offset,
                base_vertex,
                restart is not None,
                restart or 0,
                vertices_per_patch=ctx.raster.patch_vertices,
                patch_levels=ctx.raster.patch_levels,
                draw_id=draw_id,
            )
            _submit(ctx)(info)
            if ctx.arrays.current.element_buffer is not None:
                ctx.stream.drawn = info
    finally:
        ctx.vertex_input.finish()


def draw_several(ctx: Context, mode: int, type: int | None, calls: Ints) -> None:
    """Draw several times; a row of `calls` is count, number of instances, first vertex (of indices
    of that type: the offset of the first), base vertex and first instance.

    Once a draw has brought the state up to date, the driver gets those after it as a series.
    """
    rows, done = calls.tolist(), 0
    stream, attempts = ctx.stream, _ATTEMPTS
    before, stream.drawn = stream.drawn, None
    try:
        while done < len(rows):
            count, instances, first, base, instance = rows[done]
            if type is None:
                draw(ctx, mode, first, count, instances, instance, done)
            else:
                draw_indexed(ctx, mode, count, type, first, instances, base, instance, done)
            done += 1
            if attempts and len(rows) - done >= _FEW and stream.drawn is not None:
                made = _draw_series(ctx, stream.drawn, calls[done:])
                done, attempts, stream.drawn = done + made, attempts - (made < _FEW), None
    finally:
        stream.drawn = before


_FEW = 4
"""Fewer draws are as fast one by one."""

_ATTEMPTS = 8
"""After so many series that end early, the other draws are made one by one."""


def _draw_series(ctx: Context, info: DrawInfo, calls: Ints) -> int:
    """Make calls in the state of the last draw as a series; returns how many were made."""
    executable = ctx.programs.executable
    indexed = info.index_size > 0
    if executable is None or executable.counts_draws or ctx.observed:
        return 0
    if not indexed and (calls[:, 2] < 0).any():  # an error
        return 0
    token = ctx.stream.token()
    if token is None:
        return 0
    drawn = ((calls[:, 0] > 0) & (calls[:, 1] > 0)).nonzero()[0]
    fields = list(map(tuple, calls[drawn, : 4 if indexed else 2].tolist()))
    distinct = {each: number for number, each in enumerate(dict.fromkeys(fields))}
    kinds = []
    for count, instances, *more in distinct:
        offset, bias = more if indexed else (0, 0)
        call = replace(
            info, count=count, instance_count=instances, index_offset=offset, index_bias=bias
        )
        kinds.append(ctx.pipe.prepared_call(token, call))
    if None in kinds:
        return 0
    number, data = len(drawn), bytes(executable.uniforms.data)
    zeros = np.zeros(number, np.int64)
    pieces = Pieces.of((data,), zeros, zeros, np.full(number, len(data)))
    starts = np.full(number, info.start) if indexed else calls[drawn, 2]
    which = np.array([distinct[each] for each in fields], np.int64)
    series = Series(kinds, which, pieces, starts, calls[drawn, 4])
    made = ctx.pipe.draw_series(series)
    return len(calls) if made == number else int(drawn[made])


def draw_captured(ctx: Context, mode: int, target: StreamOutputTarget, instances: int) -> None:
    """Draw as many vertices as transform feedback has captured into a buffer."""
    count = target.written // target.stride if target.stride else 0
    try:
        if _prepare(ctx, mode, 0, count - 1, instances) and instances:
            _submit(ctx)(
                DrawInfo(PRIMITIVES[mode], 0, 0, instances, count_from_stream_output=target)
            )
    finally:
        ctx.vertex_input.finish()


@entry
def draw_arrays(ctx: Context, mode: int, first: int, count: int) -> None:
    draw(ctx, mode, first, count)


@entry
def draw_arrays_instanced(ctx: Context, mode: int, first: int, count: int, instances: int) -> None:
    draw(ctx, mode, first, count, instances)


@entry
def draw_arrays_instanced_base_instance(
    ctx: Context, mode: int, first: int, count: int, instances: int, base: int
) -> None:
    draw(ctx, mode, first, count, instances, base)


def _calls(counts: Any, firsts: Any, bases: Any = 0) -> Ints:
    """The calls of `draw_several` for one instance each."""
    found = np.zeros((len(counts), 5), np.int64)
    found[:, 0], found[:, 1], found[:, 2], found[:, 3] = counts, 1, firsts, bases
    return found


@entry
def multi_draw_arrays(
    ctx: Context, mode: int, first: Pointer, count: Pointer, drawcount: int
) -> None:
    if drawcount < 0:
        raise invalid_value("negative draw count")
    check_count(drawcount, MOST_DRAWS, "draws")
    firsts, counts = read_array(first, "int", drawcount), read_array(count, "int", drawcount)
    if (counts < 0).any():
        raise invalid_value("negative count")
    if not drawcount:
        draw(ctx, mode, 0, 0)  # report the errors of a draw, too
    draw_several(ctx, mode, None, _calls(counts, firsts))


@entry
def draw_elements(ctx: Context, mode: int, count: int, type: int, indices: Pointer) -> None:
    draw_indexed(ctx, mode, count, type, indices)


@entry
def draw_elements_base_vertex(
    ctx: Context, mode: int, count: int, type: int, indices: Pointer, base_vertex: int
) -> None:
    draw_indexed(ctx, mode, count, type, indices, 1, base_vertex)


@entry
def draw_elements_instanced(
    ctx: Context, mode: int, count: int, type: int, indices: Pointer, instances: int
) -> None:
    draw_indexed(ctx, mode, count, type, indices, instances)


@entry
def draw_elements_instanced_base_vertex(
    ctx: Context, mode: int, count: int, type: int, indices: Pointer, instances: int, base: int
) -> None:
    draw_indexed(ctx, mode, count, type, indices, instances, base)


@entry
def draw_elements_instanced_base_instance(
    ctx: Context, mode: int, count: int, type: int, indices: Pointer, instances: int, base: int
) -> None:
    draw_indexed(ctx, mode, count, type, indices, instances, 0, base)


@entry
def draw_elements_instanced_base_vertex_base_instance(
    ctx: Context, mode: int, count: int, type: int, indices: Pointer, instances: int,
    base_vertex: int, base_instance: int,
) -> None:  # fmt: skip
    draw_indexed(ctx, mode, count, type, indices, instances, base_vertex, base_instance)


@entry
def draw_range_elements(
    ctx: Context, mode: int, start: int, end: int, count: int, type: int, indices: Pointer
) -> None:
    draw_range_elements_base_vertex(ctx, mode, start, end, count, type, indices, 0)


@entry
def draw_range_elements_base_vertex(
    ctx: Context, mode: int, start: int, end: int, count: int, type: int, indices: Pointer,
    base: int,
) -> None:  # fmt: skip
    if end < start:
        raise invalid_value("the range ends before it starts")
    draw_indexed(ctx, mode, count, type, indices, 1, base)


@entry
def multi_draw_elements_base_vertex(
    ctx: Context, mode: int, count: Pointer, type: int, indices: Pointer, drawcount: int,
    base_vertex: Pointer,
) -> None:  # fmt: skip
    if drawcount < 0:
        raise invalid_value("negative draw count")
    check_count(drawcount, MOST_DRAWS, "draws")
    if type not in INDEX_TYPES:
        raise invalid_enum(type, "index type")
    counts = read_array(count, "int", drawcount).tolist()
    if any(c < 0 for c in counts):
        raise invalid_value("negative count")
    pointers = read_pointers(indices, drawcount)
    bases = [0] * drawcount
    if base_vertex is not None:
        bases = read_array(base_vertex, "int", drawcount).tolist()
    if not drawcount:
        draw(ctx, mode, 0, 0)
    if all(isinstance(each, int) for each in pointers):
        draw_several(ctx, mode, type, _calls(counts, pointers, bases))
        return
    for index, (length, pointer, base) in enumerate(zip(counts, pointers, bases, strict=True)):
        draw_indexed(ctx, mode, length, type, pointer, 1, base, 0, index)


@entry
def multi_draw_elements(
    ctx: Context, mode: int, count: Pointer, type: int, indices: Pointer, drawcount: int
) -> None:
    multi_draw_elements_base_vertex(ctx, mode, count, type, indices, drawcount, None)
