"""The memory unit: uniform blocks, storage buffers, workgroup memory, scratch, images, barriers.

Channels act in the order of lanes; those that were never dispatched do nothing, and in a fragment
shader discarded pixels and helpers write nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.storage import buffer_atomic, buffer_load, buffer_store
from gallette.drivers.machines.isa.messages import ATOMICS, IMAGE_OPS, MEMORY_OPS, SPACES
from gallette.drivers.machines.simulator.threads import MachineHangError, Threads, lane_order

from .port import Port, Step, each

Array = npt.NDArray[Any]


class Selection:
    """The lanes that execute a message, in order, and how to scatter their results to channels."""

    def __init__(self, m: Threads, port: Port, active: Array) -> None:
        self.shape = (port.halves, m.count, m.launch.channels)
        self.lanes = np.flatnonzero(lane_order(active))
        self.count = self.lanes.size

    def of(self, values: Array) -> Array:
        """A payload value of the selected lanes."""
        found: Array = lane_order(values)[self.lanes]
        return found

    def back(self, values: Array) -> Array:
        """Values as channels again, zero for lanes that were not selected."""
        halves, threads, channels = self.shape
        whole = np.zeros(halves * threads * channels, values.dtype)
        whole[self.lanes] = values
        if halves == 1:
            return whole.reshape(self.shape)
        return whole.reshape(threads, halves, channels).transpose(1, 0, 2)


def constant_step(port: Port) -> Step:
    """Execute a `constant` message."""
    size, count = 1 << port["size"], port["count"]
    registers = port.step_of(size)
    block, dynamic = port["block"], port["dynamic"]
    if port["whole"]:
        return _whole_block(port, block)

    def step(m: Threads) -> None:
        mask = port.channels(m)
        chosen = Selection(m, port, port.lanes(m))
        offset = chosen.of(port.value(m, 0))
        found = [np.zeros(chosen.count, f"u{size}") for _ in range(count)]
        index = chosen.of(port.value(m, 1, np.int32)) if dynamic else np.full(chosen.count, block)

        def run(data: Any, mine: Any) -> None:
            parts = buffer_load(data, offset[mine], count, size * 8)
            for whole, part in zip(found, parts, strict=True):
                whole[mine] = part

        each(index, m.launch.resources.constants, run)
        for k, value in enumerate(found):
            port.answer_wide(m, k * registers, chosen.back(value), size, mask)

    return step


def _whole_block(port: Port, block: int) -> Step:
    """Load eight words at the header's offset (word 2), for all channels of a thread."""

    def step(m: Threads) -> None:
        constants = m.launch.resources.constants
        data = constants[block] if block < len(constants) else None
        offset = port.word(m, 2)
        threads = m.threads()
        rows = np.stack(buffer_load(data, offset, 8, 32), axis=1)
        if threads is None:
            m.words[port.dst] = rows
        else:
            np.copyto(m.words[port.dst], rows, where=threads[:, None])

    return step


def memory_step(port: Port) -> Step:
    """Execute a `memory` message."""
    op, space = MEMORY_OPS[port["op"]], SPACES[port["space"]]
    size, count = 1 << port["size"], port["count"]
    registers = port.step_of(size)
    live = bool(port["live"]) and op != "load"
    atomic = ATOMICS[port["atomic"]]

    def step(m: Threads) -> None:
        launch = m.launch
        mask = port.channels(m)
        chosen = Selection(m, port, port.lanes(m, live))
        at = 0
        index = np.full(chosen.count, port["buffer"])
        if port["dynamic"]:
            index = index + chosen.of(port.value(m, 0, np.int32))
            at += port.halves
        bound: list[Any] = launch.resources.buffers
        if op == "size":
            sizes = np.array([0 if b is None else b.size for b in bound] + [0], np.uint32)
            safe = np.where((index >= 0) & (index < len(bound)), index, len(bound))
            port.answer(m, 0, chosen.back(sizes[safe]), mask)
            return
        offset = chosen.of(port.wide(m, at, 4))
        at += port.halves
        if space != "buffer":
            data, base, limit = launch.own_memory(space)
            bound = [data]
            start = chosen.of(m.channels(base)[port.half])
            signed = offset.view(np.int32)
            offset = np.where((signed >= 0) & (signed < limit), signed + start, np.int32(-4))
        values: list[Array | None] = []
        wanted = [k for k in range(16) if count >> k & 1] if op == "store" else [0]
        if op != "load":
            values = [None] * (max(wanted) + 1)
            for k in wanted:
                values[k] = np.ascontiguousarray(chosen.of(port.wide(m, at, size)))
                at += registers
        compare = None
        if op == "swap":
            compare = np.ascontiguousarray(chosen.of(port.wide(m, at, size)))
        found = [np.zeros(chosen.count, f"u{size}") for _ in range(count if op == "load" else 1)]

        def run(data: Any, mine: Any) -> None:
            if op == "load":
                for whole, part in zip(
                    found, buffer_load(data, offset[mine], count, size * 8), strict=True
                ):
                    whole[mine] = part
                return
            some = [None if v is None else v[mine] for v in values]
            lanes = len(offset[mine])
            if op == "store":
                buffer_store(data, offset[mine], some, lanes, None, size * 8)
                return
            first = some[0]
            assert first is not None
            swap = None if compare is None else compare[mine]
            found[0][mine] = buffer_atomic(
                atomic, data, offset[mine], first, lanes, None, swap, size * 8
            )

        each(index, bound, run)
        if op != "store" and port.dst >= 0:
            for k, value in enumerate(found):
                port.answer_wide(m, k * registers, chosen.back(value), size, mask)

    return step


def scratch_step(port: Port) -> Step:
    """Spill or fill whole registers, for all channels of the active threads."""
    slot, count, fill = port["slot"], port["count"], port["op"]

    def step(m: Threads) -> None:
        threads = m.threads()
        memory = m.launch.scratch
        start = port.dst if fill else port.payload
        registers = m.words[start : start + count]
        index = m.index
        if index is None and threads is None:
            if fill:
                registers[...] = memory[slot : slot + count]
            else:
                memory[slot : slot + count] = registers
            return
        here = np.arange(m.count) if threads is None else np.flatnonzero(threads)
        there = here if index is None else index[here]
        if fill:
            registers[:, here] = memory[slot : slot + count][:, there]
        else:
            memory[slot : slot + count, there] = registers[:, here]

    return step


def image_step(port: Port) -> Step:
    """Execute an `image` message."""
    op = IMAGE_OPS[port["op"]]
    live = bool(port["live"]) and op not in ("load", "size", "samples")
    coords, count = port["coords"], port["count"]
    atomic = ATOMICS[port["atomic"]]

    def step(m: Threads) -> None:
        mask = port.channels(m)
        chosen = Selection(m, port, port.lanes(m, live))
        at = 0

        def take(dtype: Any) -> Array:
            nonlocal at
            value = chosen.of(port.value(m, at, dtype))
            at += 1
            return value

        index = np.full(chosen.count, port["image"])
        if port["dynamic"]:
            index = index + take(np.int32)
        where = [take(np.int32) for _ in range(coords)]
        sample = take(np.int32) if port["sample"] else None
        given: list[Array] = []
        if op in ("store", "atomic", "swap"):
            given = [take(np.uint32) for _ in range(count)]
        results = max(1, count) if op in ("load", "size") else 1
        found = [np.zeros(chosen.count, np.uint32) for _ in range(results)]

        def run(unit: Any, mine: Any) -> None:
            if unit is None:
                return
            at_lanes = [c[mine] for c in where]
            lanes = found[0][mine].size
            which = None if sample is None else sample[mine]
            parts: Any = ()
            if op == "load":
                parts = unit.load(at_lanes, lanes, which)
            elif op == "store":
                unit.store(at_lanes, [v[mine] for v in given], lanes, None, which)
            elif op == "size":
                parts = [np.asarray(e, np.int32) for e in unit.size()]
            elif op == "samples":
                parts = [np.asarray(unit.samples, np.int32)]
            else:
                swap = given[1][mine] if op == "swap" else None
                parts = [unit.atomic(atomic, at_lanes, given[0][mine], lanes, None, swap, which)]
            for whole, part in zip(found, parts, strict=False):
                part = np.asarray(part)
                whole[mine] = part.view(np.uint32) if part.dtype.itemsize == 4 else part

        each(index, m.launch.resources.images, run)
        if op != "store" and port.dst >= 0:
            for k, value in enumerate(found):
                port.answer(m, k, chosen.back(value), mask)

    return step


def gateway_step(port: Port) -> Step:
    """Execute a barrier: a workgroup with an invocation missing here can never pass it."""

    def step(m: Threads) -> None:
        if m.mask is None or not hasattr(m.launch.lanes, "shared_base"):
            return
        launch = m.launch
        here = lane_order(m.mask)[: launch.count]
        groups = launch.executable.group_of(launch)
        arrived = np.bincount(groups, weights=here)
        sizes = np.bincount(groups)
        dead = (arrived > 0) & (arrived < sizes)
        if dead.any():
            which = int(np.argmax(dead))
            raise MachineHangError(
                f"dead barrier: {int(arrived[which])} of {int(sizes[which])} invocations of "
                f"workgroup {which} wait at it, the others are past it\n"
                f"{launch.executable.report(m, launch.at)}"
            )

    return step
