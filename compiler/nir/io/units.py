"""Units: the numbers of samplers and images, and the places of atomic counters."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic, Tex
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable

IMAGES = [name for name in INTRINSICS if name.startswith("image_deref_")]
COUNTERS = [name for name in INTRINSICS if name.startswith("deref_counter")]


def unit_of(b: Builder, deref: Deref) -> tuple[int, Def | None]:
    """The first unit of the variable plus constant indices, and a dynamic offset."""
    var = deref.root_var
    assert var is not None, "a sampler must come from a variable"
    unit = _first_unit(var)
    dynamic: Def | None = None
    for step in deref.path()[1:]:
        if step.form != "array":
            continue
        index = step.srcs[1].value
        count = step.type.array_elements
        parent = step.parent
        assert parent is not None
        limit = parent.type.length
        constant = const_int(index)
        if constant is not None:
            unit += _within(constant, limit) * count
            continue
        scaled = index if count == 1 else b.imul(index, b.imm_int(count, index.bit_size))
        dynamic = scaled if dynamic is None else b.iadd(dynamic, scaled)
    if dynamic is not None:
        last = max(var.type.array_elements - 1, 0)
        dynamic = b.umin(dynamic, b.imm_int(last, dynamic.bit_size))
    return unit, dynamic


def _first_unit(var: Variable) -> int:
    return var.driver_location if var.driver_location >= 0 else max(var.binding, 0)


def _within(index: int, length: int) -> int:
    """An array index, clamped to the array."""
    return min(max(index, 0), max(length - 1, 0))


def lower_texture(b: Builder, tex: Tex) -> bool:
    """A lookup names the units of its texture and sampler; a dynamic index into an array is a
    source of its own.
    """
    progress = False
    for kind in ("texture", "sampler"):
        src = tex.src(f"{kind}_deref")
        if src is None:
            continue
        deref = src.value.instr
        assert isinstance(deref, Deref)
        unit, dynamic = unit_of(b.at_before(tex), deref)
        tex.remove_src(f"{kind}_deref")
        setattr(tex, f"{kind}_index", unit)
        if dynamic is not None:
            tex.add_tex_src(f"{kind}_offset", dynamic)
        remove_dead_deref(deref)
        progress = True
    return progress


def lower_image(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """An access to an image names its unit, and has the format that the variable declares."""
    unit, dynamic = unit_of(b, deref)
    index = b.imm_int(unit)
    if dynamic is not None:
        index = b.iadd(index, dynamic)
    image = deref.type.without_array
    assert image.dim is not None
    indices = dict(access.indices)
    indices["dim"] = image.dim.value
    indices["is_array"] = image.is_arrayed
    indices["access"] = int(indices.get("access", 0)) | int(var.access)
    if var.image_format:
        indices["format"] = var.image_format
    name = access.info.name.replace("image_deref_", "image_")
    access.become(name, [index, *[s.value for s in access.srcs[1:]]], indices)
    return True


def counter_offset(b: Builder, deref: Deref) -> tuple[int, Def]:
    """The buffer binding of a counter, and its byte offset."""
    var = deref.root_var
    assert var is not None, "a counter must come from a variable"
    offset: Def = b.imm_int(var.offset)
    for step in deref.path()[1:]:
        stride = 4 * step.type.array_elements
        offset = b.iadd(offset, b.imul(step.srcs[1].value, b.imm_int(stride)))
    return var.binding, offset


def lower_counter(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """An operation on a counter that was a parameter names its buffer's binding and an offset."""
    binding, offset = counter_offset(b, deref)
    name = access.info.name.replace("deref_counter", "atomic_counter")
    srcs = [offset, *[s.value for s in access.srcs[1:]]]
    access.become(name, srcs, {**access.indices, "base": binding})
    return True
