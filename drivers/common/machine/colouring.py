"""Colouring an interference graph with registers of several sizes, after Chaitin and Briggs.

A node is easy if, however its neighbours are placed, a place is left for it. Easy nodes are taken
off first, then the cheapest to spill, and the other way round they get the lowest place that is
free. What gets none must be spilled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

__all__ = ["bits_of", "colour"]


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
    """Places by virtual register, and those that got none.

    `graph` has a mask of neighbours for each of `names`; a place is a multiple of what `aligned`
    says (else of 1), from `first` on and below `room`.
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


def _lowest(taken: int, size: int, step: int, first: int, room: int) -> int | None:
    wanted = (1 << size) - 1
    at = -(-first // step) * step
    while at + size <= room:
        if not taken >> at & wanted:
            return at
        at += step
    return None
