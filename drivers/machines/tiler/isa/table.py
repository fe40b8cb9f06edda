"""The instruction set: 64 bits per instruction, and assembly.

    (sy)(rpt2)add.f r0.x, (r)r1.x, (neg)c2.y
    mov r0.x, #0x3f800000
    cmps.f.lt p0.x, r0.x, (abs)c0.y
    br !p0.x, @12
    sam r4.x, r8.x, desc=0x30021 len=3 res=4

(ss) and (sy) wait, (rptN) repeats, (sat) clamps to 0..1, (r) advances to the next register in each
repetition, `!` negates a predicate, `#` begins an immediate, `@` a branch's target.
"""

from __future__ import annotations

from gallette.drivers.machines.isa.fields import Bits, Field, Flag, FromOne, Letters, Signed
from gallette.drivers.machines.isa.layout import Form, Format
from gallette.drivers.machines.isa.table import Description, Isa

from .instruction import Instruction, Operand
from .opcodes import OPCODES

LIMITS = {"r": 256, "h": 256, "c": 512}
"""Registers of each file that the bits of an operand can name."""

_FIELDS: dict[str, Field] = {
    "ss": Flag(),
    "sy": Flag(),
    "sat": Flag(),
    "repeat": Field(),
    "pred": Letters("component"),
    "inverse": Flag(),
    "target": Field(),
    "nr": Letters("register"),
    "offset": Field(),
    "half": Flag(),
    "neg": Flag(),
    "abs": Flag(),
    "rep": Flag(),
    "bits": Signed(),
    "desc": Bits(),
    "length": Field(),
    "result": FromOne(),
}

_HEAD = "op:9 ss:1 sy:1 repeat:3 sat:1"
_REGISTERS = {"rh": "neg:1 abs:1 rep:1 nr:8", "c": "neg:1 abs:1 rep:1 nr:9"}
_FORMS = {
    "result": Form("nrhp", {"rhp": "nr:8"}),
    "wide": Form("rhci", _REGISTERS | {"i": "bits:32"}),
    "float": Form("rhci", _REGISTERS),
    "whole": Form("rhci", _REGISTERS | {"i": "bits:10"}),
    "short": Form("rhci", {"rh": "neg:1 rep:1 nr:8", "c": "neg:1 rep:1 nr:9"}),
    "register": Form("rhci", {"rh": _REGISTERS["rh"]}),
    "answer": Form("nr", {"n": "result=0", "r": "nr:8 result:3"}),
    "payload": Form("r", {"r": "nr:8"}),
}
"""Immediates are for moves and integers; three sources leave no room for absolute values."""

_TWO = ("dst", "src0", "src1")
_FORMATS = {
    "none": Format(_HEAD),
    "jump": Format(f"{_HEAD} target:24", ("@{target}",)),
    "kill": Format(f"{_HEAD} pred:2 inverse:1", ("{inverse?!}p0.{pred}",)),
    "branch": Format(f"{_HEAD} pred:2 inverse:1 target:24", ("{inverse?!}p0.{pred}", "@{target}")),
    "move": Format(f"{_HEAD} dst(result) src0(wide)", ("dst", "src0")),
    "float1": Format(f"{_HEAD} dst(result) src0(float)", ("dst", "src0")),
    "float2": Format(f"{_HEAD} dst(result) src0(float) src1(float)@40", _TWO, once="ci"),
    "whole1": Format(f"{_HEAD} dst(result) src0(whole)", ("dst", "src0")),
    "whole2": Format(f"{_HEAD} dst(result) src0(whole) src1(whole)@40", _TWO, once="ci"),
    "three": Format(
        f"{_HEAD} dst(result) src0(short) src1(short)@38 src2(short)@51", (*_TWO, "src2"), once="c"
    ),
    "special": Format(f"{_HEAD} dst(result) src0(register)", ("dst", "src0")),
    "message": Format(
        "op:9 ss:1 sy:1 dst(answer) src0(payload)@23 length:4 desc:29",
        ("dst", "src0", "desc={desc} len={length} res={result}"),
    ),
}

ISA: Isa[Instruction] = Isa(
    Description(
        name="tiler",
        word_bytes=8,
        opcodes=OPCODES,
        opcode_bits=9,
        instruction=Instruction,
        operand=Operand,
        fields=_FIELDS,
        files={
            "n": ("null", "nothing"),
            "r": ("r", "a register"),
            "h": ("hr", "a half register"),
            "c": ("c", "a constant"),
            "p": ("p", "a predicate"),
            "i": ("#", "an immediate"),
            "v": ("v", "a virtual register"),
        },
        forms=_FORMS,
        formats=_FORMATS,
        styles={
            "operand": (
                ("rhc", "{neg?(neg)}{abs?(abs)}{rep?(r)}{file}{nr}"),
                ("p", "{file}{nr}"),
                ("i", "{file}{bits}"),
                ("n", "{file}"),
                ("v", "{half?h}{file}{nr}+{offset}"),
            ),
        },
        grammar="(modifiers)NAME destination, sources",
        head="[{modifiers}]{op}[ {rest}]",
        modifiers=("{sy?(sy)}", "{ss?(ss)}", "{sat?(sat)}", "[(rpt{repeat})]"),
        modifier=r"\([a-z]+\d?\)",
        between=("", ", "),
        columns=("cat", "code", "sources"),
        physical=lambda operand: "h" if operand.half else "r",
    )
)
