"""Compute: glDispatchCompute and its indirect form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir import Stage
from gallette.pipe.state import ComputeInfo
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.validate import validate
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.entry_points.registry import entry

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

MAX_GROUPS = 65535
"""Workgroups along one axis."""

_REACHED = (
    Dirty.PROGRAM
    | Dirty.CONSTANTS
    | Dirty.UNIFORM_BUFFERS
    | Dirty.TEXTURES
    | Dirty.STORAGE
    | Dirty.IMAGES
)


def _launch(
    ctx: Context, grid: tuple[int, int, int], block: tuple[int, int, int] | None = None
) -> None:
    """Run the current compute program over `grid` workgroups."""
    if "compute" not in ctx.caps.stages:
        raise invalid_operation("the driver has no compute stage")
    if ctx.dirty & Dirty.PROGRAM:
        ctx.programs.resolve()
    executable = ctx.programs.stages.get(Stage.COMPUTE)
    if executable is None:
        raise invalid_operation("no program with a compute shader is in use")
    info = executable.linked.info
    if info.local_size_variable != (block is not None):
        raise invalid_operation("the program's workgroup size is fixed, or must be given")
    if any(not 0 <= groups <= MAX_GROUPS for groups in grid):
        raise invalid_value("too many workgroups")
    validate(ctx, _REACHED)
    handle = executable.handle(Stage.COMPUTE)
    if ctx.bound_shaders.get(Stage.COMPUTE) is not handle:
        ctx.pipe.bind_shader_state(Stage.COMPUTE, handle)
        ctx.bound_shaders[Stage.COMPUTE] = handle
    if all(grid):
        ctx.pipe.launch_grid(ComputeInfo(grid, block or info.local_size))


@entry
def dispatch_compute(ctx: Context, num_groups_x: int, num_groups_y: int, num_groups_z: int) -> None:
    _launch(ctx, (num_groups_x, num_groups_y, num_groups_z))


@entry
def dispatch_compute_group_size_arb(
    ctx: Context, num_groups_x: int, num_groups_y: int, num_groups_z: int,
    group_size_x: int, group_size_y: int, group_size_z: int,
) -> None:  # fmt: skip
    block = (group_size_x, group_size_y, group_size_z)
    limits = ctx.limits.glsl_limits
    most = limits.max_compute_work_group_size
    if any(not 0 < size <= top for size, top in zip(block, most, strict=True)):
        raise invalid_value("bad workgroup size")
    if block[0] * block[1] * block[2] > limits.max_compute_work_group_invocations:
        raise invalid_value("too many invocations in a workgroup")
    _launch(ctx, (num_groups_x, num_groups_y, num_groups_z), block)


@entry
def dispatch_compute_indirect(ctx: Context, indirect: Any) -> None:
    buffer = ctx.buffers.bound[GL.DISPATCH_INDIRECT_BUFFER]
    offset = int(indirect or 0)
    if offset < 0 or offset % 4:
        raise invalid_value("the offset is not a multiple of 4")
    if buffer is None:
        raise invalid_operation("no dispatch buffer is bound")
    if offset + 12 > buffer.size or buffer.blocked:
        raise invalid_operation("the command is outside the buffer, or the buffer is mapped")
    words = [int.from_bytes(buffer.read(offset + 4 * i, 4), "little") for i in range(3)]
    _launch(ctx, (words[0], words[1], words[2]))
