"""glRenderMode: selection and feedback, which report primitives instead of drawing them.

A draw in these modes captures the outputs of its last vertex stage (geometry, tessellation
evaluation or vertex shader) by transform feedback. The stages after it are done here, primitive by
primitive, since such draws are small: clipping to the view volume and the planes of the
application, culling, the choice of a face's colour, and polygon mode.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.pipe.enums import Bind, Primitive
from gallette.pipe.shader_handover import shader_for_driver
from gallette.pipe.state import (
    DrawInfo,
    RasterizerState,
    StreamOutput,
    StreamOutputInfo,
    StreamOutputTarget,
)
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.draw import output_mode
from gallette.state_tracker.drawing.lowering import LoweringKey, lower
from gallette.state_tracker.drawing.rasterization import rasterizer_state
from gallette.state_tracker.drawing.viewports import to_window
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, write_bytes
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.shading.pipeline_varyings import input_moves
from gallette.state_tracker.vertices.vertex_input import create_upload

if TYPE_CHECKING:
    from gallette.pipe.interface import Handle
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

Vertices = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
MAX_NAMES = 64
_CAPTURED = (
    VaryingSlot.POS, VaryingSlot.COL0, VaryingSlot.TEX0, VaryingSlot.BFC0, VaryingSlot.EDGE,
    VaryingSlot.CLIP_VERTEX, VaryingSlot.CLIP_DIST0, VaryingSlot.CLIP_DIST1,
)  # fmt: skip
# Columns of a vertex; distances to the planes follow, which are not negative inside.
_COLOR, _TEXCOORD, _BACK, _EDGE, _DISTANCES = slice(4, 8), slice(8, 12), slice(12, 16), 16, 17
_STRIPS = (Primitive.LINE_STRIP, Primitive.LINE_LOOP, Primitive.LINE_STRIP_ADJACENCY)
_CORNERS = {Primitive.POINTS: 1} | dict.fromkeys(
    (Primitive.LINES, Primitive.LINES_ADJACENCY, *_STRIPS), 2
)
_VERTEX_STAGES = (Stage.GEOMETRY, Stage.TESS_EVAL, Stage.VERTEX)
_AMPLIFIED = 64  # vertices that an inner stage is expected to make of one, at most
_FIRST_ROOM = 1 << 24  # bytes that are not exceeded for that reason
_CUT = (Primitive.QUADS, Primitive.QUAD_STRIP, Primitive.POLYGON)
_EDGE_FLAGGED = (Primitive.TRIANGLES, Primitive.QUADS, Primitive.POLYGON)
_FORMATS: dict[int, str] = {
    GL._2D: "xy", GL._3D: "xyz", GL._3D_COLOR: "xyzc", GL._3D_COLOR_TEXTURE: "xyzct",
    GL._4D_COLOR_TEXTURE: "xyzwct",
}  # fmt: skip


class RenderMode:
    """The mode, the two buffers, and the name stack."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self.mode: int = GL.RENDER
        self.names: list[int] = []
        self.select_buffer: tuple[Pointer, int] | None = None
        self.feedback_buffer: tuple[Pointer, int, int] | None = None  # memory, size, format
        self._words: list[int] = []
        self._values: list[float] = []
        self._hits = 0
        self._hit: list[float] = []  # depths of hits since the names changed
        self._handles: dict[Executable, dict[tuple[Stage, LoweringKey], Handle]] = {}
        self._resets = True  # the line stipple, before the next line

    @property
    def active(self) -> bool:
        return self.mode != GL.RENDER

    # -- changing modes --------------------------------------------------------------------------

    def change(self, mode: int) -> int:
        """Leave the mode; returns the amount reported, -1 if it exceeded its buffer."""
        result = 0
        if self.mode == GL.SELECT:
            self.record()
            result = self._deliver_words()
        elif self.mode == GL.FEEDBACK:
            result = self._deliver_values()
        self.mode = mode
        self.names, self._words, self._values, self._hits, self._hit = [], [], [], 0, []
        return result

    def record(self) -> None:
        """Write a hit record, if there was a hit under the current names."""
        if self._hit:
            # (`max` of NaN and 0 returns the first: undefined depth is in front.)
            depths = [round(min(max(0.0, z), 1.0) * 0xFFFFFFFF) for z in self._hit]
            self._words += [len(self.names), min(depths), max(depths), *self.names]
            self._hits += 1
            self._hit = []

    def _deliver_words(self) -> int:
        assert self.select_buffer is not None
        pointer, size = self.select_buffer
        kept = self._words[:size]
        if kept and pointer is not None:
            write_bytes(pointer, np.array(kept, np.uint64).astype(np.uint32))
        return -1 if len(self._words) > size else self._hits

    def _deliver_values(self) -> int:
        assert self.feedback_buffer is not None
        pointer, size, _ = self.feedback_buffer
        kept = self._values[:size]
        if kept and pointer is not None:
            write_bytes(pointer, np.array(kept, np.float32))
        return -1 if len(self._values) > size else len(self._values)

    # -- reports ---------------------------------------------------------------------------------

    def draw_pixels(self, *, copy: bool = False, bitmap: bool = False) -> bool:
        """Handle a pixel rectangle; true if the mode reports it instead of drawing it."""
        if self.mode == GL.RENDER:
            return False
        raster = self._ctx.raster_position
        if self.mode == GL.SELECT:  # its raster position was the hit
            return True
        tokens = (GL.DRAW_PIXEL_TOKEN, GL.COPY_PIXEL_TOKEN, GL.BITMAP_TOKEN)
        self._values.append(float(tokens[2 if bitmap else int(copy)]))
        self._vertex(raster.position, raster.color, raster.texcoords[0])
        return True

    def raster_position(self) -> None:
        """Handle a new valid raster position: in selection it is a hit."""
        if self.mode == GL.SELECT:
            self._hit.append(self._ctx.raster_position.position[2])

    def pass_through(self, token: float) -> None:
        if self.mode == GL.FEEDBACK:
            self._values += [float(GL.PASS_THROUGH_TOKEN), float(token)]

    def _vertex(self, window: Any, color: Any, texcoord: Any) -> None:
        assert self.feedback_buffer is not None
        for letter in _FORMATS[self.feedback_buffer[2]]:
            if letter in "xyzw":
                self._values.append(float(window["xyzw".index(letter)]))
            else:
                self._values += [float(v) for v in (color if letter == "c" else texcoord)]

    def draw(self, info: DrawInfo) -> None:
        """Report the primitives of a draw that are left after clipping."""
        state = rasterizer_state(self._ctx)
        mode = Primitive(output_mode(self._ctx, info.mode))
        corners = _CORNERS.get(mode, 3)
        primitives = self._captured(info, corners, state)
        if corners > 1 and state.flatshade:
            provoking = 0 if state.flatshade_first else -1
            for color in (_COLOR, _BACK):
                primitives[:, :, color] = primitives[:, provoking, None, color]
        if corners == 3:
            starts, real = _pieces(mode, primitives, state.flatshade_first)
            primitives[:, :, _EDGE] *= real
        elif mode in _STRIPS:
            starts = _changes(primitives[:, 0], primitives[:, 1])
        else:
            starts = np.ones(len(primitives), np.bool_)
        for primitive, start in zip(primitives, starts, strict=True):
            self._resets |= bool(start)
            polygon = _clipped(primitive, corners)
            if len(polygon) and (corners < 3 or not self._culled(polygon)):
                self._report(polygon, corners, state.light_twoside)

    def _report(self, polygon: Vertices, corners: int, two_sided: bool) -> None:
        if self.mode == GL.SELECT:
            self._hit += [self._window(v)[2] for v in polygon]
        elif corners < 3:
            self._primitive(GL.POINT_TOKEN if corners == 1 else GL.LINE_TOKEN, polygon)
        else:
            raster, front = self._ctx.raster, self._faces_front(polygon)
            if two_sided and not front:
                polygon[:, _COLOR] = polygon[:, _BACK]
            mode = raster.polygon_front if front else raster.polygon_back
            if mode == GL.FILL:
                self._primitive(GL.POLYGON_TOKEN, polygon)
            elif mode == GL.POINT:
                for vertex in polygon[polygon[:, _EDGE] != 0]:
                    self._primitive(GL.POINT_TOKEN, vertex[None])
            else:  # the last edge first, as the rasterizer draws them
                for i in range(-1, len(polygon) - 1):
                    if polygon[i, _EDGE]:
                        self._primitive(GL.LINE_TOKEN, polygon[[i, i + 1]])

    def _primitive(self, token: int, vertices: Vertices) -> None:
        if token == GL.LINE_TOKEN and self._resets:
            token, self._resets = GL.LINE_RESET_TOKEN, False
        self._values.append(float(token))
        if token == GL.POLYGON_TOKEN:
            self._values.append(float(len(vertices)))
        for vertex in vertices:
            self._vertex(self._window(vertex), vertex[_COLOR], vertex[_TEXCOORD])

    def _window(self, vertex: Vertices) -> tuple[float, float, float, float]:
        x, y, z, w = to_window(self._ctx, vertex)
        nearest, farthest = sorted(self._ctx.raster.depth_ranges[0])
        return x, y, min(max(z, nearest), farthest), w

    def _culled(self, polygon: Vertices) -> bool:
        raster = self._ctx.raster
        if not raster.cull_enabled:
            return False
        if raster.cull_face == GL.FRONT_AND_BACK:
            return True
        return self._faces_front(polygon) == (raster.cull_face == GL.FRONT)

    def _faces_front(self, polygon: Vertices) -> bool:
        ndc = polygon[:, :2] / polygon[:, 3:4]
        ahead = np.roll(ndc, -1, axis=0)
        area = float((ndc[:, 0] * ahead[:, 1] - ahead[:, 0] * ndc[:, 1]).sum())
        return (area > 0.0) == (self._ctx.raster.front_face == GL.CCW)

    # -- capture ---------------------------------------------------------------------------------

    def _captured(self, info: DrawInfo, corners: int, state: RasterizerState) -> Vertices:
        """The vertices of the assembled primitives, `[primitive, corner, column]`."""
        ctx, pipe, stages = self._ctx, self._ctx.pipe, self._ctx.programs.stages
        last = next(stage for stage in _VERTEX_STAGES if stage in stages)
        written = stages[last].linked.shaders[last].info.outputs_written
        flagged = last is Stage.VERTEX and ctx.passes_edge_flags and info.mode in _EDGE_FLAGGED
        slots = [s for s in _CAPTURED if s in written or (s is VaryingSlot.EDGE and flagged)]
        size = corners * 16 * len(slots)
        room = size + max(info.count, 1) * 3 * max(info.instance_count, 1) * 16 * len(slots)
        if last is not Stage.VERTEX:
            room = max(room, min(room * _AMPLIFIED, _FIRST_ROOM))
        apart = ctx.programs.current is None and ctx.pipelines.current is not None
        key = LoweringKey(
            edge_flags=flagged, input_moves=input_moves(stages, last) if apart else ()
        )
        discarding = dataclasses.replace(state, rasterizer_discard=True)
        feedback = ctx.feedback.current
        try:
            if feedback.running:  # the application captures in every mode
                ctx.caches.rasterizer.bind(discarding)
                pipe.draw_vbo(info)
            pipe.bind_shader_state(last, self._handle(stages[last], last, key, slots))
            ctx.bound_shaders[last] = None
            # Clipping is done here; with an offset, quads are cut as for outlines (see `_pieces`).
            ctx.caches.rasterizer.bind(
                dataclasses.replace(discarding, clip_plane_enable=0, offset_line=True)
            )
            raw = self._capture(info, room)
            while len(raw) > room - size:  # there may have been more
                room *= 8
                raw = self._capture(info, room)
        finally:
            if feedback.running:
                pipe.set_stream_output_targets(feedback.targets, append=True)
            ctx.dirty |= Dirty.RASTERIZER | Dirty.PROGRAM
        table = np.frombuffer(raw, "<f4").reshape(-1, len(slots), 4).astype(np.float64)
        rows = self._rows(dict(zip(slots, table.swapaxes(0, 1), strict=True)), len(table), state)
        return rows[: len(rows) // corners * corners].reshape(-1, corners, rows.shape[1])

    def _capture(self, info: DrawInfo, room: int) -> bytes:
        """What a draw captures in `room` bytes."""
        pipe = self._ctx.pipe
        buffer = create_upload(self._ctx, room, Bind.STREAM_OUTPUT)
        target = StreamOutputTarget(buffer, 0, room)
        try:
            pipe.set_stream_output_targets([target])
            pipe.draw_vbo(info)
            pipe.set_stream_output_targets([])
            pipe.flush().wait((1 << 63) - 1)
            return bytes(pipe.buffer_read(buffer, 0, target.written))
        finally:
            buffer.unref()

    def _rows(
        self, given: dict[VaryingSlot, Vertices], count: int, state: RasterizerState
    ) -> Vertices:
        """The columns of vertices, from the outputs that the shader writes."""
        last = np.tile((0.0, 0.0, 0.0, 1.0), (count, 1))
        position = given.get(VaryingSlot.POS, last)
        color = given.get(VaryingSlot.COL0, np.ones((count, 4)))
        back = given.get(VaryingSlot.BFC0, color)
        if state.clamp_vertex_color:
            color, back = np.clip(color, 0.0, 1.0), np.clip(back, 0.0, 1.0)
        edge = given[VaryingSlot.EDGE][:, 0] != 0 if VaryingSlot.EDGE in given else np.ones(count)
        x, y, z, w = position.T
        distances = [w + x, w - x, w + y, w - y]
        if state.depth_clip_near:
            distances.append(z if state.clip_halfz else w + z)
        if state.depth_clip_far:
            distances.append(w - z)
        halves = [given.get(s) for s in (VaryingSlot.CLIP_DIST0, VaryingSlot.CLIP_DIST1)]
        eye = given.get(VaryingSlot.CLIP_VERTEX, position)
        for i, plane in enumerate(self._ctx.matrices.pipe_clip_planes()):
            if state.clip_plane_enable >> i & 1:
                half = halves[i // 4]
                if half is not None:
                    distances.append(half[:, i % 4])
                elif halves[0] is None:
                    distances.append(eye @ np.array(plane))
        texcoord = given.get(VaryingSlot.TEX0, last)
        return np.column_stack((position, color, texcoord, back, edge, *distances))

    def _handle(
        self, executable: Executable, stage: Stage, key: LoweringKey, slots: list[VaryingSlot]
    ) -> Handle:
        if executable not in self._handles:
            self._handles[executable] = {}
            executable.on_destroy.append(self._forget)
        handles = self._handles[executable]
        found = handles.get((stage, key))
        if found is None:
            outputs = [StreamOutput(int(s), 0, 4, 0, 16 * i) for i, s in enumerate(slots)]
            info = StreamOutputInfo(tuple(outputs), (16 * len(slots),))
            shader = lower(executable.linked.shaders[stage].ref(), key)
            shader = shader_for_driver(shader, self._ctx.caps)
            found = handles[stage, key] = self._ctx.pipe.create_shader_state(stage, shader, info)
        return found

    def _forget(self, executable: Executable) -> None:
        for handle in self._handles.pop(executable).values():
            self._ctx.pipe.delete_shader_state(handle)

    def release_all(self) -> None:
        for executable in list(self._handles):
            executable.on_destroy.remove(self._forget)
            self._forget(executable)


def _changes(first: Vertices, last: Vertices) -> Bools:
    """Of each primitive, whether its first vertex is not the last one of the primitive before."""
    starts = np.ones(len(first), np.bool_)
    starts[1:] = (first[1:] != last[:-1]).any(axis=1)
    return starts


def _pieces(mode: Primitive, triangles: Vertices, first: bool) -> tuple[Bools, Bools]:
    """Of triangles, which begin a primitive; `[triangle, corner]`: whose edges are not inside it.

    `first`: triangles of quads and polygons provoke from corner 0.
    """
    count = len(triangles)
    begins, real = np.ones(count, np.bool_), np.ones((count, 3), np.bool_)
    if mode not in _CUT:
        return begins, real
    hub, side, next_side = (0, 1, 2) if first else (2, 0, 1)
    if mode is Primitive.POLYGON:
        begins = _changes(triangles[:, side], triangles[:, next_side])
        begins |= _changes(triangles[:, hub], triangles[:, hub])
        ends = np.append(begins[1:], True)[:count]
        real[:, hub] = begins
        real[:, 2 if first else 1] = ends
    else:
        begins[1::2] = False
        real[::2, 2 if first else 1] = False
        real[1::2, 0 if first else 2] = False
    return begins, real


def _clipped(vertices: Vertices, corners: int) -> Vertices:
    """A primitive inside all planes; no rows if there is nothing of it.

    An edge that clipping adds belongs to the outline.
    """
    for plane in range(_DISTANCES, vertices.shape[1]):
        distance = vertices[:, plane]
        inside = distance >= 0.0
        if inside.all():
            continue
        if not inside.any() or corners == 1:
            return vertices[:0]
        kept = []
        count = len(vertices)
        for i in range(count):
            j = (i + 1) % count
            if inside[i]:
                kept.append(vertices[i])
            if inside[i] != inside[j] and (corners == 3 or j > i):
                t = distance[i] / (distance[i] - distance[j])
                made = vertices[i] + t * (vertices[j] - vertices[i])
                made[_EDGE] = 1.0 if inside[i] else vertices[i, _EDGE]
                kept.append(made)
        vertices = np.array(kept)
    return vertices


# -- entry points ----------------------------------------------------------------------------------


def _outside(ctx: Context) -> RenderMode:
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    return ctx.rendering


@entry
def render_mode(ctx: Context, mode: int) -> int:
    state = _outside(ctx)
    if mode not in (GL.RENDER, GL.SELECT, GL.FEEDBACK):
        raise invalid_enum(mode, "render mode")
    if mode == GL.SELECT and state.select_buffer is None:
        raise invalid_operation("there is no selection buffer")
    if mode == GL.FEEDBACK and state.feedback_buffer is None:
        raise invalid_operation("there is no feedback buffer")
    ctx.dirty |= Dirty.BUILTINS
    return state.change(mode)


@entry
def select_buffer(ctx: Context, size: int, buffer: Pointer) -> None:
    state = _outside(ctx)
    if size < 0:
        raise invalid_value("negative size of a buffer")
    if state.mode == GL.SELECT:
        raise invalid_operation("the selection buffer is in use")
    state.select_buffer = (None if buffer is OMITTED else buffer, size)


@entry
def feedback_buffer(ctx: Context, size: int, type: int, buffer: Pointer) -> None:
    state = _outside(ctx)
    if state.mode == GL.FEEDBACK:
        raise invalid_operation("the feedback buffer is in use")
    if size < 0:
        raise invalid_value("negative size of a buffer")
    if type not in _FORMATS:
        raise invalid_enum(type, "feedback type")
    state.feedback_buffer = (None if buffer is OMITTED else buffer, size, type)


@entry
def pass_through(ctx: Context, token: float) -> None:
    _outside(ctx).pass_through(token)


def _naming(ctx: Context) -> RenderMode | None:
    """The state if names matter now; a change of names ends the hits under the old ones."""
    state = _outside(ctx)
    if state.mode != GL.SELECT:
        return None
    state.record()
    return state


@entry
def init_names(ctx: Context) -> None:
    state = _naming(ctx)
    if state is not None:
        state.names.clear()


@entry
def load_name(ctx: Context, name: int) -> None:
    state = _naming(ctx)
    if state is not None:
        if not state.names:
            raise invalid_operation("the name stack is empty")
        state.names[-1] = name


@entry
def push_name(ctx: Context, name: int) -> None:
    state = _naming(ctx)
    if state is not None:
        if len(state.names) >= MAX_NAMES:
            raise GLError(GL.STACK_OVERFLOW, "the name stack is full")
        state.names.append(name)


@entry
def pop_name(ctx: Context) -> None:
    state = _naming(ctx)
    if state is not None:
        if not state.names:
            raise GLError(GL.STACK_UNDERFLOW, "the name stack is empty")
        state.names.pop()


gets(
    {
        "MAX_NAME_STACK_DEPTH": lambda c: MAX_NAMES,
        "NAME_STACK_DEPTH": lambda c: len(c.rendering.names),
        "SELECTION_BUFFER_SIZE": lambda c: (c.rendering.select_buffer or (0, 0))[1],
        "FEEDBACK_BUFFER_SIZE": lambda c: (c.rendering.feedback_buffer or (0, 0))[1],
        "FEEDBACK_BUFFER_TYPE": lambda c: (c.rendering.feedback_buffer or (0, 0, GL._2D))[2],
    },
    profiles="compat",
)
