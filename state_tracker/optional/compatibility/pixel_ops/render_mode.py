"""glRenderMode: selection and feedback, which report primitives instead of drawing them.

A draw in these modes runs its vertex stage with transform feedback of clip coordinates, colour and
texture coordinates; clipping and reporting are done here, primitive by primitive, since such draws
are small.
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
from gallette.pipe.state import DrawInfo, StreamOutput, StreamOutputInfo, StreamOutputTarget
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.rasterization import rasterizer_state
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
from gallette.state_tracker.vertices.vertex_input import create_upload

if TYPE_CHECKING:
    from gallette.pipe.interface import Handle
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

__all__ = ["RenderMode"]

Vertices = npt.NDArray[np.float64]
MAX_NAMES = 64
# Captured outputs of a vertex: slot, and the value if the shader does not write it.
_CAPTURED = (
    (VaryingSlot.POS, (0.0, 0.0, 0.0, 1.0)),
    (VaryingSlot.COL0, (1.0, 1.0, 1.0, 1.0)),
    (VaryingSlot.TEX0, (0.0, 0.0, 0.0, 1.0)),
)
_CORNERS = {Primitive.POINTS: 1} | dict.fromkeys(
    (Primitive.LINES, Primitive.LINE_STRIP, Primitive.LINE_LOOP), 2
)
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
        self._handles: dict[Executable, Handle] = {}

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
        corners = _CORNERS.get(info.mode, 3)
        strip = info.mode in (Primitive.LINE_STRIP, Primitive.LINE_LOOP)
        end: Vertices | None = None
        for primitive in self._captured(info, corners):
            follows = strip and end is not None and np.array_equal(primitive[0], end)
            end = primitive[-1]
            polygon = _clipped(primitive, corners)
            if len(polygon) == 0 or (corners == 3 and self._culled(polygon)):
                continue
            self._report(polygon, corners, follows)

    def _report(self, polygon: Vertices, corners: int, follows: bool) -> None:
        """Report a primitive; `follows`: the line continues the one before it, and so does its
        stipple.
        """
        windows = [self._window(v) for v in polygon]
        if self.mode == GL.SELECT:
            self._hit += [w[2] for w in windows]
            return
        if corners == 3:
            self._values += [float(GL.POLYGON_TOKEN), float(len(polygon))]
        else:
            line = GL.LINE_TOKEN if follows else GL.LINE_RESET_TOKEN
            self._values.append(float(GL.POINT_TOKEN if corners == 1 else line))
        for window, vertex in zip(windows, polygon, strict=True):
            self._vertex(window, vertex[4:8], vertex[8:12])

    def _window(self, vertex: Vertices) -> tuple[float, float, float, float]:
        x, y, width, height = self._ctx.raster.viewports[0]
        near, far = self._ctx.raster.depth_ranges[0]
        w = float(vertex[3]) or 1.0
        ndc = vertex[:3] / w
        return (
            x + width * (float(ndc[0]) + 1.0) / 2.0,
            y + height * (float(ndc[1]) + 1.0) / 2.0,
            near + (far - near) * (float(ndc[2]) + 1.0) / 2.0,
            float(vertex[3]),
        )

    def _culled(self, polygon: Vertices) -> bool:
        raster = self._ctx.raster
        if not raster.cull_enabled:
            return False
        if raster.cull_face == GL.FRONT_AND_BACK:
            return True
        ndc = polygon[:, :2] / polygon[:, 3:4]
        ahead = np.roll(ndc, -1, axis=0)
        area = float((ndc[:, 0] * ahead[:, 1] - ahead[:, 0] * ndc[:, 1]).sum())
        front = (area > 0.0) == (raster.front_face == GL.CCW)
        return front == (raster.cull_face == GL.FRONT)

    # -- capture ---------------------------------------------------------------------------------

    def _captured(self, info: DrawInfo, corners: int) -> Vertices:
        """The vertices of the assembled primitives, `[primitive, corner, 12]`."""
        ctx, pipe = self._ctx, self._ctx.pipe
        executable = ctx.programs.vertex
        assert executable is not None
        written = executable.linked.shaders[Stage.VERTEX].info.outputs_written
        slots = [(slot, slot in written) for slot, _ in _CAPTURED]
        room = max(info.count, 1) * 3 * max(info.instance_count, 1) * 48
        buffer = create_upload(ctx, room, Bind.STREAM_OUTPUT)
        target = StreamOutputTarget(buffer, 0, room)
        try:
            pipe.bind_shader_state(Stage.VERTEX, self._handle(executable, slots))
            ctx.bound_shaders[Stage.VERTEX] = None
            state = dataclasses.replace(rasterizer_state(ctx), rasterizer_discard=True)
            ctx.caches.rasterizer.bind(state)
            pipe.set_stream_output_targets([target])
            pipe.draw_vbo(info)
            pipe.set_stream_output_targets([])
            pipe.flush().wait((1 << 63) - 1)
            raw = pipe.buffer_read(buffer, 0, target.written)
        finally:
            buffer.unref()
            ctx.dirty |= Dirty.RASTERIZER | Dirty.PROGRAM
        stride = 16 * sum(on for _, on in slots)
        table = np.frombuffer(raw, "<f4").reshape(-1, stride // 4).astype(np.float64)
        full = np.empty((len(table), 12))
        at = 0
        for i, ((_, on), (_, default)) in enumerate(zip(slots, _CAPTURED, strict=True)):
            full[:, 4 * i : 4 * i + 4] = table[:, at : at + 4] if on else default
            at += 4 * on
        return full[: len(full) // corners * corners].reshape(-1, corners, 12)

    def _handle(self, executable: Executable, slots: list[tuple[VaryingSlot, bool]]) -> Handle:
        found = self._handles.get(executable)
        if found is None:
            outputs, offset = [], 0
            for slot, on in slots:
                if on:
                    outputs.append(StreamOutput(int(slot), 0, 4, 0, offset))
                    offset += 16
            info = StreamOutputInfo(tuple(outputs), (offset,))
            shader = shader_for_driver(
                executable.linked.shaders[Stage.VERTEX].ref(), self._ctx.caps
            )
            found = self._ctx.pipe.create_shader_state(Stage.VERTEX, shader, info)
            self._handles[executable] = found
            executable.on_destroy.append(self._forget)
        return found

    def _forget(self, executable: Executable) -> None:
        handle = self._handles.pop(executable, None)
        if handle is not None:
            self._ctx.pipe.delete_shader_state(handle)

    def release_all(self) -> None:
        for executable in list(self._handles):
            executable.on_destroy.remove(self._forget)
            self._forget(executable)


def _clipped(vertices: Vertices, corners: int) -> Vertices:
    """A primitive clipped to the view volume; no rows if it is outside."""
    for axis in range(3):
        for sign in (1.0, -1.0):
            distance = vertices[:, 3] + sign * vertices[:, axis]
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
                    kept.append(vertices[i] + t * (vertices[j] - vertices[i]))
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
