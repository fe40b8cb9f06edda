"""Workgroup memory as an argument."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MAX_LOCAL", "Local"]

MAX_LOCAL = 1 << 20


@dataclass(frozen=True, slots=True)
class Local:
    """An argument that is memory of the workgroup, of this many bytes."""

    size: int
