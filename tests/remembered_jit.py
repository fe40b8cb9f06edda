"""The same for what the jit remembers of small draws and of its tile functions (see `remembered`).

Loaded by the first test that begins after somebody loaded the jit: it needs LLVM.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from gallette.drivers.jit import direct, fill, runs
from gallette.drivers.jit.blocks import describe_textures
from gallette.drivers.jit.direct_inputs import Columns
from gallette.drivers.jit.direct_memory import DirectMemory
from gallette.drivers.jit.shader.chunk import Column
from gallette.drivers.jit.shader.layout import DrawWords, TileWords, Words
from gallette.drivers.jit.shader.sampling import Description

if TYPE_CHECKING:
    from tests.remembered import Watch

__all__ = ["MAKERS", "JitLooks"]

MAKERS: dict[tuple[Any, str], tuple[str, ...]] = {
    (DirectMemory, "_made"): ("stream",),
    (fill, "_tile_key"): ("tile_function_for",),
}


class JitLooks:
    """Looks at what plans of small draws and engines keep."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.places: tuple[tuple[Any, str, Any], ...] = (
            (DirectMemory, "stream", self._stream),
            (Columns, "begin", self._columns),
            (fill, "tile_function_for", self._function),
            (direct, "tile_function_for", self._function),
            (direct.Direct, "_refresh_textures", self._textures),
            (direct.Direct, "repeat", self._repeated),
            (runs.Runs, "make", self._ran),
        )

    def _stream(self, found: Any, memory: DirectMemory, info: Any, mode: Any, first: bool) -> None:
        if self._watch.may_look(memory):
            again = memory._made(info, mode, first)
            pairs = [s and (s.first, s.count, s.lanes, s.cost, s.keep[1])
                     for s in (found, again)]  # fmt: skip
            self._watch.same("triangles of a small draw", pairs[0], pairs[1])

    def _columns(self, found: bool, columns: Columns, stream: Any, info: Any, start: int) -> None:
        if not found or not self._watch.may_look(columns._memory, Columns):
            return
        table = columns._table.copy()
        planes = [each.planes for each in columns._converted.values()]
        for each in columns._converted.values():
            each.writes = -1
        columns._laid = False
        columns.begin(stream, info, start)
        now = [each.planes for each in columns._converted.values()]
        self._watch.same("converted vertices of a small draw", planes, now)
        again = columns._table.copy()
        for row in range(len(table)):  # of any stream whose lanes are the same
            rows = [_numbers(t[row, Column.ROWS], stream.lanes) for t in (table, again)]
            self._watch.same("rows of a small draw", rows[0], rows[1])
        table[:, Column.ROWS] = again[:, Column.ROWS] = 0
        if planes:  # which are elsewhere now
            again[:, Column.FIRST] = table[:, Column.FIRST]
        self._watch.same("columns of a small draw", table, again)

    def _repeated(
        self, done: bool, plan: direct.Direct, info: Any, data: bytes, start: int
    ) -> None:
        """What was not looked at again is as it would be found."""
        if not done or not self._watch.may_look(plan.memory, "repeat"):
            return
        self._described(plan, info, plan._stream, len(data))
        self._columns(done, plan._columns, plan._stream, info, start)

    def _ran(self, made: tuple[int, int | None], ran: runs.Runs, first: int, end: int) -> None:
        """The last draw of a run was as if it had been made alone."""
        series, (done, _) = ran._series, made
        kinds = series.which[first : first + done].tolist()
        drawn = [k for k in range(done) if kinds[k] in ran._draws]
        if not drawn or not self._watch.may_look(ran._memory, "run"):
            return
        number = first + drawn[-1]
        plan, info, stream = ran._draws[kinds[drawn[-1]]]
        data = series.pieces[number]
        self._described(plan, info, stream, len(data))
        if done == end - first:  # else they are those of the draw it ended at
            constants = bytes(ran._memory._bytes[0][: ran._memory._filled[0]])
            self._watch.same("constants of a run", constants, data)
        self._columns(True, plan._columns, stream, info, int(series.starts[number]))
        plan._columns.forget()

    def _described(self, plan: direct.Direct, info: Any, known: Any, size: int) -> None:
        stream = plan.memory._made(info, plan._mode, plan._first)
        pairs = [s and (s.first, s.count, s.lanes, s.cost, s.keep[1]) for s in (known, stream)]
        self._watch.same("triangles of a repeated draw", pairs[0], pairs[1])
        at = known and known.at
        self._watch.same("where triangles are", plan._words[DrawWords.STREAM], at)
        sizes = plan._chunk_words[Words.CONSTANTS + 1], plan._tile[Words.CONSTANTS + 1]
        least = plan._chunk_least, plan._tile_least
        wanted = tuple(max(size, each) for each in least)
        self._watch.same("constants of a repeated draw", sizes, wanted)
        room = plan._tile[TileWords.ITEMS], plan._words[DrawWords.ITEMS]
        memory = plan.memory
        self._watch.same("room of a repeated draw", room, (memory.items_at, memory.room))

    def _function(self, found: Any, bound: Any, engine: Any, context: Any, vertices: Any,
                  shape: Any = "triangle") -> None:  # fmt: skip
        if not self._watch.may_look(engine.scratch, fill):
            return
        key = None
        if fill._is_plain(bound, engine, context, shape):
            key = fill._tile_key(bound, engine, context, vertices, shape)
        self._watch.same("key of a tile function", found and found.key, key)

    def _textures(self, _: None, plan: direct.Direct) -> None:
        if not self._watch.may_look(plan.memory, direct):
            return
        block, keep = plan._block.copy(), []  # type: ignore[var-annotated]
        used = plan._fragment.program.facts.textures
        describe_textures(block, plan._fragment.resources, used, keep)
        described = (Description.TEXELS, Description.PACKED)
        for number in used:
            word = Words.TEXTURES + number
            if number < 32 and plan._block[word]:
                self._watch.same(
                    "where texels are",
                    *([_word(b, word, at) for at in described] for b in (plan._block, block)),
                )


def _numbers(address: Any, count: int) -> list[int] | None:
    """Numbers of lanes at an address."""
    return list((ctypes.c_int32 * count).from_address(int(address))) if address else None


def _word(block: Any, word: int, at: int) -> int:
    """A word of what a word of a block points to."""
    return int(ctypes.c_uint64.from_address(int(block[word]) + 8 * at).value)
