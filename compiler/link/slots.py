"""Slots of varyings: explicit locations first, then first fit, packed if there are too many (OpenGL
4.6, 11.1.2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import Varying
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import Type

_MAX_VARYINGS = 32


@lazy_dataclass(eq=False)
class Port:
    """An input or output of a stage, or of one member of a block, as the stage declares it."""

    var: Variable
    """its variable, whose slot the linker sets"""
    type: Type
    """as declared, with the per-vertex dimension"""
    explicit: int = -1
    """the declared location"""
    live: bool = False
    captured: bool = False
    """whether transform feedback keeps it"""
    partner: Port | None = None
    """what the neighbouring stage declares for it"""
    location: int = -1
    """the first slot, counted from that of generic varyings or of patches"""

    @property
    def label(self) -> str:
        return self.var.name

    @property
    def shape(self) -> Type:
        """The type of one vertex's value."""
        if self.var.per_vertex and self.type.element is not None:
            return self.type.element
        return self.type

    @property
    def packing_class(self) -> tuple[object, ...]:
        """Varyings with equal packing class may share a slot, since they are interpolated alike."""
        leaves, var = self.shape.leaves(), self.var
        flat = var.interpolation == "flat" or any(
            leaf.is_integer or leaf.has_handle or leaf.bit_size == 64 for leaf in leaves
        )
        how = "flat" if flat else var.interpolation.replace("none", "smooth")
        return (how, var.centroid, var.sample, var.stream)

    @property
    def slots(self) -> int:
        """The number of slots it occupies, from `location` on."""
        if self.var.packed:
            return (self.var.component + self.shape.words + 3) // 4
        return self.shape.slots()

    def varying(self, stage: Stage) -> Varying:
        """What queries of the program's interface see of it (OpenGL 4.6, 7.4.1)."""
        type_ = self.type
        return Varying(
            *(self.label, type_.without_array, self.location),
            *(type_.length if type_.is_array else 0, stage, self.shape.slots()),
            *(self.explicit >= 0, self.var.patch),
        )


P = TypeVar("P", bound=Port)


@lazy_dataclass(eq=False)
class Interface(Generic[P]):
    """The interface between two neighbouring stages, or between one stage and fixed function."""

    producer: Stage | None
    consumer: Stage | None
    outputs: list[P]
    inputs: list[P]
    limits: Limits
    log: LinkLog
    separable: bool


def within_limits(found: Sequence[Port], limits: Limits, log: LinkLog) -> list[Port]:
    """The ports with declared locations; those beyond the last location are errors."""
    limit, declared = limits.max_varying_vectors, [port for port in found if port.explicit >= 0]
    beyond = [p for p in declared if p.explicit + p.shape.slots() > limit and not p.var.patch]
    for port in beyond:
        log.error(f"location {port.explicit} of '{port.label}' exceeds the limit")
    return [port for port in declared if port not in beyond]


def check_overlaps(found: Sequence[Port], limits: Limits, log: LinkLog) -> None:
    """Check that no two variables share a component of a location (GLSL 4.60, 4.4.1)."""
    taken: dict[tuple[int, int], Port] = {}
    neighbours: dict[int, Port] = {}
    for variable in within_limits(found, limits, log):
        element = variable.shape.without_array
        width = element.rows * (2 if element.bit_size == 64 else 1) if element.rows else 4
        for i in range(variable.shape.slots()):
            location, component = variable.explicit + i, variable.var.component
            part = min(width - 4 * (i % 2), 4) if width > 4 else width
            for c in range(component, min(4, component + max(part, 0))):
                other = taken.setdefault((location, c), variable)
                if other is not variable:
                    log.error(f"'{other.label}' and '{variable.label}' share location {location}")
                    return
            other = neighbours.setdefault(location, variable)
            if different := _difference(other, variable):
                log.error(
                    f"'{other.label}' and '{variable.label}' share a location with different "
                    f"{different}"
                )
                return


def _difference(a: Port, b: Port) -> str:
    """What variables with components of one location may not differ in."""
    x, y = a.shape.without_array, b.shape.without_array
    if a is b or x.is_struct or y.is_struct:
        return ""
    if x.is_float != y.is_float or x.bit_size != y.bit_size:
        return "types"
    how = [v.var.interpolation.replace("none", "smooth") for v in (a, b)]
    if how[0] != how[1]:
        return "interpolation"
    storage = [(v.var.centroid, v.var.sample, v.var.patch) for v in (a, b)]
    return "" if storage[0] == storage[1] else "auxiliary storage"


def assign_slots(interface: Interface[P]) -> None:
    """Assign slots: explicit locations first, then the others in order, matched pairs together."""
    taken: set[int] = set()
    patches: set[int] = set()
    for variable in [*interface.outputs, *interface.inputs]:
        if variable.explicit >= 0:
            variable.location = variable.explicit
            pool = patches if variable.var.patch else taken
            pool.update(range(variable.location, variable.location + variable.shape.slots()))
    pack(interface, taken)
    for variable in interface.outputs:
        if variable.location < 0 and is_needed_output(interface, variable):
            pool = patches if variable.var.patch else taken
            variable.location = take_slots(pool, variable)
            if variable.partner is not None:
                variable.partner.location = variable.location
    for variable in interface.inputs:
        if variable.location < 0 and variable.live:
            if variable.partner is not None and variable.partner.location >= 0:
                variable.location = variable.partner.location
            else:
                pool = patches if variable.var.patch else taken
                variable.location = take_slots(pool, variable)
    check_slot_limits(interface)
    for variable in interface.outputs:
        needed = variable.explicit >= 0 or is_needed_output(interface, variable)
        settle(variable, needed and variable.location >= 0)
    for variable in interface.inputs:
        settle(variable, variable.location >= 0)


def pack(interface: Interface[P], taken: set[int]) -> None:
    """Pack components without gaps if one variable per slot does not fit.

    Vectors, columns and elements may then begin in one slot and end in the next. Varyings with
    different interpolation share no slot. A stage whose neighbour is linked separately keeps the
    plain layout, which both can derive.
    """
    waiting: list[Port] = [
        p
        for p in interface.outputs
        if p.location < 0 and is_needed_output(interface, p) and not p.var.patch
    ]
    if interface.consumer is None and interface.separable:
        return
    if len(taken) + sum(p.shape.slots() for p in waiting) <= _MAX_VARYINGS:
        return
    first = max(taken, default=-1) + 1
    at = 4 * first
    classes: dict[tuple[object, ...], list[Port]] = {}
    for variable in waiting:
        classes.setdefault((variable.partner or variable).packing_class, []).append(variable)
    for members in classes.values():
        for variable in members:
            for end in (variable, variable.partner):
                if end is not None:
                    end.location = at // 4
                    end.var.component, end.var.packed = at % 4, True
            at += variable.shape.words
        at = -(-at // 4) * 4
    taken.update(range(first, at // 4))


def is_needed_output(interface: Interface[P], variable: Port) -> bool:
    if variable.captured or interface.consumer is None:
        return True
    if variable.partner is not None and variable.partner.live:
        return True
    return interface.producer is Stage.TESS_CTRL and variable.live


def take_slots(pool: set[int], variable: Port) -> int:
    count = variable.shape.slots()
    start = 0
    while not pool.isdisjoint(range(start, start + count)):
        start += 1
    pool.update(range(start, start + count))
    return start


def check_slot_limits(interface: Interface[P]) -> None:
    for variable in interface.outputs:
        if (
            variable.location >= 0
            and is_needed_output(interface, variable)
            and not variable.var.patch
        ):
            if variable.location + variable.slots > _MAX_VARYINGS:
                interface.log.error(f"too many varyings: '{variable.label}' finds no slot")
                return
    for variable in interface.inputs:
        if variable.location + variable.slots > _MAX_VARYINGS and not variable.var.patch:
            interface.log.error(f"too many varyings: '{variable.label}' finds no slot")
            return


def settle(port: Port, needed: bool) -> None:
    """Set the slot of a port; one without becomes a temporary of its stage."""
    var = port.var
    if needed:
        var.location = (VaryingSlot.PATCH0 if var.patch else VaryingSlot.VAR0) + port.location
        var.explicit_location = port.explicit >= 0
    else:
        var.mode, var.component, var.per_vertex = Mode.SHADER_TEMP, 0, False
