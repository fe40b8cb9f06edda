"""Derefs of uniform blocks, storage blocks and shared memory become offsets."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.address import Address, explicit_root
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.layout import SCALAR, STD140, STD430, align, explicit_size
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import accesses_of, const_int, derefs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.passes.io.lower_uniforms_to_ubo import load_memory, store_memory
from gallette.compiler.nir.run.pass_runner import nir_pass

_MODES = Mode.UBO | Mode.SSBO | Mode.SHARED
_ACCESSES = (
    "load_deref",
    "store_deref",
    "deref_atomic",
    "deref_atomic_swap",
    "deref_buffer_array_length",
)
_PREFIX = {Mode.UBO: "ubo", Mode.SSBO: "ssbo", Mode.SHARED: "shared"}


@nir_pass("lower_buffer_derefs", preserves=Metadata.CONTROL_FLOW | Metadata.KINDS)
def lower_buffer_derefs(shader: Shader, *, modes: int = int(_MODES)) -> bool:
    """`load_deref(&block.member[i])` becomes `load_ubo(block, offset)`; likewise ssbo and shared.

    A block is a variable whose type (without arrays) is an interface, or one variable per member
    with `interface` set and `offset` in the block. Its number is `driver_location` if set, else the
    binding (plus one for uniform blocks, since block 0 is the default block).
    """
    progress = False
    if modes & Mode.SHARED and _place_shared(shader):
        progress = True
    for impl in shader.impls():
        accesses = accesses_of(impl, modes, *_ACCESSES)
        if not accesses:
            continue
        b = Builder(impl).sharing_constants(forward=True)
        for access, deref in accesses:
            var = deref.root_var
            if var is None:
                continue
            _lower(b.at_before(access), access, deref, var)
            if deref.block is not None:
                remove_dead_deref(deref)
            progress = True
    return progress


def _place_shared(shader: Shader) -> bool:
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


def _rule(var: Variable) -> str:
    if var.mode == Mode.SHARED:
        return SCALAR
    block = var.interface if var.interface is not None else var.type.without_array
    return STD430 if block.packing == "std430" else STD140


def block_and_address(b: Builder, deref: Deref, var: Variable) -> tuple[Def | None, Address]:
    """The block number (None for shared memory) and the address inside it."""
    path = deref.path()[1:]
    root = var.type
    if var.mode == Mode.SHARED:
        address = Address(b, explicit_root(root, SCALAR), var.offset)
        for step in path:
            address.step(step)
        return None, address
    number = var.driver_location
    if number < 0:
        number = max(var.binding, 0) + (1 if var.mode == Mode.UBO else 0)
    dynamic: Def | None = None
    t: Type = root
    if root.without_array.is_interface:
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
    address = Address(b, explicit_root(t, _rule(var)), max(var.offset, 0))
    for step in path:
        address.step(step)
    block = b.imm_int(number)
    return (block if dynamic is None else b.iadd(dynamic, block)), address


def _lower(b: Builder, access: Intrinsic, deref: Deref, var: Variable) -> None:
    block, address = block_and_address(b, deref, var)
    prefix = _PREFIX[Mode(var.mode)]
    flags = int(access.indices.get("access", 0)) | int(var.access)
    if access.name == "load_deref":
        access.replace_by(load_memory(b, address, f"load_{prefix}", block, access=flags))
        return
    if access.name == "store_deref":
        value, mask = access.srcs[1].value, access["write_mask"]
        store_memory(b, address, f"store_{prefix}", block, value, mask, flags)
        access.remove()
        return
    if access.name == "deref_buffer_array_length":
        assert block is not None
        size = b.intrinsic("get_ssbo_size", [block])
        rest = b.isub(size, b.imm_int(address.constant))
        length = b.udiv(b.imax(rest, b.imm_int(0)), b.imm_int(max(address.type.stride, 1)))
        access.replace_by(length)
        return
    suffix = "_swap" if access.name == "deref_atomic_swap" else ""
    srcs = [address.offset(), *[s.value for s in access.srcs[1:]]]
    if block is not None:
        srcs.insert(0, block)
    indices = {"atomic_op": access["atomic_op"]}
    assert access.dest is not None
    result = b.intrinsic(f"{prefix}_atomic{suffix}", srcs, bit_size=access.dest.bit_size, **indices)
    access.replace_by(result)
