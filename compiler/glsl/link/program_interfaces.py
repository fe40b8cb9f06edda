"""The resources in a program's input and output interfaces: PROGRAM_INPUT and PROGRAM_OUTPUT.

Structures are listed by member and arrays of structures by element, blocks once for all instances
of an array (section 7.3.1.1 of OpenGL 4.6). Only variables with a `location` qualifier have a
location.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.compiler.glsl.link.blocks import sized_block
from gallette.compiler.glsl.link.stage_interface import InterfaceVariable, is_per_vertex
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.layout import leaves
from gallette.compiler.link.program import Varying
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.queries import derefs_of
from gallette.compiler.nir.ir.types import Type


def declared_resources(variable: InterfaceVariable, stage: Stage) -> Iterator[Varying]:
    """The resources of a declared input or output."""
    type_ = (
        sized_block(variable.block).fields[variable.member].type
        if variable.block
        else variable.type
    )
    label = variable.name if variable.block and variable.block.instance_name else variable.label
    location = variable.explicit
    owner = variable.block.quals if variable.block else variable.quals
    per_vertex = is_per_vertex(stage, owner) and variable.type.is_array
    container = type_ if type_.without_array.is_struct else None
    if variable.block:
        instance = variable.block.instance
        container = instance.type if instance is not None else variable.block.type
        if per_vertex and container.element is not None:
            container = container.element
    parts = [(label, type_)]
    element = type_.element
    if per_vertex and not variable.block and element is not None:
        container = element if container is not None else None
        if element.is_struct or element.is_array:  # each vertex's have the same locations
            parts = [(f"{label}[{i}]", element) for i in range(type_.length)]
    for part in parts:
        where = location
        for leaf in leaves(*part):
            yield Varying(
                leaf.name,
                leaf.type,
                where,
                leaf.array_size,
                stage,
                patch=variable.quals.patch
                or (variable.block is not None and variable.block.quals.patch),
                component=variable.quals.layout.get("component", 0),
                interpolation=variable.quals.interpolation.removeprefix("smooth"),
                precision=variable.quals.precision,
                container=container,
                per_vertex=per_vertex,
            )
            if where >= 0:
                where += max(1, leaf.array_size) * leaf.type.slots()


def builtin_resources(
    unit: StageUnit, storage: str, variables: StageVariables, shader: Shader
) -> Iterator[Varying]:
    """The built-in variables that a stage uses; of gl_in and gl_out the members that it uses."""
    for name, var in unit.builtins.items():
        if var.quals.storage != storage:
            continue
        if var.builtin == "block":
            named = {deref.var for deref in derefs_of(shader)}
            for (owner, _), member in variables.members.items():
                if owner is var and member in named and member.type.element is not None:
                    type_ = member.type.element
                    yield _builtin(f"gl_PerVertex.{member.name}", type_, unit.stage)
        elif var in unit.live:
            yield _builtin(name, var.type, unit.stage, var.quals.patch)


def _builtin(name: str, type_: Type, stage: Stage, patch: bool = False) -> Varying:
    length = type_.length if type_.is_array else 0
    return Varying(name, type_.without_array, -1, length, stage, patch=patch)
