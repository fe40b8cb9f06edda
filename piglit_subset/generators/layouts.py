"""std140 and std430: the layout of a block's members, type by type, against explicit rules.

The oracle is the specification's list of rules: alignment and size of scalars, vectors, arrays,
matrices (arrays of columns, or of rows) and structures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gallette.piglit_subset.generators.common import templates

_TYPES = (
    "float", "vec2", "vec3", "vec4", "int", "ivec2", "ivec3", "ivec4", "uint", "uvec3", "bool",
    "bvec2", "bvec3", "mat2", "mat3", "mat4", "mat2x3", "mat2x4", "mat3x2", "mat3x4", "mat4x2",
    "mat4x3", "double", "dvec2", "dvec3", "dvec4", "dmat2", "dmat3", "dmat2x4",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Placed:
    """Alignment, size, and the strides that queries return."""

    align: int
    size: int
    array_stride: int = 0
    matrix_stride: int = 0


def _shape(kind: str) -> tuple[int, int, int]:
    """The shape of a type: (bytes of a scalar, columns, components per column)."""
    double = kind.startswith("d")
    size = 8 if double else 4
    name = kind[1:] if double and kind != "double" else kind
    if name.startswith("mat"):
        columns, _, rows = name[3:].partition("x")
        return size, int(columns), int(rows or columns)
    digits = name[-1]
    return size, 1, int(digits) if digits.isdigit() else 1


def _up(value: int, align: int) -> int:
    return -(-value // align) * align


def _placed(kind: str, count: int, rule: str, row_major: bool) -> _Placed:
    """`count` elements of a type (0: no array) under a rule."""
    scalar, columns, rows = _shape(kind)
    if columns == 1:
        align = scalar * {1: 1, 2: 2, 3: 4, 4: 4}[rows]
        size, stride = scalar * rows, 0
    else:
        if row_major:
            columns, rows = rows, columns
        align = scalar * {2: 2, 3: 4, 4: 4}[rows]
        if rule == "std140":
            align = _up(align, 16)
        stride = _up(scalar * rows, align)
        size = stride * columns
    if not count:
        return _Placed(align, size, 0, stride)
    if rule == "std140":
        align = _up(align, 16)
    array_stride = _up(size, align)
    return _Placed(align, array_stride * count, array_stride, stride)


def tests() -> Iterator[str]:
    make = templates("layouts")
    for kind in _TYPES:
        version = 400 if kind.startswith("d") else 330
        yield make.uniform_block(kind, version, _members(kind), _offsets(kind, "std140"))
        yield make.storage_block(kind, _members(kind), _offsets(kind, "std430"))


def _members(kind: str) -> list[tuple[str, int, bool]]:
    """Single members, arrays, and row-major matrices: (name, array length, row major)."""
    members = [("one", 0, False), ("many", 3, False)]
    if "mat" in kind:
        members += [("turned", 0, True), ("turned_many", 2, True)]
    return members


def _offsets(kind: str, rule: str) -> Iterator[tuple[str, int, int, _Placed]]:
    """The members of a block: (name in queries, offset, elements, layout)."""
    offset = 0
    for name, count, row_major in _members(kind):
        yield f"before_{name}", _up(offset, 4), 0, _Placed(4, 4)
        offset = _up(offset, 4) + 4
        placed = _placed(kind, count, rule, row_major)
        offset = _up(offset, placed.align)
        yield f"{name}[0]" if count else name, offset, count, placed
        offset += placed.size
        if rule == "std140" and (count or placed.matrix_stride):
            offset = _up(offset, placed.align)
    yield "last", _up(offset, 4), 0, _Placed(4, 4)
