"""Binary and text of modules: round trips, the standard tools' spelling, errors."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from conversions import run_tool

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.literals import format_number, parse_number
from gallette.compiler.spirv.module import Instruction, SpirvError, read_module, text_of, words_of
from gallette.compiler.spirv.operands import Context, NumberType, operands_of
from gallette.compiler.spirv.read.translate import spirv_to_nir
from tests.cases import Case, each

FILE = Path(__file__).with_name("text.txt")
KERNELS = Path(__file__).parents[1] / "kernels" / "kernels.spvasm"
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


def test_machines_of_either_byte_order_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose numbers are the other way round turns them before they are written."""
    plain = assemble(FLOATS)
    data = plain.to_bytes()
    assert data[:4] == b"\x03\x02\x23\x07"
    words = words_of("main")
    turned = tuple(int.from_bytes(w.to_bytes(4, "little"), "big") for w in words)
    other = "big" if sys.byteorder == "little" else "little"
    monkeypatch.setattr(sys, "byteorder", other)
    there = np.frombuffer(plain.to_bytes(), np.uint32).byteswap().tobytes()
    assert there == data
    assert text_of(turned) == ("main", 2)
    assert read_module(data).to_bytes() == plain.to_bytes()


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


@each(FILE, "errors")
def test_errors_of_the_assembler(case: Case) -> None:
    with pytest.raises(InputError) as caught:
        assemble(case.source, keep_numbers=True)
    assert case.answer in str(caught.value)


def test_words_are_taken_as_they_are() -> None:
    """Behind `!`, and as numbers of instructions of sets we have no table of."""
    text = '%1 = OpExtInstImport "Other"\n%4 = OpExtInst %2 %1 14 %3\nOpName %3 !0x6261\n \t'
    module = assemble(text, keep_numbers=True)
    assert [i.words for i in module.instructions[1:]] == [(2, 4, 1, 14, 3), (3, 0x6261)]
    assert module.bound == 5
    assert repr(module.instructions[1]) == "<OpExtInst 2 4 1 14 3>"
    assert [i.type_id for i in module.instructions] == [0, 2, 0]
    shown = disassemble(module, raw_ids=True, header=False)
    assert shown.splitlines()[1].split() == ["%4", "=", "OpExtInst", "%2", "%1", "14", "%3"]


@each(FILE, "names")
def test_ids_are_named_for_what_they_are(case: Case) -> None:
    shown = disassemble(assemble(case.source), header=False)
    assert shown.splitlines()[-1].split()[0] == f"%{case.answer}"


def test_what_an_operation_on_constants_is_and_unknown_values_are_spelled() -> None:
    text = """%uint = OpTypeInt 32 0
        %a = OpConstant %uint 3
        %b = OpSpecConstantOp %uint IAdd %a %a
        %c = OpSpecConstantOp %uint CompositeExtract %a 1"""
    shown = disassemble(assemble(text), header=False).splitlines()
    assert shown[2].split()[2:] == ["OpSpecConstantOp", "%uint", "IAdd", "%uint_3", "%uint_3"]
    assert shown[3].split()[2:] == ["OpSpecConstantOp", "%uint", "CompositeExtract", "%uint_3", "1"]


def test_an_instruction_that_is_cut_off_has_no_name() -> None:
    """Names are looked for first; that operands are missing is said afterwards."""
    module = assemble("%1 = OpTypeInt 32 0")
    module.instructions[0] = Instruction(opcode("OpTypeInt"), (1, 32))
    with pytest.raises(SpirvError, match=r"OpTypeInt: .* is expected"):
        disassemble(module)


SETS = '%set = OpExtInstImport "GLSL.std.450"\n%other = OpTypeVoid\n'


@each(FILE, "misfits")
def test_operands_that_do_not_fit_the_grammar(case: Case) -> None:
    name, *numbers = case.text.split()
    words, message = tuple(map(int, numbers)), case.answer
    context = Context()
    for instr in assemble(SETS + "%wide = OpTypeInt 64 0").instructions:
        context.learn(instr)
    with pytest.raises(SpirvError) as caught:
        operands_of(Instruction(opcode(name), words, 40), context)
    assert str(caught.value).startswith(f"SPIR-V at byte 40: error: {name}: ")
    assert str(caught.value).endswith(message)


HALF = NumberType(True, 16, True)


@pytest.mark.parametrize(
    ("bits", "text"),
    [(0, "0x0p+0"), (0x8000, "-0x0p+0"), (1, "0x1p-24"), (0x3C00, "0x1p+0"), (0x7C00, "0x1p+16")],
)
def test_halves_are_spelled_in_hexadecimal(bits: int, text: str) -> None:
    assert format_number(bits, HALF) == text
    assert parse_number(text, HALF) == bits


@each(FILE, "floats")
def test_floats_that_are_none_or_at_the_ends(case: Case) -> None:
    width, text = case.text.split()
    found = parse_number(text, NumberType(True, int(width), True))
    assert ("none" if found is None else hex(found)) == case.answer


def test_no_text_is_no_float() -> None:
    assert parse_number("", NumberType(True, 32, True)) is None


def test_errors_of_binaries_say_where() -> None:
    data = bytearray(assemble(FLOATS).to_bytes())
    for broken, message in (
        (data[:18], "whole words"),
        (b"\0" * 20, "magic number"),
        (data[:-4], "words, but"),
        (data[:4] + b"\0\0\x02\0" + data[8:], "at byte 4: error: version 0x00020000 is not"),
        (data[:4] + b"\1\0\x01\0" + data[8:], "at byte 4: error: version 0x00010001 is not"),
        (data[:12] + b"\0\0\0\0" + data[16:], "at byte 12: error: the bound of ids is 0"),
        (data[:12] + b"\0\0\x40\0" + data[16:], "at byte 12: error: the bound of ids is 4194304"),
        (data[:16], "a header has 20 bytes, this module 16"),
        (data[:20] + b"\xff\xff\x01\0", "at byte 20: error: unknown opcode 65535"),
    ):
        with pytest.raises(SpirvError, match=message):
            read_module(bytes(broken))
    with pytest.raises(SpirvError, match="there is no"):
        spirv_to_nir(read_module(bytes(data)), entry="main")


def test_errors_are_deliberate() -> None:
    assert issubclass(SpirvError, GalletteError)
