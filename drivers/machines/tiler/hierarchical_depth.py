"""Hierarchical depth of a tile: spans hidden by earlier draws are dropped before fragments are
made.

The table is recomputed from tile memory after each batch that wrote depths.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.output.engine import FragmentEngine, FragmentRun
from gallette.drivers.common.output.hierarchical_depth import DepthBlocks, can_be_hidden
from gallette.drivers.common.raster.batch import FragmentSink
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.spans import Spans


@lazy_dataclass(frozen=True)
class CoarseSink(FragmentSink):
    """Drops hidden spans, and passes the others to the fragment engine."""

    run: FragmentRun
    blocks: DepthBlocks | None

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        engine = self.run.engine
        blocks = self.blocks
        plain = type(engine) is FragmentEngine and spans.bounds is None
        if blocks is not None and spans.count and plain and can_be_hidden(engine, source):
            spans = blocks.visible_spans(engine, spans, source)
        if spans.count:
            self.run.draw(spans, source, info)
        if blocks is not None and engine.tests.depth and engine.state.tests.depth_writemask:
            blocks.changed()
