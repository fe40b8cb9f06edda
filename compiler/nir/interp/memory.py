"""Variables and pointers of the reference interpreter.

A variable is a column of 64-bit slots, one per scalar component of its type in declaration order; a
variable of an invocation has one column per lane, a shared one has a single column. A pointer is,
per lane, the number of a variable and a slot offset, so phis and selects of pointers work like
others. Accesses out of range read zero and write nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder.address import explicit_root
from gallette.compiler.nir.interp.environment import Array, Environment, Result
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.layout import STD140, STD430, explicit_type
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.opcodes import numpy_dtype
from gallette.compiler.nir.ir.slots import SystemValue
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.variables import Variable

# The distance in slots between the outputs of consecutive vertices of a patch.
VERTEX_STRIDE = 1024
_SHARED_MODES = Mode.UBO | Mode.SSBO | Mode.SHARED | Mode.GLOBAL


@cache
def slot_count(type: Type) -> int:
    """Scalar components in a type (an opaque one counts as one)."""
    if type.element is not None:
        return type.length * slot_count(type.element)
    if type.is_struct:
        return sum(slot_count(f.type) for f in type.fields)
    return max(type.components, 1)


@lazy_dataclass(frozen=True)
class Leaf:
    """One scalar of a variable: interface slot and component, byte offset, and bit size."""

    slot: int
    component: int
    offset: int
    bit_size: int


def leaves(type: Type, location: int, component: int, packed: bool = False) -> Iterator[Leaf]:
    """Every scalar in slot order, with its place in the interface and (std140) in memory."""
    at = component
    for leaf in explicit_leaves(explicit_type(type), location, component, 0):
        yield replace(leaf, slot=location + at // 4, component=at % 4) if packed else leaf
        at += 2 if leaf.bit_size == 64 else 1


def explicit_leaves(
    type: Type, location: int, component: int, start: int, tail: int = 0
) -> Iterator[Leaf]:
    """Every scalar of a type with layout; `tail` bytes bound an unsized array."""
    stack: list[tuple[Type, int, int]] = [(type, location, start)]
    while stack:
        t, slot, offset = stack.pop()
        if t.element is not None:
            step = t.element.slots()
            length = t.length or max(tail - offset, 0) // max(t.stride, 1)
            for i in reversed(range(length)):
                stack.append((t.element, slot + i * step, offset + i * t.stride))
        elif t.is_struct:
            parts, at = [], slot
            for f in t.fields:
                parts.append((f.type, at, offset + f.offset))
                at += f.type.slots()
            stack.extend(reversed(parts))
        elif t.is_matrix:
            size, step = t.bit_size // 8, t.column_type.slots()
            for c in range(t.columns):
                for r in range(t.rows):
                    at_byte = (
                        offset + r * t.stride + c * size
                        if t.row_major
                        else offset + c * t.stride + r * size
                    )
                    yield Leaf(slot + c * step, component + r, at_byte, t.bit_size)
        else:
            size = max(t.bit_size // 8, 4) if t.bit_size in (0, 1) else t.bit_size // 8
            for r in range(max(t.components, 1)):
                yield Leaf(slot, component + r, offset + r * size, t.bit_size or 32)


class Pointer:
    """Per lane: the variable (by number), the slot, and whether it is within bounds."""

    __slots__ = ("inside", "offset", "variable")

    def __init__(self, variable: Array, offset: Array, inside: Array):
        self.variable = variable
        self.offset = offset
        self.inside = inside

    def moved(self, by: Array | int, inside: Array | bool = True) -> Pointer:
        return Pointer(self.variable, self.offset + by, self.inside & inside)

    def merged(self, other: Pointer, mask: Array) -> Pointer:
        """`other` where `mask` holds, else this one."""
        return Pointer(
            np.where(mask, other.variable, self.variable),
            np.where(mask, other.offset, self.offset),
            np.where(mask, other.inside, self.inside),
        )


def _flat(value: Any) -> Iterator[int]:
    """The scalars of nested constant tuples, in order."""
    if isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


class BlockView:
    """A variable in a uniform or storage block, whose slots are offsets in the buffer."""

    def __init__(self, var: Variable, env: Environment):
        self.env = env
        self.kind = "ubo" if var.mode & Mode.UBO else "ssbo"
        number = var.driver_location
        if number < 0:
            number = max(var.binding, 0) + (1 if self.kind == "ubo" else 0)
        block = var.interface if var.interface is not None else var.type.without_array
        rule = STD430 if block.packing == "std430" else STD140
        copies, inner = 1, var.type
        if inner.without_array.is_interface:
            copies, inner = inner.array_elements, inner.without_array
        inner = explicit_root(inner, rule)
        self.number, self.inner, self.start = number, inner, max(var.offset, 0)
        self.slots_per_copy = max(slot_count(inner), 1) if copies > 1 else 0
        places: list[tuple[int, int, int]] = []
        for copy in range(copies):
            tail = len(env.buffer(self.kind, number + copy)) if copies == 1 else 0
            for leaf in explicit_leaves(inner, 0, 0, max(var.offset, 0), tail):
                places.append((number + copy, leaf.offset, max(leaf.bit_size, 8) // 8))
        table = np.array(places, dtype=np.int64).reshape(-1, 3)
        self.blocks, self.offsets, self.sizes = table.T
        booleans = [leaf.bit_size == 1 for leaf in explicit_leaves(inner, 0, 0, 0)]
        if any(booleans):  # four bytes in memory
            self.sizes = np.where(self.sizes == 1, 4, self.sizes)

    def array_length(self, path: list[Deref], lane_slots: Array) -> Array:
        """Per lane, the number of elements of the unsized array at `path` that fit the buffer."""
        type, at = self.inner, self.start
        for step in path:
            if step.form == "struct":
                at += type.fields[step.field].offset
                type = type.fields[step.field].type
        copies = lane_slots // self.slots_per_copy if self.slots_per_copy else 0 * lane_slots
        sizes = [len(self.env.buffer(self.kind, self.number + int(c))) for c in copies]
        return (np.array(sizes) - at).clip(0) // max(type.stride, 1)

    def read(self, lane_slots: Array, ok: Array) -> Array:
        """The 64-bit slots at `lane_slots`; zero where not `ok` or outside of the buffer."""
        out = np.zeros(len(lane_slots), dtype=np.uint64)
        for lane in np.flatnonzero(ok & (lane_slots >= 0) & (lane_slots < len(self.blocks))):
            data, at, size = self._place(int(lane_slots[lane]))
            if at + size <= len(data):
                out[lane] = int.from_bytes(bytes(data[at : at + size]), "little")
        return out

    def write(self, lane_slots: Array, ok: Array, values: Array) -> None:
        for lane in np.flatnonzero(ok & (lane_slots >= 0) & (lane_slots < len(self.blocks))):
            data, at, size = self._place(int(lane_slots[lane]))
            if at + size <= len(data):
                piece = int(values[lane]).to_bytes(8, "little")[:size]
                data[at : at + size] = np.frombuffer(piece, dtype=np.uint8)

    def _place(self, slot: int) -> tuple[Array, int, int]:
        data = self.env.buffer(self.kind, int(self.blocks[slot]))
        return data, int(self.offsets[slot]), int(self.sizes[slot])


def _is_block(var: Variable) -> bool:
    in_buffer = bool(var.mode & (Mode.UBO | Mode.SSBO))
    return in_buffer and (var.interface is not None or var.type.without_array.is_interface)


class Memory:
    """Every variable that a run accesses."""

    def __init__(self, env: Environment, result: Result):
        self.env = env
        self.result = result
        self.numbers: dict[Variable, int] = {}
        self.variables: list[Variable] = []
        self.storage: list[Array] = []
        self.touched: list[Array] = []
        self.views: dict[int, BlockView] = {}

    def number(self, var: Variable) -> int:
        number = self.numbers.get(var)
        if number is None:
            number = self.numbers[var] = len(self.variables)
            self.variables.append(var)
            if _is_block(var):
                self.views[number] = BlockView(var, self.env)
            self.storage.append(self._initial(var))
            lanes = self.storage[-1].shape
            self.touched.append(np.zeros(lanes, dtype=np.bool_))
        return number

    def _initial(self, var: Variable) -> Array:
        env, count = self.env, slot_count(var.type)
        lanes = 1 if var.mode & _SHARED_MODES else env.lanes
        data = np.zeros((count, lanes), dtype=np.uint64)
        if var.constant_initializer is not None:
            for i, bits in enumerate(_flat(var.constant_initializer)):
                data[i] = bits
        elif var.mode & Mode.SHADER_IN and var.per_vertex and var.type.element is not None:
            inner = list(leaves(var.type.element, var.location, var.component, var.packed))
            for i in range(count):
                vertex, leaf = i // len(inner), inner[i % len(inner)]
                data[i] = env.input(leaf.slot, leaf.component, leaf.bit_size, vertex)
        elif var.mode & Mode.SHADER_IN:
            for i, leaf in enumerate(leaves(var.type, var.location, var.component, var.packed)):
                data[i] = env.input(leaf.slot, leaf.component, leaf.bit_size)
        elif var.mode & Mode.UNIFORM and var.name in env.uniforms:
            given = np.asarray(env.uniforms[var.name]).reshape(-1)
            for i, leaf in enumerate(leaves(var.type, 0, 0)):
                data[i] = env.raw(given[i], leaf.bit_size)
        elif var.mode & Mode.UNIFORM and var.offset >= 0:
            raw = env.buffer("ubo", 0)
            for i, leaf in enumerate(leaves(var.type, 0, 0)):
                at, size = var.offset + leaf.offset, max(leaf.bit_size, 32) // 8
                piece = bytes(raw[at : at + size]).ljust(size, b"\0")
                data[i] = int.from_bytes(piece, "little")
        elif var.mode & (Mode.UNIFORM | _SHARED_MODES) and not var.mode & Mode.SHARED:
            for i, leaf in enumerate(leaves(var.type, 0, 0)):
                data[i] = env.raw(env.floats(1, var.name, i)[0], leaf.bit_size)[:lanes]
        elif var.mode & Mode.SYSTEM_VALUE:
            known = var.location in set(SystemValue)
            name = SystemValue(var.location).name.lower() if known else var.name
            rows = env.system_value(name, count, var.type.without_array.bit_size)
            data[:] = rows
        return data

    def load(self, pointer: Pointer, components: int, bit_size: int) -> Array:
        lanes = self.env.lanes
        out = np.zeros((components, lanes), dtype=np.uint64)
        columns = np.arange(lanes)
        for number in np.unique(pointer.variable):
            data = self.storage[number]
            mine = (pointer.variable == number) & pointer.inside
            view = self.views.get(int(number))
            if view is not None:
                for c in range(components):
                    out[c] = np.where(mine, view.read(pointer.offset + c, mine), out[c])
                continue
            for c in range(components):
                at = pointer.offset + c
                ok = mine & (at >= 0) & (at < len(data))
                column = columns if data.shape[1] > 1 else 0
                got = data[np.where(ok, at, 0), column] if len(data) else np.zeros(lanes, np.uint64)
                out[c] = np.where(ok, got, out[c])
        return narrow(out, bit_size)

    def store(
        self, pointer: Pointer, value: Array, write_mask: int, active: Array, extra: int = 0
    ) -> None:
        wide = widen(value)
        for number in np.unique(pointer.variable):
            data, touched = self.storage[number], self.touched[number]
            mine = (pointer.variable == number) & pointer.inside & active
            for c in range(len(wide)):
                if not write_mask >> c & 1:
                    continue
                at = pointer.offset + c + extra
                view = self.views.get(int(number))
                if view is not None:
                    view.write(at, mine, wide[c])
                    continue
                ok = np.flatnonzero(mine & (at >= 0) & (at < len(data)))
                column = ok if data.shape[1] > 1 else np.zeros_like(ok)
                data[at[ok], column] = wide[c][ok]
                touched[at[ok], column] = True

    def flush_outputs(self) -> None:
        """Copy the contents of output variables with a location to the result."""
        for var, data, touched in zip(self.variables, self.storage, self.touched, strict=True):
            if not var.mode & Mode.SHADER_OUT or var.location < 0:
                continue
            per_vertex = var.per_vertex and var.type.element is not None
            inner = var.type.element if per_vertex else var.type
            assert inner is not None
            one = list(leaves(inner, var.location, var.component, var.packed))
            for i in range(len(data)):
                vertex, leaf = i // len(one), one[i % len(one)]
                if touched[i].any():
                    key = (leaf.slot + vertex * VERTEX_STRIDE, leaf.component)
                    dtype = numpy_dtype("uint", max(leaf.bit_size, 32))
                    self.result.outputs[key] = data[i].astype(dtype)
                    self.result.written[key] = touched[i].copy()


def widen(value: Array) -> Array:
    return value.astype(np.uint64)


def narrow(value: Array, bit_size: int) -> Array:
    """64-bit slots as raw bits of a size (booleans: anything but zero)."""
    if bit_size == 1:
        return np.not_equal(value, 0)
    return value.astype(numpy_dtype("uint", bit_size))
