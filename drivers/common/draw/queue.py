"""Draws that wait for others like them, to be executed as one.

A small draw is not executed at once: if the next one differs in nothing but constant block 0, both
become instances of one draw (see `variants.merging`). Whatever could tell the difference, such as
another state, a transfer or a query, makes the context `flush` the queue first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gallette.compiler.errors import GalletteError, ResetError
from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.pipe.state import DrawInfo

from .finding import DrawStates
from .pipeline import draw, run
from .programs import ConstantTable

__all__ = ["MERGED_STAGES", "DrawQueue"]

SMALL = 512
"""Draws of more vertices than this are executed at once."""

WORTH_MERGING = 24
"""With fewer draws than this, a merged variant is not worth being compiled."""

MOST = 4096
"""Draws that may wait."""

MERGED_STAGES = (Stage.VERTEX, Stage.FRAGMENT)
"""The stages whose constant block 0 may differ between draws that wait."""

_BETWEEN = (Stage.TESS_CTRL, Stage.TESS_EVAL, Stage.GEOMETRY)
_Row = tuple[ConstantBuffer | None, ConstantBuffer | None]


class DrawQueue:
    """The draws of a context that wait: one description, and each draw's constants."""

    __slots__ = ("_fragment", "_info", "_rows", "_states", "_vertex")

    def __init__(self, states: DrawStates) -> None:
        self._states = states
        self._vertex, self._fragment = (states.bound.stages[stage] for stage in MERGED_STAGES)
        self._info: DrawInfo | None = None
        self._rows: list[_Row] = []

    def _constants(self) -> _Row:
        """What is bound as block 0 of the vertex and the fragment stage."""
        first, second = self._vertex.constants, self._fragment.constants
        return first[0] if first else None, second[0] if second else None

    def _bind(self, row: _Row) -> None:
        for stage, block in zip(MERGED_STAGES, row, strict=True):
            constants = self._states.bound.stages[stage].constants
            if constants and constants[0] is not block:
                constants[0] = block
                self._states.joiner.forget(stage)

    def joins(self, info: DrawInfo) -> bool:
        """Can a draw become one with those that wait? (They are to be flushed first otherwise.)"""
        if not self._rows:
            return True
        return (info is self._info or info == self._info) and len(self._rows) < MOST

    def submit(self, info: DrawInfo) -> None:
        """Draw now or later; those that wait are like it."""
        if self._rows:
            self._rows.append(self._constants())
            return
        if _can_wait(self._states, info):
            self._info = info
            self._rows.append(self._constants())
            if info.index_buffer is not None:
                info.index_buffer.ref()
        else:
            draw(self._states, info)

    def flush(self) -> None:
        """Execute what waits, with the state that is still bound."""
        rows, info = self._rows, self._info
        if not rows:
            return
        assert info is not None
        self._rows, self._info = [], None
        now = self._constants()
        try:
            if len(rows) >= WORTH_MERGING:
                _draw_many(self._states, info, rows)
            else:
                self._draw_each(info, rows)
        finally:
            self._bind(now)
            if info.index_buffer is not None:
                info.index_buffer.unref()

    def _draw_each(self, info: DrawInfo, rows: list[_Row]) -> None:
        """One after the other; one that fails does not keep the others from being drawn."""
        failure: Exception | None = None
        for row in rows:
            self._bind(row)
            try:
                draw(self._states, info)
            except ResetError:
                raise
            except (GalletteError, MemoryError) as error:
                failure = failure or error
        if failure is not None:
            raise failure


def _can_wait(states: DrawStates, info: DrawInfo) -> bool:
    """A small, plain draw whose programs can run for many draws at once."""
    bound = states.bound
    plain = (
        states.witness is None
        and info.count <= SMALL
        and info.instance_count == 1
        and not info.start_instance
        and info.indirect is None
        and info.count_from_stream_output is None
        and not bound.stream_targets
        and not bound.rasterizer.state.rasterizer_discard
    )
    if not plain or any(element.instance_divisor for element in bound.elements.state):
        return False
    state = states.of(info.mode)
    return (
        state is not None
        and state.fixed.selection.mergeable
        and not any(bound.shaders.get(stage) for stage in _BETWEEN)
    )


def _draw_many(states: DrawStates, info: DrawInfo, rows: list[_Row]) -> None:
    tables = {
        stage: _table([row[number] for row in rows]) for number, stage in enumerate(MERGED_STAGES)
    }
    state = states.merged(info.mode, tables)
    if state is not None:
        states.work.begin()
        with np.errstate(all="ignore"):
            run(state, replace(info, instance_count=len(rows)), merged=True)


def _table(blocks: list[ConstantBuffer | None]) -> ConstantTable:
    """The blocks' bytes, one per row, padded to whole vec4s; one row if all are the same."""
    data = [np.zeros(0, np.uint8) if block is None else block.data for block in blocks]
    size = max(len(d) for d in data)
    if not size:
        return None
    table = np.zeros((len(data), -(-size // 16) * 16), np.uint8)
    if all(len(d) == size for d in data):
        table[:, :size] = np.concatenate(data).reshape(-1, size)
    else:
        for row, each in zip(table, data, strict=True):
            row[: len(each)] = each
    return table
