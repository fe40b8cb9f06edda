"""Arithmetic instructions: rows for those that are one NIR opcode, formulas for those that are a
few, functions for the rest.

The rows are those of `spirv.tables`, from which SPIR-V is also emitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.compiler.function_table import FunctionTable
from gallette.compiler.glsl.lower.math import FORMULAS
from gallette.compiler.glsl.lower.matrices import outer_product, transposed
from gallette.compiler.glsl.lower.operators import transform
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv import tables
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.pointers import Value, element_of, select_tree

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

Handler = Callable[["FunctionReader", Instruction], None]
ARITHMETIC = FunctionTable[int, Handler]()


def does(*names: str) -> Callable[[Handler], Handler]:
    """Decorator: this is the handler of these instructions."""
    return ARITHMETIC.entry(*map(opcode, names))


def _row(name: str, nir: str) -> None:
    """Register an instruction that is one NIR opcode."""
    op = OPCODES[nir]

    def handler(r: FunctionReader, i: Instruction) -> None:
        w = i.words
        r.values[w[1]] = r.b.alu(op, *[r.ssa(id) for id in w[2 : 2 + op.num_inputs]])

    ARITHMETIC[opcode(name)] = handler


for _nir, _spirv in (*tables.OPCODES.items(), *[(n, s) for s, n in tables.ALSO_READ.items()]):
    if _spirv.startswith("Op") and not _nir.startswith("fdot"):
        _row(_spirv, _nir)
_FORMULAS = Formulas.beside(__file__, "instructions.txt")


@does(*_FORMULAS)
def _formula(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = _FORMULAS.build(r.b, i.name, [r.ssa(id) for id in i.words[2:]])


# Floats.


@does("OpDot")
def _dot(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = dot(r, r.ssa(i.words[2]), r.ssa(i.words[3]))


def dot(r: FunctionReader, x: Def, y: Def) -> Def:
    """A dot product of any width."""
    b = r.b
    if x.num_components <= 4:
        return b.dot(x, y)
    total = b.fmul(b.channel(x, 0), b.channel(y, 0))
    for k in range(1, x.num_components):
        total = b.fadd(total, b.fmul(b.channel(x, k), b.channel(y, k)))
    return total


@does("OpFwidth", "OpFwidthFine", "OpFwidthCoarse")
def _fwidth(r: FunctionReader, i: Instruction) -> None:
    name = i.name.replace("OpF", "f")
    r.values[i.words[1]] = FORMULAS.build(r.b, name, [r.ssa(i.words[2])])


# Integers.

_NIR = {name: nir for nir, name in tables.OPCODES.items()}


@does("OpShiftLeftLogical", "OpShiftRightArithmetic", "OpShiftRightLogical")
def _shift(r: FunctionReader, i: Instruction) -> None:
    count = r.ssa(i.words[3])
    if count.bit_size != 32:
        count = r.b.u2u32(count)
    r.values[i.words[1]] = r.b.alu(_NIR[i.name], r.ssa(i.words[2]), count)


@does("OpBitCount")
def _bit_count(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = resized(r, r.b.bit_count(r.ssa(i.words[2])), i, False)


def resized(r: FunctionReader, value: Def, i: Instruction, signed: bool) -> Def:
    """An integer at the width of the instruction's result."""
    bits = r.type(i).nir.bit_size
    if value.bit_size == bits:
        return value
    return r.b.alu(f"{'i2i' if signed else 'u2u'}{bits}", value)


@does("OpBitFieldInsert", "OpBitFieldSExtract", "OpBitFieldUExtract")
def _bitfield(r: FunctionReader, i: Instruction) -> None:
    b = r.b
    srcs = [r.ssa(w) for w in i.words[2:]]
    if srcs[0].bit_size != 32:
        raise i.error("bit fields are supported in 32-bit integers")
    srcs[-2:] = [s if s.bit_size == 32 else b.u2u32(s) for s in srcs[-2:]]
    r.values[i.words[1]] = b.alu(_NIR[i.name], *srcs)


@does("OpSMulExtended", "OpUMulExtended", "OpIAddCarry", "OpISubBorrow")
def _extended(r: FunctionReader, i: Instruction) -> None:
    b = r.b
    x, y = r.ssa(i.words[2]), r.ssa(i.words[3])
    ops = {
        "OpSMulExtended": ("imul", "imul_high"),
        "OpUMulExtended": ("imul", "umul_high"),
        "OpIAddCarry": ("iadd", "uadd_carry"),
        "OpISubBorrow": ("isub", "usub_borrow"),
    }[i.name]
    r.values[i.words[1]] = (b.alu(ops[0], x, y), b.alu(ops[1], x, y))


# Booleans.


@does("OpAny", "OpAll")
def _any_all(r: FunctionReader, i: Instruction) -> None:
    b = r.b
    parts = b.channels(r.ssa(i.words[2]))
    value = parts[0]
    for part in parts[1:]:
        value = b.ior(value, part) if i.name == "OpAny" else b.iand(value, part)
    r.values[i.words[1]] = value


@does("OpSelect")
def _select(r: FunctionReader, i: Instruction) -> None:
    condition, then, other = r.ssa(i.words[2]), r.value(i.words[3]), r.value(i.words[4])
    if isinstance(then, Def) and isinstance(other, Def):
        r.values[i.words[1]] = r.b.bcsel(condition, then, other)
    elif isinstance(then, tuple):
        r.values[i.words[1]] = select_tree(r.b, condition, then, other)
    else:
        r.values[i.words[1]] = r.select_pointer(i, condition, then, other)


# Conversions.

_LETTERS = {name: letters for letters, name in tables.CONVERSIONS.items()}


@does("OpConvertFToS", "OpConvertFToU", "OpConvertSToF", "OpConvertUToF", "OpFConvert")
@does("OpSConvert", "OpUConvert", "OpSatConvertSToU", "OpSatConvertUToS")
def _convert(r: FunctionReader, i: Instruction) -> None:
    b, x = r.b, r.ssa(i.words[2])
    bits = r.type(i).nir.bit_size
    letters = _LETTERS.get(i.name)
    if letters is None:
        r.values[i.words[1]] = saturated(r, x, i.name == "OpSatConvertSToU", bits)
    elif letters in ("f2f", "i2i", "u2u") and x.bit_size == bits:
        r.values[i.words[1]] = x
    else:
        r.values[i.words[1]] = b.alu(f"{letters}{bits}", x)


def saturated(r: FunctionReader, x: Def, to_unsigned: bool, bits: int) -> Def:
    """An integer clamped to the range of the other signedness."""
    b = r.b
    if to_unsigned:
        x = b.imax(x, b.imm_int(0, x.bit_size))
        if x.bit_size > bits:
            x = b.umin(x, b.imm_int((1 << bits) - 1, x.bit_size))
        return x if x.bit_size == bits else b.alu(f"u2u{bits}", x)
    limit = (1 << bits - 1) - 1
    if x.bit_size >= bits:
        x = b.umin(x, b.imm_int(limit, x.bit_size))
    return x if x.bit_size == bits else b.alu(f"u2u{bits}", x)


@does("OpBitcast")
def _bitcast(r: FunctionReader, i: Instruction) -> None:
    target = r.type(i)
    value = r.value(i.words[2])
    if target.kind == "pointer" or not isinstance(value, Def):
        r.values[i.words[1]] = r.cast_pointer(i, value)
        return
    r.values[i.words[1]] = bitcast(r, value, target.nir.bit_size)


def bitcast(r: FunctionReader, value: Def, bits: int) -> Def:
    """The bits of a value as components of another size."""
    b, have = r.b, value.bit_size
    if not bits or have == 1 or bits == 1:
        raise SpirvError(f"a bit cast from {have} to {bits} bits")
    if have == bits:
        return value
    if have < bits:
        ratio = bits // have
        parts = []
        for k in range(0, value.num_components, ratio):
            group = b.swizzle(value, tuple(range(k, k + ratio)))
            parts.append(_join(r, group, bits))
        return b.vec(parts)
    pieces: list[Def] = []
    for part in b.channels(value):
        pieces.extend(_cut(r, part, bits))
    if len(pieces) not in (1, 2, 3, 4, 8, 16):
        raise SpirvError(f"a bit cast to {len(pieces)} components")
    return b.vec(pieces)


def _join(r: FunctionReader, group: Def, bits: int) -> Def:
    name = f"pack_{bits}_{group.num_components}x{group.bit_size}"
    if name in OPCODES:
        return r.b.alu(name, group)
    b = r.b
    total = b.imm_int(0, bits)
    for k, part in enumerate(b.channels(group)):
        wide = b.alu(f"u2u{bits}", part)
        total = b.ior(total, b.ishl(wide, b.imm_int(k * group.bit_size)))
    return total


def _cut(r: FunctionReader, part: Def, bits: int) -> list[Def]:
    b, count = r.b, part.bit_size // bits
    name = f"unpack_{part.bit_size}_{count}x{bits}"
    if name in OPCODES:
        return b.channels(b.alu(name, part))
    return [b.alu(f"u2u{bits}", b.ushr(part, b.imm_int(k * bits))) for k in range(count)]


# Vectors, matrices and composites.


@does("OpMatrixTimesScalar")
def _scale_matrix(r: FunctionReader, i: Instruction) -> None:
    scalar = r.ssa(i.words[3])
    r.values[i.words[1]] = tuple(r.b.fmul(c, scalar) for c in r.columns(i.words[2]))


def _transformed(r: FunctionReader, columns: tuple[Value, ...], vector: Def) -> Def:
    if len(columns) != vector.num_components:
        raise SpirvError("a matrix and a vector that do not match")
    return transform(r.b, [*columns], vector)


@does("OpMatrixTimesVector")
def _matrix_vector(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = _transformed(r, r.columns(i.words[2]), r.ssa(i.words[3]))


@does("OpVectorTimesMatrix")
def _vector_matrix(r: FunctionReader, i: Instruction) -> None:
    vector = r.ssa(i.words[2])
    r.values[i.words[1]] = r.b.vec([dot(r, vector, c) for c in r.columns(i.words[3])])


@does("OpMatrixTimesMatrix")
def _matrix_matrix(r: FunctionReader, i: Instruction) -> None:
    left = r.columns(i.words[2])
    r.values[i.words[1]] = tuple(_transformed(r, left, c) for c in r.columns(i.words[3]))


@does("OpTranspose")
def _transpose(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = tuple(transposed(r.b, [*r.columns(i.words[2])]))


@does("OpOuterProduct")
def _outer(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = tuple(outer_product(r.b, r.ssa(i.words[2]), r.ssa(i.words[3])))


@does("OpCompositeConstruct")
def _construct(r: FunctionReader, i: Instruction) -> None:
    type = r.type(i)
    parts = [r.value(w) for w in i.words[2:]]
    if type.kind == "vector":
        if not parts or not all(isinstance(p, Def) for p in parts):
            raise i.error("expected scalars and vectors")
        value = r.b.concat(*parts)
        if value.num_components != type.count:
            raise i.error(f"{value.num_components} components for {type.count}")
        r.values[i.words[1]] = value
        return
    expected = len(type.members) if type.kind == "struct" else type.count
    if len(parts) != expected:
        raise i.error(f"{len(parts)} parts for {expected}")
    r.values[i.words[1]] = tuple(parts)


@does("OpCompositeExtract")
def _extract(r: FunctionReader, i: Instruction) -> None:
    value = r.value(i.words[2])
    for index in i.words[3:]:
        if isinstance(value, tuple):
            if index >= len(value):
                raise i.error(f"part {index} of {len(value)}")
            value = value[index]
        else:
            if not isinstance(value, Def) or index >= value.num_components:
                raise i.error(f"there is no component {index}")
            value = r.b.channel(value, index)
    r.values[i.words[1]] = value


@does("OpCompositeInsert")
def _insert(r: FunctionReader, i: Instruction) -> None:
    part, whole = r.value(i.words[2]), r.value(i.words[3])
    r.values[i.words[1]] = _inserted(r, i, whole, part, i.words[4:])


def _inserted(
    r: FunctionReader, i: Instruction, whole: Value, part: Value, path: tuple[int, ...]
) -> Value:
    if not path:
        return part
    index = path[0]
    if isinstance(whole, tuple):
        if index >= len(whole):
            raise i.error(f"part {index} of {len(whole)}")
        inner = _inserted(r, i, whole[index], part, path[1:])
        return (*whole[:index], inner, *whole[index + 1 :])
    if not isinstance(whole, Def) or index >= whole.num_components or len(path) > 1:
        raise i.error(f"there is no component {index}")
    return r.b.replace_channel(whole, index, part)


@does("OpVectorShuffle")
def _shuffle(r: FunctionReader, i: Instruction) -> None:
    b = r.b
    x, y = r.ssa(i.words[2]), r.ssa(i.words[3])
    n = x.num_components
    chosen = i.words[4:]
    if len(chosen) != r.type(i).count:
        raise i.error(f"{len(chosen)} components for {r.type(i).count}")
    if all(c < n for c in chosen):
        r.values[i.words[1]] = b.swizzle(x, chosen)
        return
    if any(c >= n + y.num_components and c != 0xFFFFFFFF for c in chosen):
        raise i.error("there is no such component")
    if all(n <= c < n + y.num_components for c in chosen):
        r.values[i.words[1]] = b.swizzle(y, tuple(c - n for c in chosen))
        return
    pairs = [
        (x, (0,)) if c == 0xFFFFFFFF else (x, (c,)) if c < n else (y, (c - n,)) for c in chosen
    ]
    r.values[i.words[1]] = b.alu_swizzled(f"vec{len(pairs)}", pairs, x.bit_size)


@does("OpVectorExtractDynamic")
def _extract_dynamic(r: FunctionReader, i: Instruction) -> None:
    index = r.index(i.words[3])
    vector = r.ssa(i.words[2])
    r.values[i.words[1]] = element_of(r.b, r.type(i), vector, index)


@does("OpVectorInsertDynamic")
def _insert_dynamic(r: FunctionReader, i: Instruction) -> None:
    b = r.b
    vector, part, index = r.ssa(i.words[2]), r.ssa(i.words[3]), r.index(i.words[4])
    if isinstance(index, int):
        n = min(index, vector.num_components - 1)
        r.values[i.words[1]] = b.replace_channel(vector, n, part)
        return
    parts = [
        b.bcsel(b.ieq(index, b.imm_int(k, index.bit_size)), part, old)
        for k, old in enumerate(b.channels(vector))
    ]
    r.values[i.words[1]] = b.vec(parts)


@does("OpCopyObject", "OpCopyLogical", "OpExpectKHR")
def _copy(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = r.value(i.words[2])
