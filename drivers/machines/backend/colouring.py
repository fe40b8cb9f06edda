"""Colours an interference graph with registers of several sizes, after Chaitin and Briggs.

A node is easy if a register is left for it however its neighbours are coloured. Simplification
removes easy nodes first, then the cheapest to spill; in reverse order each node gets the lowest
free register. A node without a free register must be spilled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


def bits_of(mask: int) -> Iterator[int]:
    """The numbers of the set bits."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def colour(
    names: set[int],
    graph: Mapping[int, int],
    sizes: Sequence[int],
    aligned: Mapping[int, int],
    costs: Mapping[int, float],
    first: int,
    room: int,
) -> tuple[dict[int, int], list[int]]:
    """Assign registers; returns them by virtual register, and the virtual registers that got none.

    `graph` has a mask of neighbours for each of `names`; a register is a multiple of the alignment
    in `aligned` (else of 1), at least `first` and below `room`.
    """
    neighbours = {nr: list(bits_of(graph.get(nr, 0))) for nr in names}
    weight: dict[int, int] = {}
    space: dict[int, int] = {}
    for nr in names:
        size, step = sizes[nr], aligned.get(nr, 1)
        space[nr] = (room - first - size) // step + 1
        weight[nr] = sum(-(-(size + sizes[o] - 1) // step) for o in neighbours[nr])
    stack: list[int] = []
    left = set(names)
    ready = sorted((nr for nr in names if weight[nr] < space[nr]), reverse=True)
    while left:
        if ready:
            nr = ready.pop()
            if nr not in left:
                continue
        else:
            nr = min(left, key=lambda n: (costs.get(n, 0.0) / (weight[n] + 1), n))
        left.discard(nr)
        stack.append(nr)
        size = sizes[nr]
        for other in neighbours[nr]:
            if other in left:
                before = weight[other]
                step = aligned.get(other, 1)
                weight[other] = before - -(-(size + sizes[other] - 1) // step)
                if weight[other] < space[other] <= before:
                    ready.append(other)
    places: dict[int, int] = {}
    failed: list[int] = []
    for nr in reversed(stack):
        taken = 0
        for other in neighbours[nr]:
            at = places.get(other)
            if at is not None:
                taken |= ((1 << sizes[other]) - 1) << at
        place = _lowest(taken, sizes[nr], aligned.get(nr, 1), first, room)
        if place is None:
            failed.append(nr)
        else:
            places[nr] = place
    return places, failed


_SHORT = 6
"""Spilling a value with a live range this short, in instructions, frees no register."""


def victims(
    touched: Iterable[Iterable[int]],
    graph: Mapping[int, int],
    sizes: Sequence[int],
    costs: Mapping[int, float],
    failed: Sequence[int],
    may: Callable[[int], bool],
) -> list[int]:
    """Choose values to spill: for each value without a register, the neighbour whose removal frees
    most for its cost.

    One victim can free a register for several values, unless their live ranges overlap.

    `touched` are the registers of each instruction, in order; `may` says which can be spilled.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at, registers in enumerate(touched):
        for nr in registers:
            first.setdefault(nr, at)
            last[nr] = at

    def price(nr: int) -> float:
        degree = sum(sizes[other] for other in bits_of(graph.get(nr, 0)))
        return costs[nr] / (sizes[nr] * (degree + 1))

    served: dict[int, list[int]] = {}  # by victim, the values it makes room for

    def makes_room(victim: int, nr: int) -> bool:
        """Whether the value can take the victim's register, beside the values already
        placed there.
        """
        mine = graph.get(nr, 0)
        others = [other for other in served[victim] if mine >> other & 1]
        return not others or sum(sizes[o] for o in (nr, *others)) <= sizes[victim]

    for nr in failed:
        around = {nr, *bits_of(graph.get(nr, 0))}
        found = next((n for n in served if n in around and makes_room(n, nr)), None)
        if found is None:
            free = [n for n in around if n in first and n not in served and may(n)]
            long = [n for n in free if last[n] - first[n] > _SHORT]
            if not free:
                continue
            found = min(long or free, key=lambda n: (price(n), n))
        served.setdefault(found, []).append(nr)
    return sorted(served)


def merged(
    graph: dict[int, int], pairs: Iterable[tuple[int, int]], fit: Callable[[int, int], bool]
) -> dict[int, int]:
    """Names for the destinations of copies (to, from) that can share a register with their source.

    `graph` is updated; `fit` says whether two virtual registers may be coalesced at all.
    """
    names: dict[int, int] = {}

    def root(nr: int) -> int:
        while nr in names:
            nr = names[nr]
        return nr

    for to, source in pairs:
        a, b = root(to), root(source)
        if a == b or graph.get(a, 0) >> b & 1 or not fit(a, b):
            continue
        names[b] = a
        neighbours = graph.get(b, 0)
        graph[a] = graph.get(a, 0) | neighbours
        for other in bits_of(neighbours):
            graph[other] |= 1 << a
    return {nr: root(nr) for nr in names}


def _lowest(taken: int, size: int, step: int, first: int, room: int) -> int | None:
    wanted = (1 << size) - 1
    at = -(-first // step) * step
    while at + size <= room:
        if not taken >> at & wanted:
            return at
        at += step
    return None
