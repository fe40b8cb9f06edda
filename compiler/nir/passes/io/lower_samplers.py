"""Sampler and image variables become unit numbers, counters offsets in their buffers."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic, Tex
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import all_intrinsics_of, by_kind, const_int, textures_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

_IMAGES = frozenset(name for name in INTRINSICS if name.startswith("image_deref_"))
_COUNTERS = frozenset(name for name in INTRINSICS if name.startswith("deref_counter"))


@nir_pass("lower_samplers", preserves=Metadata.CONTROL_FLOW | Metadata.KINDS)
def lower_samplers(shader: Shader) -> bool:
    """`tex (texture_deref=&s[i], ...)` becomes `tex (texture_offset=i) (texture=unit)`.

    The unit of a variable is its `driver_location` if set, else its `binding`. A constant index is
    added to it; a dynamic one becomes a `texture_offset` (and `sampler_offset`) source. Image
    derefs become image numbers, with the variable's format; derefs of counters (those that were
    parameters of functions) become the buffer's binding and an offset.
    """
    progress = False
    for impl in shader.impls():
        b = Builder(impl)
        if not by_kind(impl).derefs:
            continue
        for tex in textures_of(impl):
            for kind in ("texture", "sampler"):
                progress |= _lower_tex(b, tex, kind)
        for instr in all_intrinsics_of(impl):
            name = instr.info.name
            if name in _IMAGES:
                _lower_image(b, instr)
                progress = True
            elif name in _COUNTERS:
                _lower_counter(b, instr)
                progress = True
    return progress


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


def _lower_tex(b: Builder, tex: Tex, kind: str) -> bool:
    src = tex.src(f"{kind}_deref")
    if src is None:
        return False
    deref = src.value.instr
    assert isinstance(deref, Deref)
    unit, dynamic = unit_of(b.at_before(tex), deref)
    tex.remove_src(f"{kind}_deref")
    if kind == "texture":
        tex.texture_index = unit
    else:
        tex.sampler_index = unit
    if dynamic is not None:
        tex.add_tex_src(f"{kind}_offset", dynamic)
    remove_dead_deref(deref)
    return True


def _lower_image(b: Builder, instr: Intrinsic) -> None:
    deref = instr.deref
    assert deref is not None
    var = deref.root_var
    assert var is not None
    b.at_before(instr)
    unit, dynamic = unit_of(b, deref)
    index = b.imm_int(unit)
    if dynamic is not None:
        index = b.iadd(index, dynamic)
    image = deref.type.without_array
    assert image.dim is not None
    indices = dict(instr.indices)
    indices["dim"] = image.dim.value
    indices["is_array"] = image.is_arrayed
    indices["access"] = int(indices.get("access", 0)) | int(var.access)
    if var.image_format:
        indices["format"] = var.image_format
    name = instr.info.name.replace("image_deref_", "image_")
    srcs = [index, *[s.value for s in instr.srcs[1:]]]
    n = instr.dest.num_components if instr.dest is not None else 0
    bits = instr.dest.bit_size if instr.dest is not None else 32
    new = Intrinsic(name, srcs, n, bits, indices)
    b.insert(new)
    if instr.dest is not None:
        instr.replace_by(new.result)
    else:
        instr.remove()
    remove_dead_deref(deref)


def counter_offset(b: Builder, deref: Deref) -> tuple[int, Def]:
    """The buffer binding of a counter, and its byte offset."""
    var = deref.root_var
    assert var is not None, "a counter must come from a variable"
    offset: Def = b.imm_int(var.offset)
    for step in deref.path()[1:]:
        stride = 4 * step.type.array_elements
        offset = b.iadd(offset, b.imul(step.srcs[1].value, b.imm_int(stride)))
    return var.binding, offset


def _lower_counter(b: Builder, instr: Intrinsic) -> None:
    deref = instr.deref
    assert deref is not None and instr.dest is not None
    b.at_before(instr)
    binding, offset = counter_offset(b, deref)
    name = instr.info.name.replace("deref_counter", "atomic_counter")
    srcs = [offset, *[s.value for s in instr.srcs[1:]]]
    new = Intrinsic(name, srcs, 1, 32, dict(instr.indices) | {"base": binding})
    b.insert(new)
    instr.replace_by(new.result)
    remove_dead_deref(deref)
