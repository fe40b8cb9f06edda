"""Entry points that set uniforms, for each type, by the program in use and by name; and queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gallette.piglit_subset.generators.common import templates
from gallette.state_tracker.entry_points.functions import FUNCTIONS


@dataclass(frozen=True, slots=True)
class _Type:
    """A scalar type: its letters in setters and getters, its names, and the bytes of a value."""

    letters: str
    getter: str
    name: str
    scalar: str
    vectors: str
    size: int
    suffix: str = ""


_TYPES = (
    _Type("f", "fv", "float", "float", "vec", 4),
    _Type("i", "iv", "int", "int", "ivec", 4),
    _Type("ui", "uiv", "uint", "uint", "uvec", 4),
    _Type("d", "dv", "double", "double", "dvec", 8),
    _Type("i64", "i64v", "int64", "int64_t", "i64vec", 8, "ARB"),
    _Type("ui64", "ui64v", "uint64", "uint64_t", "u64vec", 8, "ARB"),
)
_OWNERS = {"": "the program in use", "Program": "a program by name"}


def tests() -> Iterator[str]:
    make = templates("uniform_calls")
    for kind in _TYPES:
        sizes = [
            (
                size,
                kind.scalar if size == 1 else f"{kind.vectors}{size}",
                "" if size == 1 else f".{'xyzw'[size - 1]}",
                *(_numbers(kind.letters, size, start) for start in (2, 12, 22)),
            )
            for size in (1, 2, 3, 4)
        ]
        for owner, what in _OWNERS.items():
            yield make.vectors(kind, owner, what, sizes)
        yield make.bounded(kind, sizes)
    for kind in _TYPES:
        if kind.letters in "fd":
            for owner, what in _OWNERS.items():
                yield make.matrices(kind, owner, what, list(_matrices(kind, owner)))


def _numbers(letters: str, count: int, start: int) -> list[str]:
    sign = -1 if letters[0] in "fid" else 1
    half = 0.5 if letters in "fd" else 0
    return [f"{(start + n) * (sign if n % 2 else 1) + half:g}" for n in range(count)]


def _matrices(kind: _Type, owner: str) -> Iterator[tuple[str, str, str, list[str], list[str]]]:
    """Every shape: its name, its setter, its last element, values, and these by rows."""
    for number, (columns, rows) in enumerate((c, r) for c in (2, 3, 4) for r in (2, 3, 4)):
        size = f"{columns}" if columns == rows else f"{columns}x{rows}"
        name = f"{owner}UniformMatrix{size}{kind.letters}v"
        assert name in FUNCTIONS
        values = _numbers(kind.letters, columns * rows, number)
        turned = [values[c * rows + r] for r in range(rows) for c in range(columns)]
        yield size, name, f"[{columns - 1}][{rows - 1}]", values, turned
