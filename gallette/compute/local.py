"""Workgroup memory as an argument."""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass

MAX_LOCAL = 1 << 20


@lazy_dataclass(frozen=True)
class Local:
    """An argument that is memory of the workgroup, of this many bytes."""

    size: int
