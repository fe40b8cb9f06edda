"""A launch: all threads of one call, the resources bound to them, and the outputs they have
written.

Lanes come from the shared draw code; `halves * channels` of them make a thread. The last thread may
have channels without a lane: these never execute, and no unit sees them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.program import Emission
from gallette.drivers.machines.isa.messages import LIVE_FLAG, Place
from gallette.drivers.machines.isa.types import TYPES

from .threads import DONE, RUNNING, Threads, from_lanes, lane_order

if TYPE_CHECKING:
    from .executable import Executable

Array = npt.NDArray[Any]


class Launch:
    """The state that all threads of a call share."""

    def __init__(
        self,
        executable: Executable[Any],
        resources: ShaderResources,
        constants: Array,
        lanes: Any,
        helper: Array | None = None,
        quads: bool = False,
    ) -> None:
        self.executable = executable
        self.resources = resources
        self.lanes = lanes
        self.quads = quads
        self.at = 0  # the block being executed, for reports
        self.count: int = lanes.count
        self.channels = executable.channels
        self.halves = executable.width // executable.channels
        self.threads = -(-self.count // executable.width)
        self.constants = {name: constants.view(type.dtype) for name, type in TYPES.items()}
        self.outputs: dict[Place, Array] = {}
        self.events: list[Emission] = []
        self.inputs: dict[Any, Array] = {}
        self.visits = np.zeros(executable.block_count, np.int64)
        self.full = self.count == self.threads * executable.width
        self.dispatched = self.as_channels(np.ones(self.count, np.bool_))
        live = self.dispatched if helper is None else self.as_channels(~helper)
        shape = self.dispatched.shape
        flags = [np.zeros(shape, np.bool_) for _ in range(4)]
        flags[LIVE_FLAG] = live.copy()
        words = np.zeros((executable.registers, self.threads, self.channels), np.uint32)
        executable.prepare(words, constants)
        pc = np.where(self.dispatched, np.int32(RUNNING), np.int32(DONE))
        self.root = Threads(self, words, flags, pc, None)
        self.scratch: Array = np.zeros((executable.scratch, self.threads, self.channels), np.uint32)
        self._private: tuple[Array, Array, int] | None = None

    def as_channels(self, lanes: Array) -> Array:
        """Values by lane as channels, zero for channels without a lane."""
        if lanes.ndim == 0:
            lanes = np.broadcast_to(lanes, self.count)
        wanted = self.threads * self.halves * self.channels
        if lanes.size != wanted:
            padded = np.zeros(wanted, lanes.dtype)
            padded[: lanes.size] = lanes
            lanes = padded
        return from_lanes(lanes, self.halves, self.channels)

    def own_memory(self, space: str) -> tuple[Array, Array, int]:
        """Memory of workgroups (`shared`) or channels (`scratch`): all bytes, where those of each
        channel begin, and their number.
        """
        if space == "shared":
            lanes = self.lanes
            return lanes.shared, self.as_channels(lanes.shared_base), lanes.shared_size
        if self._private is None:
            size = self.executable.private
            base = self.as_channels(np.arange(self.count, dtype=np.int32) * (-(-size // 8) * 8))
            self._private = np.zeros(-(-size // 8) * 8 * self.count, np.uint8), base, size
        return self._private

    def input(self, key: Any, make: Any) -> Array:
        """An input for all threads, computed once: a scalar or `(half, thread, channel)`."""
        found = self.inputs.get(key)
        if found is None:
            value = np.asarray(make())
            if value.dtype == np.bool_:
                value = np.subtract(np.int32(0), value)
            if value.dtype.itemsize < 4:
                value = value.astype(np.uint32)
            found = value if value.ndim == 0 else self.as_channels(value)
            self.inputs[key] = found
        return found

    # -- results -----------------------------------------------------------------------------------

    def output(self, place: Place, bits: int) -> Array:
        """The array that collects an output, initially zero."""
        found = self.outputs.get(place)
        if found is None:
            found = np.zeros(self.dispatched.shape, f"u{bits // 8}")
            self.outputs[place] = found
        return found

    def by_lane(self, values: Array) -> Array:
        """Channels as lanes, without those that were never dispatched."""
        return lane_order(values)[: self.count]

    def outputs_of(self, table: int) -> dict[int, list[Any]]:
        """One table of outputs in the form that the shared draw code reads."""
        found: dict[int, list[Any]] = {}
        for (slot, component, which), values in self.outputs.items():
            if which == table:
                lanes = self.by_lane(values)
                row = found.setdefault(slot, [None] * 4)
                row[component] = lanes.view(f"f{lanes.dtype.itemsize}")
        return found
