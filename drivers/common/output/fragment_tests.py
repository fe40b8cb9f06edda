"""The tests of a draw's fragments: which are enabled, depths as codes, and which lanes pass.

Stencil, depth and depth bounds are one test here. Fragments of one pixel are tested one after the
other where the update of one affects the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.lanes import by_lane
from gallette.drivers.common.raster.fragments import Fragments
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import ChunkLanes, PrimitiveInfo
from gallette.drivers.common.raster.spans import Spans
from gallette.pipe.enums import CompareFunc

from .depth import DepthTarget, References, compare
from .fragment_state import FragmentState
from .order import Scratch, layers, tests_write

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint32]
"""Depths as the depth buffer encodes them."""

_MONOTONE = (CompareFunc.LESS, CompareFunc.LEQUAL, CompareFunc.GREATER, CompareFunc.GEQUAL)
_EXACT = (*_MONOTONE, CompareFunc.EQUAL)
_NOBODY = PrimitiveInfo(np.zeros(0, np.bool_), np.zeros(0, np.int32))


class FragmentTests:
    """The tests that fragments have to pass."""

    __slots__ = ("_only_look", "_scratch", "_state", "bounds", "depth", "stencil")

    def __init__(self, state: FragmentState, scratch: Scratch) -> None:
        tests, held = state.tests, state.depth
        self._state, self._scratch = state, scratch
        self.stencil = tests.stencil[0].enabled and held is not None and held.has_stencil
        self.depth = tests.depth_enabled and held is not None and held.has_depth
        self.bounds = tests.depth_bounds_test and held is not None and held.has_depth
        self._only_look = not tests_write(tests, self.depth, self.stencil)

    @property
    def any(self) -> bool:
        """Whether any test is enabled."""
        return self.stencil or self.depth or self.bounds

    def codes(self, source: PlaneSource, lanes: Fragments) -> Codes:
        """Interpolated depths as codes of the depth buffer."""
        if not lanes.count:
            return np.zeros(0, np.uint32)
        return self.codes_of(ChunkLanes(source, _NOBODY, lanes).depth(), source, lanes)

    def codes_of(self, z: npt.NDArray[Any], source: PlaneSource, lanes: Fragments | Spans) -> Codes:
        """These depths of lanes or spans as codes, clamped if the state says so."""
        state = self._state
        assert state.depth is not None
        if state.depth_clamp is not None:
            near, far = (np.asarray(end, np.float32) for end in state.depth_clamp)
            if source.depth_range is not None:  # primitives have viewports of their own
                near, far = (end.take(lanes.primitive) for end in source.depth_range)
            z = minmax.between(np.asarray(z), near, far)
        return state.depth.codes(by_lane(np.asarray(z, np.float32), lanes.count))

    def surely_failing(self, lanes: Fragments, codes: Codes | None) -> Bools | None:
        """Which lanes certainly fail the depth test, as a hint: the binding test runs later."""
        tests, facts = self._state.tests, self._state.facts
        if codes is None or self.stencil or self.bounds or tests.depth_func not in _EXACT:
            return None
        if facts is not None and facts.has_side_effects:
            return None  # fragments that fail write memory, too
        assert self._state.depth is not None
        passing: Bools = compare(tests.depth_func, codes, self._state.depth.load(lanes.pixel))
        return passing

    def run(
        self,
        lanes: Fragments,
        codes: Codes | None,
        info: PrimitiveInfo,
        depth: DepthTarget | None = None,
        exported: npt.NDArray[np.uint8] | None = None,
    ) -> Bools | None:
        """Run the binding tests, in order; None if all lanes pass.

        `exported` are stencil references from the shader, by lane.
        """
        if not self.any:
            return None
        state = self._state
        depth = depth or state.depth
        assert depth is not None
        tests = state.tests
        references: References = state.references if exported is None else exported
        front: Bools | None = None
        if self.stencil and tests.stencil[1].enabled:
            front = info.front[lanes.primitive]
        passing: Bools | None = None
        who = self._scratch.at_least(state.plane * state.layers)
        for layer in (None,) if self._only_look or lanes.distinct else layers(lanes.pixel, who):
            if layer is None:
                return depth.test(lanes.pixel, codes, tests, references, front)
            if passing is None:
                passing = np.ones(lanes.count, np.bool_)
            result = depth.test(
                lanes.pixel.take(layer),
                None if codes is None else codes.take(layer),
                tests,
                references if exported is None else exported.take(layer),
                None if front is None else front.take(layer),
            )
            if result is not None:
                passing[layer] = result
        return passing
