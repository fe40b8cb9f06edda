"""What a module declares in front of its code: names, decorations, types, constants, functions.

Types come out as NIR types that carry their memory layout where decorations give one. Constants are
nested tuples of raw bits, shaped like their type, as NIR's variables hold their initial values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Dim, Field, Type
from gallette.compiler.spirv.grammar import name_of, opcode
from gallette.compiler.spirv.module import Instruction, Module, text_of

__all__ = ["Block", "Constant", "Declarations", "EntryPoint", "FunctionCode", "SpvType"]

Data: TypeAlias = "tuple[Any, ...]"
_INTS = {
    (8, 1): Base.INT8,
    (8, 0): Base.UINT8,
    (16, 1): Base.INT16,
    (16, 0): Base.UINT16,
    (32, 1): Base.INT,
    (32, 0): Base.UINT,
    (64, 1): Base.INT64,
    (64, 0): Base.UINT64,
}
_FLOATS = {16: Base.FLOAT16, 32: Base.FLOAT, 64: Base.DOUBLE}
_DIMS = {
    "1D": Dim.D1,
    "2D": Dim.D2,
    "3D": Dim.D3,
    "Cube": Dim.CUBE,
    "Rect": Dim.RECT,
    "Buffer": Dim.BUF,
}
MAX_ELEMENTS = 1 << 16


@dataclass(slots=True, eq=False)
class SpvType:
    """A type of the module; `nir` is what it is in NIR."""

    kind: str
    nir: Type = t.VOID
    element: SpvType | None = None
    members: tuple[SpvType, ...] = ()
    count: int = 0
    storage: str = ""
    id: int = 0
    format: str = ""
    block: bool = False

    @property
    def inner(self) -> SpvType:
        """Element, pointee, image or return type."""
        assert self.element is not None
        return self.element


@dataclass(slots=True)
class Constant:
    """A constant; `undefined` if its bits do not matter."""

    type: SpvType
    data: Data
    undefined: bool = False


@dataclass(slots=True)
class Block:
    """A basic block: its instructions, merge instruction and terminator."""

    label: int
    phis: list[Instruction] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    merge: Instruction | None = None
    end: Instruction | None = None


@dataclass(slots=True)
class FunctionCode:
    """A function as the module has it."""

    id: int
    type: SpvType
    returns: SpvType
    params: list[tuple[int, SpvType]] = field(default_factory=list)
    blocks: dict[int, Block] = field(default_factory=dict)
    first: int = 0
    meetings: dict[int, int] = field(default_factory=dict)
    """Where the ways of a loop header's own branch meet again (found by `cfg`)."""


@dataclass(slots=True)
class EntryPoint:
    """An entry point and its execution modes."""

    model: str
    function: int
    name: str
    interface: tuple[int, ...]
    modes: dict[str, tuple[int, ...]] = field(default_factory=dict)


class Declarations:
    """Everything a module says outside its functions, and where these are."""

    def __init__(self, module: Module, specialize: Mapping[int, int] | None = None) -> None:
        self.module = module
        self.specialize = dict(specialize or {})
        self.names: dict[int, str] = {}
        self.member_names: dict[tuple[int, int], str] = {}
        self.decorations: dict[int, dict[str, tuple[int, ...]]] = {}
        self.member_decorations: dict[tuple[int, int], dict[str, tuple[int, ...]]] = {}
        self.semantics: dict[int, str] = {}
        self.types: dict[int, SpvType] = {}
        self.constants: dict[int, Constant] = {}
        self.spec_ids: dict[int, int] = {}
        self.variables: dict[int, Instruction] = {}
        self.functions: dict[int, FunctionCode] = {}
        self.entries: list[EntryPoint] = []
        self.sets: dict[int, str] = {}
        self.strings: dict[int, str] = {}
        self.addressing = "Logical"
        self.workgroup_size: int = 0
        self._forward: dict[int, str] = {}
        self._read()

    @property
    def pointer_bits(self) -> int:
        return 64 if self.addressing == "Physical64" else 32

    # Reading.

    def _read(self) -> None:
        instructions = self.module.instructions
        known = _HANDLERS
        for instr in instructions:
            if instr.opcode in _DECORATIONS:
                _guard(self, instr, _DECORATIONS[instr.opcode])
        at = 0
        while at < len(instructions):
            instr = instructions[at]
            if instr.opcode == _FUNCTION:
                at = self._function(at)
                continue
            handler = known.get(instr.opcode)
            if handler is not None:
                _guard(self, instr, handler)
            elif instr.opcode not in _IGNORED and instr.opcode not in _DECORATIONS:
                raise instr.error("this does not belong outside a function")
            at += 1

    def _function(self, at: int) -> int:
        """One function; answers where the next instruction is."""
        instructions = self.module.instructions
        head = instructions[at]
        if len(head.words) != 4:
            raise head.error("expected 4 words of operands")
        function = FunctionCode(
            head.words[1], self.type(head.words[3], head), self.type(head.words[0], head)
        )
        if function.type.kind != "function":
            raise head.error(f"%{head.words[3]} is no function type")
        block: Block | None = None
        at += 1
        while at < len(instructions):
            instr = instructions[at]
            at += 1
            op, words = instr.opcode, instr.words
            info = instr.info
            if len(words) < info.required:
                raise instr.error(f"{len(words)} words of operands, expected {info.required}")
            if op == _FUNCTION_END:
                if block is not None:
                    raise instr.error("the block in front of this has no end")
                self.functions[function.id] = function
                return at
            if op in _LINES:
                continue
            if op == _PARAMETER and block is None and not function.blocks:
                function.params.append((words[1], self.type(words[0], instr)))
            elif op == _LABEL:
                if block is not None:
                    raise instr.error("the block in front of this has no end")
                block = Block(words[0])
                if words[0] in function.blocks:
                    raise instr.error(f"label %{words[0]} stands for two blocks")
                function.blocks[words[0]] = block
                function.first = function.first or words[0]
            elif block is None:
                raise instr.error("expected a label in front of this")
            elif op == _PHI:
                block.phis.append(instr)
            elif op in _MERGES:
                block.merge = instr
            elif op in _TERMINATORS:
                block.end = instr
                block = None
            else:
                block.code.append(instr)
        raise head.error("the function has no end")

    def type(self, id: int, where: Instruction) -> SpvType:
        found = self.types.get(id)
        if found is None:
            raise where.error(f"%{id} is no type")
        return found

    def constant(self, id: int, where: Instruction) -> Constant:
        found = self.constants.get(id)
        if found is None:
            raise where.error(f"%{id} is no constant")
        return found

    def integer(self, id: int, where: Instruction) -> int:
        """The value of a constant that must be a number."""
        constant = self.constant(id, where)
        if not constant.type.nir.is_scalar:
            raise where.error(f"%{id} is no number")
        return int(constant.data[0])

    def zero(self, type: SpvType, where: Instruction) -> Data:
        """A constant of zeros."""
        return _zero(type.nir, where, [MAX_ELEMENTS])


def _zero(nir: Type, where: Instruction, budget: list[int]) -> Data:
    budget[0] -= 1
    if budget[0] < 0:
        raise where.error("the constant is too large")
    if nir.element is not None:
        if nir.length > budget[0]:
            raise where.error("the constant is too large")
        return tuple(_zero(nir.element, where, budget) for _ in range(nir.length))
    if nir.is_struct:
        return tuple(_zero(f.type, where, budget) for f in nir.fields)
    if nir.is_matrix:
        return ((0,) * nir.rows,) * nir.columns
    return (0,) * max(nir.components, 1)


def _guard(d: Declarations, instr: Instruction, handler: Any) -> None:
    if len(instr.words) < instr.info.required:
        raise instr.error(
            f"{len(instr.words)} words of operands, expected at least {instr.info.required}"
        )
    handler(d, instr)


# Debug information and decorations.


def _name(d: Declarations, i: Instruction) -> None:
    d.names[i.words[0]] = text_of(i.words, 1)[0]


def _member_name(d: Declarations, i: Instruction) -> None:
    d.member_names[i.words[0], i.words[1]] = text_of(i.words, 2)[0]


def _decorate(d: Declarations, i: Instruction) -> None:
    name = name_of("Decoration", i.words[1])
    d.decorations.setdefault(i.words[0], {})[name] = i.words[2:]


def _decorate_member(d: Declarations, i: Instruction) -> None:
    name = name_of("Decoration", i.words[2])
    d.member_decorations.setdefault((i.words[0], i.words[1]), {})[name] = i.words[3:]


def _decorate_text(d: Declarations, i: Instruction) -> None:
    if name_of("Decoration", i.words[1]) == "UserSemantic":
        d.semantics[i.words[0]] = text_of(i.words, 2)[0]


def _group_decorate(d: Declarations, i: Instruction) -> None:
    found = d.decorations.get(i.words[0], {})
    for id in i.words[1:]:
        d.decorations.setdefault(id, {}).update(found)


def _group_member_decorate(d: Declarations, i: Instruction) -> None:
    found = d.decorations.get(i.words[0], {})
    for id, member in zip(i.words[1::2], i.words[2::2], strict=False):
        d.member_decorations.setdefault((id, member), {}).update(found)


# Module-wide facts.


def _import(d: Declarations, i: Instruction) -> None:
    d.sets[i.words[0]] = text_of(i.words, 1)[0]


def _string(d: Declarations, i: Instruction) -> None:
    d.strings[i.words[0]] = text_of(i.words, 1)[0]


def _memory_model(d: Declarations, i: Instruction) -> None:
    d.addressing = name_of("AddressingModel", i.words[0])
    if d.addressing not in ("Logical", "Physical32", "Physical64"):
        raise i.error(f"addressing model {d.addressing} is not supported")


def _entry(d: Declarations, i: Instruction) -> None:
    name, at = text_of(i.words, 2)
    if at < 0:
        raise i.error("the name has no end")
    model = name_of("ExecutionModel", i.words[0])
    d.entries.append(EntryPoint(model, i.words[1], name, i.words[at:]))


def _mode(d: Declarations, i: Instruction) -> None:
    name = name_of("ExecutionMode", i.words[1])
    words = i.words[2:]
    if i.name == "OpExecutionModeId":
        name = name.removesuffix("Id")
    for entry in d.entries:
        if entry.function == i.words[0]:
            entry.modes[name] = words


# Types.


def _scalar(d: Declarations, i: Instruction) -> None:
    w = i.words
    if i.name == "OpTypeVoid":
        made = SpvType("void", t.VOID)
    elif i.name == "OpTypeBool":
        made = SpvType("bool", t.BOOL)
    elif i.name == "OpTypeInt":
        if (w[1], w[2]) not in _INTS:
            raise i.error(f"no integers of {w[1]} bits with signedness {w[2]}")
        made = SpvType("int", t.scalar(_INTS[w[1], w[2]]))
    else:
        if w[1] not in _FLOATS:
            raise i.error(f"no floats of {w[1]} bits")
        made = SpvType("float", t.scalar(_FLOATS[w[1]]))
    made.id = w[0]
    d.types[w[0]] = made


def _vector(d: Declarations, i: Instruction) -> None:
    element = d.type(i.words[1], i)
    if not element.nir.is_scalar or i.words[2] not in (2, 3, 4, 8, 16):
        raise i.error("expected a scalar type and 2, 3, 4, 8 or 16 components")
    nir = t.vec(element.nir.base, i.words[2])
    d.types[i.words[0]] = SpvType("vector", nir, element, count=i.words[2], id=i.words[0])


def _matrix(d: Declarations, i: Instruction) -> None:
    column = d.type(i.words[1], i)
    if not column.nir.is_vector or not column.nir.is_float or i.words[2] not in (2, 3, 4):
        raise i.error("expected a vector of floats and 2 to 4 columns")
    nir = t.mat(column.nir.base, i.words[2], column.nir.rows)
    d.types[i.words[0]] = SpvType("matrix", nir, column, count=i.words[2], id=i.words[0])


def _array(d: Declarations, i: Instruction) -> None:
    element = d.type(i.words[1], i)
    length = 0
    if i.name == "OpTypeArray":
        length = d.integer(i.words[2], i)
        if not 0 < length < 1 << 31:
            raise i.error(f"an array of {length} elements")
    if element.kind in ("void", "function"):
        raise i.error(f"an array of {element.kind}")
    stride = d.decorations.get(i.words[0], {}).get("ArrayStride", (0,))[0]
    nir = t.array(element.nir, length, stride)
    kind = "array" if length else "runtime_array"
    d.types[i.words[0]] = SpvType(kind, nir, element, count=length, id=i.words[0])


def _struct(d: Declarations, i: Instruction) -> None:
    id, *members = i.words
    kinds = [d.types.get(m) or _forward_pointer(d, m, i) for m in members]
    fields = []
    for n, member in enumerate(kinds):
        facts = d.member_decorations.get((id, n), {})
        nir = member.nir
        if nir.without_array.is_matrix and "MatrixStride" in facts:
            nir = _laid_out(nir, facts["MatrixStride"][0], "RowMajor" in facts)
        name = d.member_names.get((id, n)) or f"m{n}"
        offset = facts.get("Offset", (-1,))[0]
        fields.append(Field(name, nir, offset=offset))
    facts = d.decorations.get(id, {})
    name = d.names.get(id) or f"struct_{id}"
    block = "Block" in facts or "BufferBlock" in facts
    laid_out = block and bool(fields) and all(f.offset >= 0 for f in fields)
    nir = t.interface(name, fields, "std430") if laid_out else t.struct(name, fields)
    d.types[id] = SpvType("struct", nir, members=tuple(kinds), id=id, block=block)


def _forward_pointer(d: Declarations, id: int, i: Instruction) -> SpvType:
    if id not in d._forward:
        raise i.error(f"%{id} is no type")
    return SpvType("pointer", _pointer_nir(d), storage=d._forward[id], id=id)


def _laid_out(nir: Type, stride: int, row_major: bool) -> Type:
    if nir.element is not None:
        return t.array(_laid_out(nir.element, stride, row_major), nir.length, nir.stride)
    return t.mat(nir.base, nir.columns, nir.rows, stride, row_major)


def _pointer_nir(d: Declarations) -> Type:
    return t.UINT64 if d.pointer_bits == 64 else t.UINT


def _pointer(d: Declarations, i: Instruction) -> None:
    storage = name_of("StorageClass", i.words[1])
    pointee = d.type(i.words[2], i)
    d.types[i.words[0]] = SpvType(
        "pointer", _pointer_nir(d), pointee, storage=storage, id=i.words[0]
    )


def _forward(d: Declarations, i: Instruction) -> None:
    d._forward[i.words[0]] = name_of("StorageClass", i.words[1])


def _image(d: Declarations, i: Instruction) -> None:
    _, sampled_type, dim, depth, arrayed, ms, sampled, fmt = i.words[:8]
    name = name_of("Dim", dim)
    if name not in _DIMS:
        raise i.error(f"images of dimension {name} are not supported")
    base = d.type(sampled_type, i).nir.base
    shape = Dim.MS if ms and name == "2D" else _DIMS[name]
    if base is Base.VOID:
        base = Base.FLOAT
    if sampled == 2 or d.addressing != "Logical":
        nir = t.image(shape, bool(arrayed), base)
    else:
        nir = t.sampler(shape, depth == 1, bool(arrayed), base)
    d.types[i.words[0]] = SpvType(
        "image", nir, id=i.words[0], format=name_of("ImageFormat", fmt), count=sampled
    )


def _sampler(d: Declarations, i: Instruction) -> None:
    d.types[i.words[0]] = SpvType("sampler", t.sampler(Dim.D2), id=i.words[0])


def _sampled_image(d: Declarations, i: Instruction) -> None:
    image = d.type(i.words[1], i)
    if image.kind != "image":
        raise i.error(f"%{i.words[1]} is no image type")
    d.types[i.words[0]] = SpvType("sampled_image", image.nir, image, id=i.words[0])


def _function_type(d: Declarations, i: Instruction) -> None:
    params = tuple(d.type(w, i) for w in i.words[2:])
    d.types[i.words[0]] = SpvType("function", t.VOID, d.type(i.words[1], i), params, id=i.words[0])


def _opaque(d: Declarations, i: Instruction) -> None:
    d.types[i.words[0]] = SpvType("opaque", t.VOID, id=i.words[0])


# Constants.


def _bool_constant(d: Declarations, i: Instruction) -> None:
    value = int(i.name.endswith("True"))
    value = int(bool(_specialized(d, i, value)))
    d.constants[i.words[1]] = Constant(d.type(i.words[0], i), (value,))


def _specialized(d: Declarations, i: Instruction, value: int) -> int:
    spec = d.decorations.get(i.words[1], {}).get("SpecId")
    if spec and i.name.startswith("OpSpec"):
        d.spec_ids[spec[0]] = i.words[1]
        return d.specialize.get(spec[0], value)
    return value


def _number_constant(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    if type.kind not in ("int", "float"):
        raise i.error(f"%{i.words[0]} is no type of numbers")
    bits = type.nir.bit_size
    value = i.words[2]
    if bits == 64:
        if len(i.words) < 4:
            raise i.error("the literal is cut off")
        value |= i.words[3] << 32
    value = _specialized(d, i, value) & (1 << bits) - 1
    d.constants[i.words[1]] = Constant(type, (value,))


def _composite_constant(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    parts = [d.constant(w, i).data for w in i.words[2:]]
    expected = len(type.members) if type.kind == "struct" else type.count
    if len(parts) != expected:
        raise i.error(f"{len(parts)} parts for {expected}")
    if type.kind == "vector":
        data: Data = tuple(part[0] for part in parts)
    else:
        data = tuple(parts)
    d.constants[i.words[1]] = Constant(type, data)
    if name_of("BuiltIn", d.decorations.get(i.words[1], {}).get("BuiltIn", (0,))[0]) == (
        "WorkgroupSize"
    ):
        d.workgroup_size = i.words[1]


def _null(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    d.constants[i.words[1]] = Constant(type, d.zero(type, i))


def _undef(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    d.constants[i.words[1]] = Constant(type, d.zero(type, i), True)


def _spec_op(d: Declarations, i: Instruction) -> None:
    from gallette.compiler.spirv.read.spec_constants import evaluate_operation

    type = d.type(i.words[0], i)
    d.constants[i.words[1]] = Constant(type, evaluate_operation(d, i, type))


def _variable(d: Declarations, i: Instruction) -> None:
    d.variables[i.words[1]] = i


def _by_name(table: dict[str, Any]) -> dict[int, Any]:
    out = {}
    for names, handler in table.items():
        for name in names.split():
            out[opcode(name)] = handler
    return out


_DECORATIONS = _by_name(
    {
        "OpName": _name,
        "OpMemberName": _member_name,
        "OpDecorate OpDecorateId": _decorate,
        "OpMemberDecorate": _decorate_member,
        "OpDecorateString": _decorate_text,
        "OpGroupDecorate": _group_decorate,
        "OpGroupMemberDecorate": _group_member_decorate,
    }
)
_HANDLERS = _by_name(
    {
        "OpExtInstImport": _import,
        "OpString": _string,
        "OpMemoryModel": _memory_model,
        "OpEntryPoint": _entry,
        "OpExecutionMode OpExecutionModeId": _mode,
        "OpTypeVoid OpTypeBool OpTypeInt OpTypeFloat": _scalar,
        "OpTypeVector": _vector,
        "OpTypeMatrix": _matrix,
        "OpTypeArray OpTypeRuntimeArray": _array,
        "OpTypeStruct": _struct,
        "OpTypePointer": _pointer,
        "OpTypeForwardPointer": _forward,
        "OpTypeImage": _image,
        "OpTypeSampler": _sampler,
        "OpTypeSampledImage": _sampled_image,
        "OpTypeFunction": _function_type,
        "OpTypeOpaque OpTypeEvent": _opaque,
        "OpConstantTrue OpConstantFalse OpSpecConstantTrue OpSpecConstantFalse": _bool_constant,
        "OpConstant OpSpecConstant": _number_constant,
        "OpConstantComposite OpSpecConstantComposite": _composite_constant,
        "OpConstantNull": _null,
        "OpUndef": _undef,
        "OpSpecConstantOp": _spec_op,
        "OpVariable": _variable,
    }
)
_IGNORED_NAMES = """
OpNop OpCapability OpExtension OpSource OpSourceContinued OpSourceExtension OpLine OpNoLine
OpModuleProcessed OpDecorationGroup OpExtInst OpMemberDecorateString
"""
_IGNORED = frozenset(map(opcode, _IGNORED_NAMES.split()))
_LINES = frozenset((opcode("OpLine"), opcode("OpNoLine"), opcode("OpNop")))
_FUNCTION, _FUNCTION_END = opcode("OpFunction"), opcode("OpFunctionEnd")
_PARAMETER, _LABEL, _PHI = opcode("OpFunctionParameter"), opcode("OpLabel"), opcode("OpPhi")
_MERGES = frozenset((opcode("OpLoopMerge"), opcode("OpSelectionMerge")))
_TERMINATOR_NAMES = """
OpBranch OpBranchConditional OpSwitch OpReturn OpReturnValue OpKill OpUnreachable
OpTerminateInvocation
"""
_TERMINATORS = frozenset(map(opcode, _TERMINATOR_NAMES.split()))
