"""Primitive assembly: the vertices of each point, line and triangle in the vertex stream.

Primitive restart splits the stream into runs. For every mode a run of L vertices has a known number
of primitives, and primitive k of a run has its corners at fixed distances from the run's start; so
all primitives of all runs come from one `repeat` and a few additions.

The provoking vertex (the source of flat values) is corner 0 or the last corner, of quads always the
quad's last, and triangles keep their winding. Quads and polygons are split as in Mesa, with a mask
of their real edges (bit i: from corner i to i + 1), which polygon mode LINE draws.

Primitives for the geometry and tessellation stages have more corners: adjacent vertices (`input_*`)
and those of patches (`patch_*`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.enums import Primitive

from .vertices import Ints

ALL_EDGES = 7

Part = tuple[int, int]
"""A range of a stream's primitives: from one number up to another."""
_REMEMBERED = 1024
"""Streams of up to this many vertices are assembled once per mode and length."""


@lazy_dataclass(frozen=True)
class Runs:
    """Parts of the vertex stream between restarts."""

    start: Ints
    length: Ints

    @classmethod
    def whole(cls, count: int) -> Runs:
        return cls(np.zeros(1, np.int64), np.full(1, count))


@lazy_dataclass()
class Assembled:
    """Primitives of one kind: `corners[n, k]` positions in the stream; k = 1, 2 or 3."""

    corners: Ints
    provoking: Ints
    edges: npt.NDArray[np.uint8] | None = None  # None: every edge is real


def cut_runs(indices: npt.NDArray[np.uint32], restart: int) -> tuple[Ints, Runs]:
    """The positions in the stream that are not restarts, and the runs they form."""
    stops = np.flatnonzero(indices == restart)
    if not len(stops):
        return np.arange(len(indices)), Runs.whole(len(indices))
    starts = np.concatenate(([0], stops + 1))
    lengths = np.concatenate((stops, [len(indices)])) - starts
    kept = np.flatnonzero(indices != restart)
    return kept, Runs(starts - np.arange(len(starts)), lengths)


def placed(runs: Runs, counts: Ints, part: Part | None = None) -> tuple[Ints, Ints | int]:
    """For primitives, `counts` in each run: the number within the run, and the run."""
    first, last = part if part is not None else (0, int(counts.sum()))
    number = np.arange(first, last)
    if len(counts) == 1:
        return number, 0
    ends = np.cumsum(counts)
    if part is None:
        run = np.repeat(np.arange(len(counts)), counts)
    else:
        run = np.searchsorted(ends, number, "right")
    return number - (ends - counts)[run], run


_Corners = tuple[Ints | int, ...]
_Rule = Callable[[Ints, Ints, bool], _Corners]


@lazy_dataclass(frozen=True)
class _Mode:
    """How one mode is assembled: primitives in a run of L, and their corners.

    `corners(k, last, first)` gives offsets from the run's start of primitive k; `last` is L - 1,
    `first` says whether corner 0 is the provoking one. `per` primitives share one k.
    """

    count: Callable[[Ints], Ints]
    corners: tuple[_Rule, ...]
    edges: tuple[tuple[int, int], ...] = ()  # per rule: mask if first-provoking, if last


def _strip(step: int) -> _Rule:
    def rule(k: Ints, last: Ints, first: bool) -> _Corners:
        odd = (k & 1) * step
        at = k * step
        if first:
            return at, at + step + odd, at + 2 * step - odd
        return at + odd, at + step - odd, at + 2 * step

    return rule


def _fan(k: Ints, last: Ints, first: bool) -> _Corners:
    return (k + 1, k + 2, 0) if first else (0, k + 1, k + 2)


def _polygon(k: Ints, last: Ints, first: bool) -> _Corners:
    return (0, k + 1, k + 2) if first else (k + 1, k + 2, 0)


def _half_quad(step: int, corners: tuple[int, int]) -> _Rule:
    """One half of a quad, of which the next begins `step` vertices later: these corners and the
    last one, from which it provokes.
    """

    def rule(k: Ints, last: Ints, first: bool) -> _Corners:
        at = k * step
        a, b, c = at + corners[0], at + corners[1], at + 3
        return (c, a, b) if first else (a, b, c)

    return rule


def _whole_quad(half: int) -> _Rule:
    return lambda k, last, first: (4 * k, 4 * k + 1 + half, 4 * k + 2 + half)


def _line_loop(k: Ints, last: Ints, first: bool) -> _Corners:
    return k, np.where(k == last, 0, k + 1)


_MODES: dict[Primitive, _Mode] = {
    Primitive.POINTS: _Mode(lambda n: n, (lambda k, last, first: (k,),)),
    Primitive.LINES: _Mode(lambda n: n // 2, (lambda k, last, first: (2 * k, 2 * k + 1),)),
    Primitive.LINE_STRIP: _Mode(lambda n: n - 1, (lambda k, last, first: (k, k + 1),)),
    Primitive.LINE_LOOP: _Mode(lambda n: np.where(n > 1, n, 0), (_line_loop,)),
    Primitive.TRIANGLES: _Mode(
        lambda n: n // 3, (lambda k, last, first: (3 * k, 3 * k + 1, 3 * k + 2),)
    ),
    Primitive.TRIANGLE_STRIP: _Mode(lambda n: n - 2, (_strip(1),)),
    Primitive.TRIANGLE_FAN: _Mode(lambda n: n - 2, (_fan,)),
    Primitive.QUADS: _Mode(
        lambda n: n // 4, (_half_quad(4, (0, 1)), _half_quad(4, (1, 2))), ((3, 5), (6, 3))
    ),
    Primitive.QUAD_STRIP: _Mode(
        lambda n: (n - 2) // 2, (_half_quad(2, (2, 0)), _half_quad(2, (0, 1))), ((3, 5), (6, 3))
    ),
    Primitive.POLYGON: _Mode(lambda n: n - 2, (_polygon,)),
    Primitive.LINES_ADJACENCY: _Mode(
        lambda n: n // 4, (lambda k, last, first: (4 * k + 1, 4 * k + 2),)
    ),
    Primitive.LINE_STRIP_ADJACENCY: _Mode(
        lambda n: n - 3, (lambda k, last, first: (k + 1, k + 2),)
    ),
    Primitive.TRIANGLES_ADJACENCY: _Mode(
        lambda n: n // 6, (lambda k, last, first: (6 * k, 6 * k + 2, 6 * k + 4),)
    ),
    Primitive.TRIANGLE_STRIP_ADJACENCY: _Mode(lambda n: (n - 4) // 2, (_strip(2),)),
}


_PLAIN: dict[Primitive, _Mode] = {
    Primitive.QUADS: _Mode(lambda n: n // 4, (_whole_quad(0), _whole_quad(1)), ((3, 3), (6, 6))),
    Primitive.QUAD_STRIP: _Mode(
        lambda n: (n - 2) // 2, (_half_quad(2, (0, 1)), _half_quad(2, (2, 0))), ((6, 3), (3, 5))
    ),
}
"""Quads that Mesa fills without its pipeline of polygon modes, clipping and offset: single ones are
cut from the first to the third corner, those of a strip are cut as always, the other half first.
"""


def assembled_units(mode: Primitive, runs: Runs) -> int:
    """How many units `assemble` counts in `part`: primitives, with a quad as one."""
    return int(np.maximum(_MODES[mode].count(runs.length), 0).sum())


def assemble(
    mode: Primitive,
    runs: Runs,
    provoking_first: bool,
    plain: bool = False,
    part: Part | None = None,
) -> Assembled:
    """The primitives of a stream, in drawing order; the arrays are not to be written.

    With `part`, those from one number to another (see `assembled_units`). How a quad is cut
    (`plain`: see `_PLAIN`) is visible where it is not flat.
    """
    small = part is None and len(runs.start) == 1 and runs.start[0] == 0
    if small and runs.length[0] <= _REMEMBERED:
        return _assemble_small(mode, int(runs.length[0]), provoking_first, plain)
    return _assemble(mode, runs, provoking_first, plain, part)


@lru_cache(maxsize=256)
def _assemble_small(mode: Primitive, count: int, first: bool, plain: bool) -> Assembled:
    """The primitives of a short stream without restarts, which depend on its length only."""
    made = _assemble(mode, Runs.whole(count), first, plain)
    made.corners.flags.writeable = made.provoking.flags.writeable = False
    return made


def _assemble(
    mode: Primitive,
    runs: Runs,
    provoking_first: bool,
    plain: bool,
    part: Part | None = None,
) -> Assembled:
    rules = _PLAIN.get(mode, _MODES[mode]) if plain else _MODES[mode]
    length = runs.length
    counts = np.maximum(rules.count(length), 0)
    k, run = placed(runs, counts, part)
    total = len(k)
    base: Ints = runs.start[run]
    last = length - 1 if isinstance(run, int) else length[run] - 1
    per = len(rules.corners)
    size = len(rules.corners[0](k[:0], last[:0], provoking_first))
    corners = np.empty((total * per, size), np.int64)
    for number, rule in enumerate(rules.corners):
        for column, offset in enumerate(rule(k, last, provoking_first)):
            np.add(offset, base, out=corners[number::per, column])
    edges = None
    if rules.edges:
        masks = [pair[0 if provoking_first else 1] for pair in rules.edges]
        edges = np.tile(np.array(masks, np.uint8), total)
    elif mode is Primitive.POLYGON:
        edges = _polygon_edges(k, last, provoking_first)
    whole = mode is Primitive.QUADS and plain
    provoking = corners[1::2, 2].repeat(2) if whole else corners[:, 0 if provoking_first else -1]
    return Assembled(corners, provoking, edges)


def _polygon_edges(k: Ints, last: Ints, first: bool) -> npt.NDArray[np.uint8]:
    """The edge masks of a polygon split into a fan: inner edges are not real."""
    begins, ends = k == 0, k + 2 == last
    if first:  # corners 0, k + 1, k + 2
        mask = begins * 1 + 2 + ends * 4
    else:  # corners k + 1, k + 2, 0
        mask = 1 + ends * 2 + begins * 4
    return np.asarray(mask, np.uint8)


def polygon_numbers(runs: Runs, count: int, part: Part | None) -> npt.NDArray[np.int32]:
    """Of each of `count` triangles, the number of its polygon: those that have any are counted."""
    triangles = np.maximum(runs.length - 2, 0)
    _, run = placed(runs, triangles, part)
    numbers = np.cumsum(triangles > 0, dtype=np.int32) - np.int32(1)
    return np.broadcast_to(numbers[run], (count,))


_InputRule = tuple[int, int, Callable[[Ints], Ints]]
_WINDOWS: dict[Primitive, _InputRule] = {
    # from one primitive to the next, corners of each, how many a run has
    Primitive.LINES_ADJACENCY: (4, 4, lambda n: n // 4),
    Primitive.LINE_STRIP_ADJACENCY: (1, 4, lambda n: n - 3),
    Primitive.TRIANGLES_ADJACENCY: (6, 6, lambda n: n // 6),
}


def input_units(mode: Primitive, runs: Runs) -> int:
    """How many input primitives a stream has."""
    if mode in _WINDOWS:
        return _units(runs, _WINDOWS[mode][2])
    if mode is Primitive.TRIANGLE_STRIP_ADJACENCY:
        return _units(runs, lambda n: (n - 4) // 2)
    return assembled_units(mode, runs)


def input_corners(
    mode: Primitive, runs: Runs, provoking_first: bool, part: Part | None = None
) -> Ints:
    """Stream positions of each input primitive's vertices, adjacent ones included."""
    if mode in _WINDOWS:
        return _windows(runs, _WINDOWS[mode], part)
    if mode is Primitive.TRIANGLE_STRIP_ADJACENCY:
        return _adjacency_strip(runs, part)
    return assemble(mode, runs, provoking_first, part=part).corners


def patch_units(runs: Runs, size: int) -> int:
    """How many patches a stream has."""
    return _units(runs, lambda n: n // size)


def patch_corners(runs: Runs, size: int, part: Part | None = None) -> Ints:
    """Stream positions of each patch's vertices."""
    return _windows(runs, (size, size, lambda n: n // size), part)


def _units(runs: Runs, count: Callable[[Ints], Ints]) -> int:
    return int(np.maximum(count(runs.length), 0).sum())


def _windows(runs: Runs, rule: _InputRule, part: Part | None) -> Ints:
    step, width, count = rule
    k, run = placed(runs, np.maximum(count(runs.length), 0), part)
    first = runs.start[run] + step * k
    corners: Ints = first[:, None] + np.arange(width)
    return corners


def _adjacency_strip(runs: Runs, part: Part | None) -> Ints:
    """A strip with adjacency: every other vertex belongs to a neighbour; the ends are special."""
    counts = np.maximum((runs.length - 4) // 2, 0)
    k, run = placed(runs, counts, part)
    last = k == counts[run] - 1
    odd = k & 1 == 1
    at = 2 * k
    before = np.where(k == 0, at + 1, at - 2)
    after = np.where(last, at + 5, at + 6)
    columns = (
        np.where(odd, at + 2, at),
        before,
        np.where(odd, at, at + 2),
        np.where(odd, at + 3, after),
        at + 4,
        np.where(odd, after, at + 3),
    )
    corners: Ints = np.stack(columns, axis=1) + np.broadcast_to(runs.start[run], len(k))[:, None]
    return corners
