"""Inputs and outputs: vectors of four floats between stages, whatever they hold.

Integers are passed as their bits, and a slot that two variables share stays one. Fragment inputs
are flat, or interpolated as their first load says. Outputs are kept in variables of the invocation
and written when it ends or emits a vertex. So fixed function is applied in one place: point sizes
from state, disabled clip distances, colours for every buffer, and what transform feedback captures.
"""

from __future__ import annotations

from typing import Any

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref, Instr, Intrinsic
from gallette.compiler.nir.ir.modes import MAKES_POSITIONS, Mode, Stage
from gallette.compiler.nir.ir.queries import all_intrinsics_of
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.ir.types import (
    FLOAT,
    INT,
    IVEC4,
    UVEC4,
    VEC4,
    Base,
    Type,
    array,
    vec,
)
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable

from .variables import Variables, constant, handles

WIDE = 64
"""What is added to the number of a vertex input for its second location, and to that of a fragment
output for the second source of blending.
"""
_XFB_SLOT = 1000
"""Slots of outputs that exist only to be captured begin here."""
_CLIP = (VaryingSlot.CLIP_DIST0, VaryingSlot.CLIP_DIST1)
_CULL = (VaryingSlot.CULL_DIST0, VaryingSlot.CULL_DIST1)
_LEVELS = {VaryingSlot.TESS_LEVEL_OUTER: 4, VaryingSlot.TESS_LEVEL_INNER: 2}
_SYSTEM = {VaryingSlot.PRIMITIVE_ID: "load_primitive_id", VaryingSlot.LAYER: "load_layer_id",
           VaryingSlot.VIEWPORT: "load_viewport_index"}  # fmt: skip
_CORNERS = {"points": 1, "lines": 2, "lines_adjacency": 4, "triangles": 3, "triangles_adjacency": 6}
_MAX_PATCH = 32
_KINDS = {"f": VEC4, "u": UVEC4}


def _slot(instr: Intrinsic, offset: int) -> int:
    """The slot an instruction accesses; `offset` is the source that is added to its location."""
    return int(instr["location"]) + constant(instr, offset)


def _place(
    v: Variables, mode: Mode, slot: int, vertex: Def | None = None, **how: Any
) -> tuple[Deref, int]:
    """The variable of a slot, perhaps of one vertex of the primitive: a vector, a scalar, or an
    array of which the slot has four elements from a number on.
    """
    info, stage = v.shader.info, v.stage
    type, first = VEC4, 0
    if slot in _LEVELS:
        type = array(FLOAT, _LEVELS[VaryingSlot(slot)])
    elif slot in _CLIP or slot in _CULL:
        pair = _CLIP if slot in _CLIP else _CULL
        used = info.inputs_read if mode == Mode.SHADER_IN else info.outputs_written
        count, first, slot = 8 if pair[1] in used else 4, 4 * (slot == pair[1]), pair[0]
        type = array(FLOAT, count)
    elif slot == VaryingSlot.PSIZ:
        type = FLOAT
    patch = vertex is None and stage in (Stage.TESS_CTRL, Stage.TESS_EVAL)
    if vertex is not None:
        length = info.vertices_out
        if mode == Mode.SHADER_IN:
            geometry = stage is Stage.GEOMETRY
            length = _CORNERS[info.input_primitive] if geometry else _MAX_PATCH
        type = array(type, length)
    what = "in" if mode == Mode.SHADER_IN else "out", int(slot)
    var = v.variable(mode, what, type, location=VaryingSlot(slot), patch=patch, **how)
    place = v.b.deref_var(var)
    return (place if vertex is None else v.b.deref_array(place, vertex)), first


def _read(v: Variables, mode: Mode, slot: int, vertex: Def | None = None, **how: Any) -> Def:
    """All four components of a slot."""
    b = v.b
    if mode == Mode.SHADER_IN and slot in v.key.zero_inputs:
        return b.imm_vec(0.0, 0.0, 0.0, 1.0)
    if mode == Mode.SHADER_IN and slot in _SYSTEM:
        return b.vec([b.intrinsic(_SYSTEM[VaryingSlot(slot)])] * 4)
    place, first = _place(v, mode, slot, vertex, **how)
    if place.type is VEC4:
        return b.load_deref(place)
    if place.type is FLOAT:
        return b.vec([b.load_deref(place)] * 4)
    count = min(place.type.length, 4)
    parts = [b.load_deref(b.deref_array_imm(place, first + i)) for i in range(count)]
    return b.vec(parts + [b.imm_float(0.0)] * (4 - count))


@handles("load_input")
def _input(v: Variables, instr: Intrinsic) -> Def:
    if v.stage is Stage.VERTEX:
        return _attribute(v, instr, int(instr["base"]) + constant(instr, 0))
    slot = _slot(instr, 0)
    flat = v.stage is Stage.FRAGMENT and slot not in _CLIP + _CULL
    how = "flat" if flat else "none"
    return v.part(instr, _read(v, Mode.SHADER_IN, slot, interpolation=how))


def _attribute(v: Variables, instr: Intrinsic, number: int) -> Def:
    b, letter = v.b, instr["dest_type"][0]
    if instr.result.bit_size == 64:
        # Doubles arrive as pairs of words, two to a location.
        v.doubles.add(number)
        end = instr["component"] + instr.result.num_components
        words: list[Def] = []
        for at in (number, number + WIDE)[: 1 + (end > 2)]:
            var = v.variable(Mode.SHADER_IN, ("in", at), UVEC4, location=at)
            words += b.channels(b.load_var(var))
        pairs = zip(words[::2], words[1::2], strict=True)
        return v.part(instr, b.vec([b.pack_64_2x32_split(low, high) for low, high in pairs]))
    type = _KINDS.get(letter, IVEC4)
    var = v.variable(Mode.SHADER_IN, ("in", number), type, location=number)
    return v.part(instr, b.load_var(var))


@handles("load_per_vertex_input")
def _vertex_input(v: Variables, instr: Intrinsic) -> Def:
    slot = _slot(instr, 1)
    return v.part(instr, _read(v, Mode.SHADER_IN, slot, instr.srcs[0].value))


@handles("load_interpolated_input")
def _interpolated(v: Variables, instr: Intrinsic) -> Def:
    b, at, slot = v.b, instr.srcs[0].value.instr, _slot(instr, 1)
    assert isinstance(at, Intrinsic)
    if slot in v.key.zero_inputs or slot in _SYSTEM or slot in _CLIP + _CULL:
        return v.part(instr, _read(v, Mode.SHADER_IN, slot))
    where = at.name.removeprefix("load_barycentric_")
    declared = v.places.setdefault(slot, "pixel" if where.startswith("at_") else where)
    linear = at["interp"] in ("noperspective", "linear")
    place, _ = _place(
        v, Mode.SHADER_IN, slot,
        interpolation="noperspective" if linear else "none",
        centroid=declared == "centroid",
        sample=declared == "sample" or (declared == "pixel" and v.key.sample_shading),
    )  # fmt: skip
    if where == declared:
        return v.part(instr, b.load_deref(place))
    name, srcs = "offset", [src.value for src in at.srcs]
    if where == "centroid":
        name = "centroid"
    elif where in ("sample", "at_sample"):
        name, srcs = "sample_index", srcs or [b.intrinsic("load_sample_id")]
    elif where == "pixel":
        srcs = [b.imm_vec(0.0, 0.0)]
    kind = f"interp_deref_at_{name}"
    return v.part(instr, b.intrinsic(kind, [place.result, *srcs], num_components=4))


# Outputs.


@handles("load_output")
def _output(v: Variables, instr: Intrinsic) -> Def:
    slot = _slot(instr, 0)
    if v.stage is Stage.TESS_CTRL:
        return v.part(instr, _read(v, Mode.SHADER_OUT, slot))
    return v.part(instr, v.b.load_var(_kept(v, slot, 0, VEC4)))


@handles("load_per_vertex_output")
def _vertex_output(v: Variables, instr: Intrinsic) -> Def:
    return v.part(instr, _read(v, Mode.SHADER_OUT, _slot(instr, 1), instr.srcs[0].value))


def _kept(v: Variables, slot: int, dual: int, type: Type) -> Variable:
    """The variable that keeps an output, initially zero."""
    found = v.kept.get((slot, dual))
    if found is None:
        what = "kept", slot + WIDE * dual
        found = v.kept[slot, dual] = v.variable(Mode.SHADER_TEMP, what, type)
        first: Any = v.shader.entry.body[0]
        start = Builder(v.shader.entry).at_start(first)
        start.store_var(found, start.imm_zero(4, 32))
    return found


@handles("store_output")
def _store(v: Variables, instr: Intrinsic) -> None:
    slot = _slot(instr, 1)
    if v.stage is Stage.TESS_CTRL:
        _store_at(v, instr, *_place(v, Mode.SHADER_OUT, slot))
        return
    letter = instr["src_type"][0] if v.stage is Stage.FRAGMENT else "f"
    kept = _kept(v, slot, int(instr["dual_source"]), _KINDS.get(letter, IVEC4))
    _store_at(v, instr, v.b.deref_var(kept), 0)


@handles("store_per_vertex_output")
def _store_vertex(v: Variables, instr: Intrinsic) -> None:
    """An output of a tessellation control shader, which other invocations may read."""
    _store_at(v, instr, *_place(v, Mode.SHADER_OUT, _slot(instr, 2), instr.srcs[1].value))


def _store_at(v: Variables, instr: Intrinsic, place: Deref, first: int) -> None:
    b, value = v.b, instr.srcs[0].value
    mask, component = instr["write_mask"], instr["component"]
    if place.type.is_vector:
        parts = [b.imm_int(0)] * component + b.channels(value)
        b.store_deref(place, b.pad(b.vec(parts), 4), mask << component)
        return
    for i, part in enumerate(b.channels(value)):
        if mask >> i & 1:
            scalar = place.type is FLOAT
            at = place if scalar else b.deref_array_imm(place, first + component + i)
            b.store_deref(at, part)


@handles("emit_vertex")
def _emit(v: Variables, instr: Intrinsic) -> Instr:
    _write_vertex(v)
    return instr


def finish(v: Variables) -> None:
    """Write what the invocation leaves, at its end."""
    for instr in all_intrinsics_of(v.shader.entry):
        if instr.name.startswith("load_barycentric"):
            instr.remove()  # the loads have the place of interpolation
    end: Any = v.shader.entry.body[-1]
    v.b.at_end(end)
    if v.stage is Stage.FRAGMENT:
        _write_fragment(v)
    elif v.stage in MAKES_POSITIONS and v.stage is not Stage.GEOMETRY:
        _write_vertex(v)


def _write(v: Variables, slot: Any, type: Type, value: Def, **more: Any) -> None:
    """Write an output: all components, or as many as the type has."""
    what = "out", int(slot) + WIDE * more.get("index", 0)
    var = v.variable(Mode.SHADER_OUT, what, type, location=slot, **more)
    v.b.store_var(var, v.b.trim(value, type.components))


def _write_vertex(v: Variables) -> None:
    """The outputs of the stage before the rasterizer."""
    b, key = v.b, v.key
    # Captured values are those before anything is done for the rasterizer.
    values = {slot: b.load_var(v.kept[slot, dual]) for slot, dual in sorted(v.kept)}
    for slot, value in values.items():
        if slot == VaryingSlot.POS:
            placed = _snapped(v, value) if key.snap_points else value
            value = _beside(v, value, placed) if key.clip_points else placed
        if slot in _SYSTEM:
            _write(v, VaryingSlot(slot), INT, value)
        elif slot not in (*_CLIP, *_CULL, VaryingSlot.PSIZ, VaryingSlot.EDGE):
            _write(v, VaryingSlot(slot), VEC4, value)
    _distances(v, values, _CULL, 0xFF)
    _distances(v, values, _CLIP, key.clip_mask)
    own = values.get(VaryingSlot.PSIZ) if key.point_size != "state" else None
    if key.point_size and (own is not None or key.point_size != "written"):
        size = v.pushed("point_size") if own is None else b.channel(own, 0)
        _write(v, VaryingSlot.PSIZ, FLOAT, size)
    _capture(v, values)


def _snapped(v: Variables, position: Def) -> Def:
    """A point's position a sub-pixel to the right and up.

    A square whose edges run through the centres of pixels covers the left and lower ones of them
    in Vulkan, the others in OpenGL, where positions of points are rounded upwards.
    """
    b, parts = v.b, v.b.channels(position)
    for axis in (0, 1):
        parts[axis] = b.fadd(parts[axis], b.fmul(v.pushed("sub_pixel", axis), parts[3]))
    return b.vec(parts)


def _beside(v: Variables, position: Def, placed: Def) -> Def:
    """Where a point is drawn: far away if its centre, at `position`, is outside of the view: OpenGL
    draws no part of such a point, and Vulkan may.
    """
    b = v.b
    x, y, _, w = b.channels(position)
    outside = b.ior(b.flt(w, b.fabs(x)), b.flt(w, b.fabs(y)))
    return b.bcsel(outside, b.imm_vec(1e6, 1e6, 0.0, 1.0), placed)


def _distances(
    v: Variables, values: dict[int, Def], slots: tuple[VaryingSlot, ...], mask: int
) -> None:
    """Clip or cull distances; disabled ones are zero."""
    if not mask or not any(slot in values for slot in slots):
        return
    b, count = v.b, 8 if slots[1] in values else 4
    type, what = array(FLOAT, count), ("out", int(slots[0]))
    var = v.variable(Mode.SHADER_OUT, what, type, location=slots[0])
    for i in range(count):
        value, part = values.get(slots[i // 4]), b.imm_float(0.0)
        if value is not None and mask >> i & 1:
            part = b.channel(value, i % 4)
        b.store_deref(b.deref_array_imm(b.deref_var(var), i), part)


def _capture(v: Variables, values: dict[int, Def]) -> None:
    """Copies of the captured outputs, each with its place in a feedback buffer."""
    info = v.key.stream_output
    for number, output in enumerate(() if info is None else info.outputs):
        n, value = output.num_components, values.get(output.slot)
        part = v.b.imm_zero(n, 32)
        if value is not None:
            first = output.start_component
            part = v.b.swizzle(value, range(first, first + n))
        _write(
            v, _XFB_SLOT + number, vec(Base.FLOAT, n), part, stream=output.stream,
            xfb_buffer=output.buffer, xfb_offset=output.dst_offset,
            xfb_stride=info.strides[output.buffer],
        )  # fmt: skip


def _write_fragment(v: Variables) -> None:
    """Colours, depth, stencil and coverage."""
    b = v.b
    for slot, dual in sorted(v.kept):
        kept = v.kept[slot, dual]
        value = b.load_var(kept)
        if slot == FragResult.DEPTH:
            _write(v, FragResult.DEPTH, FLOAT, value)
        elif slot == FragResult.STENCIL:
            _write(v, FragResult.STENCIL, INT, value)
        elif slot == FragResult.SAMPLE_MASK:
            what, type = ("out", slot), array(INT, 1)
            var = v.variable(Mode.SHADER_OUT, what, type, location=FragResult.SAMPLE_MASK)
            b.store_deref(b.deref_array_imm(b.deref_var(var), 0), b.channel(value, 0))
        else:
            everywhere = slot == FragResult.COLOR and not dual
            count = v.key.color_buffers if everywhere else 1
            first = 0 if slot == FragResult.COLOR else slot - FragResult.DATA0
            for number in range(first, first + count):
                red = v.key.alpha_to_red and number == 0
                color = b.swizzle(value, "wwww") if red else value
                _write(v, FragResult(FragResult.DATA0 + number), kept.type, color, index=dual)
