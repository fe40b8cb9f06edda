"""Compute dispatches: the shader runs for a chunk of whole workgroups at a time.

Every invocation is a lane. The lanes of a chunk run in lockstep, and a workgroup lies in one chunk,
so barriers need no code. Workgroups run in order, x fastest, and so do the invocations of each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.lanes import Value
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.program import DriverShader
from gallette.drivers.common.work import LANE
from gallette.pipe.state import ComputeInfo

from .draw_states import DrawStates

U32 = np.uint32

MOST_SHARED = 1 << 26
"""Bytes of shared memory that exist at a time, if that is more than one workgroup's."""


class GroupLanes:
    """The invocations of consecutive workgroups."""

    def __init__(
        self,
        first: int,
        groups: int,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared_size: int,
    ) -> None:
        self.grid, self.block = grid, block
        per_group = block[0] * block[1] * block[2]
        self.count = groups * per_group
        self.shared_size = shared_size
        self.shared = np.zeros(groups * shared_size, np.uint8)
        starts = np.arange(groups, dtype=np.int32) * np.int32(shared_size)
        self.shared_base: npt.NDArray[np.int32] = np.repeat(starts, per_group)
        self.shared_view: Any = None
        # Divided by some constants, which takes a fraction of the time with 32 bits.
        small = math.prod(grid) < 1 << 32
        numbers = np.arange(first, first + groups, dtype=U32 if small else np.uint64)
        self._group = np.repeat(numbers, per_group)
        self._local = np.tile(np.arange(per_group, dtype=U32), groups)

    def system(self, name: str, component: int = 0) -> Value:
        """A system value of the invocations (see `ComputeLanes.system`)."""
        if name == "num_workgroups":
            return np.asarray(U32(self.grid[component]))
        if name == "workgroup_size":
            return np.asarray(U32(self.block[component]))
        if name == "local_invocation_index":
            return self._local.astype(U32)
        if name == "workgroup_id":
            return _axis(self._group, self.grid, component)
        if name == "local_invocation_id":
            return _axis(self._local, self.block, component)
        if name == "global_invocation_id":
            group = _axis(self._group, self.grid, component)
            local = _axis(self._local, self.block, component)
            return np.asarray(group * U32(self.block[component]) + local)
        raise GalletteError(f"a compute shader has no {name!r}")


def _axis(number: npt.NDArray[Any], extent: tuple[int, int, int], axis: int) -> Value:
    """One coordinate of flattened positions, x fastest."""
    below = math.prod(extent[:axis])
    if extent[axis] == 1:
        return np.zeros(len(number), U32)
    exact = number.dtype.type
    part = number if below == 1 else number // exact(below)
    if math.prod(extent[axis + 1 :]) > 1:
        part = part % exact(extent[axis])
    return part.astype(U32, copy=False)


def _grid(info: ComputeInfo) -> tuple[int, int, int]:
    """Workgroups per axis, read from a buffer for an indirect launch."""
    if info.indirect is None:
        return info.grid
    resource = info.indirect.buffer
    assert isinstance(resource, HostResource)
    raw = resource.bytes_at(info.indirect.offset, 12)
    if raw.size < 12:
        return 0, 0, 0
    x, y, z = np.frombuffer(raw.tobytes(), "<u4").tolist()
    return x, y, z


def launch(states: DrawStates, info: ComputeInfo) -> int:
    """Run the bound compute shader over a grid of workgroups; returns the number of invocations."""
    shader: DriverShader | None = states.bound.shaders.get(Stage.COMPUTE)
    grid = _grid(info)
    total = grid[0] * grid[1] * grid[2]
    per_group = info.block[0] * info.block[1] * info.block[2]
    if shader is None or not total or not per_group:
        return 0
    compiled = shader.null.program
    program = states.joiner.program(Stage.COMPUTE, compiled)
    shared = shader.shader.info.shared_bytes
    step = max(1, min(compiled.facts.chunk_lanes // per_group, MOST_SHARED // max(shared, 1)))
    states.work.begin()
    states.work.spend(LANE * total * per_group)
    for first in range(0, total, step):
        groups = min(step, total - first)
        states.work.spend(0)
        program.compute(GroupLanes(first, groups, grid, info.block, shared))
    return total * per_group
