"""Fragments of draws that are tested and blended in different ways, in one run.

What a program works out does not depend on what becomes of it. So fragments of all draws are shaded
together; a depth test then looks at those that want it, and blending is folded into one form
whatever it does (see `fixed`): a fragment without any adds its colour and leaves nothing of what
was there. Which way a fragment goes follows from its draw, which is the identity of its primitive.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import Value
from gallette.drivers.common.program import FragmentOutputs
from gallette.drivers.common.raster.fragments import Fragments
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.pipe.state import DepthStencilAlphaState

from .color import ColorTarget, Prepared
from .depth import compare
from .engine import FragmentEngine, PreparedColors
from .fixed import Folded
from .fragment_state import FragmentShader
from .order import layers

__all__ = ["MixedEngine"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Kinds = npt.NDArray[np.uint8]


class MixedEngine(FragmentEngine):
    """Runs fragments of several engines; the identity of a primitive is the number of its draw."""

    def __init__(self, engines: Sequence[FragmentEngine], kinds: Kinds) -> None:
        """`kinds` says which engine the fragments of each draw are for."""
        first = engines[0]
        super().__init__(first.state, first.scratch, first.counters)
        self._kinds = kinds
        self._visible = False
        self._tests: list[DepthStencilAlphaState] = []
        self._test_of = self._numbered([each.state.tests for each in engines], self._tests)
        self._testing = [
            each.depth_enabled and first.state.depth is not None and first.state.depth.has_depth
            for each in self._tests
        ]
        self._tests_depth = any(self._testing)
        self._writes = any(
            each.depth_writemask
            for each, testing in zip(self._tests, self._testing, strict=True)
            if testing
        )
        self._ways: list[tuple[list[ColorTarget], Kinds]] = []
        for number, (_, color) in enumerate(self._colors):
            targets = [each.colors[number][1] for each in engines]
            known: list[tuple[object, ...]] = []
            which = self._numbered([each.likeness for each in targets], known)
            firsts = [targets[int(np.flatnonzero(which == k)[0])] for k in range(len(known))]
            ordered = next((each for each in firsts if each.ordered), color)
            self._colors[number] = self._colors[number][0], ordered
            self._ways.append((firsts, which))
        self._of_primitive: Kinds = kinds  # of the primitives that are being run

    @staticmethod
    def _numbered(values: Sequence[object], known: list[object]) -> Kinds:  # type: ignore[type-arg]
        for value in values:
            if value not in known:
                known.append(value)
        return np.array([known.index(value) for value in values], np.uint8)

    @classmethod
    def of(cls, engines: Sequence[FragmentEngine], kinds: Kinds) -> MixedEngine | None:
        """An engine for the fragments of all, if there can be one."""
        first = engines[0]
        for each in engines:
            if type(each) is not FragmentEngine or not each.mixes:
                return None
            if each.state.depth_clamp != first.state.depth_clamp:
                return None
            if each.state.sample_mask != first.state.sample_mask:
                return None
            if [index for index, _ in each.colors] != [index for index, _ in first.colors]:
                return None
        for number in range(len(first.colors)):
            targets = [each.colors[number][1] for each in engines]
            alike = all(each.likeness == targets[0].likeness for each in targets)
            if not alike and not all(each.foldable for each in targets):
                return None
        return cls(engines, kinds)

    def run(
        self, shader: FragmentShader, lanes: Fragments, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        self._of_primitive = self._kinds.take(info.identity)
        super().run(shader, lanes, source, info)

    def _resolved(
        self, tested: Fragments, source: PlaneSource, info: PrimitiveInfo
    ) -> Bools | None:
        """The fragments that pass the tests of their draws."""
        if not self._tests_depth:
            return None
        depth = self.state.depth
        assert depth is not None
        codes = self._codes(source, tested)
        if len(self._tests) == 1:
            return self._test(tested, codes, info)
        wanted = self._test_of.take(self._of_primitive).take(tested.primitive)
        passing = np.ones(tested.count, np.bool_)
        for layer in layers(tested.pixel, self._who, tested.distinct or not self._writes):
            which = slice(None) if layer is None else layer
            pixel, new, want = tested.pixel[which], codes[which], wanted[which]
            stored = depth.load(pixel)
            passed = np.ones(len(pixel), np.bool_)
            for number, tests in enumerate(self._tests):
                if not self._testing[number]:
                    continue
                mine = want == number
                met = compare(tests.depth_func, new, stored)
                passed &= met | ~mine
                if tests.depth_writemask:
                    written = np.flatnonzero(mine & met)
                    depth.store(pixel.take(written), new.take(written))
            passing[which] = passed
        return passing

    def _prepared(self, chunk: Fragments, result: FragmentOutputs) -> PreparedColors:
        prepared: PreparedColors = []
        for (index, color), (targets, which) in zip(self._colors, self._ways, strict=True):
            values, second = self._values(result, index)
            if values is None:
                continue
            if len(targets) == 1:
                prepared.append((color, color.prepare(values, second, chunk.count)))
                continue
            ways = which.take(self._of_primitive).take(chunk.primitive)
            added = np.empty(chunk.count, np.uint64)
            factor = np.empty(chunk.count, np.uint64)
            for number, target in enumerate(targets):
                mine = np.flatnonzero(ways == number)
                if not len(mine):
                    continue
                some = [_some(v, mine) for v in values]
                more = second and [
                    v if v is None or not np.ndim(v) else v.take(mine) for v in second
                ]
                folded = target.folded(some, more, len(mine))
                added[mine] = folded.added
                factor[mine] = _ALL if folded.factor is None else folded.factor
            prepared.append((color, Prepared(folded=Folded(added, factor))))
        return prepared


_ALL = np.uint64(0x00FF00FF00FF00FF)
"""Nothing is taken from what is there."""


def _some(value: Value | None, lanes: Ints) -> Value | None:
    """A value of some lanes."""
    return value if value is None or not np.ndim(value) else value.take(lanes)
