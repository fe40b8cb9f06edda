"""Outputs: kept in private variables, and written when the invocation ends or emits a vertex.

So fixed function is applied in one place: point sizes from state, disabled clip distances, colours
for every buffer, and the copies that transform feedback captures.
"""

from __future__ import annotations

import numpy as np

from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.spirv.emit.values import Value
from gallette.drivers.vulkan.lowering import SMOOTH_RIM

from .code import DriverCode, handles
from .inputs import INTEGERS, place_of, slot_of
from .interface import CLIP_SLOTS, CULL_SLOTS
from .system import PUSHED

__all__ = ["XFB_SLOT", "flush_fragment", "flush_vertex", "private_output"]

XFB_SLOT = 1000
"""Slots of outputs that exist only to be captured begin here."""


def private_output(c: DriverCode, slot: int, dual: int, kind: str) -> tuple[int, str]:
    """The variable that keeps an output, and the kind of its components."""
    found = c.outputs.get((slot, dual))
    if found is None:
        found = c.outputs[slot, dual] = (c.interface.private(c.interface.vec4(kind)), kind)
    return found


@handles("store_output")
def _store(c: DriverCode, instr: Intrinsic) -> None:
    if c.stage is Stage.TESS_CTRL:
        _store_shared(c, instr, 1, None)
        return
    kind = {"f": "f", "u": "u"}.get(instr["src_type"][0], "i") if c.stage is Stage.FRAGMENT else "f"
    var, kind = private_output(c, slot_of(instr, 1), int(instr["dual_source"]), kind)
    _write_parts(c, instr, "Private", kind, lambda i: (var, [c.b.uint(i)]))


def _write_parts(c: DriverCode, instr: Intrinsic, storage: str, kind: str, where: object) -> None:
    """Store the masked components of a value."""
    b = c.b
    scalar = {"f": b.float_type(), "u": b.int_type()}.get(kind) or b.int_type(32, True)
    value = c.values.get(instr.srcs[0].value, "f" if kind == "f" else "u")
    mask, first = instr["write_mask"], instr["component"]
    for i in range(value.components):
        if not mask >> i & 1:
            continue
        part = c.values.swizzle(value, (i,)).id
        if kind == "i":
            part = b.op("OpBitcast", scalar, part)
        var, path = where(first + i)  # type: ignore[operator]
        place = b.op("OpAccessChain", b.pointer(storage, scalar), var, *path)
        b.do("OpStore", place, part)


@handles("store_per_vertex_output")
def _store_vertex(c: DriverCode, instr: Intrinsic) -> None:
    _store_shared(c, instr, 2, c.source(instr, 1))


def _store_shared(c: DriverCode, instr: Intrinsic, offset: int, vertex: Value | None) -> None:
    """An output of a tessellation control shader, which other invocations may read."""
    var, at, first, count = place_of(c, "Output", slot_of(instr, offset), vertex)
    uint = c.b.uint
    _write_parts(
        c, instr, "Output", "f",
        lambda i: (var, at if count < 0 else [*at, uint(first + i)]),
    )  # fmt: skip


# What happens at the end.


def _kept(c: DriverCode, slot: int, dual: int = 0) -> Value:
    var, kind = c.outputs[slot, dual]
    return Value(c.b.op("OpLoad", c.interface.vec4(kind), var), kind, 32, 4)


def flush_vertex(c: DriverCode) -> None:
    """Write the outputs of the last stages before the rasterizer."""
    b, interface = c.b, c.interface
    f32, vec4 = b.float_type(), interface.vec4()
    # A built-in with a copy of its value before the rasterizer (see `captured`).
    values: dict[int, Value] = {}
    for slot, _ in sorted(c.outputs):
        value = values[slot] = _kept(c, slot)
        if slot == VaryingSlot.POS:
            place = interface.builtin_array("Output", "Position", vec4, 0)
            if c.options.snap_points:
                value = _snapped(c, value)
            b.do("OpStore", place, _beside(c, value) if c.options.clip_points else value.id)
        elif slot in INTEGERS:
            name, int32 = INTEGERS[VaryingSlot(slot)], b.int_type(32, True)
            part = b.op("OpBitcast", int32, c.values.swizzle(value, (0,)).id)
            b.do("OpStore", interface.builtin_array("Output", name, int32, 0), part)
        elif slot in CULL_SLOTS or slot in CLIP_SLOTS or slot == VaryingSlot.PSIZ:
            continue
        elif slot != VaryingSlot.EDGE:
            b.do("OpStore", interface.slot("Output", slot), value.id)
    _distances(c, values, CULL_SLOTS, "CullDistance", 0xFF)
    _distances(c, values, CLIP_SLOTS, "ClipDistance", c.options.clip_mask)
    if c.options.point_size:
        if c.options.point_size != "state" and VaryingSlot.PSIZ in values:
            size = c.values.swizzle(values[VaryingSlot.PSIZ], (0,))
        else:
            size = c.as_float(c.pushed(PUSHED["point_size"]))
        if c.options.smooth_points:
            rim = np.float32(SMOOTH_RIM).view(np.uint32)
            one, more = (c.values.constant("f", 32, (x,)).id for x in (0x3F800000, int(rim)))
            least = b.ext("FMax", f32, size.id, one)
            size = Value(b.op("OpFAdd", f32, least, more), "f", 32, 1)
        if c.options.point_size != "written" or VaryingSlot.PSIZ in values:
            b.do("OpStore", interface.builtin_array("Output", "PointSize", f32, 0), size.id)
    _capture(c, values)


def _snapped(c: DriverCode, position: Value) -> Value:
    """A point's position a sub-pixel to the right and up.

    A square whose edges run through the centres of pixels covers the left and lower ones of them
    in Vulkan, the others in OpenGL, where positions of points are rounded upwards.
    """
    b, f32 = c.b, c.b.float_type()
    parts = [c.values.swizzle(position, (i,)).id for i in range(4)]
    for axis in (0, 1):
        step = c.as_float(c.pushed(PUSHED["sub_pixel"] + axis)).id
        parts[axis] = b.op("OpFAdd", f32, parts[axis], b.op("OpFMul", f32, step, parts[3]))
    return Value(b.op("OpCompositeConstruct", c.interface.vec4(), *parts), "f", 32, 4)


def _beside(c: DriverCode, position: Value) -> int:
    """A point's position, far away if its centre is outside of the view: OpenGL draws no part of
    such a point, and Vulkan may.
    """
    b, f32, bools = c.b, c.b.float_type(), c.b.bool_type()
    x, y, _, w = (c.values.swizzle(position, (i,)).id for i in range(4))
    sizes = [b.ext("FAbs", f32, part) for part in (x, y)]
    out = [b.op("OpFOrdGreaterThan", bools, size, w) for size in sizes]
    either = b.op("OpLogicalOr", bools, *out)
    chosen = b.op("OpCompositeConstruct", c.values.type("b", 1, 4), *[either] * 4)
    far = c.values.constant("f", 32, (0x49742400, 0x49742400, 0, 0x3F800000)).id  # a million
    return b.op("OpSelect", c.interface.vec4(), chosen, far, position.id)


def _distances(
    c: DriverCode, values: dict[int, Value], slots: tuple[VaryingSlot, ...], name: str, mask: int
) -> None:
    """Clip or cull distances; disabled ones are zero."""
    if not mask or not any(slot in values for slot in slots):
        return
    b, f32 = c.b, c.b.float_type()
    count = 8 if slots[1] in values else 4
    var = c.interface.builtin_array("Output", name, c.interface.array_of(f32, count), 0)
    for i in range(count):
        value = values.get(slots[i // 4])
        part = (
            c.values.swizzle(value, (i % 4,)).id
            if value is not None and mask >> i & 1
            else c.values.constant("f", 32, (0,)).id
        )
        place = b.op("OpAccessChain", b.pointer("Output", f32), var, b.uint(i))
        b.do("OpStore", place, part)


def _capture(c: DriverCode, values: dict[int, Value]) -> None:
    """Copies of the captured outputs, each decorated with its place in a feedback buffer."""
    info = c.options.stream_output
    if info is None or not info.outputs:
        return
    b = c.b
    b.capability("TransformFeedback")
    for number, output in enumerate(info.outputs):
        n = output.num_components
        key = ("Output", XFB_SLOT + number, "f")
        var = c.interface.slots.get(key)
        type = b.vector(b.float_type(), n)
        if var is None:
            var = c.interface.slots[key] = c.interface.variable("Output", type)
            c.interface.mark(var, "Location", ("out", XFB_SLOT + number))
            b.decorate(var, "XfbBuffer", output.buffer)
            b.decorate(var, "XfbStride", info.strides[output.buffer])
            b.decorate(var, "Offset", output.dst_offset)
            if output.stream:
                b.capability("GeometryStreams")
                b.decorate(var, "Stream", output.stream)
        value = values.get(output.slot)
        if value is None:
            part = c.values.constant("f", 32, (0,) * n)
        else:
            first = output.start_component
            part = c.values.swizzle(value, tuple(range(first, first + n)))
        b.do("OpStore", var, part.id)


def flush_fragment(c: DriverCode) -> None:
    """Write colours, depth, stencil and coverage."""
    b, interface = c.b, c.interface
    for slot, dual in sorted(c.outputs):
        var, kind = c.outputs[slot, dual]
        value = Value(b.op("OpLoad", interface.vec4(kind), var), kind, 32, 4)
        if slot == FragResult.DEPTH:
            place = interface.builtin_array("Output", "FragDepth", b.float_type(), 0)
            b.do("OpStore", place, c.values.swizzle(c.as_float(value), (0,)).id)
        elif slot == FragResult.STENCIL:
            b.capability("StencilExportEXT")
            b.extension("SPV_EXT_shader_stencil_export")
            int32 = b.int_type(32, True)
            place = interface.builtin_array("Output", "FragStencilRefEXT", int32, 0)
            b.do("OpStore", place, _signed(c, value))
        elif slot == FragResult.SAMPLE_MASK:
            int32 = b.int_type(32, True)
            array = interface.array_of(int32, 1)
            place = interface.builtin_array("Output", "SampleMask", array, 0)
            at = b.op("OpAccessChain", b.pointer("Output", int32), place, b.uint(0))
            b.do("OpStore", at, _signed(c, value))
        else:
            everywhere = slot == FragResult.COLOR and not dual
            count = c.options.color_buffers if everywhere else 1
            first = 0 if slot == FragResult.COLOR else slot - FragResult.DATA0
            for number in range(first, first + count):
                _color(c, number, dual, kind, value)


def _signed(c: DriverCode, value: Value) -> int:
    b = c.b
    part = c.values.swizzle(value, (0,))
    return part.id if part.kind == "i" else b.op("OpBitcast", b.int_type(32, True), part.id)


def _color(c: DriverCode, number: int, dual: int, kind: str, value: Value) -> None:
    interface = c.interface
    key = ("Output", number + 64 * dual, kind)
    id = interface.slots.get(key)
    if id is None:
        id = interface.slots[key] = interface.variable("Output", interface.vec4(kind))
        c.b.decorate(id, "Location", number)
        if dual:
            c.b.decorate(id, "Index", 1)
    if c.options.alpha_to_red and number == 0:
        value = c.values.swizzle(value, (3, 3, 3, 3))
    c.b.do("OpStore", id, value.id)


@handles("emit_vertex", "end_primitive")
def _emit(c: DriverCode, instr: Intrinsic) -> None:
    ending = instr.name == "end_primitive"
    if not ending:
        flush_vertex(c)
    info = c.options.stream_output
    streams = info is not None and any(output.stream for output in info.outputs)
    if instr["stream"] or streams:
        c.b.capability("GeometryStreams")
        name = "OpEndStreamPrimitive" if ending else "OpEmitStreamVertex"
        c.b.do(name, c.b.uint(instr["stream"]))
    else:
        c.b.do("OpEndPrimitive" if ending else "OpEmitVertex")
