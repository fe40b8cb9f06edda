"""The instruction set: 128 bits per instruction, and assembly.

    (+f0) add(16) {sat} g10<1>:F g12.4<0>:F -g14<1>:F
    cmp(8|8) {l:f1} null<1>:D g3<1>:D #0x10:D
    send(16) g20<1>:UD g2 g4 sampler desc=0x3021 len=4 res=8 header
    break(16) @27

A predicate is `+` (where the flag is set), `-` (where it is not) or, of a `break`, `!` (where no
remaining channel of the quad has it set). `(16)` is the width, `(8|8)` a width and a first channel.
Braces hold values that are not the default. A region is register, byte offset, stride and type; `#`
begins an immediate, `@` a branch's target.
"""

from __future__ import annotations

from gallette.drivers.machines.isa.fields import Bits, Choice, Field, Flag, Letters, Scaled
from gallette.drivers.machines.isa.layout import Form, Format
from gallette.drivers.machines.isa.messages import UNITS
from gallette.drivers.machines.isa.table import Description, Isa
from gallette.drivers.machines.isa.types import TYPES

from .instruction import Instruction, Region
from .opcodes import CONDITIONS, OPCODES

_FIELDS: dict[str, Field] = {
    "width": Choice({8: 1, 1: 0, 16: 2}, "width", r"\d+"),
    "group": Scaled(8),
    "no_mask": Flag(),
    "pred": Choice(("", "+", "-", "!"), "predicate", "[+!-]"),
    "flag": Field(),
    "cond": Choice(("", *CONDITIONS), "condition", "[a-z]+"),
    "sat": Flag(),
    "nr": Field(),
    "offset": Field(),
    "type": Choice(list(TYPES.values()), "type", "[A-Z]+"),
    "stride": Choice({1: 1, 0: 0, 2: 2, 4: 3}, "stride", r"\d"),
    "neg": Flag(),
    "abs": Flag(),
    "swizzle": Letters("swizzle"),
    "bits": Bits(),
    "unit": Choice(tuple(UNITS), "unit", "[a-z]+"),
    "desc": Bits(),
    "length": Field(),
    "result": Field(),
    "header": Flag(),
    "end": Flag(),
    "target": Field(),
}

_CONTROL = "op:7 width:2 group:1 no_mask:1 pred:2 flag:2 cond:3 sat:1"
_PLACE = "nr:7 offset:5 type:4 stride:2"
_SOURCE = f"{_PLACE} neg:1 abs:1 swizzle:9"

_FORMS = {
    "place": Form("ngi", {"ng": _PLACE}),
    "source": Form("ngi", {"ng": _SOURCE}),
    "last": Form("ngi", {"ng": _SOURCE, "i": "type:4 stride=0 bits:32@96"}),
    "only": Form("ngi", {"ng": _SOURCE, "i": "type:4 stride=0 bits:64@64"}),
    "short": Form("g", {"g": "nr:7 offset:5 stride:2 type:4 neg:1 abs:1"}),
    "block": Form("ng", {"ng": "nr:7"}, "block"),
}
"""Three sources leave room for plain registers; an immediate needs the bits of a last source."""

_FORMATS = {
    "none": Format(_CONTROL),
    "flow": Format(f"{_CONTROL} target:32@96", ("@{target}",)),
    "one": Format(f"{_CONTROL} dst(place) src0(only)", ("dst", "src0")),
    "two": Format(f"{_CONTROL} dst(place) src0(source) src1(last)@70", ("dst", "src0", "src1")),
    "three": Format(
        f"{_CONTROL} dst(place) src0(short) src1(short) src2(short)",
        ("dst", "src0", "src1", "src2"),
    ),
    "send": Format(
        f"{_CONTROL} dst(place) src0(block) src1(block) unit:4 length:5 result:5 header:1 end:1 "
        "desc:32@96",
        (
            *("dst", "src0", "src1", "{unit}", "desc={desc}", "len={length}", "res={result}"),
            *("{header?header}", "{end?end}"),
        ),
    ),
}

ISA: Isa[Instruction] = Isa(
    Description(
        name="simd",
        word_bytes=16,
        opcodes=OPCODES,
        opcode_bits=7,
        instruction=Instruction,
        operand=Region,
        fields=_FIELDS,
        files={
            "n": ("null", "nothing"),
            "g": ("g", "a register"),
            "v": ("v", "a virtual register"),
            "i": ("#", "an immediate"),
        },
        forms=_FORMS,
        formats=_FORMATS,
        styles={
            "operand": (
                ("gv", "{neg?-}{abs?|}{file}{nr}[.{offset}]<{stride}>:{type}[.{swizzle}]{abs?|}"),
                ("n", "{file}<{stride}>:{type}"),
                ("i", "{file}{bits}:{type}"),
            ),
            "block": (("gv", "{file}{nr}"), ("n", "{file}")),
        },
        grammar="NAME(WIDTH) {modifiers} destination sources",
        head=r"[({pred}f{flag}) ]{op}({width}[|{group}])[ \{{modifiers}\}][ {rest}]",
        modifiers=("{sat?sat}", "[{cond}:f{flag}]", "{no_mask?nomask}"),
        modifier=r"[^\s}]+",
        between=(" ", " "),
        columns=("code", "sources", "latency"),
        physical=lambda operand: "g",
    )
)
