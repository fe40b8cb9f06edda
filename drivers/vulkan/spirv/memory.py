"""Buffers by number and byte offset, workgroup memory, scratch and atomic counters."""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.types import FLOAT, UINT, UINT64, Type
from gallette.compiler.spirv.emit.values import Value
from gallette.compiler.spirv.module import SpirvError

from .code import DriverCode, handles
from .program import Open

__all__ = ["COUNTERS"]

COUNTERS = 16
"""Storage blocks from this one on are atomic counter buffers (see `set_shader_buffers`)."""


def _joined(c: DriverCode, instr: Intrinsic, words: list[int]) -> None:
    """Words as the value that an instruction loads: of 64, 32 or fewer bits."""
    b, result = c.b, instr.result
    n, bits = result.num_components, result.bit_size
    if bits == 64:
        pair, wide = c.values.type("u", 32, 2), c.values.type("u", 64)
        words = [
            b.op("OpBitcast", wide, b.op("OpCompositeConstruct", pair, *words[i : i + 2]))
            for i in range(0, len(words), 2)
        ]
    elif bits != 32:
        raise SpirvError(f"a load of {bits}-bit values has no counterpart")
    id = words[0]
    if n > 1:
        id = b.op("OpCompositeConstruct", c.values.type("u", bits, n), *words)
    c.values.set(result, id, "u")


def _words_of(c: DriverCode, value: Value) -> list[list[int]]:
    """The 32-bit words of each component of a value."""
    b, found = c.b, []
    pair, uint = c.values.type("u", 32, 2), b.int_type()
    for i in range(value.components):
        part = c.values.swizzle(value, (i,)).id
        if value.bits == 64:
            two = b.op("OpBitcast", pair, part)
            found.append([b.op("OpCompositeExtract", uint, two, half) for half in (0, 1)])
        else:
            found.append([part])
    return found


def _count(instr: Intrinsic) -> int:
    return instr.result.num_components * (2 if instr.result.bit_size == 64 else 1)


# Uniform blocks.


@handles("load_ubo")
def _load_ubo(c: DriverCode, instr: Intrinsic) -> None:
    b = c.b
    block, offset = const_int(instr.srcs[0].value), const_int(instr.srcs[1].value)
    info = c.interface.shader.info
    if block is not None:
        var, path = c.interface.uniform_block(("ubo", block), 0), []
    else:
        count = c.interface.blocks(Mode.UBO, info.num_ubos)
        var = c.interface.uniform_block(("ubos", 0), count)
        path = [c.source(instr, 0).id]
    count = _count(instr)
    uint, vec4 = b.int_type(), c.interface.vec4("u")
    if offset is not None:
        words = []
        loaded: dict[int, int] = {}
        for at in range(offset // 4, offset // 4 + count):
            vector, component = divmod(at, 4)
            if vector not in loaded:
                where = b.op("OpAccessChain", b.pointer("Uniform", vec4), var, *path, b.uint(0),
                             b.uint(vector & 4095))  # fmt: skip
                loaded[vector] = b.op("OpLoad", vec4, where)
            words.append(b.op("OpCompositeExtract", uint, loaded[vector], component))
    else:
        first = c.binary("OpShiftRightLogical", c.source(instr, 1), c.uint(2))
        words = []
        for i in range(count):
            at_word = c.add(first, i)
            vector_id = c.binary("OpShiftRightLogical", at_word, c.uint(2))
            vector_id = c.binary("OpBitwiseAnd", vector_id, c.uint(4095))
            component_id = c.binary("OpBitwiseAnd", at_word, c.uint(3))
            where = b.op("OpAccessChain", b.pointer("Uniform", uint), var, *path, b.uint(0),
                         vector_id.id, component_id.id)  # fmt: skip
            words.append(b.op("OpLoad", uint, where))
    _joined(c, instr, words)


# Storage blocks.


def _block(
    c: DriverCode, instr: Intrinsic, index: int, bits: int = 32, kind: str = "u"
) -> tuple[int, list[int]]:
    known = const_int(instr.srcs[index].value)
    if known is not None:
        return c.interface.storage_block(("ssbo", known), 0, bits, kind), []
    count = c.interface.blocks(Mode.SSBO, c.interface.shader.info.num_ssbos)
    var = c.interface.storage_block(("ssbos", 0), count, bits, kind)
    return var, [c.source(instr, index).id]


def _in_buffer(c: DriverCode, var: int, path: list[int], word: Value) -> int:
    b = c.b
    pointer = b.pointer("StorageBuffer", b.int_type())
    return b.op("OpAccessChain", pointer, var, *path, b.uint(0), word.id)


@handles("load_ssbo")
def _load_ssbo(c: DriverCode, instr: Intrinsic) -> None:
    var, path = _block(c, instr, 0)
    _load_words(c, instr, c.source(instr, 1), lambda word: _in_buffer(c, var, path, word))


@handles("store_ssbo")
def _store_ssbo(c: DriverCode, instr: Intrinsic) -> None:
    c.interface.writes_memory = True
    var, path = _block(c, instr, 1)
    _store_words(c, instr, c.source(instr, 2), lambda word: _in_buffer(c, var, path, word))


def _load_words(
    c: DriverCode, instr: Intrinsic, offset: Value, where: Callable[[Value], int]
) -> None:
    first = c.binary("OpShiftRightLogical", offset, c.uint(2))
    uint = c.b.int_type()
    words = [c.b.op("OpLoad", uint, where(c.add(first, i))) for i in range(_count(instr))]
    _joined(c, instr, words)


def _store_words(
    c: DriverCode, instr: Intrinsic, offset: Value, where: Callable[[Value], int]
) -> None:
    value = c.source(instr, 0)
    first = c.binary("OpShiftRightLogical", offset, c.uint(2))
    at = 0
    for i, words in enumerate(_words_of(c, value)):
        for word in words:
            if instr["write_mask"] >> i & 1:
                c.b.do("OpStore", where(c.add(first, at)), word)
            at += 1


@handles("get_ssbo_size")
def _size(c: DriverCode, instr: Intrinsic) -> None:
    b = c.b
    var, path = _block(c, instr, 0)
    if path:
        block = b.known["ssbo", b.int_type()]
        var = b.op("OpAccessChain", b.pointer("StorageBuffer", block), var, *path)
    length = b.op("OpArrayLength", b.int_type(), var, 0)
    c.values.set(instr.result, b.op("OpShiftLeftLogical", b.int_type(), length, b.uint(2)), "u")


def _atomic_type(c: DriverCode, instr: Intrinsic, op: str) -> tuple[Type, int, str]:
    """The type, bits and kind of an atomic operation's operands."""
    bits = instr.result.bit_size
    if op.startswith("f"):
        return FLOAT, bits, "f"
    return (UINT64 if bits == 64 else UINT), bits, "u"


@handles("ssbo_atomic", "ssbo_atomic_swap")
def _ssbo_atomic(c: DriverCode, instr: Intrinsic) -> None:
    c.interface.writes_memory = True
    op = instr["atomic_op"] if instr.name == "ssbo_atomic" else "xchg"
    type, bits, kind = _atomic_type(c, instr, op)
    var, path = _block(c, instr, 0, bits, kind)
    b = c.b
    scalar = c.values.type(kind, bits)
    shift = 3 if bits == 64 else 2
    at = c.binary("OpShiftRightLogical", c.source(instr, 1), c.uint(shift))
    where = b.op("OpAccessChain", b.pointer("StorageBuffer", scalar), var, *path, b.uint(0), at.id)
    srcs = [s.value for s in instr.srcs[2:]]
    id, kind = c.memory.atomic_at(where, type, op, srcs, "device")
    c.values.set(instr.result, id, kind)


# Atomic counters lie in storage blocks of their own.


@handles("atomic_counter", "atomic_counter_read", "atomic_counter_swap")
def _counter(c: DriverCode, instr: Intrinsic) -> None:
    c.interface.writes_memory = True
    b, uint = c.b, c.b.int_type()
    what: Open = ("ssbo", COUNTERS + int(instr["base"]))
    var = c.interface.storage_block(what, 0)
    word = c.binary("OpShiftRightLogical", c.source(instr, 0), c.uint(2))
    where = _in_buffer(c, var, [], word)
    if instr.name == "atomic_counter_read":
        id = b.op("OpAtomicLoad", uint, where, b.uint(1), b.uint(0))
    else:
        op = instr["atomic_op"] if instr.name == "atomic_counter" else "xchg"
        srcs = [s.value for s in instr.srcs[1:]]
        id, _ = c.memory.atomic_at(where, UINT, op, srcs, "device")
    c.values.set(instr.result, id, "u")


# Memory of the workgroup and of the invocation. Values of 64 bits have an array of their own, since
# no variable of GLSL is both: atomic operations want elements of their size.


def _own(c: DriverCode, instr: Intrinsic, bits: int) -> Callable[[Value], int]:
    """The pointer to an element of workgroup or scratch memory."""
    b, info = c.b, c.interface.shader.info
    shared = "shared" in instr.name
    storage, size = ("Workgroup", info.shared_bytes) if shared else ("Private", info.scratch_bytes)
    key, element = ("own", storage, bits), b.int_type(bits)
    if key not in b.known:
        array = b.type("OpTypeArray", element, b.uint(max(size * 8 // bits, 1)))
        b.known[key] = c.interface.variable(storage, array)
    pointer = b.pointer(storage, element)
    return lambda at: b.op("OpAccessChain", pointer, b.known[key], at.id)


@handles("load_shared", "load_scratch")
def _load_own(c: DriverCode, instr: Intrinsic) -> None:
    b, result, where = c.b, instr.result, _own(c, instr, instr.result.bit_size)
    if result.bit_size != 64:
        _load_words(c, instr, c.source(instr, 0), where)
        return
    first, n = c.binary("OpShiftRightLogical", c.source(instr, 0), c.uint(3)), result.num_components
    parts = [b.op("OpLoad", b.int_type(64), where(c.add(first, i))) for i in range(n)]
    id = parts[0]
    if n > 1:
        id = b.op("OpCompositeConstruct", c.values.type("u", 64, n), *parts)
    c.values.set(result, id, "u")


@handles("store_shared", "store_scratch")
def _store_own(c: DriverCode, instr: Intrinsic) -> None:
    value = c.source(instr, 0)
    where = _own(c, instr, value.bits)
    if value.bits != 64:
        _store_words(c, instr, c.source(instr, 1), where)
        return
    first = c.binary("OpShiftRightLogical", c.source(instr, 1), c.uint(3))
    for i in range(value.components):
        if instr["write_mask"] >> i & 1:
            c.b.do("OpStore", where(c.add(first, i)), c.values.swizzle(value, (i,)).id)


@handles("shared_atomic", "shared_atomic_swap")
def _shared_atomic(c: DriverCode, instr: Intrinsic) -> None:
    op = instr["atomic_op"] if instr.name == "shared_atomic" else "xchg"
    type, bits, _ = _atomic_type(c, instr, op)
    if type is FLOAT:
        raise SpirvError(f"an atomic {op} in shared memory has no counterpart")
    shift = 3 if bits == 64 else 2
    at = c.binary("OpShiftRightLogical", c.source(instr, 0), c.uint(shift))
    srcs = [s.value for s in instr.srcs[1:]]
    id, kind = c.memory.atomic_at(_own(c, instr, bits)(at), type, op, srcs, "workgroup")
    c.values.set(instr.result, id, kind)
