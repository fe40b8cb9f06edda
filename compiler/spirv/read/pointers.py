"""Pointers of SPIR-V, and values made of several NIR values.

A value is a NIR definition (scalar or vector), a tuple (struct, array, matrix columns), a `Place`
(a pointer) or a `Handle` (a loaded texture or image). Most places are NIR derefs; the others are
objects that NIR represents differently: interface blocks, built-ins, atomic counters, texels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.model import SpvType

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

Index: TypeAlias = "int | Def"
Value: TypeAlias = Any
"""Def, tuple of values, Place or Handle"""

MAX_LEAVES = 1 << 14


def as_def(b: Builder, index: Index, bits: int = 32) -> Def:
    return b.imm_int(index, bits) if isinstance(index, int) else index


@lazy_dataclass()
class Handle:
    """A texture, sampler, image or combination: derefs of the variables."""

    type: SpvType
    texture: Deref | None
    sampler: Deref | None = None
    mode: Def | None = None
    """a kernel's sampler: see `kernel_images`"""


class Place:
    """A pointer; `type` is what it points to."""

    __slots__ = ("type",)

    def __init__(self, type: SpvType) -> None:
        self.type = type

    def step(self, b: Builder, index: Index) -> Place:
        """The place of a member or element."""
        raise SpirvError("this pointer leads to nothing that has members")

    def load(self, b: Builder) -> Value:
        raise SpirvError("this pointer cannot be read through")

    def store(self, b: Builder, value: Value) -> None:
        raise SpirvError("this pointer cannot be written through")

    def inner(self, index: Index) -> SpvType:
        """The type of a member or element."""
        return member_type(self.type, index)


def member_type(type: SpvType, index: Index) -> SpvType:
    if type.kind == "struct":
        if not isinstance(index, int) or not 0 <= index < len(type.members):
            raise SpirvError(f"member {index if isinstance(index, int) else '?'} of a struct")
        return type.members[index]
    if type.element is None or type.kind not in ("vector", "matrix", "array", "runtime_array"):
        raise SpirvError(f"a {type.kind} has no elements")
    return type.element


class DerefPlace(Place):
    """An ordinary variable or part of one."""

    __slots__ = ("access", "deref")

    def __init__(self, type: SpvType, deref: Deref, access: int = 0) -> None:
        super().__init__(type)
        self.deref = deref
        self.access = access

    def step(self, b: Builder, index: Index) -> Place:
        inner = self.inner(index)
        if self.type.kind == "struct":
            assert isinstance(index, int)
            deref = b.deref_struct(self.deref, index)
        else:
            deref = b.deref_array(self.deref, as_def(b, index))
        return DerefPlace(inner, deref, self.access)

    def load(self, b: Builder) -> Value:
        if self.deref.type.is_vector_or_scalar:
            return b.load_deref(self.deref, self.access)
        if self.type.kind in ("image", "sampler", "sampled_image"):
            if self.type.kind == "sampled_image":
                return Handle(self.type, self.deref, self.deref)
            if self.type.kind == "sampler":
                return Handle(self.type, None, self.deref)
            return Handle(self.type, self.deref)
        return load_tree(b, self.deref, self.access)

    def store(self, b: Builder, value: Value) -> None:
        _store(b, self.deref, value, self.access)


def _leaves(type: Type) -> int:
    if type.element is not None:
        return type.length * _leaves(type.element)
    if type.is_struct:
        return sum(_leaves(f.type) for f in type.fields)
    return type.columns if type.is_matrix else 1


def _check(type: Type) -> None:
    if _leaves(type) > MAX_LEAVES:
        raise SpirvError(f"{type} is too large to be held at once")


def load_tree(b: Builder, deref: Deref, access: int = 0) -> Value:
    """Load everything in a deref, part by part."""
    _check(deref.type)
    return _load(b, deref, access)


def _load(b: Builder, deref: Deref, access: int) -> Value:
    t = deref.type
    if t.is_vector_or_scalar:
        return b.load_deref(deref, access)
    if t.is_struct:
        return tuple(_load(b, b.deref_struct(deref, i), access) for i in range(len(t.fields)))
    count = t.indexed_length()
    return tuple(_load(b, b.deref_array_imm(deref, i), access) for i in range(count))


def _store(b: Builder, deref: Deref, value: Value, access: int) -> None:
    """Write a value part by part."""
    t = deref.type
    if t.is_vector_or_scalar:
        if not isinstance(value, Def) or value.num_components != t.components:
            raise SpirvError(f"expected a value of type {t}")
        if value.bit_size != t.bit_size:
            raise SpirvError(f"expected {t.bit_size} bits, not {value.bit_size}")
        b.store_deref(deref, value, access=access)
        return
    _check(t)
    count = len(t.fields) if t.is_struct else t.indexed_length()
    if not isinstance(value, tuple) or len(value) != count:
        raise SpirvError(f"expected a value of type {t}")
    for i, part in enumerate(value):
        inner = b.deref_struct(deref, i) if t.is_struct else b.deref_array_imm(deref, i)
        _store(b, inner, part, access)


class SplitBlock(Place):
    """An interface block (`gl_PerVertex`, a user's, the default block of uniforms), whose members
    are separate variables; or an array of blocks, each with variables of its own.

    For an array of blocks with an element per vertex the first index is the vertex.
    """

    __slots__ = ("arrayed", "members", "vertex")

    def __init__(
        self, type: SpvType, members: list[Place], arrayed: bool, vertex: Index | None = None
    ) -> None:
        super().__init__(type)
        self.members = members
        self.arrayed = arrayed
        self.vertex = vertex

    def step(self, b: Builder, index: Index) -> Place:
        inner = self.inner(index)
        if self.arrayed and self.vertex is None:
            return SplitBlock(inner, self.members, True, index)
        if not isinstance(index, int):
            return Chosen(self.members, index)
        if not 0 <= index < len(self.members):
            raise SpirvError(f"an array of {len(self.members)} blocks has no element {index}")
        member = self.members[index]
        return member if self.vertex is None else member.step(b, self.vertex)

    def _count(self) -> int:
        return self.type.count if self.arrayed and self.vertex is None else len(self.members)

    def load(self, b: Builder) -> Value:
        return tuple(self.step(b, i).load(b) for i in range(self._count()))

    def store(self, b: Builder, value: Value) -> None:
        if not isinstance(value, tuple) or len(value) != self._count():
            raise SpirvError("expected a whole block")
        for i, part in enumerate(value):
            self.step(b, i).store(b, part)


class Chosen(Place):
    """One of several places of a type, selected by a dynamic number."""

    __slots__ = ("index", "places")

    def __init__(self, places: list[Place], index: Def) -> None:
        super().__init__(places[0].type)
        self.places, self.index = places, index

    def step(self, b: Builder, index: Index) -> Place:
        return Chosen([place.step(b, index) for place in self.places], self.index)

    def load(self, b: Builder) -> Value:
        value = self.places[0].load(b)
        for i, place in enumerate(self.places[1:], 1):
            value = select_tree(b, b.ieq(self.index, b.imm_int(i)), place.load(b), value)
        return value

    def store(self, b: Builder, value: Value) -> None:
        for i, place in enumerate(self.places):
            b.push_if(b.ieq(self.index, b.imm_int(i)))
            place.store(b, value)
            b.pop_if()


class RootPlace(Place):
    """A variable whose deref is created where it is used, so that it dominates its uses."""

    __slots__ = ("access", "last", "var")

    def __init__(self, type: SpvType, var: Variable, access: int = 0) -> None:
        super().__init__(type)
        self.var = var
        self.last: Deref | None = None
        self.access = access

    def place(self, b: Builder) -> DerefPlace:
        return DerefPlace(self.type, self.root(b), self.access)

    def root(self, b: Builder) -> Deref:
        """The variable's deref, reusing the last one if that is earlier in the same block."""
        last = self.last
        if last is None or last.block is not b.block or b.after is not b.block.last:
            last = self.last = b.deref_var(self.var)
        return last

    def step(self, b: Builder, index: Index) -> Place:
        return self.place(b).step(b, index)

    def load(self, b: Builder) -> Value:
        if self.var.type.is_vector_or_scalar:
            return b.load_deref(self.root(b), self.access)
        return self.place(b).load(b)

    def store(self, b: Builder, value: Value) -> None:
        _store(b, self.root(b), value, self.access)


class Builtin(Place):
    """A built-in input: loading it is an intrinsic; indices extract parts of the value."""

    __slots__ = ("indices", "read")

    def __init__(
        self,
        type: SpvType,
        read: Callable[[Builder], Value],
        indices: tuple[tuple[SpvType, Index], ...] = (),
    ) -> None:
        super().__init__(type)
        self.read = read
        self.indices = indices

    def step(self, b: Builder, index: Index) -> Place:
        return Builtin(self.inner(index), self.read, (*self.indices, (self.type, index)))

    def load(self, b: Builder) -> Value:
        value = self.read(b)
        for type, index in self.indices:
            value = element_of(b, type, value, index)
        return value


def element_of(b: Builder, type: SpvType, value: Value, index: Index) -> Value:
    """One element of a value: of a vector, or of an array with one element."""
    if isinstance(value, tuple):
        (element,) = value
        return element
    parts = b.channels(value)
    if isinstance(index, int):
        return parts[min(max(index, 0), len(parts) - 1)]
    chosen = parts[0]
    for i in range(1, len(parts)):
        chosen = b.bcsel(b.ieq(index, b.imm_int(i, index.bit_size)), parts[i], chosen)
    return chosen


def select_tree(b: Builder, condition: Def, then: Value, other: Value) -> Value:
    """Select between two values part by part."""
    if isinstance(then, tuple):
        return tuple(select_tree(b, condition, x, y) for x, y in zip(then, other, strict=True))
    if not isinstance(then, Def) or not isinstance(other, Def):
        raise SpirvError("this cannot be chosen at run time")
    return b.bcsel(condition, then, other)


class Counter(Place):
    """An atomic counter, or an array of them: a buffer and a byte offset."""

    __slots__ = ("base", "dynamic", "offset")

    def __init__(self, type: SpvType, base: int, offset: int, dynamic: Def | None = None) -> None:
        super().__init__(type)
        self.base = base
        self.offset = offset
        self.dynamic = dynamic

    def step(self, b: Builder, index: Index) -> Place:
        inner = self.inner(index)
        if self.type.kind == "struct":
            return Counter(inner, self.base, self.offset, self.dynamic)
        size = 4 * inner.nir.array_elements
        if isinstance(index, int):
            return Counter(inner, self.base, self.offset + size * index, self.dynamic)
        scaled = b.imul(index, b.imm_int(size))
        dynamic = scaled if self.dynamic is None else b.iadd(self.dynamic, scaled)
        return Counter(inner, self.base, self.offset, dynamic)

    def address(self, b: Builder) -> Def:
        constant = b.imm_int(self.offset)
        return constant if self.dynamic is None else b.iadd(self.dynamic, constant)

    def load(self, b: Builder) -> Value:
        return b.intrinsic("atomic_counter_read", [self.address(b)], base=self.base)


class Texel(Place):
    """One texel of an image, for atomics."""

    __slots__ = ("coord", "image", "sample")

    def __init__(self, type: SpvType, image: Handle, coord: Def, sample: Def) -> None:
        super().__init__(type)
        self.image = image
        self.coord = coord
        self.sample = sample


def handle(r: FunctionReader, id: int, i: Instruction) -> Handle:
    """The handle that an operand must be."""
    found = r.value(id)
    if not isinstance(found, Handle):
        raise i.error(f"%{id} is no image")
    return found
