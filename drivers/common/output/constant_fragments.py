"""Shades once per primitive if all fragments of a primitive have the same inputs.

This applies to rectangles of one colour, sprites with a constant tint, and merged draws with one
uniform value each: nothing that the fragment shader reads varies within a primitive, so its result
does not either.
"""

from __future__ import annotations

import numpy as np

from gallette.drivers.common.program import ProgramFacts
from gallette.drivers.common.raster.fragments import Fragments
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.vertex.vertices import Ints

__all__ = ["Inputs", "by_primitive", "same_within_primitives", "varying_inputs"]

Inputs = tuple[tuple[int, int, bool], ...]
"""Slot, component, and whether perspective applies, of each input that may vary within a
primitive.
"""

_OF_A_PRIMITIVE = frozenset({"front_face", "primitive_id"})
_WORTH = 4
"""Fragments per primitive from which the check pays."""


def varying_inputs(facts: ProgramFacts) -> Inputs | None:
    """The inputs, of a shader without side effects, that may vary within a primitive; None if it
    reads something that always does.
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
    """Whether these inputs are constant within each of these primitives."""
    if inputs is None:
        return False
    for slot, component, perspective in inputs:
        if source.plane(slot, component, perspective).dx is not None:
            return False
        if perspective and not source.affine and source.window_plane(3).dx is not None:
            return False
    return True


def by_primitive(lanes: Fragments) -> tuple[Fragments, Ints] | None:
    """One lane per run of fragments of a primitive, and the lane of every fragment.

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
