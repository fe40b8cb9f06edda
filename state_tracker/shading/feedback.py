"""Transform feedback: objects, begin and end, and the driver's capture state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir import Stage
from gallette.pipe.state import StreamOutput, StreamOutputInfo, StreamOutputTarget
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.gl_types import gl_type
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.objects import GLObject, NameTable
from gallette.state_tracker.vertices.buffer_objects import check_block
from gallette.state_tracker.vertices.buffers import IndexedBinding

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram
    from gallette.compiler.nir.link.feedback import StreamVarying
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable


_LAST_FIRST = (Stage.GEOMETRY, Stage.TESS_EVAL, Stage.VERTEX)


class FeedbackObject(GLObject):
    """A transform feedback object: buffer bindings and whether capture is on."""

    kind = "transform feedback"

    def __init__(self, name: int, count: int):
        super().__init__(name)
        self.bindings = [IndexedBinding() for _ in range(count)]
        self.active = self.paused = False
        self.mode: int = GL.POINTS
        self.executable: Executable | None = None  # what an active capture captures
        self.targets: list[StreamOutputTarget | None] = []
        self.stream_buffers: dict[int, int] = {}  # a buffer for each captured stream
        # Stream -> its target in the last completed capture, or None.
        self.captured: dict[int, StreamOutputTarget] | None = None

    def begin_capture(self) -> None:
        """Begin capture into the current storage of the buffers.

        The storage stays in use even if buffers are deleted or reallocated before capture resumes.
        """
        for target in self.targets:
            if target is not None:
                target.buffer.ref()

    def end_capture(self) -> None:
        """End capture; the captured amount remains known."""
        for target in self.targets:
            if target is not None:
                target.buffer.unref()
        self.active = self.paused = False
        self.executable = None

    def destroy(self) -> None:
        if self.active:
            self.end_capture()
        for binding in self.bindings:
            binding.set(None)
        self.targets.clear()
        self.captured = None

    @property
    def running(self) -> bool:
        """Whether draws are currently captured."""
        return self.active and not self.paused


class FeedbackState:
    """Names and the bound transform feedback object."""

    def __init__(self, ctx: Context):
        self.count = max(1, ctx.caps.max_stream_output_buffers)
        self.names: NameTable[FeedbackObject] = NameTable("transform feedback")
        self.default = FeedbackObject(0, self.count)
        self.current = self.default.retain()
        self._ctx = ctx

    def captures(self, executable: Executable | None) -> bool:
        """Whether an active transform feedback, bound or not, captures a program."""
        objects = (self.default, *self.names.values())
        return executable is not None and any(o.executable is executable for o in objects)

    def release_all(self) -> None:
        self.current.release()
        self.names.clear()
        self.default.release()


def _source(ctx: Context) -> Executable | None:
    """The program whose last vertex stage is captured."""
    if ctx.programs.executable is not None or ctx.pipelines.current is None:
        return ctx.programs.executable
    stages = ctx.pipelines.current.stages()
    return next((stages[s] for s in _LAST_FIRST if s in stages), None)


def stream_output(linked: LinkedProgram, stage: Stage) -> StreamOutputInfo | None:
    """The captured outputs of the driver's shader of that stage: the last vertex stage only."""
    xfb = linked.xfb
    if xfb is None or stage is not next((s for s in _LAST_FIRST if s in linked.shaders), None):
        return None
    outputs = tuple(
        StreamOutput(o.slot, o.component, o.num_components, o.buffer, o.offset, o.stream)
        for o in xfb.outputs
    )
    return StreamOutputInfo(outputs, xfb.strides)


def size_and_type(varying: StreamVarying) -> tuple[int, int]:
    """Element count and GL type of a captured varying; for a gap, the skipped components and no
    type.
    """
    if varying.is_gap:
        return varying.array_size, int(GL.NONE)
    return max(1, varying.array_size), gl_type(varying.type)


def _create(ctx: Context) -> Any:
    return lambda name: FeedbackObject(name, ctx.feedback.count)


def _check_inactive(ctx: Context, found: FeedbackObject) -> None:
    if found.active:
        raise invalid_operation("an active transform feedback cannot be deleted")


def _unbind(ctx: Context, found: FeedbackObject) -> None:
    if ctx.feedback.current is found:
        bind_transform_feedback(ctx, GL.TRANSFORM_FEEDBACK, 0)


objects(
    "transform_feedback",
    lambda ctx: ctx.feedback.names,
    _unbind,
    lambda ctx, name: _create(ctx)(name),
    label=GL.TRANSFORM_FEEDBACK,
    check=_check_inactive,
)


@entry
def bind_transform_feedback(ctx: Context, target: int, id: int) -> None:
    if target != GL.TRANSFORM_FEEDBACK:
        raise invalid_enum(target, "transform feedback target")
    state = ctx.feedback
    if state.current.running:
        raise invalid_operation("transform feedback is active and not paused")
    found = state.default if id == 0 else state.names.bind(id, _create(ctx), True)
    found.retain()
    state.current.release()
    state.current = found
    ctx.dirty |= Dirty.TRANSFORM_FEEDBACK


@entry
def begin_transform_feedback(ctx: Context, mode: int) -> None:
    current, executable = ctx.feedback.current, _source(ctx)
    if current.active:
        raise invalid_operation("transform feedback is active already")
    if executable is None or not executable.linked.xfb or not executable.linked.xfb.outputs:
        raise invalid_operation("the program captures nothing")
    if mode not in (GL.POINTS, GL.LINES, GL.TRIANGLES):
        raise invalid_enum(mode, "transform feedback mode")
    used = {o.buffer for o in executable.linked.xfb.outputs}
    if any(current.bindings[b].buffer is None for b in used):
        raise invalid_operation("a transform feedback buffer is missing")
    current.stream_buffers = {o.stream: o.buffer for o in executable.linked.xfb.outputs}
    current.targets = []
    for index, binding in enumerate(current.bindings):
        buffer = binding.buffer
        if index not in used or buffer is None or buffer.resource is None:
            current.targets.append(None)
            continue
        offset, size = binding.range()
        current.targets.append(StreamOutputTarget(buffer.resource, offset, size & ~3))
    while current.targets and current.targets[-1] is None:
        current.targets.pop()
    current.begin_capture()
    current.active, current.paused, current.mode = True, False, mode
    current.executable = executable
    ctx.pipe.set_stream_output_targets(current.targets)
    ctx.dirty &= ~Dirty.TRANSFORM_FEEDBACK


@entry
def end_transform_feedback(ctx: Context) -> None:
    current = ctx.feedback.current
    if not current.active:
        raise invalid_operation("transform feedback is not active")
    ctx.pipe.set_stream_output_targets([])
    current.end_capture()
    found = {s: t for s, b in current.stream_buffers.items() for t in current.targets[b : b + 1]}
    current.captured = {stream: target for stream, target in found.items() if target is not None}


@entry
def pause_transform_feedback(ctx: Context) -> None:
    current = ctx.feedback.current
    if not current.running:
        raise invalid_operation("transform feedback is not running")
    current.paused = True
    ctx.pipe.set_stream_output_targets([])


@entry
def resume_transform_feedback(ctx: Context) -> None:
    current = ctx.feedback.current
    if not current.active or not current.paused:
        raise invalid_operation("transform feedback is not paused")
    if _source(ctx) is not current.executable:
        raise invalid_operation("transform feedback began with another program")
    current.paused = False
    ctx.pipe.set_stream_output_targets(current.targets, append=True)


@entry
def transform_feedback_buffer_base(ctx: Context, xfb: int, index: int, buffer: int) -> None:
    _bind(ctx, xfb, index, buffer)


@entry
def transform_feedback_buffer_range(
    ctx: Context, xfb: int, index: int, buffer: int, offset: int, size: int
) -> None:
    if size <= 0:  # also to bind no buffer, unlike glBindBufferRange
        raise invalid_value("the range is empty")
    if buffer:
        check_block(ctx, GL.TRANSFORM_FEEDBACK_BUFFER, offset, size)
    _bind(ctx, xfb, index, buffer, offset, size)


def _bind(ctx: Context, xfb: int, index: int, name: int, offset: int = 0, size: int = 0) -> None:
    binding = _binding(ctx, xfb, index)
    buffer = ctx.buffers.names.get(name)
    if name and buffer is None:
        raise invalid_value(f"{name} is not the name of a buffer")
    if _by_name(ctx, xfb).active:
        raise invalid_operation("the transform feedback object is capturing")
    binding.set(buffer, offset, size)


def _by_name(ctx: Context, name: int) -> FeedbackObject:
    return ctx.feedback.names.require(name) if name else ctx.feedback.default


@entry
def get_transform_feedbackiv(ctx: Context, xfb: int, pname: int) -> list[int]:
    found = _by_name(ctx, xfb)
    if pname == GL.TRANSFORM_FEEDBACK_PAUSED:
        return [int(found.paused)]
    if pname == GL.TRANSFORM_FEEDBACK_ACTIVE:
        return [int(found.active)]
    raise invalid_enum(pname, "transform feedback parameter")


def _binding(ctx: Context, xfb: int, index: int) -> IndexedBinding:
    found = _by_name(ctx, xfb)
    if index >= len(found.bindings):
        raise invalid_value(f"there is no transform feedback buffer {index}")
    return found.bindings[index]


@entry
def get_transform_feedbacki_v(ctx: Context, xfb: int, pname: int, index: int) -> list[int]:
    binding = _binding(ctx, xfb, index)
    if pname != GL.TRANSFORM_FEEDBACK_BUFFER_BINDING:
        raise invalid_enum(pname, "transform feedback parameter")
    return [binding.buffer.name if binding.buffer is not None else 0]


@entry
def get_transform_feedbacki64_v(ctx: Context, xfb: int, pname: int, index: int) -> list[int]:
    binding = _binding(ctx, xfb, index)
    if pname == GL.TRANSFORM_FEEDBACK_BUFFER_START:
        return [binding.offset]
    if pname == GL.TRANSFORM_FEEDBACK_BUFFER_SIZE:
        return [binding.size]
    raise invalid_enum(pname, "transform feedback parameter")
