"""Matching of varyings between programs of a pipeline: outputs with the next stage's inputs, by
name.

A separable program assigns slots to its outer varyings on its own: explicit locations first, then
every variable in order of declaration. Two programs with equal interfaces get equal slots.
Otherwise (an output that is not read, another order), the later program's inputs are moved to the
slots that its neighbour writes: `moves` lists them, and the pass `move_inputs` applies them in a
variant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.modes import DRAWING
from gallette.compiler.nir.ir.slots import VaryingSlot

if TYPE_CHECKING:
    from gallette.compiler.glsl import Varying
    from gallette.state_tracker.shading.programs import Executable

Moves = tuple[tuple[int, int], ...]
"""(slot an input was assigned, slot it is written to)."""

_SLOTS = 32
_known: WeakKeyDictionary[Executable, WeakKeyDictionary[Executable, Moves]] = WeakKeyDictionary()


def input_moves(stages: dict[Stage, Executable], stage: Stage) -> Moves:
    """The moves of a stage's inputs to the slots of the previous stage's outputs."""
    consumer = stages[stage]
    before = DRAWING[: DRAWING.index(stage)]
    producer = next((stages[s] for s in reversed(before) if s in stages), None)
    if producer is None or producer is consumer:
        return ()
    mine = _known.setdefault(consumer, WeakKeyDictionary())
    found = mine.get(producer)
    if found is None:
        found = mine[producer] = _moves(producer.linked.outputs, consumer.linked.inputs)
    return found


def _moves(outputs: Sequence[Varying], inputs: Sequence[Varying]) -> Moves:
    if not outputs:  # only part of a program is used: its outputs are elsewhere
        return ()
    written = {(v.name, v.patch): v for v in outputs if v.location >= 0 and not v.explicit}
    moving = [v for v in inputs if v.location >= 0 and not v.explicit]
    partners = [(v, written.get((v.name, v.patch))) for v in moving]
    if all(w is None or w.location == v.location for v, w in partners):
        return ()
    found: list[tuple[int, int]] = []
    taken = {v.location + i for v in outputs for i in range(v.slots)}
    taken |= {v.location + i for v in inputs if v.explicit for i in range(v.slots)}
    for v, w in partners:
        first = VaryingSlot.PATCH0 if v.patch else VaryingSlot.VAR0
        target = w.location if w is not None else _free(taken, v.slots)
        if target is not None:
            found += [(first + v.location + i, first + target + i) for i in range(v.slots)]
    return tuple(pair for pair in found if pair[0] != pair[1])


def _free(taken: set[int], count: int) -> int | None:
    """Slots that are not written, for an input without a matching output."""
    for start in range(_SLOTS - count + 1):
        run = range(start, start + count)
        if taken.isdisjoint(run):
            taken.update(run)
            return start
    return None
