"""Inputs of a stage: lanes of the shared draw code, as registers.

An input is computed once for all threads of a launch; one with a dynamic index or offset is
computed when the message is executed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import SYSTEM_VALUES
from gallette.drivers.machines.isa.messages import KINDS, LIVE_FLAG, WHERE
from gallette.drivers.machines.simulator.launch import Launch
from gallette.drivers.machines.simulator.threads import Threads, lane_order

from .port import Port, Step

Array = npt.NDArray[Any]


def input_step(port: Port) -> Step:
    """Execute an `input` message."""
    kind = KINDS[port["kind"]]
    if kind in ("at", "at_sample", "corner_at", "patch_at"):
        return _moving(port, kind)
    if kind == "helper":
        return _helper(port)
    count = port["count"]
    slot, component = port["slot"], port["component"]
    keys = []
    for k in range(count):
        at = component + k
        place = (slot, at) if kind in ("system", "attribute") else (slot + at // 4, at % 4)
        keys.append((kind, *place, port["where"], port["straight"], port["corner"], port["wide"]))
    size = 8 if port["wide"] else 4
    registers = port.step_of(size)

    def step(m: Threads) -> None:
        mask = port.channels(m)
        for k, key in enumerate(keys):
            value = m.launch.input(key, _maker(m.launch, key))
            if value.ndim:
                value = m.channels(value)[port.half]
            port.answer_wide(m, k * registers, value.view(f"u{size}"), size, mask)

    return step


def _maker(launch: Launch, key: tuple[Any, ...]) -> Callable[[], Array]:
    kind, slot, component, where, straight, corner, wide = key
    lanes = launch.lanes

    def make() -> Any:
        if kind == "attribute":
            return (lanes.attribute64 if wide else lanes.attribute)(slot, component)
        if kind == "flat":
            return lanes.flat(slot, component)
        if kind == "smooth":
            return lanes.smooth(slot, component, where=WHERE[where], perspective=not straight)
        if kind == "corner":
            return lanes.corner(slot, component, corner)
        if kind == "own":
            return lanes.corner_at(slot, component, lanes.system("invocation_id"), None)
        if kind == "patch":
            return lanes.patch(slot, component)
        if kind == "target":
            return lanes.system("output", 4 * slot + component)
        return _system(launch, SYSTEM_VALUES[slot], component)

    return make


def _system(launch: Launch, name: str, component: int) -> Any:
    lanes = launch.lanes
    if name == "alpha_ref":
        return np.float32(launch.resources.alpha_ref)
    if hasattr(lanes, "smooth") or hasattr(lanes, "patch") or hasattr(lanes, "shared"):
        return lanes.system(name, component)
    return lanes.system(name)


def _helper(port: Port) -> Step:
    """Whether the channel is a helper: from the start, or (component 1) now, including discarded
    pixels.
    """
    now = port["component"]

    def step(m: Threads) -> None:
        if now:
            helper = ~m.flags[LIVE_FLAG]
        else:
            given = m.launch.lanes.helper
            if given is None:
                helper = np.zeros(m.flags[0].shape, np.bool_)
            else:
                helper = m.channels(m.launch.input("helper", lambda: given)) != 0
        value = np.subtract(np.int32(0), helper[port.half])
        port.answer(m, 0, value, port.channels(m))

    return step


def _moving(port: Port, kind: str) -> Step:
    """Interpolate at an offset, or read a vertex whose index differs between channels."""
    slot, component, count = port["slot"], port["component"], port["count"]
    straight = bool(port["straight"])

    def step(m: Threads) -> None:
        launch, mask = m.launch, port.channels(m)
        operands = 2 if kind == "at" else 1
        dtype = np.float32 if kind == "at" else np.int32
        given = [_all_lanes(m, port, port.value(m, k, dtype)) for k in range(operands)]
        for k in range(count):
            at = component + k
            place = (slot + at // 4, at % 4)
            if kind == "at":
                found = launch.lanes.smooth_at(*place, *given, perspective=not straight)
            elif kind == "at_sample":
                found = launch.lanes.smooth_at_sample(*place, given[0], perspective=not straight)
            else:
                found = launch.lanes.corner_at(*place, given[0], None)
            value = np.asarray(found)
            if value.ndim:
                value = m.channels(launch.as_channels(value))[port.half]
            port.answer(m, k, value, mask)

    return step


def _all_lanes(m: Threads, port: Port, values: Array) -> Array:
    """A payload value for every lane of the launch; zero for lanes of other threads."""
    launch = m.launch
    whole = np.zeros(launch.dispatched.shape, values.dtype)
    if m.index is None:
        whole[port.half] = values
    else:
        whole[port.half, m.index] = values
    return lane_order(whole)[: launch.count]
