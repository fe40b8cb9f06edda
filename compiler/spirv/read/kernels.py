"""Kernels: OpenCL's flavour of SPIR-V, with real pointers and without merge instructions.

A pointer is a NIR deref based on a cast of an address; `lower_explicit_io` lowers it to the
driver's address format. Arguments are in uniform block 0, in order, each aligned to its size.
Memory layout is that of OpenCL C.
"""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.layout import OPENCL, align, explicit_type, size_align
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.types import UINT, Base, Type, scalar
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.arithmetic import does
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.function import FunctionReader
from gallette.compiler.spirv.read.kernel_pointers import address_of, cast, deref_at, element
from gallette.compiler.spirv.read.model import EntryPoint, FunctionCode, SpvType
from gallette.compiler.spirv.read.pointers import DerefPlace, Handle, Place, RootPlace, Value
from gallette.compiler.spirv.read.translate import ModuleReader, reads

MODES = {
    "CrossWorkgroup": Mode.GLOBAL,
    "Workgroup": Mode.SHARED,
    "Function": Mode.FUNCTION_TEMP,
    "UniformConstant": Mode.GLOBAL,
    "Generic": Mode.GLOBAL | Mode.SHARED | Mode.FUNCTION_TEMP,
}


UINT8 = scalar(Base.UINT8)
MOST_BYTES = 4096
"""the largest structure passed by value, in bytes"""


@lazy_dataclass(frozen=True)
class Argument:
    """One argument of a kernel: `kind` is global, local, image, sampler or value.

    `offset` is its offset in the block of arguments, or the number of an image.
    """

    name: str
    kind: str
    type: str
    offset: int
    size: int


def mode_of(type: SpvType) -> Mode:
    found = MODES.get(type.storage)
    if found is None:
        raise SpirvError(f"pointers to storage class {type.storage} are not supported")
    return found


def kernel_arguments(d: Declarations, entry: EntryPoint) -> list[Argument]:
    """The offsets of arguments in the block of arguments."""
    code = d.functions[entry.function]
    called = _wrapped(d, code)
    offset, found, images = 0, [], 0
    for n, (id, type) in enumerate(code.params):
        name = d.names.get(id) or (d.names.get(called[n], "") if n < len(called) else "")
        name = name or f"arg{n}"
        if type.kind == "image":
            dim = type.nir.dim.value if type.nir.dim else ""
            found.append(Argument(name, "image", f"image {dim}", images, 0))
            images += 1
            continue
        if type.kind == "pointer":
            mode = mode_of(type)
            kind = "local" if mode == Mode.SHARED else "global"
            size, alignment, text = 8, 8, str(type.inner.nir)
            if mode == Mode.FUNCTION_TEMP:  # a structure passed by value
                kind, (size, alignment) = "value", size_align(type.inner.nir, OPENCL)
                if not 0 < size <= MOST_BYTES:
                    raise SpirvError(f"an argument of {size} bytes")
        elif type.kind == "sampler":
            size, alignment, kind, text = 4, 4, "sampler", "sampler"
        elif type.nir.is_vector_or_scalar:
            size, alignment = size_align(type.nir, OPENCL)
            kind, text = "value", str(type.nir)
        else:
            raise SpirvError(f"an argument of type {type.kind}")
        offset = align(offset, alignment)
        found.append(Argument(name, kind, text, offset, size))
        offset += size
    return found


def end_of_arguments(arguments: Sequence[Argument]) -> int:
    """The offset after the arguments where the address of the `printf` buffer is."""
    return align(max((a.offset + a.size for a in arguments if a.size), default=0), 8)


def _wrapped(d: Declarations, code: FunctionCode) -> list[int]:
    """Parameters of the function that an entry point only calls, since these have names."""
    for block in code.blocks.values():
        for i in block.code:
            if i.name == "OpFunctionCall" and i.words[2] in d.functions:
                return [id for id, _ in d.functions[i.words[2]].params]
    return []


@reads("Kernel")
class KernelReader(ModuleReader):
    """A module reader with pointers."""

    prints = True

    def entry_parameters(self, r: FunctionReader) -> bool:
        if r.code.id != self.entry.function:
            return False
        b = r.b
        arguments = kernel_arguments(self.d, self.entry)
        for (id, type), argument in zip(r.code.params, arguments, strict=True):
            place = b.imm_int(argument.offset)
            if argument.kind == "image":
                r.values[id] = self._image(b, type, argument)
            elif argument.kind == "sampler":
                r.values[id] = b.intrinsic("load_ubo", [b.imm_int(0), place])
            elif type.kind == "pointer" and argument.kind == "value":
                nir = explicit_type(type.inner.nir, OPENCL)
                var = r.impl.add_local(argument.name, nir)
                place_of = r.values[id] = RootPlace(type.inner, var)
                place_of.store(b, _passed(b, nir, argument.offset))
            elif type.kind == "pointer":
                bits = 32 if argument.kind == "local" else 64
                address = b.intrinsic("load_ubo", [b.imm_int(0), place], bit_size=bits)
                r.values[id] = self.at_address(b, type, address)
            else:
                nir = type.nir
                r.values[id] = b.intrinsic(
                    "load_ubo",
                    [b.imm_int(0), place],
                    num_components=nir.components,
                    bit_size=nir.bit_size,
                )
        return True

    def local_type(self, type: SpvType) -> Type:
        """The type of a local, laid out as in OpenCL C, since pointers of other types may access
        it.
        """
        return explicit_type(type.nir, OPENCL)

    def _image(self, b: Builder, type: SpvType, argument: Argument) -> Handle:
        n = argument.offset
        var = self.shader.add_variable(
            argument.name, type.nir, Mode.UNIFORM, binding=n, driver_location=n
        )
        return Handle(type, b.deref_var(var))

    def at_address(self, b: Builder, type: SpvType, address: Def) -> DerefPlace:
        """The place at an address."""
        return DerefPlace(type.inner, cast(b, address, mode_of(type), type.inner))

    def printed(self, r: FunctionReader, words: Sequence[Def]) -> None:
        """Append words to the `printf` buffer: a counter of bytes, then the records."""
        b = r.b
        place = b.imm_int(end_of_arguments(kernel_arguments(self.d, self.entry)))
        address = b.intrinsic("load_ubo", [b.imm_int(0), place], bit_size=64)
        base = b.deref_cast(address, Mode.GLOBAL, UINT, 4)
        size = b.imm_int(4 * len(words))
        old = b.intrinsic("deref_atomic", [base.result, size], atomic_op="iadd")
        first = b.ushr(old, b.imm_int(2))
        for k, word in enumerate(words):
            at = b.u2u64(b.iadd(first, b.imm_int(k)))
            b.store_deref(element(b, base, at), word)

    def pointer_parameter(self, r: FunctionReader, type: SpvType, at: int) -> Place:
        deref = cast(r.b, r.b.load_param(at), mode_of(type), type.inner)
        return DerefPlace(type.inner, deref)

    def global_place(self, r: FunctionReader, id: int) -> Value:
        """A constant of the program as a local, so that each invocation has its own."""
        instr = self.d.variables[id]
        type = self.d.type(instr.words[0], instr)
        if type.storage != "UniformConstant" or len(instr.words) < 4:
            return self.variables.place(id)
        initial = self.d.constants.get(instr.words[3])
        if initial is None:
            raise instr.error(f"the initial value %{instr.words[3]} is no constant")
        name = self.d.names.get(id) or f"v{id}"
        var = r.impl.add_local(name, self.local_type(type.inner), constant_initializer=initial.data)
        place = r.values[id] = RootPlace(type.inner, var)
        return place

    def from_memory(self, r: FunctionReader, type: SpvType, value: Value) -> Value:
        if type.kind == "pointer" and isinstance(value, Def):
            if not mode_of(type) & Mode.GLOBAL:
                value = r.b.u2u32(value)
            return self.at_address(r.b, type, value)
        return value

    def to_memory(self, r: FunctionReader, value: Value) -> Value:
        if isinstance(value, Place):
            address = address_of(r, value)
            return address if address.bit_size == 64 else r.b.u2u64(address)
        return value

    def select_pointer(
        self, r: FunctionReader, i: Instruction, condition: Def, then: Value, other: Value
    ) -> Value:
        type = r.type(i)
        if type.kind != "pointer":
            raise i.error("this cannot be chosen at run time")
        chosen = r.b.bcsel(condition, address_of(r, then), address_of(r, other))
        return self.at_address(r.b, type, chosen)

    def cast_pointer(self, r: FunctionReader, i: Instruction, value: Value) -> Value:
        type = r.type(i)
        if type.kind != "pointer":
            return address_of(r, value)
        if isinstance(value, Def):
            return self.at_address(r.b, type, value)
        deref = deref_at(r, value)
        modes = mode_of(type)
        if deref.modes == Mode.FUNCTION_TEMP and type.storage == "UniformConstant":
            modes = Mode.FUNCTION_TEMP
        return DerefPlace(type.inner, cast(r.b, deref.result, modes, type.inner))


def _passed(b: Builder, type: Type, offset: int) -> Value:
    """Load an argument from the block of arguments, part by part."""
    if type.is_struct:
        return tuple(_passed(b, f.type, offset + f.offset) for f in type.fields)
    if not type.is_vector_or_scalar:
        stride, element = type.stride, type.indexed()
        return tuple(_passed(b, element, offset + i * stride) for i in range(type.length))
    return b.intrinsic(
        "load_ubo",
        [b.imm_int(0), b.imm_int(offset)],
        num_components=type.components,
        bit_size=type.bit_size,
    )


# Operations on pointers that only kernels have.


@does("OpPtrAccessChain", "OpInBoundsPtrAccessChain")
def _pointer_chain(r: FunctionReader, i: Instruction) -> None:
    b, w = r.b, i.words
    place: Place = r.place(w[2])
    first = r.index(w[3])
    if first != 0:
        parent = deref_at(r, place)
        if parent.form not in ("cast", "ptr_as_array"):
            parent = cast(b, parent.result, Mode(parent.modes), place.type)
        index = b.imm_int(first, 64) if isinstance(first, int) else first
        place = DerefPlace(place.type, element(b, parent, index))
    for id in w[4:]:
        place = place.step(b, r.index(id))
    r.values[w[1]] = place


@does("OpCopyMemorySized")
def _copy(r: FunctionReader, i: Instruction) -> None:
    """Copy a constant number of bytes, in words if possible."""
    b = r.b
    size = r.d.integer(i.words[2], i)
    if size > 1 << 12:
        raise i.error(f"a copy of {size} bytes is too long")
    unit = UINT if size % 4 == 0 else UINT8
    step = 4 if size % 4 == 0 else 1
    ends = []
    for word in i.words[:2]:
        deref = deref_at(r, r.value(word))
        ends.append(b.deref_cast(deref.result, Mode(deref.modes), unit, step))
    for at in range(size // step):
        target, source = (element(b, end, b.imm_int(at, 64)) for end in ends)
        b.store_deref(target, b.load_deref(source))


@does("OpGenericCastToPtr", "OpPtrCastToGeneric", "OpConvertUToPtr", "OpConvertPtrToU")
def _cast(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = r.cast_pointer(i, r.value(i.words[2]))


@does("OpPtrEqual", "OpPtrNotEqual")
def _pointer_equal(r: FunctionReader, i: Instruction) -> None:
    x, y = (address_of(r, r.value(w)) for w in i.words[2:4])
    r.values[i.words[1]] = r.b.ieq(x, y) if i.name == "OpPtrEqual" else r.b.ine(x, y)
