"""The ends of a program: vertex attributes (OpenGL 4.6, 11.1.1) and fragment outputs (15.2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from gallette.compiler.link.program import Attribute, FragOutput, LinkedProgram
from gallette.compiler.nir.ir.slots import FragResult, VertAttrib
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.variables import Variable

__all__ = ["add_attributes", "add_fragment_outputs"]


def add_attributes(program: LinkedProgram, var: Variable, type_: Type | None = None) -> None:
    """List a vertex input; built-in ones have no location. `type_` is how GL sees its type."""
    location = -1 if var.builtin else var.location - VertAttrib.GENERIC0
    program.attributes += (
        Attribute(*found, var.component) for found in _named(var.name, type_ or var.type, location)
    )


def add_fragment_outputs(program: LinkedProgram, var: Variable) -> None:
    """List a fragment output with a colour number."""
    program.frag_outputs += (
        FragOutput(name, element, at, var.index, size, var.component)
        for name, element, at, size in _named(var.name, var.type, var.location - FragResult.DATA0)
    )


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
