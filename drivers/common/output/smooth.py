"""The fragment engine of smooth points, lines and polygons: alpha times coverage.

Smooth primitives cover pixels in part. Coverage is counted with sixteen samples, that of lines is
computed from distances (`drivers.common.fixed.lines`); a fragment is still shaded once, at the
pixel's centre, tested once and written once, with its alpha multiplied by the coverage. Primitives
that are not smooth are drawn as usual.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.lines import line_coverage
from gallette.drivers.common.program import FragmentOutputs
from gallette.drivers.common.raster.fragments import Fragments, expand_samples, pieces, sample_quads
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.samples import COUNTS, MASK, SamplePattern, sample_pattern
from gallette.drivers.common.raster.spans import Spans

from .engine import PIECE, FragmentEngine, PreparedColors
from .fragment_state import FragmentShader
from .order import layers_of, screened

SMOOTH = sample_pattern(16)
"""The samples with which coverage is counted."""

_SHARE = COUNTS.astype(np.float32) / np.float32(16)
_OPAQUE = np.ones((), np.float32)


class SmoothEngine(FragmentEngine):
    """Runs fragments of a draw that may have smooth primitives."""

    deals = False
    _lines: tuple[npt.NDArray[np.float32], ...] | None = None  # of the primitives being drawn

    def draw(
        self, shader: FragmentShader, spans: Spans, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        """Run the fragments of some primitives."""
        if spans.bounds is None:
            super().draw(shader, spans, source, info)
            return
        if self.idle or self.state.sample_mask & 1 == 0:
            return
        self._lines = info.lines
        for piece in pieces(spans, PIECE):
            lanes = self.placed(expand_samples(piece, self.state.width))
            if info.round:
                lanes = _inside_circles(lanes, info, SMOOTH)
            if info.screen is not None:
                lanes = screened(lanes, info.screen)
            if self.state.layers > 1 and VaryingSlot.LAYER in source.vertices.varyings:
                layer = layers_of(source, self.state.layers, lanes)
                lanes.renumber(lanes.pixel + layer * self.state.plane)
            if shader.quads and self._shades and lanes.count:
                lanes = self.placed(sample_quads(lanes, self.state.width))
            for turn in self._ordered_groups(lanes):
                self._piece(shader, turn, source, info)

    def _prepared(self, chunk: Fragments, result: FragmentOutputs) -> PreparedColors:
        """The shader's output, with alpha times coverage."""
        if chunk.samples is None:
            return super()._prepared(chunk, result)
        share = _SHARE[chunk.samples] if self._lines is None else self._of_lines(chunk)
        prepared = []
        for index, color in self._colors:
            values, second = self._values(result, index)
            if values is None:
                continue
            if not color.format.is_pure_integer:
                alpha = values[3] if len(values) > 3 and values[3] is not None else _OPAQUE
                values = [*values[:3], np.asarray(alpha * share, np.float32)]
            prepared.append((color, color.prepare(values, second, chunk.count)))
        return prepared

    def _of_lines(self, chunk: Fragments) -> npt.NDArray[np.float32]:
        assert self._lines is not None
        places = [np.asarray(value, np.float32) for value in (chunk.x, chunk.y)]
        frames = [value.take(chunk.primitive) for value in self._lines]
        return evaluate(line_coverage(), [*places, *frames])[0]


def _inside_circles(lanes: Fragments, info: PrimitiveInfo, pattern: SamplePattern) -> Fragments:
    """The lanes of round points: the samples of each square that are inside the circle."""
    assert info.points is not None and lanes.samples is not None
    x, y, size = (np.asarray(value, np.float64)[lanes.primitive] for value in info.points)
    inside = np.zeros(lanes.count, MASK)
    for number, (dx, dy) in enumerate(pattern.positions):
        away = (lanes.x - 0.5 + dx - x) ** 2 + (lanes.y - 0.5 + dy - y) ** 2
        inside |= (away <= (size / 2) ** 2).astype(MASK) << MASK(number)
    lanes.samples = lanes.samples & inside
    return lanes.take(np.flatnonzero(lanes.samples))
