"""Packing of varyings: small ones share a slot.

Works on two linked, lowered stages. Every generic slot the fragment shader reads is a group of
components with one way of interpolation; groups of the same way are placed first-fit, largest
first, into slots from VAR0 on. Loads and stores are then renamed. Slots that are indexed
dynamically, captured by transform feedback, or hold 64-bit values stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.questions import const_int, intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot

_LOADS = ("load_input", "load_interpolated_input")


@dataclass(slots=True)
class _Group:
    """The components of one slot that are read: `first` to `last`."""

    slot: int
    way: str
    first: int
    last: int
    movable: bool = True

    @property
    def size(self) -> int:
        return self.last - self.first + 1


@dataclass(slots=True)
class _Place:
    slot: int
    component: int


def pack_varyings(
    producer: Shader, consumer: Shader, *, keep: frozenset[int] = frozenset()
) -> bool:
    """Renumber generic varyings so that they fill as few slots as possible."""
    if consumer.stage is not Stage.FRAGMENT or producer.stage is Stage.TESS_CTRL:
        return False
    groups = _groups(consumer, keep)
    _pin_outputs(producer, groups)
    places = _assign(groups)
    if all(p.slot == s and p.component == groups[s].first for s, p in places.items()):
        return False
    for load in _generic(consumer, *_LOADS):
        place = places.get(_slot(load))
        if place is not None:
            load["component"] += place.component - groups[_slot(load)].first
            load["location"] = VaryingSlot(place.slot)
    for store in _generic(producer, "store_output"):
        place = places.get(_slot(store))
        if place is not None:
            _move_store(producer, store, groups[_slot(store)], place)
    for shader in (producer, consumer):
        for impl in shader.impls():
            impl.preserve(Metadata.CONTROL_FLOW)
    return True


def _generic(shader: Shader, *names: str) -> list[Intrinsic]:
    found = []
    for impl in shader.impls():
        for instr in intrinsics_of(impl, *names):
            slot = instr["location"]
            if isinstance(slot, VaryingSlot) and slot.is_generic:
                found.append(instr)
    return found


def _slot(instr: Intrinsic) -> int:
    return int(instr["location"]) + (const_int(instr.srcs[-1].value) or 0)


def _is_simple(instr: Intrinsic, bit_size: int) -> bool:
    constant = const_int(instr.srcs[-1].value)
    return constant == 0 and instr["num_slots"] == 1 and bit_size == 32


def _way(load: Intrinsic) -> str:
    """How the value gets from the vertices to the fragment."""
    if load.name == "load_input":
        return "flat"
    bary = load.srcs[0].value.instr
    if not isinstance(bary, Intrinsic):
        return "unknown"
    return f"{bary['interp']}"


def _groups(consumer: Shader, keep: frozenset[int]) -> dict[int, _Group]:
    groups: dict[int, _Group] = {}
    for load in _generic(consumer, *_LOADS):
        first = load["component"]
        last = first + load.result.num_components - 1
        for slot in range(_slot(load), _slot(load) + load["num_slots"]):
            group = groups.setdefault(slot, _Group(slot, _way(load), first, last))
            group.first, group.last = min(group.first, first), max(group.last, last)
            if not _is_simple(load, load.result.bit_size) or group.way != _way(load):
                group.movable = False
            if slot in keep or group.way == "unknown":
                group.movable = False
    return groups


def _pin_outputs(producer: Shader, groups: dict[int, _Group]) -> None:
    """Outputs stored or read in a way we cannot rename stay."""
    for store in _generic(producer, "store_output"):
        if not _is_simple(store, store.srcs[0].value.bit_size):
            for slot in range(_slot(store), _slot(store) + max(store["num_slots"], 1)):
                if slot in groups:
                    groups[slot].movable = False
    for load in _generic(producer, "load_output"):
        if _slot(load) in groups:
            groups[_slot(load)].movable = False


def _assign(groups: dict[int, _Group]) -> dict[int, _Place]:
    """First fit, largest groups first; pinned slots are taboo."""
    pinned = {g.slot for g in groups.values() if not g.movable}
    used: dict[int, tuple[str, int]] = {}
    places: dict[int, _Place] = {}
    movable = sorted((g for g in groups.values() if g.movable), key=lambda g: (-g.size, g.slot))
    for group in movable:
        for slot in range(VaryingSlot.VAR0, VaryingSlot.VAR31 + 1):
            if slot in pinned:
                continue
            way, filled = used.get(slot, (group.way, 0))
            if way == group.way and filled + group.size <= 4:
                used[slot] = (way, filled + group.size)
                places[group.slot] = _Place(slot, filled)
                break
    return places


def _move_store(shader: Shader, store: Intrinsic, group: _Group, place: _Place) -> None:
    value = store.srcs[0].value
    first = store["component"]
    wanted = range(max(first, group.first), min(first + value.num_components - 1, group.last) + 1)
    mask = 0
    for i, component in enumerate(wanted):
        if store["write_mask"] >> (component - first) & 1:
            mask |= 1 << i
    if not mask:
        store.remove()
        return
    b = Builder(shader.entry).at_before(store)
    store.srcs[0].rewrite(b.swizzle(value, [component - first for component in wanted]))
    store["write_mask"] = mask
    store["component"] = place.component + wanted[0] - group.first
    store["location"] = VaryingSlot(place.slot)
