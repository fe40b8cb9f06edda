"""Values of the `gl_*` uniforms by their names in shaders, but those of fixed function."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.shading.uniform_storage import element_count

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram, Uniform
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

__all__ = ["PROVIDERS", "Bytes", "Getter", "Place", "Value", "fill", "places"]

Value = npt.NDArray[np.float64] | tuple[float, ...] | float
Bytes = npt.NDArray[np.uint8]
Getter = Callable[["Context"], Value]
PROVIDERS: list[Callable[[str, int, str], Getter | None]] = []
"""What finds further uniforms by the name without `gl_`, an index and a field; returns what gets
their values.
"""

_NAME = re.compile(r"gl_(\w+?)(?:\[(\d+)\])?(?:\.(\w+))?(?:\[0\])?$")


def _difference(near: float, far: float) -> float:
    return far - near


_OURS: dict[tuple[str, str], Getter] = {
    ("DepthRange", "near"): lambda ctx: ctx.raster.depth_ranges[0][0],
    ("DepthRange", "far"): lambda ctx: ctx.raster.depth_ranges[0][1],
    ("DepthRange", "diff"): lambda ctx: _difference(*ctx.raster.depth_ranges[0]),
    # internal: gl_FragCoord with origin_upper_left
    ("FbWposYTransform", ""): lambda ctx: (-1.0, float(ctx.framebuffers.draw.size[1]), 0.0, 0.0),
    ("NumSamples", ""): lambda ctx: float(max(1, ctx.framebuffers.draw.samples)),
}


@dataclass(slots=True)
class Place:
    """An element of a built-in uniform in the default block of a program."""

    uniform: Uniform
    offset: int
    get: Getter
    moves: bool
    """Whether it follows from the matrices."""
    stored: Value | None = None
    """The object that was written last; states replace their values, and do not change them."""


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


def _getter(name: str, index: int, field: str) -> Getter | None:
    ours = _OURS.get((name, field))
    return ours or next((get for p in PROVIDERS if (get := p(name, index, field))), None)


def places(linked: LinkedProgram) -> list[Place]:
    """The elements of the built-in uniforms of a program."""
    found = []
    for uniform in linked.uniforms:
        if not uniform.builtin or uniform.block >= 0 or uniform.type.without_array.is_opaque:
            continue
        match = _NAME.match(uniform.name)  # gl_LightSource[1].ambient
        if match is None:
            continue
        name, index, field = match[1], int(match[2] or 0), match[3] or ""
        moves = uniform.type.without_array.is_matrix or name == "NormalScale"
        for element in range(element_count(uniform)):
            get = _getter(name, index + element, field)
            if get is not None:
                offset = uniform.offset + element * uniform.array_stride
                found.append(Place(uniform, offset, get, moves))
    return found


def fill(ctx: Context, executable: Executable, matrices: bool, rows: Bytes | None = None) -> None:
    """Write the built-in uniforms of a program into its default block, or only the `matrices`; or
    into `rows`, copies of the block for as many matrices as the current one consists of.
    """
    block = np.frombuffer(executable.uniforms.data, np.uint8)[None] if rows is None else rows
    with np.errstate(over="ignore", invalid="ignore"):
        for place in executable.builtin_places:
            if place.moves or not matrices:
                value = place.get(ctx)
                if rows is not None or value is not place.stored:
                    _store(block, place.uniform, place.offset, value)
                    if rows is None:
                        place.stored = value
