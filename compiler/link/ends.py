"""The ends of a program: vertex attributes (OpenGL 4.6, 11.1.1) and fragment outputs (15.2.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import Attribute, FragOutput, LinkedProgram
from gallette.compiler.nir.ir.slots import FragResult, VertAttrib
from gallette.compiler.nir.ir.types import Base, Type
from gallette.compiler.nir.ir.variables import Variable

_GENERIC0, _DATA0 = VertAttrib.GENERIC0, FragResult.DATA0
_Taken = dict[tuple[int, int], list[tuple[str, Base, set[int]]]]
"""(location, index) -> outputs there: name, base type, components"""


def assign_attributes(
    program: LinkedProgram,
    inputs: Sequence[tuple[Variable, Type]],
    limits: Limits,
    log: LinkLog,
    first: int = 0,
) -> None:
    """Give each vertex input without a location the first free generic attributes from `first` on,
    large ones before small ones. Inputs come with the type that GL sees.
    """
    slots = {var: var.type.slots(vertex_input=True) for var, _ in inputs}
    taken: set[int] = set()
    rest: list[Variable] = []
    for var, count in slots.items():
        location = var.location - _GENERIC0
        if var.location < 0:
            rest.append(var)
        elif location + count > limits.max_vertex_attribs:
            log.error(f"attribute '{var.name}' at location {location} exceeds the limit")
        else:
            taken.update(range(location, location + count))
    rest.sort(key=slots.__getitem__, reverse=True)
    for var in rest:
        start, count = first, slots[var]
        while not taken.isdisjoint(range(start, start + count)):
            start += 1
        if start + count > limits.max_vertex_attribs:
            log.error(f"too many attributes: '{var.name}' finds no location")
            return
        taken.update(range(start, start + count))
        var.location = _GENERIC0 + start
    # dvec3 and dvec4 may count twice against the limit.
    if sum([type_.slots() for _, type_ in inputs]) > 2 * limits.max_vertex_attribs:
        log.error("too many attributes")
    for var, type_ in inputs:
        add_attributes(program, var, type_)


def add_attributes(program: LinkedProgram, var: Variable, type_: Type) -> None:
    """List a vertex input; built-in ones have no location."""
    location = -1 if var.builtin else var.location - _GENERIC0
    program.attributes += (
        Attribute(*found, var.component) for found in _named(var.name, type_, location)
    )


def assign_fragment_outputs(
    program: LinkedProgram, outputs: Sequence[Variable], limits: Limits, log: LinkLog
) -> None:
    """Give each output without a location the first free colour numbers."""
    taken: _Taken = {}
    for var in outputs:
        if var.location >= 0:
            _take(var, taken, limits, log)
    for var in outputs:
        if var.location < 0:
            start, count = 0, var.type.array_elements
            while taken and any((start + i, 0) in taken for i in range(count)):
                start += 1
            var.location = _DATA0 + start
            _take(var, taken, limits, log)
    for var in outputs:
        program.frag_outputs += (
            FragOutput(name, element, at, var.index, size, var.component)
            for name, element, at, size in _named(var.name, var.type, var.location - _DATA0)
        )


def _take(var: Variable, taken: _Taken, limits: Limits, log: LinkLog) -> None:
    """Reserve an output's components of a location, and of the next ones if it is an array."""
    location, index = var.location - _DATA0, var.index
    count = var.type.array_elements
    limit = limits.max_dual_source_draw_buffers if index else limits.max_draw_buffers
    if location + count > limit:
        log.error(f"output '{var.name}' at location {location} exceeds the limit of {limit}")
        return
    element = var.type.without_array
    components = set(range(var.component, min(4, var.component + element.rows)))
    for at in range(location, location + count):
        others = taken.setdefault((at, index), [])
        for other, base, theirs in others:
            if components & theirs:
                log.error(f"outputs '{other}' and '{var.name}' share location {at}")
                return
            if base is not element.base:
                log.error(f"outputs of location {at} have different types")
                return
        others.append((var.name, element.base, components))


def _named(name: str, type_: Type, location: int) -> Iterator[tuple[str, Type, int, int]]:
    """What GL enumerates of a variable, its innermost arrays (7.3.1.1): name, type of an element,
    location and number of elements, 0 for no array.
    """
    element = type_.element
    if element is None or not element.is_array:
        label = f"{name}[0]" if name.endswith("]") else name
        yield label, type_.without_array, location, type_.length if type_.is_array else 0
        return
    slots = element.slots(vertex_input=True)
    for i in range(type_.length):
        yield from _named(f"{name}[{i}]", element, location + i * slots)
