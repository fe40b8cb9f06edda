"""Operations on constants are worked out when a module is read; parts of vectors, by any index."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import SpirvError, read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir
from tests.cases import Case, each

HEAD = """OpCapability Shader
OpCapability Kernel
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" {interface}
{decorations}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%bool = OpTypeBool
%vec3 = OpTypeVector %float 3
%uvec4 = OpTypeVector %uint 4
%uvec2 = OpTypeVector %uint 2
%pair = OpTypeStruct %uint %uvec4
%true = OpSpecConstantTrue %bool
%false = OpSpecConstantFalse %bool
%n10 = OpConstant %uint 10
%n11 = OpConstant %uint 11
%n12 = OpConstant %uint 12
%n13 = OpConstant %uint 13
%four = OpConstantComposite %uvec4 %n10 %n11 %n12 %n13
%both = OpConstantComposite %pair %n13 %four
"""
BODY = """
%main = OpFunction %void None %fn
%start = OpLabel
{code}
OpReturn
OpFunctionEnd
"""
FILE = Path(__file__).with_name("constants.txt")
MASK = 0xFFFFFFFF


def constant(operation: str, kind: str = "uint", declared: str = "") -> object:
    """The value of an operation on constants, as bits."""
    text = (
        HEAD.format(interface="", decorations="")
        + f"""{declared}
        %found = OpSpecConstantOp %{kind} {operation}
        %place = OpTypePointer Private %{kind}
        %kept = OpVariable %place Private %found"""
    )
    shader = spirv_to_nir(assemble(text + BODY.format(code=f"%read = OpLoad %{kind} %kept")))
    (found,) = (v.constant_initializer for v in shader.variables)
    shader.unref()
    return found


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def quotient(a: int, b: int) -> int:
    """Towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


TWO: dict[str, Callable[[int, int], int]] = {
    "IAdd": lambda a, b: a + b,
    "ISub": lambda a, b: a - b,
    "IMul": lambda a, b: a * b,
    "UDiv": lambda a, b: a // b,
    "UMod": lambda a, b: a % b,
    "SDiv": lambda a, b: quotient(signed(a), signed(b)),
    "SRem": lambda a, b: signed(a) - signed(b) * quotient(signed(a), signed(b)),
    "SMod": lambda a, b: signed(a) % signed(b),
    "BitwiseAnd": lambda a, b: a & b,
    "BitwiseOr": lambda a, b: a | b,
    "BitwiseXor": lambda a, b: a ^ b,
    "ShiftLeftLogical": lambda a, b: a << (b & 31),
    "ShiftRightLogical": lambda a, b: a >> (b & 31),
    "ShiftRightArithmetic": lambda a, b: signed(a) >> (b & 31),
}
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "IEqual": lambda a, b: a == b,
    "INotEqual": lambda a, b: a != b,
    "ULessThan": lambda a, b: a < b,
    "ULessThanEqual": lambda a, b: a <= b,
    "UGreaterThan": lambda a, b: a > b,
    "UGreaterThanEqual": lambda a, b: a >= b,
    "SLessThan": lambda a, b: signed(a) < signed(b),
    "SLessThanEqual": lambda a, b: signed(a) <= signed(b),
    "SGreaterThan": lambda a, b: signed(a) > signed(b),
    "SGreaterThanEqual": lambda a, b: signed(a) >= signed(b),
}
ONE: dict[str, Callable[[int], int]] = {
    "Not": lambda a: ~a,
    "SNegate": lambda a: -a,
    "BitCount": lambda a: a.bit_count(),
    "CopyObject": lambda a: a,
}
NUMBERS = [(17, 5), (5, 17), (9, 9), (0xFFFFFFF0, 3), (3, 0xFFFFFFF0), (0x80000000, 0x7FFFFFFF)]


def declared(*values: int) -> str:
    return "\n".join(
        f"%{n} = OpSpecConstant %uint {v}" for n, v in zip("abc", values, strict=False)
    )


@pytest.mark.parametrize("op", [*TWO, *COMPARED, *ONE])
def test_an_operation_on_integers(op: str) -> None:
    for a, b in NUMBERS:
        given = declared(a, b)
        if op in TWO:
            assert constant(f"{op} %a %b", "uint", given) == (TWO[op](a, b) & MASK,)
        elif op in COMPARED:
            assert constant(f"{op} %a %b", "bool", given) == (int(COMPARED[op](a, b)),)
        else:
            assert constant(f"{op} %a", "uint", given) == (ONE[op](a) & MASK,)


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_an_operation_on_conditions(a: bool, b: bool) -> None:
    wanted = {
        "LogicalAnd": a and b, "LogicalOr": a or b, "LogicalEqual": a == b,
        "LogicalNotEqual": a != b,
    }  # fmt: skip
    x, y = (f"%{str(value).lower()}" for value in (a, b))
    for op, value in wanted.items():
        assert constant(f"{op} {x} {y}", "bool") == (int(value),), op
    assert constant(f"LogicalNot {x}", "bool") == (int(not a),)
    assert constant(f"Select {x} %n10 %n12") == (10 if a else 12,)


def test_operations_on_operations_and_on_vectors() -> None:
    given = "%sum = OpSpecConstantOp %uint IAdd %n10 %n11\n"
    given += "%twice = OpSpecConstantOp %uint IMul %sum %n12\n"
    assert constant("ISub %twice %sum", "uint", given) == (21 * 12 - 21,)
    given += "%more = OpSpecConstantOp %uvec4 IAdd %four %four\n"
    assert constant("IMul %more %four", "uvec4", given) == tuple(2 * n * n for n in range(10, 14))


@each(FILE, "values")
def test_parts_of_constants(case: Case) -> None:
    kind, _, operation = case.text.partition(" = ")
    assert repr(constant(operation, kind)) == case.answer


def test_numbers_change_their_type() -> None:
    def floats(value: float) -> int:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])

    for value in (0.1, -2.75, 1e6, 3.0):
        given = f"%x = OpSpecConstant %float {value!r}"
        whole = int(value) & MASK
        assert constant("ConvertFToS %x", "int", given) == (whole,)
        assert constant("FNegate %x", "float", given) == (floats(-value),)
        with np.errstate(over="ignore"):
            half = float(np.float16(np.float32(value)))
        assert constant("QuantizeToF16 %x", "float", given) == (floats(half),)
        assert constant("Bitcast %x", "uint", given) == (floats(value),)
    given = "%x = OpSpecConstant %int -7"
    assert constant("ConvertSToF %x", "float", given) == (floats(-7.0),)


@pytest.mark.parametrize("x", [1.0, 2.0, float("nan")])
@pytest.mark.parametrize("y", [1.0, 2.0, float("nan")])
def test_operations_of_several_steps(x: float, y: float) -> None:
    given = "\n".join(
        f"%{name} = OpConstant %float !{struct.unpack('<I', struct.pack('<f', value))[0]}"
        for name, value in (("x", x), ("y", y))
    )
    unordered = x != x or y != y
    for operation, wanted in (
        ("FUnordEqual %x %y", unordered or x == y),
        ("FOrdNotEqual %x %y", not unordered and x != y),
        ("FUnordLessThan %x %y", unordered or x < y),
        ("Ordered %x %y", not unordered),
    ):
        assert constant(operation, "bool", given) == (int(wanted),), operation


@each(FILE, "refused")
def test_what_is_no_operation_on_constants_is_refused(case: Case) -> None:
    kind, _, operation = case.text.partition(" = ")
    with pytest.raises(SpirvError, match=case.answer):
        constant(operation, kind)


# -- parts of vectors by an index -----------------------------------------------------------------


def outputs_of(code: str, constants: str = "") -> list[list[int]]:
    """The four numbers that main stores in `%out` in each lane; `%lane` is the lane's number."""
    globals = f"""{constants}
        %input = OpTypePointer Input %uint
        %lane_ = OpVariable %input Input
        %output = OpTypePointer Output %uvec4
        %out = OpVariable %output Output"""
    text = HEAD.format(
        interface="%out %lane_",
        decorations="OpDecorate %out Location 0\nOpDecorate %lane_ Location 0",
    )
    body = BODY.format(code=f"%lane = OpLoad %uint %lane_\n{code}")
    shader = spirv_to_nir(read_module(assemble(text + globals + body).to_bytes()))
    run_passes(shader, ["lower_vars_to_ssa", "lower_io"])
    lanes = np.arange(6, dtype=np.uint32)
    inputs = {(location, 0): lanes for location in range(64)}
    found = interpret(shader, Environment(6, inputs=inputs)).outputs
    shader.unref()
    rows = [np.asarray(found[key]).view(np.uint32) for key in sorted(found)]
    return np.stack(rows, axis=1).tolist()  # type: ignore[no-any-return]


NUMBERS_OF_FOUR = [10, 11, 12, 13]
INDICES = [0, 1, 2, 3]


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("kind", ["uint", "int"])
def test_a_part_of_a_vector_by_a_constant_index(index: int, kind: str) -> None:
    found = outputs_of(
        """%before = OpCompositeConstruct %uvec4 %lane %n11 %n12 %n13
        %part = OpVectorExtractDynamic %uint %four %k
        %changed = OpVectorInsertDynamic %uvec4 %before %part %k
        %again = OpVectorExtractDynamic %uint %changed %k
        %sum = OpIAdd %uint %again %again
        %after = OpVectorInsertDynamic %uvec4 %before %sum %k
        OpStore %out %after""",
        f"%k = OpConstant %{kind} {index}",
    )
    for lane, numbers in enumerate(found):
        wanted = [lane, *NUMBERS_OF_FOUR[1:]]
        wanted[index] = 2 * NUMBERS_OF_FOUR[index]
        assert numbers == wanted


def test_a_part_of_a_vector_by_an_index_of_each_lane() -> None:
    found = outputs_of(
        """%k = OpBitwiseAnd %uint %lane %n3
        %before = OpCompositeConstruct %uvec4 %n13 %lane %n11 %n10
        %part = OpVectorExtractDynamic %uint %before %k
        %sum = OpIAdd %uint %part %n12
        %after = OpVectorInsertDynamic %uvec4 %four %sum %k
        OpStore %out %after""",
        "%n3 = OpConstant %uint 3",
    )
    for lane, numbers in enumerate(found):
        wanted = list(NUMBERS_OF_FOUR)
        wanted[lane & 3] = [13, lane, 11, 10][lane & 3] + 12
        assert numbers == wanted


@pytest.mark.parametrize("index", INDICES)
def test_a_part_of_a_constant_by_an_index(index: int) -> None:
    given = f"%k = OpSpecConstant %uint {index}"
    assert constant("VectorExtractDynamic %four %k", "uint", given) == (10 + index,)
    wanted = list(NUMBERS_OF_FOUR)
    wanted[index] = 12
    assert constant("VectorInsertDynamic %four %n12 %k", "uvec4", given) == tuple(wanted)
