"""Loads, stores and atomics through derefs."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.types import UINT, Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.spirv import tables
from gallette.compiler.spirv.emit.interface import Interface, Place
from gallette.compiler.spirv.emit.types import scalar_kind
from gallette.compiler.spirv.emit.values import Value, Values
from gallette.compiler.spirv.grammar import value_of
from gallette.compiler.spirv.module import SpirvError
from gallette.compiler.spirv.slots import ATOMIC_COUNTERS, ATOMIC_SET

SCOPES = {"device": 1, "workgroup": 2, "subgroup": 3, "invocation": 4, "none": 4}


class Memory:
    """Pointers, and the operations on them."""

    def __init__(self, values: Values, interface: Interface) -> None:
        self.values = values
        self.interface = interface
        self.b = values.b
        self.types = values.types
        self.locals: dict[Variable, Place] = {}
        self.counters: dict[int, int] = {}

    def place(self, var: Variable) -> Place:
        if var.mode == Mode.FUNCTION_TEMP:
            return self.locals[var]
        return self.interface.place(var)

    def pointer(self, deref: Deref) -> tuple[int, Type, Place]:
        """A pointer to a deref's target, the type there, and the variable's place."""
        b = self.b
        var = self.interface.root(deref)
        place = self.place(var)
        t = place.type
        indices = [] if place.member < 0 else [b.sint(place.member)]
        for step in deref.path()[1:]:
            if step.form == "struct":
                indices.append(b.sint(step.field))
                t = t.fields[step.field].type
            elif step.form == "array":
                indices.append(self.values.get(step.srcs[1].value, "u").id)
                t = t.indexed()
            else:
                raise SpirvError(f"a {step.form} deref cannot be written down")
        if not indices:
            return place.id, t, place
        return self.chain(place, t, indices), t, place

    def chain(self, place: Place, t: Type, indices: list[int]) -> int:
        form = self.types.layout if place.explicit else self.types.logical
        pointee = self.handle(t, place) if t.is_opaque else form(t)
        type = self.b.pointer(place.storage, pointee)
        return self.b.op("OpAccessChain", type, place.id, *indices)

    def handle(self, t: Type, place: Place) -> int:
        var = next(v for v, p in self.interface.places.items() if p is place)
        return self.types.handle(t, var.image_format)

    def load(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        pointer, t, place = self.pointer(deref)
        self.values.set(instr.result, *self.load_from(pointer, t, place.explicit))

    def load_from(self, pointer: int, t: Type, in_memory: bool) -> tuple[int, str]:
        """Read a scalar or vector as a value of its kind."""
        b = self.b
        if not t.is_vector_or_scalar:
            raise SpirvError(f"a load of {t} is too much at once")
        id = b.op("OpLoad", self.types.number(t.plain, in_memory), pointer)
        if t.is_boolean and in_memory:
            zero = self.values.constant("u", 32, (0,) * t.components).id
            id = b.op("OpINotEqual", self.values.type("b", 1, t.components), id, zero)
        elif t.is_signed:
            id = b.op("OpBitcast", self.values.type("u", t.bit_size, t.components), id)
        return id, scalar_kind(t)

    def store(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        pointer, t, place = self.pointer(deref)
        value = self.values.get(instr.srcs[1].value, scalar_kind(t))
        mask = instr["write_mask"]
        if mask == (1 << t.components) - 1:
            self.store_to(pointer, t, value, place.explicit)
            return
        scalar = t.scalar_type
        element = self.types.number(scalar, place.explicit)
        type = self.b.pointer(place.storage, element)
        for i in range(t.components):
            if mask >> i & 1:
                part = self.b.op("OpAccessChain", type, pointer, self.b.sint(i))
                self.store_to(part, scalar, self.values.swizzle(value, (i,)), place.explicit)

    def store_to(self, pointer: int, t: Type, value: Value, in_memory: bool) -> None:
        b, id = self.b, value.id
        if t.is_boolean and in_memory:
            uint = self.values.type("u", 32, value.components)
            shape = Value(0, "u", 32, value.components)
            one, zero = self.values.number(shape, 1), self.values.number(shape, 0)
            id = b.op("OpSelect", uint, id, one, zero)
        elif t.is_signed:
            id = b.op("OpBitcast", self.types.number(t.plain, in_memory), id)
        b.do("OpStore", pointer, id)

    def length(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        parent = deref.parent
        if deref.form == "struct" and parent is not None:
            block, _, _ = self.pointer(parent)
            member = deref.field
        else:
            place = self.place(self.interface.root(deref))
            block, member = place.id, place.member
        id = self.b.op("OpArrayLength", self.b.int_type(), block, member)
        self.values.set(instr.result, id, "u")

    def atomic(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        pointer, t, place = self.pointer(deref)
        scope = "workgroup" if place.storage == "Workgroup" else "device"
        srcs = [s.value for s in instr.srcs[1:]]
        id, kind = self.atomic_at(pointer, t, instr["atomic_op"], srcs, scope)
        self.values.set(instr.result, id, kind)

    def atomic_at(
        self, pointer: int, t: Type, op: str, srcs: list[Def], scope: str
    ) -> tuple[int, str]:
        """An atomic operation on a scalar; with two sources, compare and exchange."""
        b = self.b
        kind = scalar_kind(t)
        type = self.types.number(t.plain, True)
        ids = [self.values.get(s, kind).id for s in srcs]
        if t.is_signed:
            ids = [b.op("OpBitcast", type, i) for i in ids]
        where, relaxed = b.uint(SCOPES[scope]), b.uint(0)
        if t.bit_size == 64 and not t.is_float:
            b.capability("Int64Atomics")
        if len(ids) == 2:
            id = b.op(
                "OpAtomicCompareExchange", type, pointer, where, relaxed, relaxed, ids[1], ids[0]
            )
        else:
            name = tables.ATOMICS.get(op)
            if name is None:
                raise SpirvError(f"no atomic {op}")
            if name == "OpAtomicFAddEXT":
                b.capability("AtomicFloat32AddEXT")
            elif name.startswith("OpAtomicF"):
                b.capability("AtomicFloat32MinMaxEXT")
            id = b.op(name, type, pointer, where, relaxed, ids[0])
        if t.is_signed:
            id = b.op("OpBitcast", self.values.type("u", t.bit_size), id)
        return id, kind

    # Atomic counters exist in GL only; here each is a storage buffer.

    def counter(self, instr: Intrinsic) -> None:
        b = self.b
        base = int(instr["base"])
        uint = b.int_type()
        if base not in self.counters:
            array = b.type("OpTypeRuntimeArray", uint, fresh=True)
            b.decorate(array, "ArrayStride", 4)
            struct = b.type("OpTypeStruct", array)
            b.decorate(struct, "Block")
            b.decorate_member(struct, 0, "Offset", 0)
            pointer = b.pointer("StorageBuffer", struct)
            var = b.id()
            storage = value_of("StorageClass", "StorageBuffer")
            b.put("global", "OpVariable", pointer, var, storage)
            b.decorate(var, "DescriptorSet", ATOMIC_SET)
            b.decorate(var, "Binding", base)
            b.decorate_text(var, "UserSemantic", ATOMIC_COUNTERS)
            self.interface.used.append(var)
            self.counters[base] = var
        offset = self.values.get(instr.srcs[0].value, "u").id
        index = b.op("OpShiftRightLogical", uint, offset, b.uint(2))
        chain = b.op(
            "OpAccessChain",
            b.pointer("StorageBuffer", uint),
            self.counters[base],
            b.sint(0),
            index,
        )
        name = instr.name
        if name == "atomic_counter_read":
            id = b.op("OpAtomicLoad", uint, chain, b.uint(1), b.uint(0))
        else:
            op = instr["atomic_op"] if name == "atomic_counter" else "xchg"
            srcs = [s.value for s in instr.srcs[1:]]
            id, _ = self.atomic_at(chain, UINT, op, srcs, "device")
        self.values.set(instr.result, id, "u")
