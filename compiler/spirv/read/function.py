"""Translates a function of the module to a NIR function.

`FunctionReader` maps ids to values; the handlers of instructions are in tables filled by other
modules of this package; blocks are visited in the order of `Structure`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import Function, FunctionImpl, Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Parameter, Variable
from gallette.compiler.spirv.grammar import grammar, opcode
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read import collectives, images, memory
from gallette.compiler.spirv.read.arithmetic import ARITHMETIC, does
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.extended import deref_of, glsl_std_450
from gallette.compiler.spirv.read.model import Block, Constant, Data, FunctionCode, SpvType
from gallette.compiler.spirv.read.opencl import opencl_std
from gallette.compiler.spirv.read.pointers import (
    DerefPlace,
    Index,
    Place,
    RootPlace,
    Value,
    handle,
)
from gallette.compiler.spirv.read.structure import Structure
from gallette.compiler.spirv.read.variables import Variables

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.translate import ModuleReader

# Exceptions of handlers when the kinds of operands cannot be combined.
_MISFITS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
assert collectives
assert images
assert memory


class FunctionReader:
    """Translates one function; `values` maps ids to values."""

    def __init__(self, module: ModuleReader, code: FunctionCode, function: Function) -> None:
        self.module = module
        self.d: Declarations = module.d
        self.variables: Variables = module.variables
        self.shader: Shader = module.shader
        self.stage = module.shader.stage
        self.code = code
        self.function = function
        self.impl = FunctionImpl(module.shader, function)
        self.b = Builder(self.impl).sharing_constants()
        self.constants = Builder(self.impl)
        # Constants and initial values are inserted before this instruction, code after it.
        self.b.undef(1, 32)
        self.values: dict[int, Value] = {}
        self.phis: dict[int, Place] = {}

    # Ids.

    def type(self, i: Instruction) -> SpvType:
        """The type of an instruction's result."""
        return self.d.type(i.words[0], i)

    def value(self, id: int) -> Value:
        found = self.values.get(id)
        if found is not None:
            return found
        constant = self.d.constants.get(id)
        if constant is not None:
            value = self.values[id] = self.constant(constant)
            return value
        if id in self.d.variables:
            return self.module.global_place(self, id)
        raise SpirvError(f"%{id} is used where it is not defined")

    def type_of(self, id: int) -> Type | None:
        """The type of an operand, for instructions whose own type does not determine it."""
        type = self.d.type_of(self.code, id)
        return type.nir if type is not None else None

    def ssa(self, id: int) -> Def:
        found = self.values.get(id)
        if found.__class__ is not Def:
            found = self.value(id)
            if found.__class__ is not Def:
                raise SpirvError(f"%{id} is no scalar or vector")
        return found

    def columns(self, id: int) -> tuple[Value, ...]:
        found = self.value(id)
        if not isinstance(found, tuple):
            raise SpirvError(f"%{id} is no matrix")
        return found

    def place(self, id: int) -> Place:
        found = self.values.get(id)
        if not isinstance(found, Place):
            found = self.value(id)
            if not isinstance(found, Place):
                raise SpirvError(f"%{id} is no pointer")
        return found

    def index(self, id: int) -> Index:
        """An index, as a number if it is constant."""
        constant = self.d.constants.get(id)
        if constant is not None and constant.type.kind == "int":
            bits = constant.type.nir.bit_size
            value = int(constant.data[0])
            if constant.type.nir.is_signed and value >> (bits - 1):
                value -= 1 << bits
            return value
        found = self.ssa(id)
        if found.num_components != 1 or found.bit_size == 1:
            raise SpirvError(f"index %{id} is no integer")
        if self.d.addressing == "Logical" and found.bit_size != 32:
            return self.b.i2i32(found)
        return found

    def at_start(self) -> Builder:
        """A builder at the start of the function."""
        self.constants.cursor = (self.impl.first, None)
        return self.constants

    def constant(self, constant: Constant) -> Value:
        """A constant as a value, made at the start of the function."""
        if constant.undefined:
            return self._undefined(constant.type)
        return self._constant(self.at_start(), constant.type.nir, constant.data)

    def _constant(self, b: Builder, nir: Type, data: Data) -> Value:
        if nir.is_vector_or_scalar:
            return b.const(data, nir.bit_size)
        if nir.is_struct:
            pairs = zip(nir.fields, data, strict=True)
            return tuple(self._constant(b, f.type, part) for f, part in pairs)
        inner = nir.indexed()
        return tuple(self._constant(b, inner, part) for part in data)

    def _undefined(self, type: SpvType) -> Value:
        nir = type.nir
        if nir.is_vector_or_scalar:
            return self.at_start().undef(nir.components, nir.bit_size)
        if nir.is_opaque or type.kind == "void":
            raise SpirvError(f"an undefined {type.kind}")
        return self._constant(self.at_start(), nir, self.d.zero(type, _NOWHERE))

    # The function.

    def run(self) -> None:
        structure = Structure(self)
        self._parameters()
        self._phi_variables()
        structure.run()
        self.impl.invalidate()

    def _parameters(self) -> None:
        if self.module.entry_parameters(self):
            return
        params = self.function.params
        at = 0
        if self.code.returns.kind != "void":
            at = 1
        for (id, type), param in zip(self.code.params, params[at:], strict=True):
            if type.kind == "pointer":
                self.values[id] = self.module.pointer_parameter(self, type, at)
            elif type.nir.is_opaque or param.is_deref:
                self.values[id] = DerefPlace(type, self.b.deref_param(at)).load(self.b)
            else:
                self.values[id] = self.b.load_param(at)
            at += 1

    def _phi_variables(self) -> None:
        for block in self.code.blocks.values():
            for phi in block.phis:
                type = self.type(phi)
                if len(phi.words) % 2:
                    raise phi.error("operands come in pairs")
                if type.nir.is_opaque or type.kind == "void":
                    raise phi.error(f"a phi of type {type.kind}")
                var = Variable(f"phi_{phi.words[1]}", type.nir, Mode.FUNCTION_TEMP)
                self.impl.locals.append(var)
                self.phis[phi.words[1]] = RootPlace(type, var)

    def block(self, block: Block) -> None:
        """Translate the phis and instructions of a block, without its terminator."""
        b = self.b
        for phi in block.phis:
            id = phi.words[1]
            self.values[id] = self.loaded(phi, self.phis[id].load(b))
        exact, typed = self.d.exact, _typed()
        handlers, values, types = ARITHMETIC, self.values, self.d.types
        b.loc = 0
        for i in block.code:
            op, words = i.opcode, i.words
            try:
                handler = handlers[op]
                if op not in typed:
                    handler(self, i)
                    continue
                id = words[1]
                if id in exact:
                    with b.exactly():
                        handler(self, i)
                else:
                    handler(self, i)
                # The result has the shape of the instruction's type.
                value = values.get(id)
                if value.__class__ is Def:
                    nir = types[words[0]].nir
                    if value.num_components != nir.components or value.bit_size != nir.bit_size:
                        raise i.error(f"the result is no {nir}")
                    if not nir.is_vector_or_scalar:
                        raise i.error(f"%{words[0]} is not the type of the result")
            except SpirvError as error:
                if error.offset >= 0:
                    raise
                raise SpirvError(_bare(error), i.offset, i.name) from None
            except _MISFITS as error:
                if op not in handlers:
                    raise i.error("this instruction is not supported") from None
                raise i.error(f"operands that do not fit ({error})") from error

    def leave(self, source: Block, target: int) -> None:
        """Assign the phis of the block `target` for the edge from `source`."""
        for phi in self.code.blocks[target].phis:
            words = phi.words
            # Operands are pairs: a value, and the predecessor for which it applies.
            if source.label not in words[3::2]:
                continue
            value = words[2 + 2 * words[3::2].index(source.label)]
            constant = self.d.constants.get(value)
            if constant is None or not constant.undefined:
                self.phis[words[1]].store(self.b, self.stored(phi, self.value(value)))

    def returned(self, i: Instruction) -> None:
        """Store the operand of `OpReturnValue` through the first parameter."""
        if self.code.returns.kind == "void":
            raise i.error("the function returns nothing")
        place = DerefPlace(self.code.returns, self.b.deref_param(0))
        place.store(self.b, self.stored(i, self.value(i.words[0])))

    # Pointers as values (kernels only).

    def loaded(self, i: Instruction, value: Value) -> Value:
        """A value loaded from memory, in which a pointer becomes a place."""
        type = self.type(i)
        return self.module.from_memory(self, type, value)

    def stored(self, i: Instruction, value: Value) -> Value:
        """A value to be stored to memory."""
        return self.module.to_memory(self, value)

    def select_pointer(self, i: Instruction, condition: Def, then: Value, other: Value) -> Value:
        return self.module.select_pointer(self, i, condition, then, other)

    def cast_pointer(self, i: Instruction, value: Value) -> Value:
        return self.module.cast_pointer(self, i, value)


@cache
def _typed() -> frozenset[int]:
    """Instructions with a result and a result type."""
    return frozenset(
        op for op, info in grammar().by_opcode.items() if info.has_type and info.has_result
    )


_NOWHERE = Instruction(opcode("OpUndef"), ())


def _bare(error: SpirvError) -> str:
    return str(error).removeprefix("SPIR-V: error: ")


@does("OpUndef")
def _undef(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = r._undefined(r.type(i))


@does("OpVariable")
def _variable(r: FunctionReader, i: Instruction) -> None:
    pointer = r.type(i)
    if pointer.kind != "pointer":
        raise i.error("the type of a variable is a pointer type")
    name = r.d.names.get(i.words[1]) or f"v{i.words[1]}"
    var = r.impl.add_local(name, r.module.local_type(pointer.inner))
    place = RootPlace(pointer.inner, var)
    r.values[i.words[1]] = place
    if len(i.words) > 3:
        place.store(r.b, r.value(i.words[3]))


@does("OpExtInst")
def _extended(r: FunctionReader, i: Instruction) -> None:
    name = r.d.sets.get(i.words[2], "")
    if name == "GLSL.std.450":
        glsl_std_450(r, i)
    elif name == "OpenCL.std":
        opencl_std(r, i)
    elif not name.startswith("NonSemantic.") and "DebugInfo" not in name:
        raise i.error(f"the extended instructions {name or '(none)'} are not supported")


@does("OpFunctionCall")
def _call(r: FunctionReader, i: Instruction) -> None:
    b, w = r.b, i.words
    code = r.d.functions.get(w[2])
    if code is None:
        raise i.error(f"%{w[2]} is no function")
    callee = r.module.function(code)
    args: list[Def] = []
    result: RootPlace | None = None
    if len(w) - 3 != len(code.params):
        raise i.error(f"{len(w) - 3} arguments for {len(code.params)} parameters")
    if code.returns.kind != "void":
        var = r.impl.add_local("result", code.returns.nir)
        result = RootPlace(code.returns, var)
        args.append(b.deref_var(var).result)
    at = len(args)
    for k, (id, (_, type)) in enumerate(zip(w[3:], code.params, strict=True)):
        value = r.value(id)
        param: Parameter = callee.params[at + k]
        if type.kind == "pointer":
            args.append(deref_of(r, r.place(id), i).result)
        elif type.nir.is_opaque:
            given = handle(r, id, i)
            deref = given.texture or given.sampler
            assert deref is not None
            args.append(deref.result)
        elif param.is_deref:
            local = r.impl.add_local("argument", type.nir)
            RootPlace(type, local).store(b, value)
            args.append(b.deref_var(local).result)
        else:
            args.append(r.ssa(id))
    b.call(callee, args)
    if result is not None:
        r.values[w[1]] = r.loaded(i, result.load(b))


# Geometry, fragments, subgroups.


@does("OpEmitVertex", "OpEndPrimitive", "OpEmitStreamVertex", "OpEndStreamPrimitive")
def _emit(r: FunctionReader, i: Instruction) -> None:
    name = "end_primitive" if "End" in i.name else "emit_vertex"
    stream = r.d.integer(i.words[0], i) if "Stream" in i.name else 0
    r.b.intrinsic(name, stream=stream)


@does("OpDemoteToHelperInvocation")
def _demote(r: FunctionReader, i: Instruction) -> None:
    r.b.intrinsic("demote")


@does("OpIsHelperInvocationEXT")
def _is_helper(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = r.b.intrinsic("is_helper_invocation")


@does("OpReadClockKHR")
def _clock(r: FunctionReader, i: Instruction) -> None:
    value = r.b.intrinsic("shader_clock")
    r.values[i.words[1]] = value if r.type(i).nir.is_vector else r.b.pack_64_2x32(value)


@does("OpLine", "OpNoLine")
def _line(r: FunctionReader, i: Instruction) -> None:
    """Set the line of the following instructions; NIR has no file, so only lines of one file are
    kept.
    """
    if i.name == "OpLine" and i.words[0] == (r.d.source_file or i.words[0]):
        r.b.loc = i.words[1]
    else:
        r.b.loc = 0


@does("OpNop", "OpAssumeTrueKHR", "OpLifetimeStart", "OpLifetimeStop")
@does("OpBeginInvocationInterlockEXT", "OpEndInvocationInterlockEXT")
def _nothing(r: FunctionReader, i: Instruction) -> None:
    pass


_GROUPS = {
    "OpGroupNonUniformElect": "elect",
    "OpGroupNonUniformAll": "vote_all",
    "OpGroupNonUniformAny": "vote_any",
    "OpSubgroupAllKHR": "vote_all",
    "OpSubgroupAnyKHR": "vote_any",
    "OpSubgroupAllEqualKHR": "vote_ieq",
    "OpGroupNonUniformBallot": "ballot",
    "OpSubgroupBallotKHR": "ballot",
    "OpGroupNonUniformBroadcastFirst": "read_first_invocation",
    "OpSubgroupFirstInvocationKHR": "read_first_invocation",
    "OpGroupNonUniformBroadcast": "read_invocation",
    "OpGroupNonUniformShuffle": "read_invocation",
    "OpSubgroupReadInvocationKHR": "read_invocation",
}


@does(*_GROUPS)
def _subgroup(r: FunctionReader, i: Instruction) -> None:
    words = i.words[2:] if i.name.endswith("KHR") else i.words[3:]
    srcs = [r.ssa(w) for w in words]
    kwargs: dict[str, Any] = {}
    if srcs and _GROUPS[i.name].startswith("read"):
        kwargs = {"num_components": srcs[0].num_components, "bit_size": srcs[0].bit_size}
    r.values[i.words[1]] = r.b.intrinsic(_GROUPS[i.name], srcs, **kwargs)


@does("OpGroupNonUniformAllEqual")
def _all_equal(r: FunctionReader, i: Instruction) -> None:
    value = r.ssa(i.words[3])
    r.values[i.words[1]] = r.b.intrinsic("vote_ieq", [value])
