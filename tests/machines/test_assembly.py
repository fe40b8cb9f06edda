"""Assembly of both machines: what each word means, field by field, and what is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gallette.compiler.errors import InputError
from gallette.drivers.machines.isa.fields import Field
from gallette.drivers.machines.isa.instruction import Message
from gallette.drivers.machines.isa.layout import Token, Word
from gallette.drivers.machines.isa.messages import UNITS, pack
from gallette.drivers.machines.isa.types import TYPES, type_of
from gallette.drivers.machines.simd.isa import instruction as simd_instruction
from gallette.drivers.machines.simd.isa.instruction import NULL, Region
from gallette.drivers.machines.simd.isa.opcodes import OPCODES as SIMD
from gallette.drivers.machines.simd.isa.table import ISA as simd
from gallette.drivers.machines.tiler.isa import instruction as tiler_instruction
from gallette.drivers.machines.tiler.isa.instruction import NONE, Operand
from gallette.drivers.machines.tiler.isa.opcodes import OPCODES as TILER
from gallette.drivers.machines.tiler.isa.table import ISA as tiler
from gallette.pipe.loader import DriverError, create_screen

UD, D, F, HF = (TYPES[name] for name in ("UD", "D", "F", "HF"))
_SENT = pack("sampler", op=2, texture=5, coords=2)

LINES_OF_SIMD: dict[str, dict[str, Any]] = {
    "mov(8) g2<1>:F g3<1>:F": {
        "op": "mov", "width": 8, "dst": Region("g", 2, F), "srcs": (Region("g", 3, F),),
    },
    "(-f3) add(16) {sat nomask} g10.8<2>:F g12.4<0>:F -|g14<4>:F|": {
        "op": "add", "width": 16, "pred": "-", "flag": 3, "sat": True, "no_mask": True,
        "dst": Region("g", 10, F, 8, 2),
        "srcs": (Region("g", 12, F, 4, 0), Region("g", 14, F, 0, 4, True, True)),
    },
    "cmp(8|8) {l:f1} null<1>:D g3<1>:D.yxwz #0x10:D": {
        "op": "cmp", "width": 8, "group": 8, "cond": "l", "flag": 1, "dst": Region("n", 0, D),
        "srcs": (Region("g", 3, D, swizzle=(1, 0, 3, 2)), Region("i", 0, D, 0, 0, bits=16)),
    },
    "mov(1) {nomask} v7.16<0>:HF v5.2<1>:HF": {
        "op": "mov", "width": 1, "no_mask": True, "dst": Region("v", 7, HF, 16, 0),
        "srcs": (Region("v", 5, HF, 2),),
    },
    "(!f0) break(16) @27": {"op": "break", "width": 16, "pred": "!", "target": 27},
    "(+f2) if(8) @1": {"op": "if", "width": 8, "pred": "+", "flag": 2, "target": 1},
    "nop(8)": {"op": "nop", "width": 8},
    "mad(8) g2.4<1>:F -g3.8<1>:F |g4<2>:F| -|g127.28<0>:F|": {
        "op": "mad", "width": 8, "dst": Region("g", 2, F, 4),
        "srcs": (Region("g", 3, F, 8, 1, True), Region("g", 4, F, 0, 2, False, True),
                 Region("g", 127, F, 28, 0, True, True)),
    },
    "mov(16) g127.30<4>:UB #0x7f:UB": {
        "op": "mov", "width": 16, "dst": Region("g", 127, TYPES["UB"], 30, 4),
        "srcs": (Region("i", 0, TYPES["UB"], 0, 0, bits=127),),
    },
    f"send(16) g20<1>:UD g2 g4 sampler desc={_SENT:#x} len=4 res=8 header end": {
        "op": "send", "width": 16, "dst": Region("g", 20, UD),
        "srcs": (Region("g", 2, UD), Region("g", 4, UD)),
        "message": Message("sampler", _SENT, 4, 8, True, True),
    },
    "send(8) null<1>:UD null g4 render desc=0x3 len=4 res=0": {
        "op": "send", "width": 8, "srcs": (NULL, Region("g", 4, UD)),
        "message": Message("render", 3, 4, 0),
    },
}  # fmt: skip

LINES_OF_THE_TILER: dict[str, dict[str, Any]] = {
    "mov r0.x, #0x3f800000": {
        "op": "mov", "dst": Operand("r", 0), "srcs": (Operand("i", 0, bits=0x3F800000),),
    },
    "(sy)(ss)(sat)(rpt2)add.f r1.y, (r)r2.z, (neg)(abs)c3.w": {
        "op": "add.f", "sy": True, "ss": True, "sat": True, "repeat": 2, "dst": Operand("r", 5),
        "srcs": (Operand("r", 10, rep=True), Operand("c", 15, neg=True, abs=True)),
    },
    "mov r0.x, (neg)(abs)(r)c127.w": {
        "op": "mov", "dst": Operand("r", 0),
        "srcs": (Operand("c", 511, neg=True, abs=True, rep=True),),
    },
    "mad.f r63.w, (neg)r1.x, (r)c127.w, (neg)(r)hr63.w": {
        "op": "mad.f", "dst": Operand("r", 255),
        "srcs": (Operand("r", 4, neg=True), Operand("c", 511, rep=True),
                 Operand("h", 255, neg=True, rep=True)),
    },
    "mul.f r0.y, (neg)(abs)(r)r63.w, (neg)(r)c127.w": {
        "op": "mul.f", "dst": Operand("r", 1),
        "srcs": (Operand("r", 255, neg=True, abs=True, rep=True),
                 Operand("c", 511, neg=True, rep=True)),
    },
    "mov hr3.x, hr2.w": {"op": "mov", "dst": Operand("h", 12), "srcs": (Operand("h", 11),)},
    "cmps.f.lt p0.z, r0.x, (neg)(r)c0.y": {
        "op": "cmps.f.lt", "dst": Operand("p", 2),
        "srcs": (Operand("r", 0), Operand("c", 1, neg=True, rep=True)),
    },
    "cmps.s.lt p0.y, r3.z, #0xffffffff": {
        "op": "cmps.s.lt", "dst": Operand("p", 1),
        "srcs": (Operand("r", 14), Operand("i", 0, bits=2**32 - 1)),
    },
    "cov.fh hr3.w, r1.y": {"op": "cov.fh", "dst": Operand("h", 15), "srcs": (Operand("r", 5),)},
    "br !p0.y, @12": {"op": "br", "pred": 1, "inverse": True, "target": 12},
    "brdead p0.w, @3": {"op": "brdead", "pred": 3, "target": 3},
    "kill p0.z": {"op": "kill", "pred": 2},
    "jump @7": {"op": "jump", "target": 7},
    "(sy)end": {"op": "end", "sy": True},
    "(rpt5)nop": {"op": "nop", "repeat": 5},
    "(sy)(ss)sam r4.x, r8.x, desc=0x30021 len=3 res=4": {
        "op": "sam", "sy": True, "ss": True, "dst": Operand("r", 16), "srcs": (Operand("r", 32),),
        "message": Message("sampler", 0x30021, 3, 4),
    },
    "rt null, r1.x, desc=0x1 len=4 res=0": {
        "op": "rt", "dst": NONE, "srcs": (Operand("r", 4),),
        "message": Message("render", 1, 4, 0),
    },
}  # fmt: skip


def fields(instr: Any) -> dict[str, Any]:
    return {field.name: getattr(instr, field.name) for field in dataclasses.fields(instr)}


@pytest.mark.parametrize("line", LINES_OF_SIMD)
def test_lines_of_simd(line: str) -> None:
    given = dict(LINES_OF_SIMD[line])
    instr = simd.read_line(line)
    wanted = simd_instruction.Instruction(given.pop("op"), **given)
    assert fields(instr) == fields(wanted)
    assert simd.line(instr) == line
    assert simd.disassemble([instr, instr]) == f"   0: {line}\n   1: {line}\n"
    if "v7" not in line:
        assert fields(simd.decode(simd.encode(instr))) == fields(wanted)


@pytest.mark.parametrize("line", LINES_OF_THE_TILER)
def test_lines_of_the_tiler(line: str) -> None:
    given = dict(LINES_OF_THE_TILER[line])
    instr = tiler.read_line(line)
    wanted = tiler_instruction.Instruction(given.pop("op"), **given)
    assert fields(instr) == fields(wanted)
    assert tiler.line(instr) == line
    assert tiler.disassemble([instr, instr]) == f"   0: {line}\n   1: {line}\n"
    assert fields(tiler.decode(tiler.encode(instr))) == fields(wanted)


def test_immediates_of_the_tiler_may_be_negative_or_decimal() -> None:
    for text, bits in (("#-0x3", 2**32 - 3), ("#17", 17), ("#-1", 2**32 - 1), ("#0x1ff", 511)):
        assert tiler.read_line(f"add.u r0.x, r1.x, {text}").srcs[1].bits == bits


def test_numbers_and_comments_around_lines_are_skipped() -> None:
    text = "; first\n  3: nop(8)  ; second\n\n   \n 17:\nhalt(8) @0"
    assert [instr.op.name for instr in simd.assemble(text)] == ["nop", "halt"]


REFUSED_BY_SIMD = {
    "(8) g2<1>:F": "an instruction is NAME(WIDTH) {modifiers} destination sources",
    "mov g2<1>:F g3<1>:F": "an instruction is NAME(WIDTH) {modifiers} destination sources",
    "move(8) g2<1>:F g3<1>:F": "there is no instruction 'move'",
    "mov(8) {satt} g2<1>:F g3<1>:F": "'satt' is no modifier",
    "mov(8) {x:f1} g2<1>:F g3<1>:F": "there is no condition 'x'",
    "mov(8) {l} g2<1>:F g3<1>:F": "'l' is no modifier",
    "mov(4) g2<1>:F g3<1>:F": "there is no width '4'",
    "mov(32) g2<1>:F g3<1>:F": "there is no width '32'",
    "mov(8)": "mov lacks the destination",
    "mov(8) g2<1>:F": "mov lacks the first source",
    "add(8) g2<1>:F g3<1>:F g3<1>:F g3<1>:F": "add has no operand 'g3<1>:F'",
    "mov(8) g2<1>:F h3<1>:F": "'h3<1>:F' is no operand",
    "mov(8) g2<1>:F #0x:F": "'#0x:F' is no operand",
    "mov(8) g2<1>:FF g3<1>:F": "there is no type 'FF'",
    "mov(8) g2<1>:F #0x1:X": "there is no type 'X'",
    "mov(8) null<1>:Y g3<1>:F": "there is no type 'Y'",
    "mov(8) g2<3>:F g3<1>:F": "there is no stride '3'",
    "if(8)": "if lacks @{target}",
    "if(8) 3": "'3' is no operand",
    "send(8)": "send lacks the destination",
    "send(8) null<1>:UD": "send lacks the first source",
    "send(8) null<1>:UD null": "send lacks the second source",
    "send(8) null<1>:UD null g2": "send lacks {unit}",
    "send(8) null<1>:UD null g2 moon": "there is no unit 'moon'",
    "send(8) null<1>:UD null g2 urb desc=0x0 len=1 res=0 foot": "send has no operand 'foot'",
}

REFUSED_BY_THE_TILER = {
    "": "an instruction is (modifiers)NAME destination, sources",
    "(SY)mov r0.x, r1.x": "an instruction is (modifiers)NAME destination, sources",
    "move r0.x, r1.x": "there is no instruction 'move'",
    "(st)mov r0.x, r1.x": "'(st)' is no modifier",
    "mov": "mov lacks the destination",
    "mov r0.x": "mov lacks the first source",
    "add.f r0.x, r1.x": "add.f lacks the second source",
    "mov r0.x, r1.x, r2.x": "mov has no operand 'r2.x'",
    "br r0.x, @1": "'r0.x' is no operand",
    "mov r0.x, q1.x": "'q1.x' is no operand",
    "mov r0.x, r1.v": "'r1.v' is no operand",
    "mov r0.x, (sat)r1.x": "'(sat)r1.x' is no operand",
}


@pytest.mark.parametrize("line", REFUSED_BY_SIMD)
def test_simd_refuses(line: str) -> None:
    with pytest.raises(ValueError) as caught:
        simd.read_line(line)
    assert str(caught.value) == REFUSED_BY_SIMD[line]


@pytest.mark.parametrize("line", REFUSED_BY_THE_TILER)
def test_the_tiler_refuses(line: str) -> None:
    with pytest.raises(ValueError) as caught:
        tiler.read_line(line)
    assert str(caught.value) == REFUSED_BY_THE_TILER[line]


def test_an_error_is_reported_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        simd.assemble("nop(8)\n   nope(8)  ; what?", "a.s")
    span = caught.value.span
    assert span is not None
    assert (span.line, span.column, span.file) == (2, 4, "a.s")
    assert "there is no instruction 'nope'" in str(caught.value)


def encoded(line: str) -> int:
    return simd.encode(simd.read_line(line))


def test_what_has_no_encoding_in_simd() -> None:
    for line, reason in {
        "mov(8) v2<1>:F g3<1>:F": "a virtual register cannot be encoded",
        "mov(8) g2<1>:F v3<1>:F": "a virtual register cannot be encoded",
        "mad(8) g2<1>:F g3<1>:F g4<1>:F v5<1>:F": "a virtual register cannot be encoded",
        "mad(8) g2<1>:F g3<1>:F.yyyy g4<1>:F g5<1>:F": "the first source of mad cannot have swiz",
        "mad(8) g2<1>:F g3<1>:F g4<1>:F #0x1:F": "the third source of mad cannot be an immediate",
        "add(8) g2<1>:F #0x1:F g3<1>:F": "the first source of add cannot be an immediate",
        "mov(8) #0x1:F g3<1>:F": "the destination of mov cannot be an immediate",
        "mov(8) -g2<1>:F g3<1>:F": "the destination of mov cannot have neg True",
        "add(8) g2<1>:UQ g3<1>:UQ #0x123456789:UQ": "4886718345 does not fit into 32 bits of an",
        "mov(8) g128<1>:F g3<1>:F": "128 does not fit into 7 bits of an instruction",
        "mov(8) g2.32<1>:F g3<1>:F": "32 does not fit into 5 bits of an instruction",
    }.items():
        with pytest.raises(ValueError, match=reason):
            encoded(line)
    wide = simd.read_line("mov(8) g2<1>:UQ #0x123456789abcdef0:UQ")
    assert simd.decode(simd.encode(wide)).srcs == wide.srcs
    with pytest.raises(ValueError, match="no instruction has the opcode 0"):
        simd.decode(0)


def test_what_has_no_encoding_in_the_tiler() -> None:
    for line, reason in {
        "add.f r0.x, p0.x, r1.x": "the first source of add.f cannot be a predicate",
        "add.f r0.x, r64.x, r1.x": "256 does not fit into 8 bits of an instruction",
        "mov r0.x, hr64.x": "256 does not fit into 8 bits of an instruction",
        "mov r0.x, c128.x": "512 does not fit into 9 bits of an instruction",
        "mov c0.x, r1.x": "the destination of mov cannot be a constant",
        "add.u r0.x, r1.x, #0x200": "0x200 is no immediate of 10 bits",
        "add.u r0.x, r1.x, #-0x201": "0xfffffdff is no immediate of 10 bits",
        "add.f r0.x, r1.x, #0x1": "the second source of add.f cannot be an immediate",
        "add.u r0.x, c0.x, #0x1": "only one source of add.u can be a constant or an immediate",
        "mad.f r0.x, c0.x, c0.x, r1.x": "only one source of mad.f can be a constant",
        "mad.f r0.x, r1.x, r2.x, #0x1": "the third source of mad.f cannot be an immediate",
        "mad.f r0.x, r1.x, (abs)r2.x, r3.x": "the second source of mad.f cannot have abs True",
        "rcp r0.x, c0.x": "the first source of rcp cannot be a constant",
        "mov r64.x, r1.x": "256 does not fit into 8 bits of an instruction",
    }.items():
        with pytest.raises(ValueError, match=reason):
            tiler.encode(tiler.read_line(line))
    for line in (
        "add.f r63.w, r63.w, c127.w",
        "mov hr63.w, hr63.w",
        "add.u r0.x, r1.x, #0x1ff",
        "add.u r0.x, r1.x, #0xfffffe00",
        "mad.f r0.x, (neg)r1.x, (r)c127.w, hr63.w",
    ):
        word = tiler.encode(tiler.read_line(line))
        assert tiler.line(tiler.decode(word)) == line
    with pytest.raises(ValueError, match="no instruction has the opcode 7"):
        tiler.decode(7)


def test_what_words_of_no_instruction_say() -> None:
    mov = encoded("mov(8) g2<1>:F g3<1>:F")
    for bits, at, reason in (
        (3, 7, "no width has the code 3"),
        (2, 19, "the destination of mov cannot be an immediate"),
        (15, 33, "no type has the code 15"),
    ):
        width = bits.bit_length()
        with pytest.raises(ValueError, match=reason):
            simd.decode(mov & ~((1 << width) - 1 << at) | bits << at)


def test_immediates_and_targets_stand_where_the_documentation_says() -> None:
    assert encoded("add(8) g2<1>:UD g3<1>:UD #0xdeadbeef:UD") >> 96 == 0xDEADBEEF
    assert encoded("mov(8) g2<1>:UQ #0xfedcba9876543210:UQ") >> 64 == 0xFEDCBA9876543210
    assert encoded("if(8) @77") >> 96 == 77
    assert encoded("send(8) null<1>:UD null g4 render desc=0x3 len=4 res=0") >> 96 == 3


def test_what_virtual_registers_and_opcodes_are_called() -> None:
    assert tiler.operand_text(Operand("v", 7, 2)) == "v7+2"
    assert tiler.operand_text(Operand("v", 7, 3, half=True)) == "hv7+3"
    assert tiler.operand_text(Operand("p", 3)) == "p0.w"
    assert simd.operand_text(Region("v", 7, F, 40)) == "v7.40<1>:F"
    assert [repr(op) for op in SIMD.values()] == [f"<{name}>" for name in SIMD]
    assert [repr(op) for op in TILER.values()] == [f"<{name}>" for name in TILER]
    assert [repr(type) for type in TYPES.values()] == list(TYPES)


def test_types_by_what_they_hold() -> None:
    letters = {"float": ("HF", "F", "DF"), "int": ("W", "D", "Q"), "uint": ("UW", "UD", "UQ")}
    for base, names in letters.items():
        for bits, name in zip((16, 32, 64), names, strict=True):
            found = type_of(base, bits)
            assert (found.name, found.size, found.base) == (name, bits // 8, base)
            assert found.dtype == f"{base}{bits}"
    assert (type_of("int", 8).name, type_of("uint", 8).name) == ("B", "UB")
    for base in ("bool", "int", "uint"):
        assert type_of(base, 1).name == "D"
    assert type_of("bool", 32).name == "D"
    assert sorted(type.code for type in TYPES.values()) == list(range(len(TYPES)))


def test_fields_of_a_word_begin_at_its_lowest_bit() -> None:
    w = Word()
    for value, bits in ((5, 3), (0, 2), (1, 1), (200, 8)):
        w.put(value, bits)
    assert (w.bits, w.at) == (5 | 1 << 5 | 200 << 6, 14)
    w.put(3, 2, at=40)
    w.put(7, 3)
    r = Word(w.bits)
    assert [r.take(bits) for bits in (3, 2, 1, 8, 3, 5)] == [5, 0, 1, 200, 7, 0]
    assert (r.at, r.take(2, at=40), r.at) == (22, 3, 22)
    for value, bits in ((8, 3), (-1, 3), (2, 1), (256, 8)):
        with pytest.raises(ValueError, match=f"^{value} does not fit into {bits} bits of an in"):
            Token("nr", Field(), bits).code(value)


def test_registers_an_instruction_of_the_tiler_touches() -> None:
    def touched(line: str) -> tuple[range, list[range]]:
        instr = tiler.read_line(line)
        return instr.written(), [instr.read(k) for k in range(len(instr.srcs))]

    assert touched("(rpt2)add.f r1.x, (r)r3.y, c0.x") == (range(4, 7), [range(13, 16), range(0)])
    assert touched("(rpt2)add.f r1.x, r3.y, #0x1") == (range(4, 7), [range(13, 14), range(0)])
    assert touched("mov hr1.y, hr2.z") == (range(2, 3), [range(5, 6)])
    assert touched("cmps.f.lt p0.x, r0.z, r0.w") == (range(0), [range(2, 3), range(3, 4)])
    assert touched("sam r4.x, r8.x, desc=0x0 len=3 res=4") == (range(16, 20), [range(32, 35)])
    assert touched("rt null, r8.x, desc=0x0 len=3 res=0") == (range(0), [range(32, 35)])
    two = [tiler_instruction.width_of(Operand("h", nr), 2) for nr in (4, 5)]
    assert two == [range(2, 3), range(2, 4)]


def test_bytes_an_instruction_of_simd_touches() -> None:
    def touched(line: str) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        instr = simd.read_line(line)
        return instr.bytes_written(), [instr.bytes_read(k) for k in range(len(instr.srcs))]

    assert touched("add(8) g2.4<1>:F g3<2>:F g4.8<0>:F") == ((4, 36), [(0, 60), (8, 12)])
    assert touched("mov(16) g2<4>:UW g3.2<1>:UB") == ((0, 122), [(2, 18)])
    assert touched("mov(8) g2<1>:UD g3<0>:UD.yyyy") == ((0, 32), [(0, 32)])
    assert touched("send(8) g2<1>:UD g3 g4 sampler desc=0x0 len=3 res=4") == (
        (0, 128),
        [(0, 32), (0, 96)],
    )


def test_flags_an_instruction_of_simd_touches() -> None:
    for line, reads, writes in (
        ("mov(8) g2<1>:F g3<1>:F", (), ()),
        ("(+f1) mov(8) g2<1>:F g3<1>:F", (1,), ()),
        ("mov(8) {l:f1} g2<1>:F g3<1>:F", (), (1,)),
        ("(-f1) cmp(8) {l:f1} g2<1>:D g3<1>:F g4<1>:F", (1,), (1,)),
        ("sel(8) {l:f1} g2<1>:F g3<1>:F g4<1>:F", (), ()),
        ("(+f1) sel(8) g2<1>:F g3<1>:F g4<1>:F", (1,), ()),
        ("(+f1) if(8) @3", (1,), ()),
    ):
        instr = simd.read_line(line)
        assert (instr.flags_read, instr.flags_written) == (reads, writes), line


def test_predicates_an_instruction_of_the_tiler_touches() -> None:
    for line, reads, writes in (
        ("mov r0.x, r1.x", (), ()),
        ("br !p0.y, @3", (1,), ()),
        ("brdead p0.z, @3", (2,), ()),
        ("jump @3", (), ()),
        ("kill p0.x", (0,), (2,)),
        ("cmps.f.lt p0.w, r0.x, r0.y", (), (3,)),
        ("cmps.f.lt r1.x, r0.x, r0.y", (), ()),
    ):
        instr = tiler.read_line(line)
        assert (instr.flags_read, instr.flags_written) == (reads, writes), line


def test_a_later_part_of_a_region() -> None:
    plain = Region("g", 3, HF, 4, 2)
    assert plain.at(8) == plain._replace(offset=4 + 8 * 2 * 2)
    assert plain.at(0) is plain
    for fixed in (plain._replace(stride=0), Region("i", 0, UD, bits=3), NULL):
        assert fixed.at(8) is fixed
    assert plain.plus(6).offset == 10
    assert (plain.end(1), plain.end(8), plain._replace(stride=0).end(8)) == (6, 34, 6)
    assert not plain.modified
    for changed in ({"neg": True}, {"abs": True}, {"swizzle": (0, 0, 0, 0)}):
        assert plain._replace(**changed).modified
    assert simd_instruction.immediate(-1, TYPES["UW"]).bits == 0xFFFF
    assert simd_instruction.immediate(-1, TYPES["Q"]).bits == 2**64 - 1
    assert tiler_instruction.immediate(-2).bits == 2**32 - 2


REFUSED_OPTIONS: dict[str, dict[str, Any]] = {
    "live_ranges is naive, loop_extended, mask_aware, not 'odd'": {
        "driver": "simd", "live_ranges": "odd"},
    "width is 8, 16 or 0 for either, not 4": {"driver": "simd", "width": 4},
    "registers is a number from 48 to 128, not 47": {"driver": "simd", "registers": 47},
    "registers is a number from 48 to 128, not 129": {"driver": "simd", "registers": 129},
    "registers is a number from 24 to 192, not 23": {"driver": "tiler", "registers": 23},
    "registers is a number from 24 to 192, not 193": {"driver": "tiler", "registers": 193},
    "barriers is writes or reads, not 'none'": {"driver": "tiler", "barriers": "none"},
    "texture_writes is late or in_order, not 'x'": {"driver": "tiler", "texture_writes": "x"},
    "half_colors is auto or never or always, not 'x'": {"driver": "tiler", "half_colors": "x"},
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED_OPTIONS)
def test_options_of_the_machines_are_checked(reason: str) -> None:
    options = dict(REFUSED_OPTIONS[reason])
    driver = options.pop("driver")
    with pytest.raises(DriverError) as caught:
        create_screen(driver, **options)
    assert str(caught.value) == reason


def test_options_at_their_limits_are_taken() -> None:
    for driver, options in (
        ("simd", {"registers": 48, "width": 8}),
        ("simd", {"registers": 128, "width": 16, "live_ranges": "naive"}),
        ("tiler", {"registers": 24, "barriers": "reads", "half_colors": "always"}),
        ("tiler", {"registers": 192, "texture_writes": "in_order", "half_colors": "never"}),
    ):
        screen: Any = create_screen(driver, **options)
        assert {name: getattr(screen.options, name) for name in options} == options


def test_units_have_codes_of_their_own() -> None:
    for line in LINES_OF_SIMD:
        if line.startswith("send"):
            for unit in UNITS:
                text = line.replace("sampler", unit).replace("render", unit)
                word = simd.encode(simd.read_line(text))
                assert simd.line(simd.decode(word)) == text
