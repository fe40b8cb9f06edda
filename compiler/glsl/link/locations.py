"""Locations of vertex attributes and fragment outputs, and NIR variables of built-ins."""

from __future__ import annotations

from functools import lru_cache

from gallette.compiler.glsl.builtins.variables import per_vertex_fields
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.ends import add_attributes, add_fragment_outputs
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.ir import Mode, Stage, Variable
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import Base

__all__ = ["link_attributes", "link_builtins", "link_fragment_outputs"]

_IN, _OUT = Mode.SHADER_IN, Mode.SHADER_OUT
_GENERIC0, _DATA0 = VertAttrib.GENERIC0, FragResult.DATA0
_Taken = dict[tuple[int, int], list[tuple[str, Base, set[int]]]]
"""(location, index) -> outputs there: name, base type, components"""


def _wanted(var: hir.Variable, options: LinkOptions) -> int:
    """The location that a layout or the application requests; -1 for any."""
    return int(var.quals.layout.get("location", options.attrib_bindings.get(var.name, -1)))


def _check_aliases(inputs: list[hir.Variable], options: LinkOptions, log: LinkLog) -> None:
    """Check in ES 3 that no two inputs share a location, used or not.

    Elsewhere they may, if each path through the shader uses only one of them.
    """
    taken: dict[int, str] = {}
    for var in inputs:
        first = _wanted(var, options)
        for i in range(first, first + var.type.slots(vertex_input=True)) if first >= 0 else ():
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
    limits = options.limits
    inputs = [v for v in unit.globals.values() if v.quals.storage == "in" and v.block is None]
    if unit.language.es and unit.language.version >= 300:
        _check_aliases(inputs, options, log)
    active = [v for v in inputs if v in unit.live]
    if not active:
        return
    slots = {var: var.type.slots(vertex_input=True) for var in active}
    taken: dict[int, str] = {}
    placed: dict[hir.Variable, int] = {}
    for var, count in slots.items():
        location = _wanted(var, options)
        if location < 0:
            continue
        if location + count > limits.max_vertex_attribs:
            log.error(f"attribute '{var.name}' at location {location} exceeds the limit")
            continue
        placed[var] = location
        for i in range(location, location + count):
            taken.setdefault(i, var.name)
    uses_generic0 = "gl_Vertex" in unit.builtins and unit.builtins["gl_Vertex"] in unit.live
    rest = [v for v in active if v not in placed]
    rest.sort(key=slots.__getitem__, reverse=True)
    for var in rest:
        count = slots[var]
        start = 1 if uses_generic0 else 0
        while not taken.keys().isdisjoint(range(start, start + count)):
            start += 1
        if start + count > limits.max_vertex_attribs:
            log.error(f"too many attributes: '{var.name}' finds no location")
            return
        for i in range(count):
            taken[start + i] = var.name
        placed[var] = start
    # dvec3 and dvec4 may count twice against the limit.
    wide = sum([v.type.slots() for v in active])
    if wide > 2 * limits.max_vertex_attribs:
        log.error("too many attributes")
    for var in active:
        if var not in placed:
            continue
        location = placed[var]
        nir = Variable(var.name, t.stored_type(var.type), _IN, _GENERIC0 + location)
        nir.component = var.quals.layout.get("component", 0)
        variables.variables[var] = nir
        add_attributes(program, nir, var.type)


def link_fragment_outputs(
    unit: StageUnit,
    variables: StageVariables,
    program: LinkedProgram,
    options: LinkOptions,
    log: LinkLog,
) -> None:
    """Assign colour numbers to user-declared outputs."""
    limits = options.limits
    outputs = [v for v in unit.globals.values() if v.quals.storage == "out" and v.block is None]
    taken: _Taken = {}
    placed: dict[hir.Variable, tuple[int, int]] = {}
    for var in outputs:
        layout = var.quals.layout
        if "location" in layout:
            place = layout["location"], layout.get("index", 0)
        elif var.name in options.frag_data_bindings and var in unit.live:
            place = options.frag_data_bindings[var.name]
        else:
            continue
        placed[var] = place
        _take(var, place, taken, limits, log)
    for var in outputs:
        if var in placed or var not in unit.live:
            continue
        count = var.type.array_elements
        start = 0
        while taken and any((start + i, 0) in taken for i in range(count)):
            start += 1
        placed[var] = start, 0
        _take(var, (start, 0), taken, limits, log)
    for var in outputs:
        if var not in placed:
            continue
        location, index = placed[var]
        quals = var.quals
        nir = Variable(var.name, var.type, _OUT, _DATA0 + location)
        nir.index, nir.component = index, quals.layout.get("component", 0)
        nir.invariant, nir.precise = quals.invariant, quals.precise
        variables.variables[var] = nir
        add_fragment_outputs(program, nir)


def _take(
    var: hir.Variable,
    place: tuple[int, int],
    taken: _Taken,
    limits: Limits,
    log: LinkLog,
) -> None:
    """Reserve an output's components of a location, and of the next ones if it is an array."""
    location, index = place
    count = var.type.array_elements
    limit = limits.max_dual_source_draw_buffers if index else limits.max_draw_buffers
    if location + count > limit:
        log.error(f"output '{var.name}' at location {location} exceeds the limit of {limit}")
        return
    element = var.type.without_array
    first = var.quals.layout.get("component", 0)
    components = set(range(first, min(4, first + element.rows)))
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
            add_attributes(program, variables.variables[var])


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
