"""The output units: the URB between stages, and the render cache after the fragment shader.

A write goes to the URB entry of its channel; `emit` and `cut` record a geometry shader's vertices
and primitives. Outputs of a whole patch (table 1 of tessellation control) belong to all its
invocations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.isa.messages import LIVE_FLAG, RENDER_OPS, URB_OPS, Place
from gallette.drivers.machines.simulator.threads import Threads, lane_order, put

from .port import Port, Step

Array = npt.NDArray[Any]


def urb_step(port: Port) -> Step:
    """Execute a `urb` message."""
    op = URB_OPS[port["op"]]
    if op == "write":
        return _write(port)
    if op in ("read", "peer"):
        return _read(port, op)
    return _emit(port, op)


def _places(port: Port, component: int, moved: int = 0) -> Place:
    at = port["component"] + component
    return port["slot"] + at // 4 + moved, at % 4, port["table"]


def _store(m: Threads, port: Port, place: Place, value: Array, mask: Array | None) -> None:
    bits = value.dtype.itemsize * 8
    whole = m.launch.output(place, bits)
    if m.index is None:
        put(whole[port.half], value, mask)
        return
    part = whole[port.half][:, m.index]
    put(part, value, mask)
    whole[port.half, m.index] = part


def _write(port: Port) -> Step:
    size = 8 if port["wide"] else 4
    registers = port.step_of(size)
    chosen = [k for k in range(4) if port["mask"] >> k & 1]
    moving, slots = port["offset"], port["slots"]

    def step(m: Threads) -> None:
        patch_size = m.launch.executable.patch_size if port["table"] else 0
        mask = port.channels(m)
        first = port.halves if moving else 0
        for at, k in enumerate(chosen):
            value = port.wide(m, first + at * registers, size)
            if not moving:
                _store(m, port, _places(port, k), value, mask)
                if patch_size:
                    _share(m, port, _places(port, k), mask, patch_size)
                continue
            offset = port.value(m, 0, np.int32)
            for moved in range(slots):
                mine = np.asarray(offset == moved)
                part = mine if mask is None else mine & mask
                _store(m, port, _places(port, k, moved), value, part)
                if patch_size:
                    _share(m, port, _places(port, k, moved), part, patch_size)

    return step


def _share(m: Threads, port: Port, place: Place, mask: Array | None, size: int) -> None:
    """Copy what the last invocation of a patch wrote to all its invocations."""
    launch = m.launch
    assert m.index is None  # patches with barriers are never split
    whole = launch.outputs[place]
    lanes = np.array(lane_order(whole)[: launch.count].reshape(-1, size))
    there = np.ones(launch.count, np.bool_)
    if mask is not None:
        there = lane_order(np.broadcast_to(mask, whole.shape))[: launch.count]
    wrote: Array = np.asarray(there).reshape(-1, size)
    last = size - 1 - np.argmax(np.flip(wrote, axis=1), axis=1)
    values = lanes[np.arange(len(lanes)), last]
    some = np.any(wrote, axis=1, keepdims=True)
    lanes[:] = np.where(some, values[:, None], lanes)
    whole[...] = launch.as_channels(lanes.reshape(-1))


def _read(port: Port, op: str) -> Step:
    count = port["mask"]
    size = 8 if port["wide"] else 4
    registers = port.step_of(size)

    def step(m: Threads) -> None:
        launch = m.launch
        mask = port.channels(m)
        for k in range(count):
            whole = launch.output(_places(port, k), size * 8)
            if op == "peer":
                whole = _peer(m, port, whole)
            port.answer_wide(m, k * registers, m.channels(whole)[port.half], size, mask)

    return step


def _peer(m: Threads, port: Port, whole: Array) -> Array:
    """By channel, the value of another invocation of the patch; zero if it does not exist."""
    launch = m.launch
    assert m.index is None
    size = launch.executable.patch_size
    lanes = lane_order(whole)[: launch.count]
    index = np.zeros(whole.shape, np.int32)
    index[port.half] = port.value(m, 0, np.int32)
    wanted = lane_order(index)[: launch.count]
    inside = (wanted >= 0) & (wanted < size)
    first = np.arange(launch.count) // size * size
    found = np.where(inside, lanes[first + np.where(inside, wanted, 0)], lanes.dtype.type(0))
    return launch.as_channels(found)


def _emit(port: Port, op: str) -> Step:
    stream = port["stream"]

    def step(m: Threads) -> None:
        launch = m.launch
        whole = np.zeros(launch.dispatched.shape, np.bool_)
        active = port.lanes(m)
        if m.index is None:
            whole[port.half] = active
        else:
            whole[port.half, m.index] = active
        numbers = np.flatnonzero(lane_order(whole)[: launch.count])
        if not numbers.size:
            return
        values = None
        if op == "emit":
            values = []
            for place, bits in launch.executable.places:
                lanes = lane_order(launch.output(place, bits))[: launch.count]
                values.append(lanes[numbers].view(f"f{bits // 8}"))
        launch.events.append((stream, numbers, values))

    return step


def render_step(port: Port) -> Step:
    """Execute a `render` message: results of a fragment shader; the last one ends the thread."""
    if RENDER_OPS[port["op"]] == "end":
        return lambda m: None
    chosen = [k for k in range(4) if port["mask"] >> k & 1]
    slot, dual = port["slot"], port["dual"]

    def step(m: Threads) -> None:
        mask = port.channels(m)
        for at, k in enumerate(chosen):
            _store(m, port, (slot, k, dual), port.value(m, at), mask)

    return step


def alive(m: Threads) -> Array:
    """The pixels that were not discarded, by channel."""
    return m.flags[LIVE_FLAG]
