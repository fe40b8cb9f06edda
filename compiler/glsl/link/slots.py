"""Slots of varyings: explicit locations, then first fit, packed where there are too many."""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.link.ports import Edge, Port
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import stored_type

__all__ = ["assign_slots", "check_overlaps"]

_MAX_VARYINGS = 32


def check_overlaps(edge: Edge, found: list[Port]) -> None:
    """No two variables may share a component of a location."""
    if not any(port.explicit >= 0 for port in found):
        return
    taken: dict[tuple[int, int, bool], Port] = {}
    limit = edge.limits.max_varying_vectors
    for port in found:
        if port.explicit < 0:
            continue
        element = port.shape.without_array
        width = element.rows * (2 if element.bit_size == 64 else 1) if element.rows else 4
        slots = port.shape.slots()
        if port.explicit + slots > limit and not port.quals.patch:
            edge.log.error(f"location {port.explicit} of '{port.label}' exceeds the limit")
            continue
        for i in range(slots):
            part = min(width - 4 * (i % 2), 4) if width > 4 else width
            for c in range(port.component, min(4, port.component + max(part, 0))):
                key = (port.explicit + i, c, port.quals.patch)
                other = taken.setdefault(key, port)
                if other is not port:
                    edge.log.error(f"'{other.label}' and '{port.label}' share location {key[0]}")
                    return
        for other in found:
            if other is port or other.explicit != port.explicit or element.is_struct:
                continue
            x, y = other.shape.without_array, element
            if x.is_struct or other.quals.patch != port.quals.patch:
                continue
            if x.is_float != y.is_float or x.bit_size != y.bit_size:
                edge.log.error(
                    f"'{other.label}' and '{port.label}' share a location with different types"
                )
                return


def assign_slots(edge: Edge) -> None:
    """Explicit locations first, then everything else in order, matched pairs together."""
    taken: set[int] = set()
    patches: set[int] = set()
    for port in [*edge.outputs, *edge.inputs]:
        if port.explicit >= 0:
            port.location = port.explicit
            pool = patches if port.quals.patch else taken
            pool.update(range(port.location, port.location + port.shape.slots()))
    pack(edge, taken)
    for port in edge.outputs:
        if port.location < 0 and is_needed_output(edge, port):
            pool = patches if port.quals.patch else taken
            port.location = take_slots(edge, pool, port)
            if port.partner is not None:
                port.partner.location = port.location
    for port in edge.inputs:
        if port.location < 0 and port.live:
            if port.partner is not None and port.partner.location >= 0:
                port.location = port.partner.location
            else:
                pool = patches if port.quals.patch else taken
                port.location = take_slots(edge, pool, port)
    check_slot_limits(edge)
    if edge.producer is not None:
        make_variables(edge, edge.producer, edge.outputs, Mode.SHADER_OUT)
    if edge.consumer is not None:
        make_variables(edge, edge.consumer, edge.inputs, Mode.SHADER_IN)


def pack(edge: Edge, taken: set[int]) -> None:
    """When one variable a slot is too many, components follow each other without gaps.

    Vectors, columns and elements may then begin in one slot and end in the next. Varyings that
    are interpolated differently share no slot. A stage whose neighbour is linked elsewhere keeps
    the plain layout, which both can derive.
    """
    waiting = [
        p
        for p in edge.outputs
        if p.location < 0 and is_needed_output(edge, p) and not p.quals.patch
    ]
    if edge.consumer is None and edge.separable:
        return
    if len(taken) + sum(p.shape.slots() for p in waiting) <= _MAX_VARYINGS:
        return
    first = max(taken, default=-1) + 1
    at = 4 * first
    classes: dict[tuple[object, ...], list[Port]] = {}
    for port in waiting:
        classes.setdefault((port.partner or port).packing_class, []).append(port)
    for members in classes.values():
        for port in members:
            for end in (port, port.partner):
                if end is not None:
                    end.location, end.packed = at // 4, at
            at += port.shape.words
        at = -(-at // 4) * 4
    taken.update(range(first, at // 4))


def is_needed_output(edge: Edge, port: Port) -> bool:
    if port.captured or edge.consumer is None:
        return True
    if port.partner is not None and port.partner.live:
        return True
    assert edge.producer is not None
    return edge.producer.stage is Stage.TESS_CTRL and port.live


def take_slots(edge: Edge, pool: set[int], port: Port) -> int:
    count = port.shape.slots()
    start = 0
    while not pool.isdisjoint(range(start, start + count)):
        start += 1
    pool.update(range(start, start + count))
    return start


def check_slot_limits(edge: Edge) -> None:
    for port in edge.outputs:
        if port.location >= 0 and is_needed_output(edge, port) and not port.quals.patch:
            if port.location + port.slots > _MAX_VARYINGS:
                edge.log.error(f"too many varyings: '{port.label}' finds no slot")
                return
    for port in edge.inputs:
        if port.location + port.slots > _MAX_VARYINGS and not port.quals.patch:
            edge.log.error(f"too many varyings: '{port.label}' finds no slot")
            return


def make_variables(edge: Edge, unit: StageUnit, found: list[Port], mode: Mode) -> None:
    stage_variables = edge.variables[unit.stage]
    for port in found:
        needed = port.location >= 0 and (
            mode is Mode.SHADER_IN or is_needed_output(edge, port) or port.explicit >= 0
        )
        if mode is Mode.SHADER_IN and not port.live:
            continue
        nir = make_varying(port, mode if needed else Mode.SHADER_TEMP)
        if port.member >= 0:
            stage_variables.members[port.var, port.member] = nir
        else:
            stage_variables.variables[port.var] = nir


def make_varying(port: Port, mode: Mode) -> Variable:
    """The NIR variable of a port."""
    quals = port.quals
    place: dict[str, Any] = {}
    if mode is not Mode.SHADER_TEMP:
        first = VaryingSlot.PATCH0 if quals.patch else VaryingSlot.VAR0
        place = {
            "location": first + port.location,
            "component": port.component,
            "explicit_location": port.explicit >= 0,
            "per_vertex": port.per_vertex,
            "packed": port.packed >= 0,
        }
    return Variable(
        port.label,
        stored_type(port.type),
        mode,
        interpolation=quals.interpolation or "none",
        centroid=quals.centroid,
        sample=quals.sample,
        patch=quals.patch,
        invariant=quals.invariant,
        precise=quals.precise,
        stream=quals.layout.get("stream", 0),
        **place,
    )
