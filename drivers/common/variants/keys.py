"""Variant keys of drivers on host memory: the standard ones, and a field for merged draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gallette.drivers.common.variants import standard
from gallette.pipe.keys import lowered_by

__all__ = ["FragmentKey", "VariantKey", "VertexKey"]


def _merged() -> Any:
    doc = "many draws at once: bytes of each one's row in the table of constants"
    return lowered_by(0, doc, "constants_per_draw", "stride")


@dataclass(frozen=True, slots=True)
class VertexKey(standard.VertexKey):
    """What a vertex (or geometry) shader's code depends on besides its NIR."""

    merged: int = _merged()


@dataclass(frozen=True, slots=True)
class FragmentKey(standard.FragmentKey):
    """What a fragment shader's code depends on besides its NIR."""

    merged: int = _merged()


VariantKey = VertexKey | FragmentKey
