"""Fragments that are all alike within their primitive: shaded once for each primitive.

Rectangles of one colour, sprites with flat tints, merged draws with a uniform each: where nothing a
fragment shader reads changes within a primitive, its result does not either.
"""

from __future__ import annotations

import numpy as np

from gallette.drivers.common.program import ProgramFacts
from gallette.drivers.common.raster.fragments import Fragments
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.vertex.vertices import Ints

__all__ = ["Inputs", "by_primitive", "same_within_primitives", "varying_inputs"]

Inputs = tuple[tuple[int, int, bool], ...]
"""Slot, component, and whether perspective counts, of what may vary within a primitive."""

_OF_A_PRIMITIVE = frozenset({"front_face", "primitive_id"})
_WORTH = 4
"""Fragments per primitive from which finding out pays."""


def varying_inputs(facts: ProgramFacts) -> Inputs | None:
    """What a shader without side effects reads that may change within a primitive; None if it
    reads what does.
    """
    if (
        facts.has_side_effects
        or facts.in_order
        or facts.uses_discard
        or facts.uses_derivatives
        or facts.uses_sample_shading
        or not facts.system_values <= _OF_A_PRIMITIVE
    ):
        return None
    uses = [use for use in facts.inputs if use.mode != "flat"]
    if any(use.where != "pixel" for use in uses):
        return None
    return tuple([(use.slot, use.component, use.mode == "smooth") for use in uses])


def same_within_primitives(inputs: Inputs | None, source: PlaneSource) -> bool:
    """Does a shader that reads these inputs read nothing that changes within these primitives?"""
    if inputs is None:
        return False
    for slot, component, perspective in inputs:
        if source.plane(slot, component, perspective).dx is not None:
            return False
        if perspective and not source.affine and source.window_plane(3).dx is not None:
            return False
    return True


def by_primitive(lanes: Fragments) -> tuple[Fragments, Ints] | None:
    """A lane for each run of fragments of one primitive, and every fragment's among them.

    None if there are too few fragments for that.
    """
    if lanes.covered is not None:
        return None
    primitive, lengths = lanes.primitives()
    count = len(primitive)
    if count * _WORTH > lanes.count:
        return None
    nowhere = np.zeros(count)
    which = np.arange(count).repeat(lengths)
    return Fragments(np.zeros(count, np.int64), nowhere, nowhere, primitive), which
