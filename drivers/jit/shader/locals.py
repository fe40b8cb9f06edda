"""Local arrays with dynamic indices, which are kept in memory.

An array is rows of lanes in the function's frame, or, if it is too large for a frame, in memory of
the call. An index that all lanes share addresses a row; an index per lane gives an address per
lane. Loads outside return zero, and stores outside are dropped.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Deref, Intrinsic, Variable
from gallette.drivers.common.local_variables import bits_of, place_of, rows_of

from ..llvm.text import Builder
from ..llvm.values import V, type_text
from .emitter import INTRINSICS, Emitter

_BLOCK = 256
MOST_ON_STACK = 16 << 10
"""The largest size of all arrays in a function's frame, since threads of applications may have
small stacks.
"""


@lazy_dataclass(frozen=True)
class LocalArray:
    """Rows of `t`, one element per lane, from row `first` of the memory at `pointer`; without a
    pointer it is `size` bytes from `offset` on in the call's memory.
    """

    pointer: str
    t: str
    rows: int
    first: int = 0
    offset: int = 0
    size: int = 0

    def memory(self, e: Emitter) -> V:
        """The address of row 0."""
        if not self.pointer:
            return e.memory_at(self.offset, self.size)
        return V(e.b, "ptr", 0, self.pointer)


def declare_locals(e: Emitter) -> None:
    """Reserve and clear memory for the variables that derefs name."""
    for block in e.shader.entry.blocks():
        for instr in block.instrs():
            if isinstance(instr, Deref) and instr.form == "var" and instr.var is not None:
                _declare(e, instr.var)


def _declare(e: Emitter, var: Variable) -> None:
    if var in e.arrays:
        return
    bits = bits_of(var)
    t = "i8" if bits == 1 else f"i{bits}"
    rows = rows_of(var.type)
    b = e.b
    if e.one_block:  # for comparison: all variables as offsets into one array
        last = list(e.arrays.values())[-1] if e.arrays else None
        pointer = last.pointer if last is not None else b.alloca(t, e.w, _BLOCK)
        first = last.first + last.rows if last is not None else 0
        e.arrays[var] = LocalArray(pointer, t, rows, first)
        return
    size = rows * e.w * (8 if t == "i8" else bits) // 8
    vectors = e.vectors_together
    if vectors == 1 and e.frame + size <= MOST_ON_STACK:
        e.frame += size
        array = LocalArray(b.alloca(t, e.w, rows), t, rows)
    else:
        array = LocalArray("", t, rows, offset=e.reserve(size * vectors), size=size)
    e.arrays[var] = array
    memory = array.memory(e)  # of the first vector
    b.call(
        "llvm.memset.p0.i64",
        "void",
        [memory, b.const("i8", 0), b.const("i64", size * vectors), b.const("i1", False)],
        0,
    )


def _place(e: Emitter, deref: Deref) -> tuple[LocalArray, int, V | None, V | None]:
    """A deref's array, a constant row, a row to add, and the mask of lanes that are inside."""
    place = place_of(deref, e.number)
    array = e.arrays[place.var]
    moving: V | None = None
    inside = e.b.const("i1", False) if place.row >= array.rows else None
    for src, stride, length in place.moving:
        index = index_of(e.b, e.value(src).as_int())
        ok = index.ult(length)
        inside = ok if inside is None else inside & ok
        part = index * stride
        moving = part if moving is None else moving + part
    return array, place.row, moving, inside


def index_of(b: Builder, value: V) -> V:
    """An index in 32 bits, so that no product with a stride overflows; larger ones are outside of
    any array. Narrow indices are signed, as SPIR-V defines.
    """
    if value.bits > 32:
        return b.math("umin", value, (1 << 32) - 1).to("i32")
    return value.to("i32")


def _load(e: Emitter, instr: Intrinsic) -> None:
    deref = instr.deref
    assert deref is not None
    array, base, moving, inside = _place(e, deref)
    found = []
    for i in range(instr.result.num_components):
        w = e.w if instr.result.divergent else 0  # the first lane has the value all lanes agree on
        value = _load_row(e, array, base + i, moving, inside, w)
        found.append(value.ne(0) if instr.result.bit_size == 1 else value)
    e.define(instr.result, found)


def _row_address(e: Emitter, array: LocalArray, row: V) -> V:
    index, memory = row.to("i64"), array.memory(e)
    if array.first:
        index = index + array.first
    if index.w:
        lanes = e.b.lanes("i64", range(e.w))
        return e.b.at(memory, index * e.w + lanes, array.t)
    return e.b.at(memory, index, type_text(array.t, e.w))


def _load_row(
    e: Emitter, array: LocalArray, row: int, moving: V | None, inside: V | None, w: int
) -> V:
    """A row's lanes, or the first lane if `w` is 0."""
    b = e.b
    if moving is None:
        if inside is not None or row >= array.rows:
            return b.spread(b.const(array.t, 0), w)
        return b.load(_row_address(e, array, b.const("i64", row)), array.t, w)
    assert inside is not None
    at = b.select(inside, moving + row, b.const("i32", 0))
    if at.w:
        return b.gather(_row_address(e, array, at), inside, array.t)
    value = b.load(_row_address(e, array, at), array.t, w)
    return b.select(inside, value, b.const(array.t, 0))


def _store(e: Emitter, instr: Intrinsic) -> None:
    deref = instr.deref
    assert deref is not None
    array, base, moving, inside = _place(e, deref)
    for i, value in enumerate(e.values(instr.srcs[1])):
        if instr["write_mask"] >> i & 1:
            bits = value.to("i8", False) if value.t == "i1" else value.as_int()
            _store_row(e, array, base + i, moving, inside, e.wide(bits))


def _store_row(
    e: Emitter, array: LocalArray, row: int, moving: V | None, inside: V | None, value: V
) -> None:
    b = e.b
    if moving is None:
        if inside is not None or row >= array.rows:
            return
        address = _row_address(e, array, b.const("i64", row))
        if e.active is not None:
            value = b.select(e.active, value, b.load(address, array.t, e.w))
        b.store(address, value)
        return
    assert inside is not None
    at = b.select(inside, moving + row, b.const("i32", 0))
    address = _row_address(e, array, at)
    mask = e.mask & inside
    if at.w:
        b.scatter(address, mask, value)
        return
    b.store(address, b.select(mask, value, b.load(address, array.t, e.w)))


INTRINSICS["load_deref"] = _load
INTRINSICS["store_deref"] = _store
