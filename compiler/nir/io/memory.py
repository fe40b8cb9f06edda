"""Memory: where uniforms, blocks and shared variables lie, and what accesses to them become."""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.address import Address, explicit_root
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.layout import (
    SCALAR,
    STD140,
    STD430,
    align,
    component_bytes,
    explicit_size,
)
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import const_int, derefs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable

_PREFIX = {Mode.UNIFORM: "ubo", Mode.UBO: "ubo", Mode.SSBO: "ssbo", Mode.SHARED: "shared"}
_LOAD = {int(mode): f"load_{prefix}" for mode, prefix in _PREFIX.items()}


def place_shared(shader: Shader) -> bool:
    """Place each variable, and the next workgroup's memory, at a multiple of 16.

    A variable gets a type with offsets. Derefs in use are lowered next; unused ones, which earlier
    passes may leave, still have the old type and are removed.
    """
    variables = shader.variables_of(Mode.SHARED)
    if not variables:
        return False
    offset = shader.info.shared_bytes
    for var in variables:
        if var.offset < 0:
            var.type = explicit_root(var.type, SCALAR)
            offset = align(offset, 16)
            var.offset = offset
            offset += explicit_size(var.type)
    shader.info.shared_bytes = align(offset, 16)
    unused = False
    for deref in derefs_of(shader):
        if deref.modes & Mode.SHARED and deref.block is not None and not deref.dest.uses:
            remove_dead_deref(deref)
            unused = True
    return unused


@cache
def _explicit(type: Type, rule: str) -> tuple[Type, int]:
    """A type with its layout, and its size in bytes."""
    root = explicit_root(type, rule)
    return root, explicit_size(root)


def _place(b: Builder, deref: Deref, var: Variable) -> tuple[list[Def], Address]:
    """The block number (none for shared memory), and the address inside the block.

    Uniforms are in block 0, at their offset. A block is a variable whose type (without arrays) is
    an interface, or one variable for each member with `interface` set and its offset in the block.
    The number of a block is `driver_location` if set, else the binding (plus one for uniform
    blocks).
    """
    path = deref.path()[1:] if deref.form != "var" else []
    t = var.type
    if var.mode == Mode.SHARED:
        return [], _follow(b, _explicit(t, SCALAR)[0], var.offset, path)
    if var.mode == Mode.UNIFORM:
        return [b.imm_int(0)], _follow(b, _explicit(t, STD140)[0], var.offset, path)
    number = var.driver_location
    if number < 0:
        number = max(var.binding, 0) + (1 if var.mode == Mode.UBO else 0)
    dynamic: Def | None = None
    if t.without_array.is_interface:
        while t.element is not None:
            index = path.pop(0).srcs[1].value
            t = t.element
            constant = const_int(index)
            if constant is not None:
                number += constant * t.array_elements
                continue
            size = b.imm_int(t.array_elements, index.bit_size)
            scaled = index if t.array_elements == 1 else b.imul(index, size)
            dynamic = scaled if dynamic is None else b.iadd(dynamic, scaled)
    interface = var.interface if var.interface is not None else var.type.without_array
    rule = STD430 if interface.packing == "std430" else STD140
    address = _follow(b, _explicit(t, rule)[0], max(var.offset, 0), path)
    block = b.imm_int(number)
    return [block if dynamic is None else b.iadd(dynamic, block)], address


def _follow(b: Builder, root: Type, offset: int, path: list[Deref]) -> Address:
    address = Address(b, root, offset)
    for step in path:
        address.step(step)
    return address


def _gap(t: Type) -> int:
    """The distance of the components of a vector that do not follow one another, or 0."""
    return t.stride if t.is_vector and t.stride != component_bytes(t) else 0


def load(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """A load of a variable reads its memory: booleans are integers that are compared with zero, and
    the components of a column of a row-major matrix are read one by one.
    """
    is_uniform = var.mode == Mode.UNIFORM
    if is_uniform and (var.offset < 0 or deref.type.is_opaque):
        return False
    block, address = _place(b, deref, var)
    t = address.type
    name = _LOAD[var.mode]
    indices = {
        "align_mul": component_bytes(t),
        "access": int(access.indices["access"]) | int(var.access),
    }
    if is_uniform:  # a variant may replace uniforms by their values
        indices["range_base"] = var.offset
        indices["range"] = _explicit(var.type, STD140)[1]
    gap = _gap(t)
    if t.bit_size != 1 and not gap:
        access.become(name, [*block, address.offset()], indices)
        return True

    def read(count: int, extra: int) -> Def:
        srcs = [*block, address.offset(extra)]
        return b.intrinsic(
            name, srcs, num_components=count, bit_size=max(t.bit_size, 32), **indices
        )

    if gap:
        value = b.vec([read(1, i * gap) for i in range(t.components)])
    else:
        value = read(t.components, 0)
    access.replace_by(b.ine(value, b.imm_int(0)) if t.bit_size == 1 else value)
    return True


def store(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """A store to a variable writes the components of its mask to memory."""
    block, address = _place(b, deref, var)
    t = address.type
    value, mask = access.srcs[1].value, access["write_mask"]
    if t.bit_size == 1:
        value = b.b2i32(value)
    gap = _gap(t)
    parts = [(value, mask, 0)]
    if gap:
        chosen = [i for i in range(t.components) if mask >> i & 1]
        parts = [(b.channel(value, i), 1, i * gap) for i in chosen]
    for part, part_mask, extra in parts:
        b.intrinsic(
            f"store_{_PREFIX[Mode(var.mode)]}",
            [part, *block, address.offset(extra)],
            write_mask=part_mask,
            align_mul=component_bytes(t),
            access=int(access["access"]) | int(var.access),
        )
    access.remove()
    return True


def array_length(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """The length of the array at the end of a block is what fits in the buffer."""
    block, address = _place(b, deref, var)
    size = b.intrinsic("get_ssbo_size", block)
    rest = b.isub(size, b.imm_int(address.constant))
    length = b.udiv(b.imax(rest, b.imm_int(0)), b.imm_int(max(address.type.stride, 1)))
    access.replace_by(length)
    return True


def atomic(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> bool:
    """An atomic on a variable is one on its memory."""
    block, address = _place(b, deref, var)
    srcs = [*block, address.offset(), *[s.value for s in access.srcs[1:]]]
    name = access.info.name.replace("deref", _PREFIX[Mode(var.mode)])
    access.become(name, srcs, {"atomic_op": access["atomic_op"]})
    return True
