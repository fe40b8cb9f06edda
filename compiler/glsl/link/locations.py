"""Locations of vertex attributes and fragment outputs, and NIR variables of built-ins."""

from __future__ import annotations

from functools import lru_cache

from gallette.compiler.glsl.builtins.variables import per_vertex_fields
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.ends import add_attributes, assign_attributes, assign_fragment_outputs
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import Type

_IN, _OUT = Mode.SHADER_IN, Mode.SHADER_OUT
_GENERIC0, _DATA0 = VertAttrib.GENERIC0, FragResult.DATA0


def _wanted(var: hir.Variable, options: LinkOptions) -> int:
    """The location that a layout or the application requests; -1 for any."""
    return int(var.quals.layout.get("location", options.attrib_bindings.get(var.name, -1)))


def _check_locations(
    unit: StageUnit, inputs: list[hir.Variable], options: LinkOptions, log: LinkLog
) -> None:
    """Check in ES 3 that no two inputs, used or not, share a location or exceed the limit.

    Elsewhere unused ones may, and others may share if each path through the shader uses only one.
    """
    taken: dict[int, str] = {}
    for var in inputs:
        first = _wanted(var, options)
        places = range(first, first + var.type.slots(vertex_input=True)) if first >= 0 else range(0)
        exceeds = places.stop > options.limits.max_vertex_attribs and var not in unit.live
        if exceeds and "location" in var.quals.layout:
            log.error(f"attribute '{var.name}' at location {first} exceeds the limit")
        for i in places:
            other = taken.setdefault(i, var.name)
            if other != var.name:
                log.error(f"attributes '{other}' and '{var.name}' share location {i}")


def link_attributes(
    unit: StageUnit,
    variables: StageVariables,
    program: LinkedProgram,
    options: LinkOptions,
    log: LinkLog,
) -> None:
    """Assign a generic attribute to every active vertex input: by layout, by binding, then first
    fit.
    """
    inputs = [v for v in unit.globals.values() if v.quals.storage == "in" and v.block is None]
    if unit.language.es and unit.language.version >= 300:
        _check_locations(unit, inputs, options, log)
    found: list[tuple[Variable, Type]] = []
    for var in inputs:
        if var in unit.live:
            nir = Variable(var.name, t.stored_type(var.type), _IN)
            nir.component = var.quals.layout.get("component", 0)
            if (location := _wanted(var, options)) >= 0:
                nir.location = _GENERIC0 + location
            variables.variables[var] = nir
            found.append((nir, var.type))
    if found:
        vertex = unit.builtins.get("gl_Vertex")
        first = 1 if vertex is not None and vertex in unit.live else 0
        assign_attributes(program, found, options.limits, log, first)


def link_fragment_outputs(
    unit: StageUnit,
    variables: StageVariables,
    program: LinkedProgram,
    options: LinkOptions,
    log: LinkLog,
) -> None:
    """Assign colour numbers to user-declared outputs."""
    found: list[Variable] = []
    for var in unit.globals.values():
        quals = var.quals
        if quals.storage != "out" or var.block is not None:
            continue
        layout, place = quals.layout, (-1, 0)
        if "location" in layout:
            place = layout["location"], layout.get("index", 0)
        elif var not in unit.live:
            continue
        elif var.name in options.frag_data_bindings:
            place = options.frag_data_bindings[var.name]
        nir = Variable(var.name, var.type, _OUT, _DATA0 + place[0] if place[0] >= 0 else -1)
        nir.index, nir.component = place[1], layout.get("component", 0)
        nir.invariant, nir.precise = quals.invariant, quals.precise
        variables.variables[var] = nir
        found.append(nir)
    assign_fragment_outputs(program, found, options.limits, log)


# -- built-in variables ----------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _slot(spelled: str) -> int:
    kind, _, name = spelled.partition(":")
    if kind == "attr":
        return VertAttrib[name]
    if kind == "frag":
        if name == "COLOR1":
            return FragResult.COLOR
        if name == "DATA1":
            return FragResult.DATA0
        return FragResult[name]
    return VaryingSlot[name]


def link_builtins(unit: StageUnit, variables: StageVariables, program: LinkedProgram) -> None:
    """Create NIR variables for the built-in inputs and outputs that a stage uses."""
    for name, var in unit.builtins.items():
        if name == "gl_LastFragData" or var.builtin.startswith("sv:"):
            continue  # lowering reads the framebuffer instead
        if var.quals.storage not in ("in", "out"):
            continue
        if var.builtin == "block":
            _per_vertex_block(unit, var, variables)
            continue
        if var not in unit.live and not var.redeclared:
            continue
        mode = _IN if var.quals.storage == "in" else _OUT
        quals = var.quals
        point = unit.stage is Stage.FRAGMENT and name == "gl_PointCoord"
        variables.variables[var] = Variable(
            name,
            var.type,
            mode,
            _slot(var.builtin),
            index=1 if name.startswith("gl_Secondary") and "Frag" in name else 0,
            interpolation="none" if point else quals.interpolation or "none",
            centroid=quals.centroid,
            sample=quals.sample,
            patch=quals.patch,
            invariant=quals.invariant,
            precise=quals.precise,
            builtin=name,
            packed=name in _DISTANCES or name.startswith("gl_TessLevel"),
            per_vertex=unit.stage is Stage.GEOMETRY and name.endswith("In") and var.type.is_array,
        )
        if unit.stage is Stage.VERTEX and mode is _IN:
            add_attributes(program, variables.variables[var], var.type)


_DISTANCES = ("gl_ClipDistance", "gl_CullDistance")


def _per_vertex_block(unit: StageUnit, var: hir.Variable, variables: StageVariables) -> None:
    """Map `gl_in[i].gl_Position` to element i of a per-vertex variable at that slot."""
    block = var.block
    assert block is not None
    slots = {f.name: slot for f, slot in per_vertex_fields(unit.language)}
    mode = _IN if var.quals.storage == "in" else _OUT
    for i, f in enumerate(block.type.fields):
        type_ = f.type
        if type_.is_unsized_array and type_.element is not None:
            highest = block.member_quals[i].max_index
            type_ = t.array(type_.element, max(1, highest + 1))
        variables.members[var, i] = Variable(
            f.name,
            t.array(type_, var.type.length),
            mode,
            _slot(slots[f.name]),
            per_vertex=True,
            packed=f.name in _DISTANCES,
        )
