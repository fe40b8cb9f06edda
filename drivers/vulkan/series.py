"""Repeated draws: the state tracker passes many of them at once (`pipe.draw_series`).

A `Recorded` draw has all commands that lead to it. Between two of them only differing state is set;
the difference is computed once for each pair. A series becomes rows of numbers, one command each,
and one loop makes all the calls: machine code where llvmlite is installed, else Python.

A recorded draw remains valid while its buffers and textures stay at their addresses
(`Recorded.serves`).
"""

from __future__ import annotations

import ctypes
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.common.memory.clear import ClearValues
from gallette.pipe.draw_series import Pieces, Series
from gallette.pipe.state import (
    BufferWrite,
    ClearCall,
    DrawInfo,
    FramebufferState,
    QueryChange,
    TextureWrite,
)

from .api.binding import address, struct
from .dynamic import Row, State, vertex_row
from .memory.formats import COLOR
from .memory.resources import VulkanBuffer, VulkanTexture
from .memory.storage import DeviceBuffer
from .pipeline.cache import Pipeline
from .pipeline.layouts import DYNAMIC_UNIFORM
from .rendering import clear_on_device

if TYPE_CHECKING:
    from .context import VulkanContext

Ints = npt.NDArray[np.int64]
_WORDS = 12
"""Of a row: the function, the command buffer and seven more arguments, three floats."""
Version = tuple[Ints, npt.NDArray[np.uint64], Ints, npt.NDArray[np.uint8]]
"""Of a buffer: where it is written, handles and offsets before and after each, the last bytes."""
_MOST_VERSIONED = 1 << 12
_FIRST = 4
"""The word of a draw's row that is its first vertex or index."""


@lazy_dataclass(eq=False)
class Recorded:
    """A draw that can be repeated."""

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
        """Whether all objects that the commands name are unchanged."""
        return all(buffer.storage and buffer.gpu is gpu for buffer, gpu in self.buffers) and all(
            texture.storage for texture, _ in self.textures
        )

    def reads(self, written: dict[VulkanBuffer, Version]) -> bool:
        """Whether the recorded draw reads vertices from any of these buffers."""
        return bool(written) and any(buffer in written for buffer, _ in self.vertices)

    def vertex_table(self, versions: dict[VulkanBuffer, Version], places: Ints) -> Any:
        """The buffers, offsets and sizes for draws from these first vertices: `[draw, which,
        binding]`.
        """
        found = np.zeros((len(places), 3, len(self.vertices)), np.uint64)
        for binding, (buffer, offset) in enumerate(self.vertices):
            gpu, start = buffer.gpu, np.asarray(buffer.gpu.offset)
            found[:, 0, binding], found[:, 2, binding] = gpu.handle, gpu.size - offset
            if isinstance(buffer, VulkanBuffer) and buffer in versions:
                writes, handles, starts, _ = versions[buffer]
                which = writes.searchsorted(places)
                found[:, 0, binding], start = handles[which], starts[which]
                found[:, 2, binding] = buffer.desc.width - offset
            found[:, 1, binding] = start + offset
        return found

    def rows_after(self, before: Recorded | None, vk: Any, written: bool) -> Ints:
        """The commands from the state of another draw to this one's, and the draw itself.

        The last two bind the set and draw; a command before them binds vertex buffers, if these are
        `written` between draws.
        """
        old: State = {} if before is None else before.state
        moved = self.state.get("vertices"), old.get("vertices"), written
        rows, known = self._rows.get(before, (None, None))
        if rows is None or known != moved:
            calls = [row for slot, row in self.state.items() if old.get(slot) != row]
            if written:
                calls.append(self.state["vertices"])
            calls += [self._sets(), self.draw]
            rows = np.array([numbers(vk, row) for row in calls], np.int64)
            self._rows[before] = rows, moved
        return rows

    def _sets(self) -> Row:
        """The command that binds the set, or one without effect, because each draw needs this
        row.
        """
        link = self.pipeline.link
        if not link.layout.rows:
            return self.state["vkCmdSetCullMode", 0]
        return "vkCmdBindDescriptorSets", (0, link.layout.handle, 0, 1, 0, len(link.dynamic), 0)

    def descriptor_set(self, context: VulkanContext, uniforms: int) -> int:
        """The descriptor set of this batch for uniforms in that buffer."""
        if not len(self.record):
            return 0
        link, batch = self.pipeline.link, context.stream.batch
        if self._set[0] != (batch, uniforms):
            for slot in link.slots:
                if slot.binding.type == DYNAMIC_UNIFORM:
                    self.record[slot.row, 0] = uniforms
            made = batch.descriptor_set(link.layout)
            device, at = context.device, int(self.record.ctypes.data)
            device.vk.vkUpdateDescriptorSetWithTemplate(
                device.handle, made, link.layout.template, at
            )
            self._set = (batch, uniforms), (ctypes.c_uint64 * 1)(made)
        return ctypes.addressof(self._set[1])


def numbers(vk: Any, row: Row) -> list[int]:
    """A command as numbers."""
    name, arguments = row
    whole = [int(x) for x in arguments if not isinstance(x, float)]
    floats = [x for x in arguments if isinstance(x, float)]
    bits = np.array([*floats, 0.0, 0.0, 0.0][:3], np.float32).view(np.uint32).tolist()
    return [vk.address(name), 0, *whole, *[0] * (7 - len(whole)), *bits]


def _copies(texture: Any) -> bool:
    """Whether the device copies texels to a texture in the form that the host code stores them."""
    return texture.stored is None and texture.samples == 1 and texture.format.aspect == COLOR


def _has_versions(buffer: Any) -> bool:
    """Whether, for many writes, copying each version is better than allocating other memory."""
    return buffer.desc.width <= _MOST_VERSIONED and not buffer.live


class SeriesRecorder:
    """Repeats recorded draws of a context."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context

    def repeat(self, series: Series) -> int:
        """Execute entries from the first on; returns how many."""
        context, done = self.context, 0
        try:
            while done < len(series):
                more = self._draws(series, done)
                if more:
                    done += more
                    continue
                kind = series.entries[done]
                if isinstance(kind, Recorded):
                    break
                if isinstance(kind, QueryChange):
                    (context.begin_query if kind.begins else context.end_query)(kind.query)
                elif isinstance(kind, ClearCall):
                    values = ClearValues(kind.color, kind.depth, kind.stencil)
                    clear_on_device(context, kind.flags, values, kind.scissor, kind.framebuffer)
                elif isinstance(kind, TextureWrite):
                    context.texture_subdata(kind, series.data[done])
                else:
                    context.buffer_subdata(kind.buffer, series.firsts[done], series.data[done])
                done += 1
        finally:
            context.draws.forget()
        return done

    def _draws(self, series: Series, first: int) -> int:
        """Record draws into one framebuffer, and the writes to textures and vertex buffers between
        them, up to an entry of another kind. Returns how many entries that were.
        """
        entries, starts = series.entries, series.firsts
        target, epoch = None, self.context.bound.epoch
        good: dict[Recorded, bool] = {}
        writes: dict[VulkanBuffer, list[int]] = defaultdict(list)
        texels: list[int] = []
        counted, end = bool(self.context.queries.active), first
        for end in range(first, len(entries)):
            draw = entries[end]
            if type(draw) is Recorded:
                target = target or draw.target
                serves = good.get(draw)
                if serves is None:
                    serves = draw.target is target and draw.epoch == epoch and draw.serves()
                    good[draw] = serves
                if not serves or (starts[end] != draw.info.start and not draw.moves):
                    break
                if writes and draw.buffers and any(buffer in writes for buffer, _ in draw.buffers):
                    break
            elif type(draw) is BufferWrite and (
                draw.buffer in writes or _has_versions(draw.buffer)
            ):
                writes[draw.buffer].append(end)  # type: ignore[index]
            elif type(draw) is TextureWrite and not counted and _copies(draw.texture):
                texels.append(end)
            else:
                break
        else:
            end = len(entries)
        draws = [draw for draw, serves in good.items() if serves]
        if draws and target is not None:
            self._prepare(draws, target, [entries[at] for at in texels])
            self._run(series, first, end, writes, texels)
        return end - first if draws else 0

    def _prepare(
        self, draws: list[Recorded], target: FramebufferState, writes: list[TextureWrite]
    ) -> None:
        context = self.context
        for draw in draws:
            for texture, levels in draw.textures:
                context.on_device(texture, levels)
        for write in writes:
            context.on_device(write.texture, (write.level,), write=True)
        context.rendering.begin(target)
        batch = context.stream.batch
        for draw in draws:
            batch.keeps.add(draw.pipeline)
            if draw.vertices:
                draw.state["vertices"] = vertex_row(draw.vertices)
            for buffer, _ in draw.vertices:
                batch.uses(buffer.gpu, write=False)
            for buffer, _ in draw.buffers:
                batch.uses(buffer.gpu, write=False)

    def _run(
        self, series: Series, first: int, end: int, writes: dict[VulkanBuffer, list[int]],
        texels: list[int],
    ) -> None:  # fmt: skip
        """Record the draws: rows for each, then the values in which draws of one kind differ."""
        context, vk = self.context, self.context.device.vk
        entries = series.entries
        versions = {buffer: self._versions(series, buffer, at) for buffer, at in writes.items()}
        places = [at for at in range(first, end) if type(entries[at]) is Recorded]
        where = np.array(places)
        handle, offsets = self._uniforms(series, where)
        copies, enter, leave = self._copies_of(series, texels)
        drawing = True  # in the render pass
        pieces: list[Ints] = []
        known: dict[Any, tuple[Ints, int]] = {}  # by a draw and the one before it: rows, set
        before, sets, totals, total = None, [], [], 0
        for draw in entries[first:end]:
            if type(draw) is TextureWrite:
                if drawing:
                    pieces.append(leave)
                    total, drawing = total + len(leave), False
                pieces.append(next(copies))
                total += 1
            elif type(draw) is Recorded:
                if not drawing:
                    pieces.append(enter)
                    total, drawing = total + len(enter), True
                found = known.get((before, draw))
                if found is None:
                    found = known[before, draw] = (
                        draw.rows_after(before, vk, draw.reads(versions)),
                        draw.descriptor_set(context, handle),
                    )
                pieces.append(found[0])
                sets.append(found[1])
                before = draw
                total += len(found[0])
                totals.append(total)
        rows, ends = np.concatenate(pieces), np.array(totals)
        rows[:, 1] = context.stream.batch.commands
        rows[ends - 2, 6] = sets
        rows[ends - 2, 8] = offsets.ctypes.data + offsets.strides[0] * np.arange(len(places))
        rows[ends - 1, _FIRST] = series.starts[where]
        kept = []
        for draw in {entries[at] for at in places} if versions else ():
            if draw.reads(versions):
                some = np.array([i for i, at in enumerate(places) if entries[at] is draw])
                table = draw.vertex_table(versions, where[some])
                kept.append(table)
                bases = table.ctypes.data + table.strides[0] * np.arange(len(some))
                for column in range(3):
                    rows[ends[some] - 3, 4 + column] = bases + column * table.strides[1]
        execute(rows)
        if not drawing:
            context.rendering.target, context.stream.written = None, True
        for buffer, (_, _, _, contents) in versions.items():
            context.buffer_subdata(buffer, 0, contents)

    def _copies_of(self, series: Series, places: list[int]) -> tuple[Iterator[Ints], Ints, Ints]:
        """The commands of writes to textures: a copy for each, and those around copies, which begin
        the render pass again and end it."""
        context, pieces = self.context, series.pieces
        vk, nothing = context.device.vk, np.zeros((0, _WORDS), np.int64)
        if not places:
            return iter(()), nothing, nothing
        barrier: Row = ("vkCmdPipelineBarrier2", (address(context.stream.everything),))
        begin: Row = ("vkCmdBeginRendering", (address(context.rendering.info),))
        enter, leave = (
            np.array([numbers(vk, row) for row in rows], np.int64)
            for rows in ((barrier, begin), (("vkCmdEndRendering", ()), barrier))
        )
        offsets = pieces.offsets[places]
        first, end = int(offsets.min()), int((offsets + pieces.sizes[places]).max())
        handle, at, room = context.stream.batch.room(end - first)
        memory = pieces.memories[pieces.which[places[0]]]
        room[:] = np.frombuffer(memory, np.uint8, end - first, first)
        self._regions = regions = (struct("VkBufferImageCopy") * len(places))()
        rows = np.zeros((len(places), 1, _WORDS), np.int64)
        for number, (place, offset) in enumerate(zip(places, offsets.tolist(), strict=True)):
            write = series.entries[place]
            texture, where = write.texture, at + offset - first
            regions[number] = texture.region(write.level, COLOR, where, write.box)
            rows[number, 0, 3] = texture.image.handle
        rows[:, 0, 0], rows[:, 0, 2] = vk.address("vkCmdCopyBufferToImage"), handle
        rows[:, 0, 4:6] = 1
        rows[:, 0, 6] = address(regions) + ctypes.sizeof(regions[0]) * np.arange(len(places))
        return iter(rows), enter, leave

    def _versions(self, series: Series, buffer: VulkanBuffer, places: list[int]) -> Version:
        """The contents of a buffer after each write, in memory of the batch."""
        size = buffer.desc.width
        contents = buffer.bytes_at(0, size).copy()
        stride = -(-size // 64) * 64
        handle, offset, where = self.context.stream.batch.room(stride * len(places))
        rows = where.reshape(len(places), stride)
        if (series.pieces.sizes[places] == size).all():  # each writes everything
            contents = rows[:, :size] = _gathered(series.pieces, np.array(places), size)
            contents = contents[-1]
        else:
            for row, at in zip(rows, places, strict=True):
                data, start = series.data[at], series.firsts[at]
                contents[start : start + len(data)] = np.frombuffer(data, np.uint8)
                row[:size] = contents
        starts = np.append(buffer.gpu.offset, offset + stride * np.arange(len(places)))
        handles = np.array([buffer.gpu.handle, *[handle] * len(places)], np.uint64)
        return np.array(places), handles, starts, contents

    def _uniforms(self, series: Series, places: Ints) -> tuple[int, Any]:
        """The uniforms of draws in memory of the batch: the buffer, and offsets for each stage."""
        count, sizes = len(places), series.pieces.sizes[places]
        stride = -(-max(int(sizes.max()), 16) // 256) * 256
        handle, offset, where = self.context.stream.batch.room(stride * count)
        rows = where.reshape(count, stride)
        for size in np.unique(sizes).tolist():
            if size:
                some = np.flatnonzero(sizes == size)
                rows[some, :size] = _gathered(series.pieces, places[some], size)
        offsets = np.empty((count, 4), np.uint32)
        offsets[:] = (offset + stride * np.arange(count))[:, None]
        return handle, offsets


def _gathered(pieces: Pieces, places: Ints, size: int) -> npt.NDArray[np.uint8]:
    """The bytes of some entries, which have equal sizes and lie in one array, as rows."""
    memory = np.frombuffer(pieces.memories[pieces.which[places[0]]], np.uint8)
    found: npt.NDArray[np.uint8] = memory[pieces.offsets[places, None] + np.arange(size)]
    return found


def records(context: VulkanContext, made: tuple[Any, ...], info: DrawInfo) -> Recorded | None:
    """The draw that was recorded last, to be repeated; None if it cannot be."""
    single, pipeline, vertices, indexed, state, draw = made
    bound, link = context.bound, pipeline.link
    if single is not info or context.draws.feedback.wanted or sys.platform == "win32":
        return None  # Windows passes floats in the places of integers
    descriptors = context.draws.descriptors
    buffers: list[tuple[VulkanBuffer, DeviceBuffer]] = []
    textures: list[tuple[VulkanTexture, range]] = []
    for slot in link.slots:
        kind, number = slot.what
        stage = bound.stages[slot.stage]
        found: Any = None
        resource: Any = None
        if kind == "tex":
            found = stage.view(number % 1000)
            resource = None if found is None else found.resource
        elif kind == "ubo" and number < len(stage.constants):
            found = stage.constants[number]
            resource = None if found is None else found.buffer
        if found is None:
            return None
        if isinstance(resource, VulkanTexture):
            textures.append((resource, range(found.first_level, found.last_level + 1)))
        elif isinstance(resource, VulkanBuffer) and slot.binding.type != DYNAMIC_UNIFORM:
            buffers.append((resource, resource.gpu))
        elif resource is not None or slot.binding.type != DYNAMIC_UNIFORM:
            return None
    if indexed is not None:
        if indexed.buffer is None:
            return None
        buffers.append((indexed.buffer, indexed.buffer.gpu))
    zeros = context.screen.samplers.zeros()
    if any(isinstance(what, DeviceBuffer) and what is not zeros for what, _ in vertices):
        return None  # converted from the contents at that time
    moves = not any(program.pushes_first for program in link.programs)
    return Recorded(
        info, bound.framebuffer, bound.epoch, pipeline, state, vertices,
        descriptors.record.copy(), buffers, textures, moves, draw,
    )  # fmt: skip


# -- the loop ------------------------------------------------------------------------------------


@cache
def _called(function: int) -> Any:
    """A function in the form that Python calls, with the maximum number of arguments, because C
    ignores excess ones.
    """
    kinds: list[Any] = [*[ctypes.c_int64] * 8, *[ctypes.c_float] * 3]
    return ctypes.PYFUNCTYPE(None, *kinds)(function)


@cache
def _loop() -> Any:
    """The loop as machine code, with the object that keeps it alive; or None."""
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
    """Call the commands of the rows."""
    loop = _loop()
    if loop is not None:
        loop[0](rows.ctypes.data, len(rows))
        return
    for function, *rest in rows.tolist():
        floats = np.array(rest[8:], np.uint32).view(np.float32).tolist()
        _called(function)(*rest[:8], *floats)
