"""Hierarchical depth: drops spans hidden by what has been drawn before their fragments are
generated.

The depth buffer is summarised in blocks, by the depth of each block's farthest pixel (of the
nearest one for tests such as GREATER). Along a row depth is monotone, rounding included: one end of
a span is its nearest point, and if no block under the span has a pixel farther than that, all of
the span fails. Results are the same, since only fragments that would have failed are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.raster.fragments import pieces
from gallette.drivers.common.raster.interpolate import Plane, PlaneSource, values_at
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.masks import every, where
from gallette.pipe.enums import CompareFunc

from .depth import DepthTarget

if TYPE_CHECKING:
    from .engine import FragmentEngine

Array = npt.NDArray[Any]
Codes = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]

_ROWS, _COLUMNS = 2, 4
"""The base-2 logarithms of a block's rows and columns."""

_FAILS = {
    CompareFunc.LESS: np.greater_equal,
    CompareFunc.LEQUAL: np.greater,
    CompareFunc.EQUAL: np.greater,
    CompareFunc.GREATER: np.less_equal,
    CompareFunc.GEQUAL: np.less,
}
"""How the nearest code of a span compares with the farthest stored one if the span fails."""

_OTHER_WAY = (CompareFunc.GREATER, CompareFunc.GEQUAL)

_SMALL = 1 << 14
"""The size in pixels up to which a buffer is summarised as a whole, such as a tile's."""

_LOOKS = 1 / 16, 1.5
"""The cost of summarising a pixel and of checking a span, in fragments drawn."""

_MOST = 5
"""Pieces are at most this many times longer to make up for fragments dropped from them."""


def can_be_hidden(engine: FragmentEngine, source: PlaneSource) -> bool:
    """Whether a fragment that fails the depth test leaves no trace, and depths only move
    one way.
    """
    state, facts = engine.state, engine.state.facts
    if not engine.tests.depth or engine.tests.stencil or state.tests.depth_func not in _FAILS:
        return False
    if facts is not None and not engine.tests_first:  # fragments that fail would be shaded
        if facts.has_side_effects or facts.writes_depth:
            return False
    return state.layers == 1 and _finite(source.window_plane(2))


def _finite(plane: Plane) -> bool:
    return all(part is None or every(np.isfinite(part)) for part in plane)


class DepthBlocks:
    """The farthest depth of each block of a depth buffer that begins at `left` and `top`.

    A query for several blocks in a row takes two lookups: for every power of two the table has the
    extreme of that many blocks from each block on.
    """

    def __init__(self, depth: DepthTarget, width: int, left: int = 0, top: int = 0) -> None:
        self._depth, self._width = depth, width
        self._left, self._top = left, top
        self._tables: dict[tuple[int, int, int, int, bool], _Table] = {}
        self.hidden = 0
        """Number of fragments dropped before they were generated."""

    def changed(self) -> None:
        """Mark the summary as stale, because depths were written."""
        self._tables.clear()

    def visible_spans(
        self,
        engine: FragmentEngine,
        spans: Spans,
        source: PlaneSource,
        func: CompareFunc | None = None,
    ) -> Spans:
        """The spans of which some fragment may pass (with the test `func`, or the engine's)."""
        func = func or engine.state.tests.depth_func
        nearest = func not in _OTHER_WAY
        last = spans.x + spans.length
        last -= 1
        codes = engine.tests.codes_of(_reach(source, spans, last, nearest), source, spans)
        held = self._table(self._around(spans, last), nearest).of(
            spans.y - self._top, spans.x - self._left, last - self._left
        )
        hidden = _FAILS[func](codes, held)
        if not hidden.any():
            return spans
        left = spans.take(where(~hidden))
        self.hidden += spans.fragments - left.fragments
        return left

    def area(self, spans: Spans) -> int:
        """How many pixels would have to be summarised to check these spans."""
        x0, x1, y0, y1 = self._around(spans, spans.x + spans.length)
        return (x1 - x0) * (y1 - y0)

    def _around(self, spans: Spans, last: Ints) -> tuple[int, int, int, int]:
        """The pixels around spans: first column, past the last, then the same for rows."""
        pixels = len(self._depth.depth_words)
        if pixels <= _SMALL:
            return 0, self._width, 0, pixels // self._width
        left, right = int(spans.x.min()) - self._left, int(last.max()) - self._left
        top, bottom = int(spans.y.min()) - self._top, int(spans.y.max()) - self._top
        return left, right + 1, top, bottom + 1

    def _table(self, around: tuple[int, int, int, int], farthest: bool) -> _Table:
        """The table for a rectangle of pixels."""
        key = *around, farthest
        found = self._tables.get(key)
        if found is None:
            x0, x1, y0, y1 = around
            words = self._depth.depth_words[y0 * self._width : y1 * self._width]
            codes = self._depth.of_words(words.reshape(-1, self._width)[:, x0:x1])
            join = np.maximum if farthest else np.minimum
            found = self._tables[key] = _Table.made(codes, x0, y0, join)
        return found


@lazy_dataclass(frozen=True)
class _Table:
    """The extremes of runs of blocks: `[level, row, column]`, with runs of two to the power of
    `level`.
    """

    runs: Codes
    left: int  # the first column, in pixels
    top: int  # the first row, in pixels
    join: np.ufunc

    @classmethod
    def made(cls, codes: Codes, left: int, top: int, join: np.ufunc) -> _Table:
        for _ in range(_ROWS):
            if len(codes) & 1:
                codes = np.concatenate((codes, codes[-1:]))
            codes = join(codes[0::2], codes[1::2])
        for _ in range(_COLUMNS):
            if codes.shape[1] & 1:
                codes = np.concatenate((codes, codes[:, -1:]), axis=1)
            codes = join(codes[:, 0::2], codes[:, 1::2])
        levels = [codes]
        step = 1
        while 2 * step <= codes.shape[1]:
            longer = levels[-1].copy()
            join(longer[:, :-step], longer[:, step:], out=longer[:, :-step])
            levels.append(longer)
            step *= 2
        return cls(np.stack(levels), left, top, join)

    def of(self, rows: Ints, first: Ints, last: Ints) -> Codes:
        """The extreme of the blocks under runs of pixels."""
        _, height, across = self.runs.shape
        begin, end = (first - self.left) >> _COLUMNS, (last - self.left) >> _COLUMNS
        level = _LOGARITHMS.take(end - begin + 1)
        place = level * height
        place += (rows - self.top) >> _ROWS
        place *= across
        end -= (1 << level) - 1
        flat = self.runs.reshape(-1)
        found: Codes = self.join(flat.take(begin + place), flat.take(end + place))
        return found


_LOGARITHMS = np.frexp(np.arange(1 << 11, dtype=np.float64))[1].astype(np.int64) - 1
"""By number of blocks, the base-2 logarithm rounded down (-1 for 0 blocks)."""


def _reach(source: PlaneSource, spans: Spans, last: Ints, nearest: bool) -> Array:
    """The smallest or largest depth of each span, rounded as the depths of fragments are.

    Depth is linear in x, so the extreme is at the first or the last pixel.
    """
    plane, primitive = source.window_plane(2), spans.primitive
    slope = None if plane.dx is None else plane.dx.take(primitive)
    x = None if slope is None else np.where((slope > 0) == nearest, spans.x, last)
    a0 = np.broadcast_to(plane.a0.take(primitive) if plane.a0.ndim else plane.a0, spans.count)
    down = None if plane.dy is None else plane.dy.take(primitive)
    return values_at(Plane(a0, slope, down), x, spans.y)


def visible_pieces(
    engine: FragmentEngine, spans: Spans, source: PlaneSource, limit: int
) -> Iterator[Spans]:
    """Pieces of about `limit` fragments, in order, without spans that are hidden when a piece is
    requested.

    While checking costs more than it saves, the interval between two checks doubles.
    """
    depth = engine.state.depth
    assert depth is not None
    blocks = DepthBlocks(depth, engine.state.width)
    start, pause, left = 0, 1, 1.0
    wait = 0 if engine.state.tests.depth_func is CompareFunc.EQUAL else 1
    ends, total = spans.ends, spans.count
    while start < total:
        done = int(ends[start - 1]) if start else 0
        asked = not wait
        want = int(limit / max(left, 1 / _MOST)) if asked else limit
        stop = min(int(np.searchsorted(ends, done + want)) + 1, total)
        piece = spans.take(slice(start, stop))
        start = stop
        if asked:
            before = piece.fragments
            cost = _cost(blocks, piece)
            if cost < before / 2:
                piece = blocks.visible_spans(engine, piece, source)
            left = piece.fragments / before
            pause = 1 if before - piece.fragments >= cost else 2 * pause
            wait = 0 if pause == 1 else pause
            left = left if pause == 1 else 1.0
        else:
            wait -= 1
        if piece.count:
            yield from pieces(piece, limit)
            blocks.changed()


def _cost(blocks: DepthBlocks, spans: Spans) -> float:
    """The cost of checking spans, in fragments drawn."""
    pixel, span = _LOOKS
    return blocks.area(spans) * pixel + spans.count * span


_TURNED = {
    CompareFunc.LESS: CompareFunc.LEQUAL,
    CompareFunc.LEQUAL: CompareFunc.LEQUAL,
    CompareFunc.GREATER: CompareFunc.GEQUAL,
    CompareFunc.GEQUAL: CompareFunc.GEQUAL,
}
"""With these functions a fragment drawn out of order may pass against an equal depth."""

_SAMPLES = 256
"""How many spans are sampled to estimate the depth of a piece."""

_APART = 0.25
"""Pieces are reordered if their depths differ by at least this share of the range of all depths."""


def nearest_first(
    engine: FragmentEngine, spans: Spans, source: PlaneSource, limit: int
) -> Iterator[Spans] | None:
    """Pieces of about `limit` fragments, nearest first, without spans that are hidden by then.

    None if depths are written so that order matters, or if reordering does not pay.
    """
    state = engine.state
    if not state.tests.depth_writemask or state.tests.depth_func not in _TURNED:
        return None
    cut = list(pieces(spans, limit))
    if len(cut) < 2:
        return None
    nearest = state.tests.depth_func not in _OTHER_WAY
    means, all_depths = [], []
    for piece in cut:
        some = piece.take(slice(None, None, max(1, piece.count // _SAMPLES)))
        depths = _reach(source, some, some.x, nearest)
        means.append(float(depths.mean()))
        all_depths.append(depths)
    order = np.argsort(means if nearest else np.negative(means), kind="stable")
    in_order = bool((np.diff(order) > 0).all())
    if in_order or not np.std(means) > _APART * np.std(np.concatenate(all_depths)):
        return None
    return _turned(engine, [cut[i] for i in order], source)


def _turned(engine: FragmentEngine, cut: list[Spans], source: PlaneSource) -> Iterator[Spans]:
    """Pieces in this order, without spans that are hidden when a piece is requested."""
    depth, func = engine.state.depth, _TURNED[engine.state.tests.depth_func]
    assert depth is not None
    blocks = DepthBlocks(depth, engine.state.width)
    yield cut[0]
    for piece in cut[1:]:
        cheap = _cost(blocks, piece) < piece.fragments / 2
        left = blocks.visible_spans(engine, piece, source, func) if cheap else piece
        if left.count:
            yield left
            blocks.changed()
