"""Pointers become addresses, in the driver's format for each kind of memory."""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.addresses import SPACES, AddressFormat, AddressModel
from gallette.compiler.nir.ir.instrs import Call, Deref, Intrinsic
from gallette.compiler.nir.ir.layout import (
    STD430,
    align,
    component_bytes,
    explicit_size,
    explicit_type,
)
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.queries import const_int, instrs_of
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

MODES = Mode.GLOBAL | Mode.SHARED | Mode.FUNCTION_TEMP
_ACCESSES = ("load_deref", "store_deref", "deref_atomic", "deref_atomic_swap")
Access = Callable[[Mode, Def], Def | None]


@nir_pass("lower_explicit_io", preserves=Metadata.NONE)
def lower_explicit_io(shader: Shader, *, formats: str = "", modes: int = int(MODES)) -> bool:
    """Loads, stores and atomics through pointers become loads, stores and atomics at addresses.

    Before: `%2 = deref_cast %1 (global float); %3 = load_deref(%2)`; after, if the driver's format
    for global memory is a 64-bit address, `%3 = load_global(%1)`. `formats` is the table
    *mode=format* (see `ir.addresses`). A pointer that may point into several kinds of memory
    becomes a branch per kind; run `opt_deref` before, to narrow the modes. Needs `inline_functions`
    and `lower_var_copies`.
    """
    lowering = _Lowering(shader, AddressModel.parse(formats), modes)
    return lowering.run()


class _Lowering:
    def __init__(self, shader: Shader, model: AddressModel, modes: int) -> None:
        self.shader = shader
        self.model = model
        self.modes = modes
        self.addresses: dict[Deref, Def] = {}

    def run(self) -> bool:
        self.place(Mode.SHARED, [v for v in self.shader.variables if v.mode == Mode.SHARED])
        progress = False
        for impl in self.shader.impls():
            pointed = self.pointed(impl)
            if self.modes & Mode.FUNCTION_TEMP:
                self.place(Mode.FUNCTION_TEMP, [v for v in impl.locals if v in pointed])
            self.placed = pointed
            progress |= self.lower(impl)
        return progress

    def pointed(self, impl: FunctionImpl) -> set[Variable]:
        """Locals whose address is used other than as the start of a chain of derefs."""
        found: set[Variable] = set()
        for instr in instrs_of(impl):
            if not isinstance(instr, Deref) or instr.modes & MODES != instr.modes:
                continue
            var = instr.root_var
            if var is None or not _is_held(instr, casts=True):
                continue
            found.add(var)
        return found

    def place(self, mode: Mode, variables: list[Variable]) -> None:
        info = self.shader.info
        name = "shared_bytes" if mode == Mode.SHARED else "scratch_bytes"
        at = int(getattr(info, name))
        for var in variables:
            if var.offset < 0:
                var.type = explicit_type(var.type, STD430)
                at = align(at, 16)
                var.offset = at
                # A vector of three is written as one of four through casts.
                at = align(at + explicit_size(var.type), 16)
        setattr(info, name, at)

    def wanted(self, deref: Deref) -> bool:
        if deref.modes & self.modes != deref.modes:
            return False
        if deref.modes == Mode.FUNCTION_TEMP:
            var = deref.root_var
            return var is None or var in self.placed
        return True

    def lower(self, impl: FunctionImpl) -> bool:
        """Lower addresses and accesses in program order, then the remaining derefs.

        An access is lowered before an address that is computed from its result.
        """
        derefs: list[Deref] = []
        numbers: dict[Deref, Def] = {}
        for instr in list(instrs_of(impl)):
            if isinstance(instr, Deref):
                if not self.wanted(instr):
                    continue
                derefs.append(instr)
                b = Builder(impl).at_after(instr)
                self.addresses[instr] = self.address(b, instr)
                if _is_held(instr):
                    format = self.model.of(instr.modes)
                    numbers[instr] = _to_number(b, self.addresses[instr], format, instr.modes)
            elif isinstance(instr, Intrinsic) and instr.name in _ACCESSES:
                place = instr.deref
                if place is not None and place in self.addresses:
                    self.access(Builder(impl).at_before(instr), instr, place)
        for deref in reversed(derefs):
            if deref in numbers:
                deref.result.rewrite_uses(numbers[deref])
            deref.remove()
        impl.invalidate()
        return bool(derefs)

    # Addresses.

    def address(self, b: Builder, deref: Deref) -> Def:
        format = self.model.of(deref.modes)
        if deref.form == "var":
            var = deref.var
            assert var is not None
            deref.type = var.type
            return _constant(b, format, deref.modes, max(var.offset, 0))
        parent = deref.parent
        if deref.form == "cast":
            if parent is None or parent not in self.addresses:
                return _from_number(b, deref.srcs[0].value, format, deref.modes)
            address = self.addresses[parent]
            if parent.modes == deref.modes:
                return address
            return _convert(b, address, self.model.of(parent.modes), parent.modes, format, deref)
        assert parent is not None
        base = self.addresses[parent]
        if deref.form == "struct":
            deref.type = parent.type.fields[deref.field].type
            return _advance(b, format, base, b.imm_int(parent.type.fields[deref.field].offset))
        t = parent.type
        if deref.form == "ptr_as_array":
            stride = deref.stride or parent.stride or max(explicit_size(t), 1)
            deref.type = t
        else:
            stride, deref.type = _stride(t), t.indexed()
        index = deref.srcs[1].value
        constant = const_int(index)
        if constant == 0:
            return base
        bits = 64 if format.bits == 64 else 32
        if index.bit_size != bits:
            index = b.alu(f"i2i{bits}", index)
        return _advance(b, format, base, b.imul(index, b.imm_int(stride, bits)))

    # Accesses.

    def access(self, b: Builder, instr: Intrinsic, deref: Deref) -> None:
        address = self.addresses[deref]
        format = self.model.of(deref.modes)

        def at(mode: Mode, where: Def) -> Def | None:
            return _access(b, instr, deref.type, mode, format, where)

        result = self.per_space(b, deref, format, address, at)
        if instr.dest is not None:
            assert result is not None
            instr.replace_by(result)
        else:
            instr.remove()

    def per_space(
        self, b: Builder, deref: Deref, format: AddressFormat, address: Def, at: Access
    ) -> Def | None:
        """Build one access, or a branch per kind of memory the pointer may point into."""
        modes = [m for m in SPACES if deref.modes & m]
        if len(modes) == 1:
            return at(modes[0], address)
        if format.name == "fat":
            space = b.channel(address, 0)
        else:
            space = b.u2u32(b.ushr(address, b.imm_int(62)))
        return self._branch(b, modes, space, address, at)

    def _branch(
        self, b: Builder, modes: list[Mode], space: Def, address: Def, at: Access
    ) -> Def | None:
        if len(modes) == 1:
            return at(modes[0], address)
        *rest, last = modes
        b.push_if(b.ieq(space, b.imm_int(SPACES[last])))
        then = at(last, address)
        b.push_else()
        other = self._branch(b, rest, space, address, at)
        b.pop_if()
        if then is None or other is None:
            return None
        return b.if_phi(then, other)


def _from_number(b: Builder, value: Def, format: AddressFormat, modes: int) -> Def:
    """An address from a pointer's external representation, which is one number.

    It has 32 bits for a workgroup's and an invocation's memory; 64 for global memory (the number of
    a buffer plus one above a byte offset) and, with the space in the upper bits, for generic
    pointers.
    """
    if not modes & Mode.GLOBAL:
        value = value if value.bit_size == 32 else b.u2u32(value)
        if format.components == 1:
            return value if format.bits == 32 else _convert_small(b, value, modes)
        front = [b.imm_int(0)] * (format.components - 1)
        if format.name == "fat":
            front[0] = b.imm_int(next(n for mode, n in SPACES.items() if modes == mode))
        return b.vec([*front, value])
    if format.components == 1:
        return value if format.bits == value.bit_size else b.u2u32(value)
    low, high = b.u2u32(value), b.u2u32(b.ushr(value, b.imm_int(32)))
    if format.name == "fat":
        space = b.ushr(high, b.imm_int(30))
        index = b.isub(b.iand(high, b.imm_int((1 << 30) - 1)), b.imm_int(1))
        return b.vec([space, index, low])
    index = b.isub(high, b.imm_int(1))
    if format.name == "index_offset32":
        return b.vec([index, low])
    size = b.intrinsic("get_ssbo_size", [index])
    return b.vec([b.imm_int(0), high, size, low])


def _convert_small(b: Builder, value: Def, modes: int) -> Def:
    space = next(n for mode, n in SPACES.items() if modes == mode)
    return b.ior(b.u2u64(value), b.imm_int(space << 62, 64))


def _to_number(b: Builder, address: Def, format: AddressFormat, modes: int) -> Def:
    """The inverse of `_from_number`."""
    last = b.channel(address, format.components - 1)
    if not modes & Mode.GLOBAL:
        return last if last.bit_size == 32 else b.u2u32(last)
    if format.components == 1:
        return address if format.bits == 64 else b.pack_64_2x32_split(address, b.imm_int(1))
    if format.name == "fat":
        space, index, _ = b.channels(address)
        high = b.bcsel(b.ieq(space, b.imm_int(0)), b.iadd(index, b.imm_int(1)), b.imm_int(0))
        high = b.ior(high, b.ishl(space, b.imm_int(30)))
    elif format.name == "index_offset32":
        high = b.iadd(b.channel(address, 0), b.imm_int(1))
    else:
        high = b.channel(address, 1)
    return b.pack_64_2x32_split(last, high)


def _stride(t: Type) -> int:
    if t.element is not None:
        return t.stride
    if t.is_matrix:
        return component_bytes(t) if t.row_major else t.stride
    return t.stride or component_bytes(t)


def _constant(b: Builder, format: AddressFormat, modes: int, offset: int) -> Def:
    """The address of a variable at an offset of its memory."""
    space = next(n for mode, n in SPACES.items() if modes == mode)
    if format.name == "generic62":
        return b.imm_int(space << 62 | offset, 64)
    if format.name == "fat":
        return b.imm_ivec(space, 0, offset)
    if format.name == "index_offset32":
        return b.imm_ivec(0, offset)
    return b.imm_int(offset, format.bits)


def _advance(b: Builder, format: AddressFormat, base: Def, by: Def) -> Def:
    """An address advanced by some bytes."""
    if format.components == 1:
        if by.bit_size != base.bit_size:
            by = b.alu(f"i2i{base.bit_size}", by)
        return b.iadd(base, by)
    last = format.components - 1
    return b.replace_channel(base, last, b.iadd(b.channel(base, last), by))


def _convert(
    b: Builder, address: Def, old: AddressFormat, modes: int, new: AddressFormat, cast: Deref
) -> Def:
    """Convert a pointer to one kind of memory to a generic pointer, or back."""
    if old is new and old.name in ("generic62", "fat"):
        return address
    number = _to_number(b, address, old, modes)
    if cast.modes & Mode.GLOBAL and not modes & Mode.GLOBAL:
        number = _convert_small(b, number, modes)
    elif cast.modes == Mode.GLOBAL and modes != Mode.GLOBAL:
        number = b.iand(number, b.imm_int((1 << 62) - 1, 64))
    return _from_number(b, number, new, cast.modes)


def _is_held(deref: Deref, casts: bool = False) -> bool:
    """Whether the pointer is used as a value: selected, in a phi, stored, compared (or, with
    `casts`, cast).
    """
    for src in deref.result.uses:
        user = src.parent
        if isinstance(user, Deref):
            if casts and user.form in ("cast", "ptr_as_array"):
                return True
        elif isinstance(user, Intrinsic):
            if user.name == "store_deref" and user.srcs[1] is src:
                return True
        elif not isinstance(user, Call):
            return True
    return False


def _where(b: Builder, mode: Mode, format: AddressFormat, address: Def) -> tuple[str, list[Def]]:
    """The kind of intrinsic that accesses the memory, and its address sources."""
    if mode in (Mode.SHARED, Mode.FUNCTION_TEMP):
        kind = "shared" if mode == Mode.SHARED else "scratch"
        if format.components > 1:
            return kind, [b.channel(address, format.components - 1)]
        return kind, [address if address.bit_size == 32 else b.u2u32(address)]
    if format.name == "index_offset32":
        return "ssbo", b.channels(address)
    if format.name == "fat":
        return "ssbo", b.channels(address)[1:]
    if format.name == "bounded64":
        low, high, _, offset = b.channels(address)
        return "global", [b.iadd(b.pack_64_2x32_split(low, high), b.u2u64(offset))]
    if format.name == "generic62":
        return "global", [b.iand(address, b.imm_int((1 << 62) - 1, 64))]
    if address.bit_size == 64:
        return "global", [address]
    # One memory only: the first buffer.
    return "global", [b.pack_64_2x32_split(address, b.imm_int(1))]


def _access(
    b: Builder, instr: Intrinsic, type: Type, mode: Mode, format: AddressFormat, address: Def
) -> Def | None:
    if format.name != "bounded64" or mode != Mode.GLOBAL:
        return _plain(b, instr, type, mode, format, address)
    end = b.iadd(b.channel(address, 3), b.imm_int(explicit_size(type)))
    inside = b.iand(b.uge(b.channel(address, 2), end), b.ult(b.channel(address, 3), end))
    b.push_if(inside)
    found = _plain(b, instr, type, mode, format, address)
    b.push_else()
    zero = None
    if instr.dest is not None:
        zero = b.imm_zero(instr.dest.num_components, instr.dest.bit_size)
    b.pop_if()
    return b.if_phi(found, zero) if found is not None and zero is not None else None


def _plain(
    b: Builder, instr: Intrinsic, type: Type, mode: Mode, format: AddressFormat, address: Def
) -> Def | None:
    kind, where = _where(b, mode, format, address)
    size = component_bytes(type)
    if instr.name == "load_deref":
        assert instr.dest is not None
        bits = 32 if type.is_boolean else instr.dest.bit_size
        stride = _stride(type) if type.is_vector else size
        count = instr.dest.num_components
        if stride == size:
            value = b.intrinsic(
                f"load_{kind}", where, num_components=count, bit_size=bits, align_mul=size
            )
        else:
            parts = [
                b.intrinsic(f"load_{kind}", _moved(b, where, i * stride), bit_size=bits)
                for i in range(count)
            ]
            value = b.vec(parts)
        return b.ine(value, b.imm_int(0)) if type.is_boolean else value
    if instr.name == "store_deref":
        value = instr.srcs[1].value
        value = b.b2i32(value) if type.is_boolean else value
        stride = _stride(type) if type.is_vector else size
        if stride == size:
            mask = instr["write_mask"]
            b.intrinsic(f"store_{kind}", [value, *where], write_mask=mask, align_mul=size)
            return None
        for i, part in enumerate(b.channels(value)):
            if instr["write_mask"] >> i & 1:
                b.intrinsic(f"store_{kind}", [part, *_moved(b, where, i * stride)], write_mask=1)
        return None
    data = [s.value for s in instr.srcs[1:]]
    assert instr.dest is not None
    if kind == "scratch":
        return _private_atomic(b, instr, where, data)
    suffix = "_swap" if instr.name.endswith("_swap") else ""
    return b.intrinsic(
        f"{kind}_atomic{suffix}",
        [*where, *data],
        bit_size=instr.dest.bit_size,
        atomic_op=instr["atomic_op"],
    )


def _moved(b: Builder, where: list[Def], by: int) -> list[Def]:
    *front, last = where
    return [*front, b.iadd(last, b.imm_int(by, last.bit_size))] if by else where


def _private_atomic(b: Builder, instr: Intrinsic, where: list[Def], data: list[Def]) -> Def:
    """Atomics on private memory: read, compute, write, since no other lane sees it."""
    bits = data[-1].bit_size
    old = b.intrinsic("load_scratch", where, bit_size=bits)
    op = instr["atomic_op"]
    if len(data) == 2:
        new = b.bcsel(b.ieq(old, data[0]), data[1], old)
    elif op == "xchg":
        new = data[0]
    else:
        assert op in OPCODES, op
        new = b.alu(op, old, data[0])
    b.intrinsic("store_scratch", [new, *where], write_mask=1)
    return old
