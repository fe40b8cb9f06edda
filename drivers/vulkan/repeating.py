"""Draws that are made again: the command stream hands over many of them at once (`pipe.series`).

A `Recorded` draw knows all commands that lead to it. Between two of them only what differs is set,
which is worked out once for each pair. A series becomes rows of numbers, a command in each, and one
loop makes all the calls: machine code where llvmlite is installed, else Python.

What is recorded holds while its buffers and textures are where they were: `Recorded.serves`.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.clear import ClearValues
from gallette.pipe.series import Series
from gallette.pipe.state import ClearCall, DrawInfo, FramebufferState, QueryChange

from .clears import clear_on_device
from .dynamic import Row, State, pointer
from .memory.resources import VulkanBuffer, VulkanTexture
from .memory.storage import DeviceBuffer
from .pipeline.cache import Pipeline
from .pipeline.layouts import DYNAMIC_UNIFORM

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["Recorded", "Repeating", "records"]

Ints = npt.NDArray[np.int64]
_WORDS = 12
"""Of a row: the function, the command buffer and seven more arguments, three floats."""
_VERTICES = "vkCmdBindVertexBuffers2"
_FIRST = 4
"""The word of a draw's row that is its first vertex or index."""


@dataclass(slots=True, eq=False)
class Recorded:
    """A draw to be made again."""

    info: DrawInfo
    target: FramebufferState
    epoch: int
    pipeline: Pipeline
    state: State
    vertices: list[tuple[VulkanBuffer | DeviceBuffer, int]]
    record: npt.NDArray[np.uint64]  # descriptors
    buffers: list[tuple[VulkanBuffer, DeviceBuffer]]  # and where they were
    textures: list[tuple[VulkanTexture, range]]
    moves: bool  # may it begin at another vertex?
    draw: Row
    _rows: dict[Any, tuple[Ints, Any]] = field(default_factory=dict)
    _set: tuple[Any, Any] = (None, None)

    def serves(self) -> bool:
        """Whether everything that the commands name is where it was."""
        return all(buffer.storage and buffer.gpu is gpu for buffer, gpu in self.buffers) and all(
            texture.storage for texture, _ in self.textures
        )

    def bind_vertices(self) -> None:
        """The command that binds vertex buffers, where they are now."""
        found = []
        for buffer, offset in self.vertices:
            gpu = buffer.gpu if isinstance(buffer, VulkanBuffer) else buffer
            found.append((gpu.handle, gpu.offset + offset, gpu.size - offset))
        row = vertex_row(tuple(found))
        if found and row is not self.state.get(_VERTICES):
            self.state[_VERTICES] = row

    def rows_after(self, before: Recorded | None, vk: Any) -> Ints:
        """The commands from the state of another draw to this one's, and the draw itself."""
        old: State = {} if before is None else before.state
        moved = self.state.get(_VERTICES), old.get(_VERTICES)
        rows, known = self._rows.get(before, (None, None))
        if rows is None or known != moved:
            calls = [row for slot, row in self.state.items() if old.get(slot) != row]
            calls += [self._sets(), self.draw]
            rows = np.array([numbers(vk, row) for row in calls], np.int64)
            self._rows[before] = rows, moved
        return rows

    def _sets(self) -> Row:
        """The command that binds the set, or one that does nothing new: each draw has this row."""
        link = self.pipeline.link
        if not link.layout.rows:
            return self.state["vkCmdSetCullMode", 0]
        return "vkCmdBindDescriptorSets", (0, link.layout.handle, 0, 1, 0, len(link.dynamic), 0)

    def descriptor_set(self, context: VulkanContext, uniforms: int) -> int:
        """Where the set of this batch is, whose uniforms are in that buffer."""
        if not len(self.record):
            return 0
        link, batch = self.pipeline.link, context.stream.batch
        if self._set[0] != (batch, uniforms):
            for slot in link.slots:
                if slot.binding.type == DYNAMIC_UNIFORM:
                    self.record[slot.row, 0] = uniforms
            made = batch.descriptor_set(link.layout.set_layout)
            device, at = context.device, int(self.record.ctypes.data)
            device.vk.vkUpdateDescriptorSetWithTemplate(
                device.handle, made, link.layout.template, at
            )
            self._set = (batch, uniforms), (ctypes.c_uint64 * 1)(made)
        return ctypes.addressof(self._set[1])


@lru_cache(1024)
def vertex_row(inputs: tuple[tuple[int, int, int], ...]) -> Row:
    """The command that binds vertex buffers: with sizes, because each is a part of a buffer."""
    columns = [
        pointer((ctypes.c_uint64 * len(inputs))(*column)) for column in zip(*inputs, strict=True)
    ]
    return _VERTICES, (0, len(inputs), *columns, 0)


def numbers(vk: Any, row: Row) -> list[int]:
    """A command as numbers."""
    name, arguments = row
    whole = [int(x) for x in arguments if not isinstance(x, float)]
    floats = [x for x in arguments if isinstance(x, float)]
    bits = np.array([*floats, 0.0, 0.0, 0.0][:3], np.float32).view(np.uint32).tolist()
    return [vk.address(name), 0, *whole, *[0] * (7 - len(whole)), *bits]


class Repeating:
    """Repeats recorded draws of a context."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context

    def repeat(self, series: Series) -> int:
        """Make entries from the first on; answers how many."""
        context, done = self.context, 0
        try:
            while done < len(series):
                kind = series.entries[done]
                if isinstance(kind, Recorded):
                    more = self._draws(series, done)
                    if not more:
                        break
                    done += more
                    continue
                if isinstance(kind, QueryChange):
                    (context.begin_query if kind.begins else context.end_query)(kind.query)
                elif isinstance(kind, ClearCall):
                    values = ClearValues(kind.color, kind.depth, kind.stencil)
                    clear_on_device(context, kind.flags, values, kind.scissor, kind.framebuffer)
                else:
                    context.buffer_subdata(kind.buffer, series.firsts[done], series.data[done])
                done += 1
        finally:
            context.draws.forget()
        return done

    def _draws(self, series: Series, first: int) -> int:
        """Make draws of one framebuffer until there is something else; answers how many."""
        context, entries, starts = self.context, series.entries, series.firsts
        target, epoch = entries[first].target, context.bound.epoch
        good: dict[Recorded, bool] = {}
        end = first
        for end in range(first, len(entries)):
            draw = entries[end]
            if type(draw) is not Recorded:
                break
            if draw not in good:
                good[draw] = draw.target is target and draw.epoch == epoch and draw.serves()
            if not good[draw] or (starts[end] != draw.info.start and not draw.moves):
                break
        else:
            end = len(entries)
        if end == first:
            return 0
        draws = [draw for draw, serves in good.items() if serves]
        self._prepare(draws, target)
        self._run(series, first, end)
        return end - first

    def _prepare(self, draws: list[Recorded], target: FramebufferState) -> None:
        context = self.context
        for draw in draws:
            for texture, levels in draw.textures:
                context.on_device(texture, levels)
        context.rendering.begin(target)
        batch = context.stream.batch
        for draw in draws:
            batch.keeps.add(draw.pipeline)
            draw.bind_vertices()
            for buffer, _ in draw.vertices:
                batch.uses(buffer.gpu if isinstance(buffer, VulkanBuffer) else buffer, write=False)
            for buffer, _ in draw.buffers:
                batch.uses(buffer.gpu, write=False)

    def _run(self, series: Series, first: int, end: int) -> None:
        """Record the draws: rows for each, then what differs between those of a kind."""
        context, vk, count = self.context, self.context.device.vk, end - first
        batch = context.stream.batch
        handle, offsets = self._uniforms(series, first, end)
        pieces, before, which = [], None, []
        for draw in series.entries[first:end]:
            pieces.append(draw.rows_after(before, vk))
            which.append(draw.descriptor_set(context, handle))
            before = draw
        rows = np.concatenate(pieces)
        ends = np.cumsum([len(piece) for piece in pieces])
        rows[:, 1] = batch.commands
        rows[ends - 2, 6] = which
        rows[ends - 2, 8] = offsets.ctypes.data + offsets.strides[0] * np.arange(count)
        rows[ends - 1, _FIRST] = series.starts[first:end]
        execute(rows)

    def _uniforms(self, series: Series, first: int, end: int) -> tuple[int, Any]:
        """The uniforms of draws in memory of the batch: the buffer, and offsets for each stage."""
        pieces, count = series.pieces, end - first
        sizes, starts = pieces.sizes[first:end], pieces.offsets[first:end]
        stride = -(-max(int(sizes.max()), 16) // 256) * 256
        handle, offset, where = self.context.stream.batch.room(stride * count)
        rows, memory = where.reshape(count, stride), np.frombuffer(pieces.memories[0], np.uint8)
        for size in np.unique(sizes).tolist():
            if size:
                some = np.flatnonzero(sizes == size)
                rows[some, :size] = memory[starts[some, None] + np.arange(size)]
        offsets = np.empty((count, 4), np.uint32)
        offsets[:] = (offset + stride * np.arange(count))[:, None]
        return handle, offsets


def records(context: VulkanContext, made: tuple[Any, ...], info: DrawInfo) -> Recorded | None:
    """The draw that was recorded last, to be made again; None where that takes more than this."""
    single, pipeline, inputs, index, pushed = made
    bound, link = context.bound, pipeline.link
    if single is not info or context.draws.feedback.wanted or sys.platform == "win32":
        return None  # Windows passes floats in the places of integers
    descriptors = context.draws.descriptors
    buffers: list[tuple[VulkanBuffer, DeviceBuffer]] = []
    textures: list[tuple[VulkanTexture, range]] = []
    for slot in link.slots:
        kind, number = slot.what
        stage = bound.stages[slot.stage]
        if slot.binding.type == DYNAMIC_UNIFORM:
            block = stage.constants[0] if stage.constants else None
            if block is None or block.buffer is not None:
                return None
        elif kind == "tex":
            view = stage.view(number % 1000)
            if view is None:
                return None
            resource = view.resource
            if isinstance(resource, VulkanTexture):
                textures.append((resource, range(view.first_level, view.last_level + 1)))
            elif isinstance(resource, VulkanBuffer):
                buffers.append((resource, resource.gpu))
        elif kind == "ubo" and number < len(stage.constants):
            block = stage.constants[number]
            if block is None or not isinstance(block.buffer, VulkanBuffer):
                return None
            buffers.append((block.buffer, block.buffer.gpu))
        else:
            return None
    state = context.draws.dynamic.whole()
    state["pipeline"] = ("vkCmdBindPipeline", (0, pipeline.handle))
    words = (ctypes.c_uint8 * len(pushed)).from_buffer_copy(pushed)
    state["push"] = (
        "vkCmdPushConstants", (link.layout.handle, 0x3F, 0, len(pushed), pointer(words)),
    )  # fmt: skip
    at = info.start_instance
    draw: Row = ("vkCmdDraw", (info.count, info.instance_count, info.start, at))
    if index is not None:
        buffers.append((index, index.gpu))
        state["index"] = index_row(info, index)
        row = info.count, info.instance_count, info.start, info.index_bias, at
        draw = ("vkCmdDrawIndexed", row)
    vertices = []
    for buffer, offset in inputs:
        if isinstance(buffer, DeviceBuffer) and buffer is not context.screen.samplers.zeros():
            return None  # converted from what was there
        vertices.append((buffer, offset))
    moves = not any(program.pushes_first for program in link.programs)
    return Recorded(
        info, bound.framebuffer, bound.epoch, pipeline, state, vertices,
        descriptors.record.copy(), buffers, textures, moves, draw,
    )  # fmt: skip


@lru_cache(1024)
def _push_row(layout: int, pushed: bytes) -> Row:
    words = (ctypes.c_uint8 * len(pushed)).from_buffer_copy(pushed)
    return "vkCmdPushConstants", (layout, 0x3F, 0, len(pushed), pointer(words))


def index_row(info: DrawInfo, buffer: VulkanBuffer) -> Row:
    """The command that binds an index buffer."""
    kind = {1: 1000265000, 2: 0, 4: 1}[info.index_size]
    gpu = buffer.gpu
    return "vkCmdBindIndexBuffer", (gpu.handle, gpu.offset + info.index_offset, kind)


# -- the loop ------------------------------------------------------------------------------------


@cache
def _called(function: int) -> Any:
    """A function as Python calls it, with all arguments there may be: C ignores those too many."""
    kinds: list[Any] = [*[ctypes.c_int64] * 8, *[ctypes.c_float] * 3]
    return ctypes.PYFUNCTYPE(None, *kinds)(function)


@cache
def _loop() -> Any:
    """The loop as machine code, and what keeps it; or None."""
    try:
        import llvmlite.binding as llvm
        from llvmlite import ir
    except ImportError:
        return None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    word, real, none = ir.IntType(64), ir.FloatType(), ir.VoidType()
    module = ir.Module("record")
    function = ir.Function(module, ir.FunctionType(none, [word, word]), "record")
    start, body, leave = (function.append_basic_block(name) for name in ("start", "body", "leave"))
    b = ir.IRBuilder(start)
    b.cbranch(b.icmp_signed(">", function.args[1], word(0)), body, leave)
    b.position_at_end(body)
    number = b.phi(word)
    number.add_incoming(word(0), start)
    row = b.add(function.args[0], b.mul(number, word(8 * _WORDS)))

    def load(index: int, type: Any) -> Any:
        at = b.inttoptr(b.add(row, word(8 * index)), type.as_pointer())
        return b.load(at)

    arguments = [load(index, word) for index in range(1, 9)]
    arguments += [load(index, real) for index in range(9, 12)]
    kind = ir.FunctionType(none, [*[word] * 8, *[real] * 3])
    b.call(b.inttoptr(load(0, word), kind.as_pointer()), arguments)
    following = b.add(number, word(1))
    number.add_incoming(following, body)
    b.cbranch(b.icmp_signed("<", following, function.args[1]), body, leave)
    b.position_at_end(leave)
    b.ret_void()
    parsed = llvm.parse_assembly(str(module))
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    kinds = ctypes.PYFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)
    return kinds(engine.get_function_address("record")), engine


def execute(rows: Ints) -> None:
    """Call what the rows say."""
    loop = _loop()
    if loop is not None:
        loop[0](rows.ctypes.data, len(rows))
        return
    for function, *rest in rows.tolist():
        floats = np.array(rest[8:], np.uint32).view(np.float32).tolist()
        _called(function)(*rest[:8], *floats)
