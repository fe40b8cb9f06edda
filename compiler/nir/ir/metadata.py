"""Metadata: facts about a function that are computed on request and kept while they are valid.

`impl.require(Metadata.DOMINANCE)` makes a fact available, `impl.preserve(kept)` declares after a
change which facts are still valid; structural edits (`insert_node_at`, `merge_blocks`, ...)
invalidate everything themselves. The analyses in `compiler.nir.analysis` compute the facts and
register here.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.shader import FunctionImpl


class Metadata(enum.IntFlag):
    """Facts about a function, as a set."""

    NONE = 0
    CFG = 1
    DOMINANCE = 2
    LIVENESS = 4
    DIVERGENCE = 8
    KINDS = 16
    CONTROL_FLOW = CFG | DOMINANCE
    VALUES = 15
    """everything but the lists of instructions"""
    ALL = 31

    # Used by every pass: a plain integer is faster than an enum member.
    __and__ = __rand__ = int.__and__  # type: ignore[assignment]


@lazy_dataclass(frozen=True)
class Analysis:
    """How one fact is computed, from which others, and (for `check`) how it is compared."""

    fact: Metadata
    needs: Metadata
    compute: Callable[[FunctionImpl], None]
    describe: Callable[[FunctionImpl], Any]


ANALYSES: list[Analysis] = []
"""In dependency order."""


def register(analysis: Analysis) -> None:
    """Register an analysis for `require`."""
    ANALYSES.append(analysis)
    ANALYSES.sort(key=lambda a: a.fact)


def compute(impl: FunctionImpl, wanted: Metadata) -> None:
    """Compute all of `wanted` (and what it depends on) that is not valid."""
    facts = int(wanted)
    for analysis in reversed(ANALYSES):
        if facts & int(analysis.fact):
            facts |= int(analysis.needs)
    for analysis in ANALYSES:
        fact = int(analysis.fact)
        if facts & fact & ~impl.valid:
            analysis.compute(impl)
            impl.valid |= fact
