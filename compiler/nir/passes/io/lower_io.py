"""Inputs and outputs become slot loads and stores."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import accesses_of, const_int
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import Base, Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

ACCESSES = (
    "load_deref",
    "store_deref",
    "interp_deref_at_centroid",
    "interp_deref_at_offset",
    "interp_deref_at_sample_index",
)
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


@dataclass(slots=True)
class _Place:
    """The target of an access: slots after the variable's location, component, vertex."""

    slot: int
    component: int
    dynamic: Def | None
    vertex: Def | None
    outside: bool = False
    """whether a constant index is out of range"""


@nir_pass("lower_io", preserves=Metadata.CONTROL_FLOW | Metadata.KINDS)
def lower_io(shader: Shader, *, modes: int = int(Mode.SHADER_IN | Mode.SHADER_OUT)) -> bool:
    """`load_deref` and `store_deref` of inputs and outputs name slots instead of variables.

    Before: `%1 = load_deref(&color)`; after: `%1 = load_interpolated_input(barycentric, 0)
    (location=VARYING.COL0)`. Fragment inputs that are flat, integer or 64-bit use `load_input`. The
    `offset` source counts slots from `location`; constant offsets are already in `location`. Loads
    with a constant index out of range are zero, and stores are removed.

    `base` numbers the variables of a shader densely in order of their slots.
    """
    assign_bases(shader, modes)
    progress = False
    stage = shader.stage
    for impl in shader.impls():
        b = Builder(impl).sharing_constants(forward=True)
        for access, deref in accesses_of(impl, modes, *ACCESSES):
            var = deref.root_var
            if var is None or var.location < 0:
                continue
            b.at_before(access)
            if access.dest is not None:
                _load(b, stage, access, deref, var)
            elif deref.form == "var" and not var.packed:
                _store_whole(b, stage, access, var)
            else:
                _store(b, stage, access, deref, var)
            remove_dead_deref(deref)
            progress = True
    return progress


def assign_bases(shader: Shader, modes: int = _IN | _OUT) -> None:
    """Number the variables without a number."""
    for mode in (_IN, _OUT):
        if not mode & modes:
            continue
        base = 0
        places: dict[int, int] = {}
        found = [var for var in shader.variables if var.mode == mode]
        if len(found) > 1:
            found.sort(key=lambda v: (v.location, v.component))
        for var in found:
            if var.driver_location >= 0 or var.location < 0:
                continue
            if var.location in places:
                var.driver_location = places[var.location]
                continue
            var.driver_location = base
            slots = _slots(shader.stage, var)
            for i in range(slots):
                places[var.location + i] = base + i
            base += slots


def _slots(stage: Stage, var: Variable) -> int:
    if var.compact:
        return (var.component + var.type.length + 3) // 4
    t = var.type
    if var.per_vertex and t.element is not None:
        t = t.element
    if var.packed:
        return (var.component + t.words + 3) // 4
    return t.slots(vertex_input=stage is _VERTEX and var.mode == _IN)


def slot_enum(stage: Stage, mode: int, location: int) -> IntEnum | int:
    """The slot of an input or output as the enum of its stage."""
    if stage is _VERTEX and mode == _IN:
        return _ATTRIBUTES.get(location, location)
    if stage is _FRAGMENT and mode == _OUT:
        return _RESULTS.get(location, location)
    return _VARYINGS.get(location, location)


def _place(b: Builder, stage: Stage, deref: Deref, var: Variable) -> _Place:
    place = _Place(0, var.component, None, None)
    if deref.form == "var":  # the whole variable
        return place
    path = deref.path()[1:]
    t: Type = var.type
    vertex_input = stage is _VERTEX and var.mode == _IN
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
        compact = var.compact and not t.is_vector_or_scalar
        place.outside |= _is_outside(constant, t)
        t = t.indexed()
        if compact:
            assert constant is not None, "compact arrays need constant indices"
            place.slot += (place.component + constant) // 4
            place.component = (place.component + constant) % 4
            continue
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


def _parts(place: _Place, count: int, bits: int, packed: bool) -> list[tuple[int, int, int, int]]:
    """The accesses of a packed vector, which may span two slots: (first component, number, slot,
    component there).

    64-bit values stay whole; `lower_64bit_io` splits them.
    """
    first = 4 - place.component
    if not packed or bits == 64 or count <= first:
        return [(0, count, place.slot, place.component)]
    return [(0, first, place.slot, place.component), (first, count - first, place.slot + 1, 0)]


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


def _load(b: Builder, stage: Stage, access: Intrinsic, deref: Deref, var: Variable) -> None:
    dest = access.dest
    assert dest is not None
    n, bits = dest.num_components, dest.bit_size
    is_input = var.mode == _IN
    if is_input and stage is _FRAGMENT:
        system = FRAGMENT_SYSTEM.get(var.location)
        if system is not None:
            access.replace_by(b.trim(b.intrinsic(system), n))
            return
    place = _place(b, stage, deref, var)
    if place.outside:
        access.replace_by(b.imm_zero(n, bits))
        return
    name = "load_input" if is_input else "load_output"
    srcs = [b.imm_int(0) if place.dynamic is None else place.dynamic]
    if place.vertex is not None:
        name = name.replace("load_", "load_per_vertex_")
        srcs.insert(0, place.vertex)
    elif is_input and stage is _FRAGMENT and not is_flat(var):
        name = "load_interpolated_input"
        kind = access.name.removeprefix("interp_deref_at_")
        where = access.srcs[1].value if len(access.srcs) > 1 else None
        srcs.insert(0, barycentric(b, var, "" if kind == "load_deref" else kind, where))
    num_slots = 1 if place.dynamic is None else _slots(stage, var) - place.slot
    parts: list[Def] = []
    for _, count, slot, component in _parts(place, n, bits, var.packed):
        indices = load_indices(stage, var, deref.type, slot, component, num_slots)
        if count == n:
            access.become(name, srcs, indices)
            return
        part = b.intrinsic(name, srcs, num_components=count, bit_size=bits, **indices)
        parts += b.channels(part)
    access.replace_by(b.vec(parts))


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


def _store_whole(b: Builder, stage: Stage, access: Intrinsic, var: Variable) -> None:
    """Store a whole variable whose layout is that of its slots, the usual case."""
    indices = store_indices(stage, var, var.type, 0, var.component, access["write_mask"])
    access.become("store_output", [access.srcs[1].value, b.imm_int(0)], indices)


def _store(b: Builder, stage: Stage, access: Intrinsic, deref: Deref, var: Variable) -> None:
    place = _place(b, stage, deref, var)
    if place.outside:
        access.remove()
        return
    value, mask = access.srcs[1].value, access["write_mask"]
    name = "store_output"
    where = [b.imm_int(0) if place.dynamic is None else place.dynamic]
    if place.vertex is not None:
        name = "store_per_vertex_output"
        where.insert(0, place.vertex)
    n = value.num_components
    for first, count, slot, component in _parts(place, n, value.bit_size, var.packed):
        part_mask = mask >> first & (1 << count) - 1
        if not part_mask:
            continue
        slots = 1 if place.dynamic is None else _slots(stage, var) - place.slot
        indices = store_indices(stage, var, deref.type, slot, component, part_mask, slots)
        if count == n:
            access.become(name, [value, *where], indices)
            return
        part = b.vec(b.channels(value)[first : first + count])
        b.intrinsic(name, [part, *where], **indices)
    access.remove()
