"""Blits in machine code: format conversion, resolves, scaling of 8-bit texels.

`convert` implements `drivers.common.memory.blit` for a rectangle that keeps its size: it decodes
texels, adds the samples of each pixel in order, divides, encodes. `filter` computes the weighted
mean of four texels, with columns and rows from tables, in the 8-bit arithmetic of
`drivers.common.texture.packed`.
"""

from __future__ import annotations

from typing import Final

from gallette.drivers.common.fixed.formats import packed, unpacked
from gallette.pipe.formats import Format

from ..llvm.text import Builder
from ..llvm.values import V
from .routines import inlined

__all__ = ["LANES", "MoveWords", "convert_text", "filter_text"]

LANES: Final = 16


class MoveWords:
    """The block of words of both functions."""

    SOURCE: Final = 0  # address of the first texel
    SOURCE_ROW: Final = 1  # bytes from row to row
    SOURCE_PLANE: Final = 2  # bytes from sample to sample
    TARGET: Final = 3
    TARGET_ROW: Final = 4  # (followed by TARGET_PLANE)
    WIDTH: Final = 5  # of the target's rectangle
    HEIGHT: Final = 6
    COLUMNS: Final = 7  # per column: both texels and the second one's weight of 256
    ROWS: Final = 10  # per row
    SIZE: Final = 13


def convert_text(source: Format, target: Format, samples: int) -> str:
    """The module with `convert`."""
    b = Builder()
    (ctx,) = b.begin("convert", [("ptr", "ctx")])
    plane = b.load_at(ctx, MoveWords.SOURCE_PLANE, "i64")
    with _Rows(b, ctx) as (y, x, mask):
        row = _row(b, ctx, MoveWords.SOURCE, y)
        total: list[V] = []
        for sample in range(samples):
            texels = _load(b, b.at(row, plane * sample, "i8"), x, mask, source)
            floats = [v.as_float() for v in inlined(b, unpacked(source), [texels])]
            if samples > 1:
                total = [old + new for old, new in zip(total or _zeros(b), floats, strict=True)]
            else:
                total = floats
        if samples > 1:
            total = [value / float(samples) for value in total]
        total = [b.spread(value, LANES) for value in total]
        _store(b, ctx, y, x, mask, inlined(b, packed(target), total)[0])
    b.end()
    return b.text()


def _zeros(b: Builder) -> list[V]:
    return [b.spread(b.const("float", 0.0), LANES)] * 4


def filter_text(size: int) -> str:
    """The module with `filter`, for texels of `size` bytes with one channel each."""
    b = Builder()
    (ctx,) = b.begin("filter", [("ptr", "ctx")])
    columns = [b.load_at(ctx, MoveWords.COLUMNS + i, "ptr") for i in range(3)]
    rows = [b.load_at(ctx, MoveWords.ROWS + i, "ptr") for i in range(3)]
    t = f"i{8 * size}"

    with _Rows(b, ctx) as (y, x, mask):
        left, right, across = (
            b.masked_load(b.at(table, x, "i32"), mask, "i32") for table in columns
        )
        low, high, up = (b.load_at(table, y, "i32") for table in rows)
        lines = []
        for number in (low, high):
            row = _row(b, ctx, MoveWords.SOURCE, number.to("i64"))
            ends = [
                b.gather(b.at(row, at.to("i64"), t), mask, t).to("i32", False)
                for at in (left, right)
            ]
            pairs = zip(_halves(ends[0]), _halves(ends[1]), strict=True)
            lines.append([_mixed(a, c, across) for a, c in pairs])
        even, odd = (_mixed(a, c, b.spread(up, LANES)) for a, c in zip(*lines, strict=True))
        word = even | (odd << 8)
        _store(b, ctx, y, x, mask, word if size == 4 else word.to(t))
    b.end()
    return b.text()


_EVEN = 0x00FF00FF


def _halves(word: V) -> tuple[V, V]:
    return word & _EVEN, word.lshr(8) & _EVEN


def _mixed(a: V, c: V, weight: V) -> V:
    """Two channels of a word each, weighted, rounded (`packed.lerp`)."""
    rest = weight * -1 + 256
    return (a * rest + c * weight + 0x00800080).lshr(8) & _EVEN


class _Rows:
    """A loop over rows and, `LANES` at a time, columns: both numbers, and the mask of existing
    columns.
    """

    def __init__(self, b: Builder, ctx: V) -> None:
        self.b, self.ctx = b, ctx

    def __enter__(self) -> tuple[V, V, V]:
        b = self.b
        width = b.load_at(self.ctx, MoveWords.WIDTH, "i64")
        self._y = b.loop(b.const("i64", 0), b.load_at(self.ctx, MoveWords.HEIGHT, "i64"))
        y = self._y.__enter__()
        self._x = b.loop(b.const("i64", 0), width, LANES)
        x = self._x.__enter__()
        lanes = b.lanes("i64", list(range(LANES)))
        return y, x, b.spread(x, LANES) + lanes < b.spread(width, LANES)

    def __exit__(self, *error: object) -> None:
        self._x.__exit__(None, None, None)
        self._y.__exit__(None, None, None)


def _row(b: Builder, ctx: V, word: int, y: V) -> V:
    return b.at(b.load_at(ctx, word, "ptr"), b.load_at(ctx, word + 1, "i64") * y, "i8")


def _load(b: Builder, row: V, x: V, mask: V, format: Format) -> V:
    t = f"i{8 * format.block_bytes}"
    return b.masked_load(b.at(row, x, t), mask, t)


def _store(b: Builder, ctx: V, y: V, x: V, mask: V, texels: V) -> None:
    b.masked_store(b.at(_row(b, ctx, MoveWords.TARGET, y), x, texels.t), mask, texels)
