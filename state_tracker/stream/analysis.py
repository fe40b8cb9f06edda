"""What follows from the calls of a batch alone, and from the state before them.

Programs make the same calls in each frame, with other uniforms and other data. So an analysis is
kept (`Stream`) for the next batch of the same calls, as long as the state before them is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.pipe.state import TextureWrite
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.texturing.teximage import texture_write

from .calls import CALLS, NUMBERS, Ints, Role, distinct
from .states import Hashes, Numbers, Settings, States, kind_of
from .uniforms import Uniforms, Written

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.stream.stream import Stream

_ROLE = {role: number for number, role in enumerate(Role)}
_ROLES = np.array([_ROLE[call.role] for call in CALLS])
_ENTRIES = np.array([call.role not in (Role.STATE, Role.UNIFORM) for call in CALLS])
_BEGINS = np.array([call.begins for call in CALLS])
_BEGIN = NUMBERS["BeginQuery"]
_POINTERS = {Role.WRITE: 4, Role.TEXELS: 9}
"""The word that points at copied data."""
_COPIED = 1
"""The memory of `Pieces` that holds data for buffers and textures; 0 holds uniforms."""


def _size_of(ctx: Context, name: int) -> int:
    """The size of a buffer; -1 if there is none."""
    buffer = ctx.buffers.names.get(name) if name else None
    return -1 if buffer is None else buffer.size


def is_ambiguous(name: int, named: Any, bound: Iterable[Any]) -> bool:
    """Whether another object is bound by that name, which another context has deleted. A call finds
    out which of both it means.
    """
    return any(each is not None and each.name == name and each is not named for each in bound)


class Analysis:
    """The states of a batch, and its entries: draws, clears, writes and queries, each of a kind."""

    def __init__(
        self, stream: Stream, rows: Ints, numbers: Numbers, values: Hashes, written: Written
    ) -> None:
        """`values`: the hashes of the calls."""
        self.numbers = numbers
        self.states = States(stream, rows, numbers, values)
        roles = _ROLES[numbers]
        where = (roles == _ROLE[Role.UNIFORM]).nonzero()[0]
        self.uniforms = Uniforms(stream.ctx, rows, where, self.states.program(where), written)
        self._sets_only = bool((roles == _ROLE[Role.STATE]).all())
        slots, first = np.unique(self.states.value, return_index=True)
        self._values = dict(zip(slots.tolist(), self.states.place[first].tolist(), strict=True))
        self.entries = _ENTRIES[numbers].nonzero()[0]
        self.keys: list[int] = []  # of the kinds of draws and clears, which come first
        self.written: list[int] = []  # names of buffers, of two kinds each: the second is an error
        self._boxes: list[tuple[int, ...]] = []  # of textures that are written, a kind each
        self._first_boxes: list[int] = []  # of each level
        self._texture_writes: list[TextureWrite | None] = []
        self.which = np.empty(len(self.entries), np.int64)
        if len(self.entries):
            self._find_entries(rows, roles[self.entries], values, stream.fixed_state)

    def holds(self, stream: Stream, rows: Ints, written: Written) -> bool:
        """Whether it is the analysis of these commands, which make the same calls, too."""
        return self.states.hold(stream, rows) and self.uniforms.hold(rows, written)

    def unaccepted(self, accepted: Set[int]) -> list[int]:
        """The commands that set a slot to a value for the first time, which may be errors; none,
        once all were `accepted`.
        """
        if self._values:
            values = self._values.items()
            found = sorted({place for value, place in values if value not in accepted})
            if found:
                return found
            self._values = {}
        return []

    @property
    def sets(self) -> Settings | None:
        """What the calls set, if they only set state. Uniforms are none: some choose a sampler's
        unit, which depends on the program.
        """
        return self.states.last if self._sets_only else None

    def _find_entries(self, rows: Ints, roles: Ints, values: Hashes, fixed: int) -> None:
        """Find draws, clears, writes and queries, and the kind of each."""
        at = self.entries
        self.begins = _BEGINS[self.numbers[at]]
        of = {role: (roles == _ROLE[role]).nonzero()[0] for role in Role}
        self._add_drawn(at, of[Role.DRAW], of[Role.CLEAR], values, np.uint64(fixed))
        count = self._add_writes(rows, of[Role.WRITE], len(self.keys))
        count = self._add_texels(rows, of[Role.TEXELS], count)
        self.asked = of[Role.QUERY]
        self.which[self.asked] = count + np.arange(len(self.asked))
        asked = rows[at[self.asked]]
        self.begun: list[int] = asked[asked[:, 0] == _BEGIN, 2].tolist()  # names of queries
        self.queries: Any = None  # what was found about these (see `Batch`)
        programs = self.states.program(at[of[Role.DRAW]])
        self.drawn: list[tuple[int, Ints, Ints]] = []  # of each program: which, and where
        for name in distinct(programs):
            some = of[Role.DRAW][programs == name]
            self.drawn.append((name, some, at[some]))
        # Entries with data of their own: which, where, and the word that points at it.
        self.copied = [
            (of[role], at[of[role]], word) for role, word in _POINTERS.items() if len(of[role])
        ]
        self.sizes, self.memories = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
        for some, places, _ in self.copied:
            self.memories[some] = _COPIED
            self.sizes[some] = rows[places, 3]
        texels = rows[at[of[Role.TEXELS]]]
        self.sizes[of[Role.TEXELS]] = 4 * texels[:, 5] * texels[:, 6]

    def _add_drawn(
        self, at: Ints, draws: Ints, clears: Ints, values: Hashes, fixed: np.uint64
    ) -> None:
        """Add draws and clears. `fixed`: `Stream.fixed_state`."""
        some = np.concatenate((draws, clears))
        states = np.concatenate(
            (self.states.for_draws(at[draws]) + fixed, self.states.for_clears(at[clears]))
        )
        found, which = np.unique(kind_of(values[at[some]], states), return_inverse=True)
        self.which[some] = which
        self.keys = found.tolist()

    def _add_writes(self, rows: Ints, some: Ints, count: int) -> int:
        """Add writes to buffers: their kind is the buffer."""
        at = self.entries[some]
        targets, names = rows[at, 1], np.zeros(len(at), np.int64)
        for target in distinct(targets):
            names = np.where(targets == target, self.states.buffer(target, at), names)
        ends = rows[at, 2] + rows[at, 3]
        self.written = distinct(names)
        for name in self.written:
            these = (names == name).nonzero()[0]
            good = (rows[at[these], 2] >= 0) & (ends[these] <= self.states.before(_size_of, name))
            self.which[some[these]] = np.where(good, count, count + 1)
            count += 2
        return count

    def _add_texels(self, rows: Ints, some: Ints, count: int) -> int:
        """Add writes to textures: each box of a level is a kind."""
        if not len(some):
            return count
        at = self.entries[some]
        rows = rows[at, 1:7]
        rows[:, 0] = np.where(
            rows[:, 0] == GL.TEXTURE_2D, self.states.texture(int(GL.TEXTURE_2D), at), 0
        )
        found: dict[tuple[int, ...], int] = {}
        for entry, row in zip(some.tolist(), map(tuple, rows.tolist()), strict=True):
            self.which[entry] = found.setdefault(row, count + len(found))
        self._boxes = list(found)
        levels = [box[:2] for box in self._boxes]
        self._first_boxes = [levels.index(level) for level in dict.fromkeys(levels)]
        return count + len(found)

    def texture_writes(self, ctx: Context) -> list[TextureWrite | None]:
        """The writes to textures. Other storage of a texture would have ended the analysis, unless
        that of a level differs; so it is enough to look at the first box of each level.
        """
        known, boxes = self._texture_writes, self._boxes
        if ctx.group.crowded:
            for name in {box[0] for box in boxes}:
                bound = [unit.bound[GL.TEXTURE_2D] for unit in ctx.textures.units]
                if is_ambiguous(name, ctx.textures.names.get(name), bound):
                    return [None] * len(boxes)
        if not known or any(texture_write(ctx, *boxes[n]) != known[n] for n in self._first_boxes):
            self._texture_writes = [texture_write(ctx, *box) for box in boxes]
        return self._texture_writes
