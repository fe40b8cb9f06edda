"""Slots of varyings: explicit locations, then first fit, packed if there are too many."""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.link.stage_interface import InterfaceVariable, StageInterface
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import stored_type

__all__ = ["assign_slots", "check_overlaps"]

_MAX_VARYINGS = 32


def check_overlaps(interface: StageInterface, found: list[InterfaceVariable]) -> None:
    """Check that no two variables share a component of a location."""
    if not any(variable.explicit >= 0 for variable in found):
        return
    taken: dict[tuple[int, int], InterfaceVariable] = {}
    neighbours: dict[int, InterfaceVariable] = {}
    limit = interface.limits.max_varying_vectors
    for variable in found:
        if variable.explicit < 0:
            continue
        element = variable.shape.without_array
        width = element.rows * (2 if element.bit_size == 64 else 1) if element.rows else 4
        slots = variable.shape.slots()
        if variable.explicit + slots > limit and not variable.quals.patch:
            interface.log.error(
                f"location {variable.explicit} of '{variable.label}' exceeds the limit"
            )
            continue
        for i in range(slots):
            location = variable.explicit + i
            part = min(width - 4 * (i % 2), 4) if width > 4 else width
            for c in range(variable.component, min(4, variable.component + max(part, 0))):
                other = taken.setdefault((location, c), variable)
                if other is not variable:
                    interface.log.error(
                        f"'{other.label}' and '{variable.label}' share location {location}"
                    )
                    return
            other = neighbours.setdefault(location, variable)
            if different := _difference(other, variable):
                interface.log.error(
                    f"'{other.label}' and '{variable.label}' share a location with different "
                    f"{different}"
                )
                return


def _difference(a: InterfaceVariable, b: InterfaceVariable) -> str:
    """What variables with components of one location may not differ in."""
    x, y = a.shape.without_array, b.shape.without_array
    if a is b or x.is_struct or y.is_struct:
        return ""
    if x.is_float != y.is_float or x.bit_size != y.bit_size:
        return "types"
    if (a.quals.interpolation or "smooth") != (b.quals.interpolation or "smooth"):
        return "interpolation"
    storage = [(v.quals.centroid, v.quals.sample, v.quals.patch) for v in (a, b)]
    return "" if storage[0] == storage[1] else "auxiliary storage"


def assign_slots(interface: StageInterface) -> None:
    """Assign slots: explicit locations first, then the others in order, matched pairs together."""
    taken: set[int] = set()
    patches: set[int] = set()
    for variable in [*interface.outputs, *interface.inputs]:
        if variable.explicit >= 0:
            variable.location = variable.explicit
            pool = patches if variable.quals.patch else taken
            pool.update(range(variable.location, variable.location + variable.shape.slots()))
    pack(interface, taken)
    for variable in interface.outputs:
        if variable.location < 0 and is_needed_output(interface, variable):
            pool = patches if variable.quals.patch else taken
            variable.location = take_slots(interface, pool, variable)
            if variable.partner is not None:
                variable.partner.location = variable.location
    for variable in interface.inputs:
        if variable.location < 0 and variable.live:
            if variable.partner is not None and variable.partner.location >= 0:
                variable.location = variable.partner.location
            else:
                pool = patches if variable.quals.patch else taken
                variable.location = take_slots(interface, pool, variable)
    check_slot_limits(interface)
    if interface.producer is not None:
        make_variables(interface, interface.producer, interface.outputs, Mode.SHADER_OUT)
    if interface.consumer is not None:
        make_variables(interface, interface.consumer, interface.inputs, Mode.SHADER_IN)


def pack(interface: StageInterface, taken: set[int]) -> None:
    """Pack components without gaps if one variable per slot does not fit.

    Vectors, columns and elements may then begin in one slot and end in the next. Varyings with
    different interpolation share no slot. A stage whose neighbour is linked separately keeps the
    plain layout, which both can derive.
    """
    waiting = [
        p
        for p in interface.outputs
        if p.location < 0 and is_needed_output(interface, p) and not p.quals.patch
    ]
    if interface.consumer is None and interface.separable:
        return
    if len(taken) + sum(p.shape.slots() for p in waiting) <= _MAX_VARYINGS:
        return
    first = max(taken, default=-1) + 1
    at = 4 * first
    classes: dict[tuple[object, ...], list[InterfaceVariable]] = {}
    for variable in waiting:
        classes.setdefault((variable.partner or variable).packing_class, []).append(variable)
    for members in classes.values():
        for variable in members:
            for end in (variable, variable.partner):
                if end is not None:
                    end.location, end.packed = at // 4, at
            at += variable.shape.words
        at = -(-at // 4) * 4
    taken.update(range(first, at // 4))


def is_needed_output(interface: StageInterface, variable: InterfaceVariable) -> bool:
    if variable.captured or interface.consumer is None:
        return True
    if variable.partner is not None and variable.partner.live:
        return True
    assert interface.producer is not None
    return interface.producer.stage is Stage.TESS_CTRL and variable.live


def take_slots(interface: StageInterface, pool: set[int], variable: InterfaceVariable) -> int:
    count = variable.shape.slots()
    start = 0
    while not pool.isdisjoint(range(start, start + count)):
        start += 1
    pool.update(range(start, start + count))
    return start


def check_slot_limits(interface: StageInterface) -> None:
    for variable in interface.outputs:
        if (
            variable.location >= 0
            and is_needed_output(interface, variable)
            and not variable.quals.patch
        ):
            if variable.location + variable.slots > _MAX_VARYINGS:
                interface.log.error(f"too many varyings: '{variable.label}' finds no slot")
                return
    for variable in interface.inputs:
        if variable.location + variable.slots > _MAX_VARYINGS and not variable.quals.patch:
            interface.log.error(f"too many varyings: '{variable.label}' finds no slot")
            return


def make_variables(
    interface: StageInterface, unit: StageUnit, found: list[InterfaceVariable], mode: Mode
) -> None:
    stage_variables = interface.variables[unit.stage]
    for variable in found:
        needed = variable.location >= 0 and (
            mode is Mode.SHADER_IN
            or is_needed_output(interface, variable)
            or variable.explicit >= 0
        )
        if mode is Mode.SHADER_IN and not variable.live:
            continue
        nir = make_varying(variable, mode if needed else Mode.SHADER_TEMP)
        if variable.member >= 0:
            stage_variables.members[variable.var, variable.member] = nir
        else:
            stage_variables.variables[variable.var] = nir


def make_varying(variable: InterfaceVariable, mode: Mode) -> Variable:
    """The NIR variable of an interface variable."""
    quals = variable.quals
    place: dict[str, Any] = {}
    if mode is not Mode.SHADER_TEMP:
        first = VaryingSlot.PATCH0 if quals.patch else VaryingSlot.VAR0
        place = {
            "location": first + variable.location,
            "component": variable.component,
            "explicit_location": variable.explicit >= 0,
            "per_vertex": variable.per_vertex,
            "packed": variable.packed >= 0,
        }
    return Variable(
        variable.label,
        stored_type(variable.type),
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
