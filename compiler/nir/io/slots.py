"""Slots: where inputs and outputs lie, and what loads and stores of them become."""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, SystemValue, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import Base, Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable

READS = (
    "load_deref",
    "interp_deref_at_centroid",
    "interp_deref_at_offset",
    "interp_deref_at_sample_index",
)
ACCESSES = ("store_deref", *READS)
_IN, _OUT = int(Mode.SHADER_IN), int(Mode.SHADER_OUT)
_VERTEX, _FRAGMENT = Stage.VERTEX, Stage.FRAGMENT
_ATTRIBUTES = {int(slot): slot for slot in VertAttrib}
_VARYINGS = {int(slot): slot for slot in VaryingSlot}
_RESULTS = {int(slot): slot for slot in FragResult}
FRAGMENT_SYSTEM: dict[int, str] = {
    VaryingSlot.POS: "load_frag_coord",
    VaryingSlot.PNTC: "load_point_coord",
    VaryingSlot.FACE: "load_front_face",
}


@lazy_dataclass()
class _Place:
    """The target of an access: slots after the variable's location, component, vertex."""

    slot: int
    component: int
    dynamic: Def | None
    vertex: Def | None
    outside: bool = False
    """whether a constant index is out of range"""


def assign_bases(shader: Shader, modes: int = _IN | _OUT) -> None:
    """Number the variables without a number."""
    for mode in (_IN, _OUT):
        found = [var for var in shader.variables if var.mode == mode and mode & modes]
        if len(found) > 1:
            found.sort(key=lambda v: (v.location, v.component))
        base = 0
        places: dict[int, int] = {}
        for var in found:
            location = var.location
            if var.driver_location >= 0 or location < 0:
                continue
            var.driver_location = places.get(location, base)
            if var.driver_location == base:
                for _ in range(_slots(shader.stage, var)):
                    places[location] = base
                    base += 1
                    location += 1


def _slots(stage: Stage, var: Variable) -> int:
    t = var.type
    if var.per_vertex and t.element is not None:
        t = t.element
    if var.packed:
        return (var.component + t.words + 3) // 4
    return t.slots(vertex_input=_is_attribute(stage, var))


def slot_enum(stage: Stage, mode: int, location: int) -> IntEnum | int:
    """The slot of an input or output as the enum of its stage."""
    if stage is _VERTEX and mode == _IN:
        return _ATTRIBUTES.get(location, location)
    if stage is _FRAGMENT and mode == _OUT:
        return _RESULTS.get(location, location)
    return _VARYINGS.get(location, location)


def _place(b: Builder, stage: Stage, deref: Deref, var: Variable) -> _Place:
    place = _Place(0, var.component, None, None)
    if deref.form == "var":
        return place
    path = deref.path()[1:]
    t: Type = var.type
    vertex_input = _is_attribute(stage, var)
    if var.per_vertex and path:
        place.vertex = path.pop(0).srcs[1].value
        assert t.element is not None
        place.outside = t.length > 0 and _is_outside(const_int(place.vertex), t)
        t = t.element
    if var.packed:
        words = _packed_words(t, path)
        place.outside |= words is None
        place.slot, place.component = divmod(var.component + (words or 0), 4)
        return place
    for step in path:
        if step.form == "struct":
            place.slot += sum(f.type.slots(vertex_input) for f in t.fields[: step.field])
            t = t.fields[step.field].type
            continue
        index = step.srcs[1].value
        constant = const_int(index)
        place.outside |= _is_outside(constant, t)
        t = t.indexed()
        size = t.slots(vertex_input)
        if constant is not None:
            place.slot += constant * size
            continue
        scaled = index if size == 1 else b.imul(index, b.imm_int(size, index.bit_size))
        place.dynamic = scaled if place.dynamic is None else b.iadd(place.dynamic, scaled)
    return place


def _is_outside(index: int | None, t: Type) -> bool:
    """Whether an index into a type is known to be out of range."""
    return index is not None and not 0 <= index < t.indexed_length()


def _packed_words(t: Type, path: list[Deref]) -> int | None:
    """The number of 32-bit components of a packed variable before the target of a path.

    None if an index is out of range.
    """
    words = 0
    for step in path:
        if step.form == "struct":
            words += sum(f.type.words for f in t.fields[: step.field])
            t = t.fields[step.field].type
            continue
        constant = const_int(step.srcs[1].value)
        assert constant is not None, "packed varyings need constant indices"
        if _is_outside(constant, t):
            return None
        t = t.indexed()
        words += constant * t.words
    return words


def _runs(
    b: Builder, var: Variable, place: _Place, value: Def
) -> list[tuple[int, int, int]] | None:
    """(slot, component, number of components) of the parts of a vector, one for each slot; None for
    one that is accessed as it is.

    A 64-bit component is two of 32 bits, except in vertex attributes, which the fetch converts.
    Only such vectors and packed ones span slots.
    """
    is_wide = value.bit_size == 64 and not _is_attribute(b.shader.stage, var)
    if not is_wide and not var.packed:
        return None
    at, end = place.component, place.component + value.num_components * (2 if is_wide else 1)
    if not is_wide and end <= 4:
        return None
    runs = []
    while at < end:
        slot, component = divmod(at, 4)
        count = min(4 - component, end - at)
        runs.append((place.slot + slot, component, count))
        at += count
    return runs


def _is_attribute(stage: Stage, var: Variable) -> bool:
    return stage is _VERTEX and var.mode == _IN


@cache
def alu_base(type: Type) -> str:
    """`float32`, `int32`... of the components of `type`."""
    if type.is_boolean:
        return "bool1"
    base = "float" if type.is_float else ("int" if type.is_signed else "uint")
    return f"{base}{type.bit_size}"


def is_flat(var: Variable) -> bool:
    """Whether an input of the fragment stage is constant within its primitive."""
    return var.interpolation == "flat" or _is_never_interpolated(var.type)


@cache
def _is_never_interpolated(type: Type) -> bool:
    return any(leaf.is_integer or leaf.base is Base.DOUBLE for leaf in type.leaves())


def load(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """A load of an input or output names its slot and component."""
    if var.location < 0:
        return False
    dest, stage = access.result, b.shader.stage
    is_interpolated = False
    if var.mode == _IN and stage is _FRAGMENT:
        system = FRAGMENT_SYSTEM.get(var.location)
        if system is not None:
            access.replace_by(b.trim(b.intrinsic(system), dest.num_components))
            return True
        is_interpolated = not is_flat(var)
    place = _place(b, stage, deref, var)
    if place.outside:
        access.replace_by(b.imm_zero(dest.num_components, dest.bit_size))
        return True
    name = "load_input" if var.mode == _IN else "load_output"
    srcs = [b.imm_int(0) if place.dynamic is None else place.dynamic]
    if place.vertex is not None:
        name = name.replace("load_", "load_per_vertex_")
        srcs.insert(0, place.vertex)
    elif is_interpolated:
        name = "load_interpolated_input"
        kind = access.info.name.removeprefix("interp_deref_at_")
        where = access.srcs[1].value if len(access.srcs) > 1 else None
        srcs.insert(0, barycentric(b, var, "" if kind == "load_deref" else kind, where))
    length = 1 if place.dynamic is None else _slots(stage, var) - place.slot
    runs = _runs(b, var, place, dest)
    if runs is None:
        indices = load_indices(stage, var, deref.type, place.slot, place.component, length)
        access.become(name, srcs, indices)
        return True
    words: list[Def] = []
    for slot, component, count in runs:
        left = max(1, length - slot + place.slot)
        indices = load_indices(stage, var, deref.type, slot, component, left)
        if dest.bit_size == 64:
            indices["dest_type"] = "uint32"
        words += b.channels(b.intrinsic(name, srcs, num_components=count, **indices))
    if dest.bit_size == 64:
        pairs = zip(words[::2], words[1::2], strict=True)
        words = [b.pack_64_2x32_split(low, high) for low, high in pairs]
    access.replace_by(b.vec(words))
    return True


def load_system_value(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """A load of a system value is its intrinsic; an element (of gl_SampleMaskIn, of a tessellation
    level) is a component of the result.
    """
    dest = access.result
    value = b.intrinsic(SystemValue(var.location).intrinsic)
    if value.num_components < dest.num_components:
        value = b.pad(value, dest.num_components)
    if dest.bit_size == 1 and value.bit_size == 32:
        value = b.ine(value, b.imm_int(0))
    if deref.form == "array":
        value = b.component(value, deref.srcs[1].value)
    access.replace_by(b.trim(value, dest.num_components))
    return True


def load_indices(
    stage: Stage, var: Variable, type: Type, slot: int, component: int, num_slots: int = 1
) -> dict[str, Any]:
    """The indices of a load of a part of `var`, `slot` slots after its first."""
    return {
        "base": var.driver_location + slot,
        "component": component,
        "location": slot_enum(stage, var.mode, var.location + slot),
        "num_slots": num_slots,
        "dest_type": alu_base(type),
    }


def store_indices(
    stage: Stage, var: Variable, type: Type, slot: int, component: int, mask: int, slots: int = 1
) -> dict[str, Any]:
    """The indices of a store of a part of `var`, `slot` slots after its first."""
    return {
        "base": var.driver_location + slot,
        "component": component,
        "write_mask": mask,
        "location": slot_enum(stage, var.mode, var.location + slot),
        "num_slots": slots,
        "dual_source": var.index,
        "stream": var.stream,
        "invariant": var.invariant,
        "src_type": alu_base(type),
    }


def barycentric(b: Builder, var: Variable, kind: str = "", where: Def | None = None) -> Def:
    """The barycentrics of an input: as declared, or of a `kind` and `where` from the shader."""
    interp = "noperspective" if var.interpolation == "noperspective" else "smooth"
    slot = _VARYINGS.get(var.location)
    if var.interpolation == "none" and slot is not None and slot.is_color:
        interp = "none"  # flat shading may apply; an explicit qualifier prevents that
    if where is not None:
        kind = "at_offset" if kind == "offset" else "at_sample"
        return b.intrinsic(f"load_barycentric_{kind}", [where], interp=interp)
    kind = kind or ("sample" if var.sample else "centroid" if var.centroid else "pixel")
    return b.intrinsic(f"load_barycentric_{kind}", interp=interp)


def store(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """A store to an output names its slot and component."""
    if var.location < 0:
        return False
    stage = b.shader.stage
    value, mask = access.srcs[1].value, access["write_mask"]
    place = _place(b, stage, deref, var)
    if place.outside:
        access.remove()
        return True
    name = "store_output"
    where = [b.imm_int(0) if place.dynamic is None else place.dynamic]
    if place.vertex is not None:
        name = "store_per_vertex_output"
        where.insert(0, place.vertex)
    length = 1 if place.dynamic is None else _slots(stage, var) - place.slot
    runs = _runs(b, var, place, value)
    if runs is None:
        indices = store_indices(stage, var, deref.type, place.slot, place.component, mask, length)
        access.become(name, [value, *where], indices)
        return True
    words, masks = b.channels(value), [mask >> i & 1 for i in range(value.num_components)]
    is_wide = value.bit_size == 64
    if is_wide:
        halves = b.unpack_64_2x32_split_x, b.unpack_64_2x32_split_y
        words = [half(word) for word in words for half in halves]
        masks = [bit for bit in masks for _ in range(2)]
    first = 0
    for slot, component, count in runs:
        part = slice(first, first + count)
        part_mask = sum(bit << i for i, bit in enumerate(masks[part]))
        if part_mask:
            left = max(1, length - slot + place.slot)
            indices = store_indices(stage, var, deref.type, slot, component, part_mask, left)
            if is_wide:
                indices["src_type"] = "uint32"
            b.intrinsic(name, [b.vec(words[part]), *where], **indices)
        first += count
    access.remove()
    return True
