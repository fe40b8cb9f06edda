"""Binary and text of modules: round trips, the standard tools' spelling, errors."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from conversions import run_tool

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.literals import format_number, parse_number
from gallette.compiler.spirv.module import SpirvError, read_module
from gallette.compiler.spirv.operands import NumberType
from gallette.compiler.spirv.read.translate import spirv_to_nir

KERNELS = Path(__file__).parents[1] / "kernels" / "kernels.spvasm"
BENCH = Path(__file__).parents[2] / "bench"
FLOATS = """OpCapability Shader
OpCapability Float64
OpCapability Float16
OpCapability Int64
OpCapability Int16
OpMemoryModel Logical GLSL450
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%long = OpTypeInt 64 1
%short = OpTypeInt 16 1
%uint = OpTypeInt 32 0
%a = OpConstant %half 0x1.8p+2
%b = OpConstant %float 0.1
%c = OpConstant %float 0x1p+128
%d = OpConstant %float -0x1.8p+128
%e = OpConstant %float 0x1p-149
%f = OpConstant %double 0.1
%g = OpConstant %double -1e-310
%h = OpConstant %long -9000000000
%i = OpConstant %short -7
%j = OpConstant %uint 0xffffffff
%k = OpConstant %float -0
%name = OpString "a \\"quoted\\" \\\\ name"
"""


@pytest.mark.parametrize("raw", [False, True])
def test_text_round_trip(raw: bool) -> None:
    for text in (FLOATS, KERNELS.read_text()):
        module = assemble(text)
        again = assemble(disassemble(module, raw_ids=raw), keep_numbers=raw)
        if raw:
            assert again.to_bytes() == module.to_bytes()
        assert disassemble(again) == disassemble(module)
        assert read_module(module.to_bytes()).to_bytes() == module.to_bytes()


def test_the_standard_tools_agree(tmp_path: Path) -> None:
    for text in (FLOATS, KERNELS.read_text()):
        source, binary = tmp_path / "a.spvasm", tmp_path / "a.spv"
        source.write_text(text)
        module = assemble(text)
        run_tool("spirv-as", "--target-env", f"spv{module.version_text}", source, "-o", binary)
        theirs = read_module(binary.read_bytes())
        module.generator = theirs.generator
        assert module.to_bytes() == theirs.to_bytes()
        assert run_tool("spirv-dis", "--raw-id", "--no-header", binary) == disassemble(
            module, raw_ids=True, header=False
        )
        assert run_tool("spirv-dis", "--no-header", binary) == disassemble(module, header=False)


def test_big_endian_modules() -> None:
    data = assemble(FLOATS).to_bytes()
    swapped = b"".join(data[i : i + 4][::-1] for i in range(0, len(data), 4))
    assert read_module(swapped).to_bytes() == data


@pytest.mark.parametrize("width", [16, 32, 64])
def test_every_float_is_spelled_exactly(width: int) -> None:
    random_ = random.Random(width)
    type = NumberType(True, width, True)
    for _ in range(3000):
        bits = random_.getrandbits(width)
        text = format_number(bits, type)
        assert parse_number(text, type) == bits, text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%a = OpTypeFlaot 32", "<spirv>:1:6: error: no instruction is called OpTypeFlaot"),
        ("%a = OpTypeFloat x", "<spirv>:1:18: error: expected a 32-bit unsigned int, not x"),
        ("OpTypeVoid", "<spirv>:1:1: error: OpTypeVoid has a result"),
        ("OpCapability Shade", "<spirv>:1:14: error: Shade is no Capability"),
        ('OpName %a "b', "<spirv>:1:11: error: a string has no end"),
        ("%a = OpTypeFloat", "<spirv>:1:6: error: expected LiteralInteger (Width) behind this"),
        ("OpCapability Shader Matrix", "error: OpCapability takes no more operands"),
    ],
)
def test_errors_of_the_assembler(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        assemble(text)
    assert message in str(caught.value)


def test_errors_of_binaries_say_where() -> None:
    data = bytearray(assemble(FLOATS).to_bytes())
    for broken, message in (
        (data[:18], "whole words"),
        (b"\0" * 20, "magic number"),
        (data[:-4], "words, but"),
        (data[:20] + b"\xff\xff\x01\0", "at byte 20: error: unknown opcode 65535"),
    ):
        with pytest.raises(SpirvError, match=message):
            read_module(bytes(broken))
    with pytest.raises(SpirvError, match="there is no"):
        spirv_to_nir(read_module(bytes(data)), entry="main")


def test_mutated_modules_are_refused_or_valid() -> None:
    sys.path.insert(0, str(BENCH))
    try:
        from spirv_fuzz import attempt, mutate  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(BENCH))
    random_ = random.Random(11)
    data = assemble(KERNELS.read_text()).to_bytes()
    for _ in range(60):
        attempt(mutate(data, random_))


def test_errors_are_deliberate() -> None:
    assert issubclass(SpirvError, GalletteError)
