"""Uniforms of the default block and uniform blocks become buffer loads."""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.address import Address, explicit_root
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.layout import STD140, component_bytes, explicit_size
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import accesses_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_UNIFORM = int(Mode.UNIFORM)


@nir_pass("lower_uniforms_to_ubo", preserves=Metadata.CONTROL_FLOW | Metadata.KINDS)
def lower_uniforms_to_ubo(shader: Shader) -> bool:
    """`load_deref` of a uniform becomes `load_ubo(0, offset)`.

    The variable's `offset` is its offset in the default block; its type has the layout, or gets
    std140. A load reads only the bytes it needs: a boolean is a 32-bit integer in memory and
    compared with zero.
    """
    progress = False
    for impl in shader.impls():
        accesses = accesses_of(impl, _UNIFORM, "load_deref")
        if not accesses:
            continue
        b = Builder(impl).sharing_constants(forward=True)
        for access, deref in accesses:
            var = deref.root_var if deref.modes == _UNIFORM else None
            if var is None or var.offset < 0 or deref.type.is_opaque:
                continue
            b.at_before(access)
            root, size = uniform_layout(var.type)
            address = Address(b, root, var.offset)
            if deref.form != "var":
                for step in deref.path()[1:]:
                    address.step(step)
            load_from(b, access, address, "load_ubo", b.imm_int(0), (var.offset, size))
            remove_dead_deref(deref)
            progress = True
    return progress


@cache
def uniform_layout(type: Type) -> tuple[Type, int]:
    """A uniform's type with its layout, and its size in bytes."""
    root = explicit_root(type, STD140)
    return root, explicit_size(root)


def is_plain(t: Type) -> bool:
    """Whether a scalar or vector in memory has the representation of its value."""
    return t.bit_size != 1 and not (t.is_vector and t.stride not in (0, component_bytes(t)))


def load_from(
    b: Builder,
    access: Intrinsic,
    address: Address,
    intrinsic: str,
    block: Def | None,
    range_: tuple[int, int] = (0, 0),
) -> None:
    """Replace a load of a variable by a load of the memory at `address`."""
    t = address.type
    size = component_bytes(t)
    if not is_plain(t):
        access.replace_by(load_memory(b, address, intrinsic, block, range_))
        return
    srcs = [address.offset()] if block is None else [block, address.offset()]
    access.become(intrinsic, srcs, {"align_mul": size, "range_base": range_[0], "range": range_[1]})


def load_memory(
    b: Builder,
    address: Address,
    intrinsic: str,
    block: Def | None,
    range_: tuple[int, int] = (0, 0),
    access: int = 0,
) -> Def:
    """Load the scalar or vector at `address`, booleans converted, strided vectors gathered."""
    t = address.type
    bits = 32 if t.bit_size == 1 else t.bit_size
    stride = t.stride if t.is_vector and t.stride else 0

    def load(n: int, extra: int) -> Def:
        srcs = [address.offset(extra)] if block is None else [block, address.offset(extra)]
        align = component_bytes(t)
        return b.intrinsic(
            intrinsic,
            srcs,
            num_components=n,
            bit_size=bits,
            align_mul=align,
            range_base=range_[0],
            range=range_[1],
            access=access,
        )

    if stride and stride != component_bytes(t):
        value = b.vec([load(1, i * stride) for i in range(t.components)])
    else:
        value = load(t.components, 0)
    if t.bit_size == 1:
        value = b.ine(value, b.imm_int(0))
    return value


def store_memory(
    b: Builder,
    address: Address,
    intrinsic: str,
    block: Def | None,
    value: Def,
    mask: int,
    access: int = 0,
) -> None:
    """Store the masked components at `address`."""
    t = address.type
    if t.bit_size == 1:
        value = b.b2i32(value)
    stride = t.stride if t.is_vector and t.stride else 0

    def store(part: Def, part_mask: int, extra: int) -> None:
        srcs = [part] if block is None else [part, block]
        srcs.append(address.offset(extra))
        align = component_bytes(t)
        b.intrinsic(intrinsic, srcs, write_mask=part_mask, align_mul=align, access=access)

    if stride and stride != component_bytes(t):
        for i in range(t.components):
            if mask >> i & 1:
                store(b.channel(value, i), 1, i * stride)
    else:
        store(value, mask, 0)
