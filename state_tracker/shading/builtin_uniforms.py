"""Values of the `gl_*` uniforms by their names in shaders, but those of fixed function."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.shading.uniform_storage import element_count

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram, Uniform
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

__all__ = ["PROVIDERS", "Bytes", "Value", "fill", "places"]

Value = npt.NDArray[np.float64] | tuple[float, ...] | float
Bytes = npt.NDArray[np.uint8]
Provider = Callable[["Context", str, int, str], Value | None]
PROVIDERS: list[Provider] = []
"""what gives values of further uniforms: a context, the name without `gl_`, an index and a field"""

_NAME = re.compile(r"gl_(\w+?)(?:\[(\d+)\])?(?:\.(\w+))?(?:\[0\])?$")


def _depth_range(ctx: Context, field: str) -> float:
    near, far = ctx.raster.depth_ranges[0]
    return {"near": near, "far": far, "diff": far - near}[field]


def value_of(ctx: Context, name: str, index: int, field: str) -> Value | None:
    """The value of one built-in uniform (or an element of it), None if it is unknown."""
    if name == "DepthRange":
        return _depth_range(ctx, field)
    if name == "FbWposYTransform":  # internal: gl_FragCoord with origin_upper_left
        return (-1.0, float(ctx.framebuffers.draw.size[1]), 0.0, 0.0)
    if name == "NumSamples":
        return float(max(1, ctx.framebuffers.draw.samples))
    return next((v for p in PROVIDERS if (v := p(ctx, name, index, field)) is not None), None)


def _store(rows: Bytes, uniform: Uniform, offset: int, value: Value) -> None:
    """Store a value, or a value for each row."""
    kind = uniform.type.without_array
    array = np.asarray(value, np.float64).astype("<i4" if kind.is_integer else "<f4")
    if not kind.is_matrix:
        raw = np.ascontiguousarray(np.atleast_1d(array)[..., : kind.rows]).view(np.uint8)
        rows[:, offset : offset + raw.shape[-1]] = raw
        return
    columns = np.ascontiguousarray(array if uniform.row_major else array.swapaxes(-1, -2))
    raw = columns.view(np.uint8)
    size = raw.shape[-1]
    for column in range(raw.shape[-2]):
        at = offset + column * uniform.matrix_stride
        rows[:, at : at + size] = raw[..., column, :]


@functools.cache
def _parts(name: str) -> tuple[str, int, str] | None:
    """`gl_LightSource[1].ambient` -> `LightSource`, 1, `ambient`."""
    match = _NAME.match(name)
    return None if match is None else (match[1], int(match[2] or 0), match[3] or "")


def places(linked: LinkedProgram) -> list[tuple[Uniform, int, str, int, str, bool]]:
    """Each element of each built-in uniform: its offset, name, index and field, and whether it
    follows from the matrices.
    """
    found = []
    for uniform in linked.uniforms:
        if not uniform.builtin or uniform.block >= 0 or uniform.type.without_array.is_opaque:
            continue
        parts = _parts(uniform.name)
        if parts is None:
            continue
        name, index, field = parts
        moves = uniform.type.without_array.is_matrix or name == "NormalScale"
        for element in range(element_count(uniform)):
            offset = uniform.offset + element * uniform.array_stride
            found.append((uniform, offset, name, index + element, field, moves))
    return found


def fill(ctx: Context, executable: Executable, matrices: bool, rows: Bytes | None = None) -> None:
    """Write the built-in uniforms of a program into its default block, or only the `matrices`; or
    into `rows`, copies of the block for as many matrices as the current one consists of.
    """
    if rows is None:
        rows = np.frombuffer(executable.uniforms.data, np.uint8)[None]
    with np.errstate(over="ignore", invalid="ignore"):
        for uniform, offset, name, index, field, moves in executable.builtin_places:
            if moves or not matrices:
                value = value_of(ctx, name, index, field)
                if value is not None:
                    _store(rows, uniform, offset, value)
