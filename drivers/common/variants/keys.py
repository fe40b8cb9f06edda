"""Variant keys of drivers on host memory: the standard keys, inlined uniforms, merged draws."""

from __future__ import annotations

from typing import Any, TypeAlias

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.variants import standard
from gallette.pipe.keys import lowered, lowered_by

Inlined: TypeAlias = tuple[tuple[int, int], ...]
"""Uniforms that are constants in a variant: byte offsets in the default block, and raw bits."""


def _merged() -> Any:
    doc = "many draws at once: bytes of each one's row in the table of constants"
    return lowered_by(0, doc, "constants_per_draw", "stride")


def _merged_blocks() -> Any:
    doc = "the same of other constant blocks: which, and bytes of a row"
    return lowered_by((), doc, "constants_per_draw", "blocks")


@lazy_dataclass(frozen=True)
class VertexKey(standard.VertexKey):
    """The state besides its NIR that a vertex (or geometry) shader's code depends on."""

    inlined_uniforms: Inlined = lowered("inlined_uniforms")
    merged: int = _merged()
    merged_blocks: tuple[tuple[int, int], ...] = _merged_blocks()


@lazy_dataclass(frozen=True)
class FragmentKey(standard.FragmentKey):
    """The state besides its NIR that a fragment shader's code depends on."""

    inlined_uniforms: Inlined = lowered("inlined_uniforms")
    merged: int = _merged()
    merged_blocks: tuple[tuple[int, int], ...] = _merged_blocks()


VariantKey = VertexKey | FragmentKey
