"""Values of the `gl_*` uniforms by their names in shaders, but those of fixed function."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.shading.uniform_storage import element_count

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram, Uniform
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

Value = npt.NDArray[np.float64] | tuple[float, ...] | float
Bytes = npt.NDArray[np.uint8]
Cells = npt.NDArray[Any]
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


@lazy_dataclass(frozen=True)
class Field:
    """Gets an attribute of an object of the context, of a light for example, or an element of a
    tuple.
    """

    owner: Callable[[Context], Any]
    name: str | int

    def __call__(self, ctx: Context) -> Value:
        owner = self.owner(ctx)
        value: Value = owner[self.name] if isinstance(self.name, int) else getattr(owner, self.name)
        return value


@lazy_dataclass(frozen=True)
class Place:
    """An element of a built-in uniform in the default block of a program."""

    uniform: Uniform
    offset: int
    get: Getter
    cells: Cells  # of the program's own block

    def cells_of(self, rows: Cells) -> Cells:
        """The element in copies of the block, `[copy, component]` or `[copy, row, column]`."""
        return _cells(self.uniform, self.offset, rows, *rows.shape)


@lazy_dataclass()
class Places:
    """Elements whose values come from one object, or a single one."""

    places: list[Place]
    order: int
    """0: it follows from the matrices; 1: from values that never select shaders; 2: from others."""
    get: Callable[[Context], tuple[Value, ...]]
    stored: tuple[Value | None, ...] = (None,)
    """The objects that were written last; states replace their values, and do not change them."""


def _together(found: list[Place], order: int) -> Places:
    first = found[0].get
    if len(found) == 1 or not isinstance(first, Field):
        return Places(found, order, lambda ctx: (first(ctx),))
    owner, fields = first.owner, [place.get.name for place in found if isinstance(place.get, Field)]
    get: Any = operator.itemgetter if isinstance(first.name, int) else operator.attrgetter
    get = get(*fields)
    return Places(found, order, lambda ctx: get(owner(ctx)), (None,) * len(found))


def _cells(uniform: Uniform, offset: int, memory: Any, count: int, size: int) -> Cells:
    kind, stride = uniform.type.without_array, uniform.matrix_stride
    dtype = np.dtype("<i4" if kind.is_integer else "<f4")
    if not kind.is_matrix:
        return np.ndarray((count, kind.rows), dtype, memory, offset, (size, 4))
    across = (stride, 4) if uniform.row_major else (4, stride)
    return np.ndarray((count, kind.rows, kind.columns), dtype, memory, offset, (size, *across))


def _getter(name: str, index: int, field: str) -> Getter | None:
    ours = _OURS.get((name, field))
    return ours or next((get for p in PROVIDERS if (get := p(name, index, field))), None)


def places(linked: LinkedProgram, block: bytearray) -> list[Places]:
    """The elements of the built-in uniforms of a program, in their order."""
    found: dict[Any, list[Place]] = {}
    for uniform in linked.uniforms:
        if not uniform.builtin or uniform.block >= 0 or uniform.type.without_array.is_opaque:
            continue
        match = _NAME.match(uniform.name)  # gl_LightSource[1].ambient
        if match is None:
            continue
        name, index, field = match[1], int(match[2] or 0), match[3] or ""
        moves = uniform.type.without_array.is_matrix or name == "NormalScale"
        order = 0 if moves else 2 if name == "LightSource" else 1
        for element in range(element_count(uniform)):
            get = _getter(name, index + element, field)
            if get is not None:
                offset = uniform.offset + element * uniform.array_stride
                where: Any = uniform.name, index + element
                if isinstance(get, Field):
                    where = None if isinstance(get.name, int) else index + element
                key = order, name, where
                cells = _cells(uniform, offset, block, 1, len(block))
                found.setdefault(key, []).append(Place(uniform, offset, get, cells))
    return [_together(found[key], key[0]) for key in sorted(found, key=operator.itemgetter(0))]


def fill(ctx: Context, executable: Executable, last: int, rows: Bytes | None = None) -> bool:
    """Write the built-in uniforms of a program, those of `Places` up to the order `last`, into its
    default block, or into `rows`, copies of the block for as many matrices as the current one
    consists of. Returns whether the block has changed.
    """
    changed = False
    with np.errstate(over="ignore", invalid="ignore"):
        for some in executable.builtin_places:
            if some.order > last:
                break
            values, stored = some.get(ctx), some.stored
            if rows is None:
                if all(map(operator.is_, values, stored)):
                    continue
                some.stored = values
                changed = True
            for place, value, before in zip(some.places, values, stored, strict=True):
                if rows is not None:
                    place.cells_of(rows)[:] = value
                elif value is not before:
                    place.cells[0] = value
    return changed
