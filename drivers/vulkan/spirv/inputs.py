"""Inputs of a stage, and outputs that are read back."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.spirv.emit.values import Value

from .code import DriverCode, handles
from .interface import CLIP_SLOTS, CULL_SLOTS

__all__ = ["INTEGERS", "constant", "place_of", "slot_of"]

_LEVELS = {VaryingSlot.TESS_LEVEL_OUTER: ("TessLevelOuter", 4),
           VaryingSlot.TESS_LEVEL_INNER: ("TessLevelInner", 2)}  # fmt: skip
INTEGERS = {VaryingSlot.PRIMITIVE_ID: "PrimitiveId", VaryingSlot.LAYER: "Layer",
             VaryingSlot.VIEWPORT: "ViewportIndex"}  # fmt: skip
MAX_PATCH = 32
_CORNERS = {"points": 1, "lines": 2, "lines_adjacency": 4, "triangles": 3, "triangles_adjacency": 6}


def constant(instr: Intrinsic, index: int) -> int:
    """A source that the pass `constant_indices` has left constant."""
    known = const_int(instr.srcs[index].value)
    assert known is not None
    return known


def slot_of(instr: Intrinsic, offset: int) -> int:
    """The slot an instruction accesses; `offset` is the source that is added to its location."""
    return int(instr["location"]) + constant(instr, offset)


def per_vertex_length(c: DriverCode, storage: str) -> int:
    """The number of vertices of an arrayed input or output."""
    info = c.interface.shader.info
    if storage == "Output":
        return info.vertices_out
    return _CORNERS[info.input_primitive] if c.stage is Stage.GEOMETRY else MAX_PATCH


def place_of(
    c: DriverCode, storage: str, slot: int, vertex: Value | None
) -> tuple[int, list[int], int, int]:
    """The place of a slot, perhaps of one vertex of the primitive: the variable and the access
    chain, then the first float of an array and their number; for a vector none, for a scalar -1.
    """
    interface, info, f32 = c.interface, c.interface.shader.info, c.b.float_type()
    length = per_vertex_length(c, storage) if vertex is not None else 0
    at = [] if vertex is None else [vertex.id]
    if slot in _LEVELS:
        name, count = _LEVELS[VaryingSlot(slot)]
        type = interface.array_of(f32, count)
        return interface.builtin_array(storage, name, type, 0, patch=True), [], 0, count
    for slots, name in ((CLIP_SLOTS, "ClipDistance"), (CULL_SLOTS, "CullDistance")):
        if slot in slots:
            used = info.inputs_read if storage == "Input" else info.outputs_written
            type = interface.array_of(f32, 8 if int(slots[1]) in used else 4)
            var = interface.builtin_array(storage, name, type, length)
            return var, at, 4 * slots.index(VaryingSlot(slot)), 4
    if slot == VaryingSlot.PSIZ and c.stage is not Stage.FRAGMENT:
        return interface.builtin_array(storage, "PointSize", f32, length), at, 0, -1
    if slot == VaryingSlot.POS:
        return interface.builtin_array(storage, "Position", interface.vec4(), length), at, 0, 0
    patch = vertex is None and c.stage in (Stage.TESS_CTRL, Stage.TESS_EVAL)
    return interface.slot(storage, slot, "f", length, patch), at, 0, 0


def read_slot(c: DriverCode, storage: str, slot: int, vertex: Value | None) -> Value:
    """All four components of a slot."""
    b, vec4 = c.b, c.interface.vec4()
    if slot in c.options.zero_inputs and storage == "Input":
        return c.values.constant("f", 32, (0, 0, 0, 0x3F800000))
    if slot in INTEGERS and storage == "Input":
        id, _ = c.builtin_value(INTEGERS[VaryingSlot(slot)], "i", 1, 0)
        if slot == VaryingSlot.PRIMITIVE_ID:
            id = primitive_id(c, id)
        return Value(b.op("OpCompositeConstruct", c.interface.vec4("u"), *[id] * 4), "u", 32, 4)
    var, at, first, count = place_of(c, storage, slot, vertex)
    if count > 0:
        return _floats(c, storage, var, at, first, count)
    if count < 0:
        size = _load(c, storage, var, at, b.float_type())
        return Value(b.op("OpCompositeConstruct", vec4, *[size] * 4), "f", 32, 4)
    return Value(_load(c, storage, var, at, vec4), "f", 32, 4)


def _load(c: DriverCode, storage: str, var: int, at: list[int], type: int) -> int:
    b = c.b
    if at:
        var = b.op("OpAccessChain", b.pointer(storage, type), var, *at)
    return b.op("OpLoad", type, var)


def _floats(c: DriverCode, storage: str, var: int, at: list[int], first: int, count: int) -> Value:
    """Load up to four consecutive floats of an array as a vec4, padded with zeros."""
    b, f32 = c.b, c.b.float_type()
    parts = [_load(c, storage, var, [*at, b.uint(first + i)], f32) for i in range(count)]
    parts += [c.values.constant("f", 32, (0,)).id] * (4 - count)
    return Value(b.op("OpCompositeConstruct", c.interface.vec4(), *parts), "f", 32, 4)


def _deliver(c: DriverCode, instr: Intrinsic, whole: Value) -> None:
    first = instr["component"]
    v = c.values.swizzle(whole, tuple(range(first, first + instr.result.num_components)))
    c.values.set(instr.result, v.id, v.kind)


def _slots_of(c: DriverCode, instr: Intrinsic, storage: str, offset: int,
              vertex: Value | None = None) -> None:  # fmt: skip
    """Read the slot an instruction names."""
    _deliver(c, instr, read_slot(c, storage, slot_of(instr, offset), vertex))


@handles("load_input")
def _input(c: DriverCode, instr: Intrinsic) -> None:
    if c.stage is Stage.VERTEX:
        _deliver(c, instr, _element(c, instr, int(instr["base"]) + constant(instr, 0)))
        return
    if c.stage is Stage.FRAGMENT:
        _decorate(c, slot_of(instr, 0), "flat", "pixel")
    _slots_of(c, instr, "Input", 0)


def _element(c: DriverCode, instr: Intrinsic, base: int) -> Value:
    b = c.b
    kind = {"f": "f", "u": "u"}.get(instr["dest_type"][0], "i")
    if instr.result.bit_size == 64:
        c.interface.doubles.add(base)
        # Doubles arrive as pairs of words, two to a location.
        var = c.interface.slot("Input", base, "u")
        words = [b.op("OpLoad", c.interface.vec4("u"), var)]
        if instr["component"] + instr.result.num_components > 2:
            c.interface.wide.add(base)
            high = c.interface.slot("Input", base + 64, "u")
            words.append(b.op("OpLoad", c.interface.vec4("u"), high))
        pair, wide = c.values.type("u", 32, 2), c.values.type("u", 64)
        parts = []
        for word in words:
            for half in (0, 2):
                two = b.op("OpVectorShuffle", pair, word, word, half, half + 1)
                parts.append(b.op("OpBitcast", wide, two))
        n = len(parts)
        id = b.op("OpCompositeConstruct", c.values.type("u", 64, n), *parts)
        return Value(id, "u", 64, n)
    id = b.op("OpLoad", c.interface.vec4(kind), c.interface.slot("Input", base, kind))
    if kind == "i":
        id, kind = b.op("OpBitcast", c.interface.vec4("u"), id), "u"
    return Value(id, kind, 32, 4)


def primitive_id(c: DriverCode, id: int) -> int:
    """The number of OpenGL's primitive: a quad or polygon is several primitives of the device."""
    if c.options.quads == "one":
        return c.b.uint(0)
    if c.options.quads == "halves":
        return c.b.op("OpShiftRightLogical", c.b.int_type(), id, c.b.uint(1))
    return id


@handles("load_primitive_id")
def _primitive_id(c: DriverCode, instr: Intrinsic) -> None:
    id, kind = c.builtin_value("PrimitiveId", "i", 1, 0)
    c.values.set(instr.result, primitive_id(c, id), kind)


@handles("load_per_vertex_input")
def _vertex_input(c: DriverCode, instr: Intrinsic) -> None:
    _slots_of(c, instr, "Input", 1, c.source(instr, 0))


@handles("load_output")
def _output(c: DriverCode, instr: Intrinsic) -> None:
    if c.stage is Stage.TESS_CTRL:
        _slots_of(c, instr, "Output", 0)
        return
    from .outputs import private_output

    var, kind = private_output(c, slot_of(instr, 0), 0, "f")
    _deliver(c, instr, Value(c.b.op("OpLoad", c.interface.vec4(kind), var), kind, 32, 4))


@handles("load_per_vertex_output")
def _vertex_output(c: DriverCode, instr: Intrinsic) -> None:
    _slots_of(c, instr, "Output", 1, c.source(instr, 0))


# Interpolation.


def _decorate(c: DriverCode, slot: int, interp: str, where: str) -> None:
    """Decorate a fragment input with its interpolation, once."""
    key = ("interp", slot)
    if key in c.b.known or slot in c.options.zero_inputs:
        return
    if slot in CLIP_SLOTS or slot in CULL_SLOTS or slot in INTEGERS:
        return
    c.b.known[key] = 1
    id = c.interface.slot("Input", slot)
    if interp == "flat":
        c.b.decorate(id, "Flat")
        return
    if interp in ("noperspective", "linear"):
        c.b.decorate(id, "NoPerspective")
    if where == "centroid":
        c.b.decorate(id, "Centroid")
    elif where == "sample" or c.options.sample_shading:
        c.b.capability("SampleRateShading")
        c.b.decorate(id, "Sample")


@handles(
    *[
        f"load_barycentric_{kind}"
        for kind in ("pixel", "centroid", "sample", "at_offset", "at_sample")
    ]
)
def _barycentric(c: DriverCode, instr: Intrinsic) -> None:
    """Emit nothing: the load that uses the barycentrics has the place of interpolation."""


@handles("load_interpolated_input")
def _interpolated(c: DriverCode, instr: Intrinsic) -> None:
    at = instr.srcs[0].value.instr
    assert isinstance(at, Intrinsic)
    where = at.name.removeprefix("load_barycentric_")
    slot = slot_of(instr, 1)
    first = ("interp", slot) not in c.b.known
    if first and where in ("pixel", "centroid", "sample"):
        c.b.known["where", slot] = {"pixel": 1, "centroid": 2, "sample": 3}[where]
    _decorate(c, slot, str(at["interp"]), where if first else "pixel")
    same = c.b.known.get(("where", slot), 1) == {"pixel": 1, "centroid": 2, "sample": 3}.get(where)
    if same or slot in c.options.zero_inputs or slot in CLIP_SLOTS:
        _slots_of(c, instr, "Input", 1)
        return
    b = c.b
    b.capability("InterpolationFunction")
    var, vec4 = c.interface.slot("Input", slot), c.interface.vec4()
    if where == "at_offset":
        offset = c.values.get(at.srcs[0].value, "f").id
        id = b.ext("InterpolateAtOffset", vec4, var, offset)
    elif where in ("at_sample", "sample"):
        b.capability("SampleRateShading")
        sample = (
            c.values.get(at.srcs[0].value, "u").id
            if where == "at_sample"
            else c.builtin_value("SampleId", "i", 1, 0)[0]
        )
        id = b.ext("InterpolateAtSample", vec4, var, sample)
    elif where == "centroid":
        id = b.ext("InterpolateAtCentroid", vec4, var)
    else:
        id = b.ext("InterpolateAtOffset", vec4, var, c.values.constant("f", 32, (0, 0)).id)
    _deliver(c, instr, Value(id, "f", 32, 4))
