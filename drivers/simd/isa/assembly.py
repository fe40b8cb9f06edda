"""Assembly text, both ways.

    (+f0) add(16) {sat} g10<1>:F g12.4<0>:F -g14<1>:F
    cmp(8|8) {l:f1} null<1>:D g3<1>:D #0x10:D
    send(16) g20<1>:UD g2 g4 sampler desc=0x3021 len=4 res=8 header
    break(16) @27

A predicate is `+` (the flag is set), `-` (it is not set) or, of a `break`, `!` (no active channel
of the quad has it set).

`(16)` is the width, `(8|8)` a width and a first channel. Braces enclose rare options. A region is
register, byte offset, stride and type; `#` begins an immediate, `@` a branch's target.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gallette.drivers.common.machine.assembly_text import assembled, numbered_lines
from gallette.drivers.common.machine.messages import UNITS

from .instruction import NULL, Instruction, Message, Region
from .opcodes import CONDITIONS, OPCODES
from .types import TYPES, RegType

__all__ = ["assemble", "assemble_line", "disassemble", "line_of"]

_HEAD = re.compile(
    r"\s*(?:\((?P<pred>[+!-])f(?P<pflag>\d)\)\s*)?(?P<op>[a-z][a-z0-9.]*)"
    r"\((?P<width>\d+)(?:\|(?P<group>\d+))?\)\s*(?:\{(?P<mods>[^}]*)\})?\s*(?P<rest>.*)"
)
_REGION = re.compile(
    r"(?P<neg>-)?(?P<abs>\|)?(?P<file>[gv])(?P<nr>\d+)(?:\.(?P<off>\d+))?<(?P<stride>\d)>"
    r":(?P<type>[A-Z]+)(?:\.(?P<swz>[xyzw]{4}))?\|?"
)
_IMMEDIATE = re.compile(r"#(?P<bits>0x[0-9a-f]+):(?P<type>[A-Z]+)")


def line_of(instr: Instruction) -> str:
    """One instruction as text."""
    pred = f"({instr.pred}f{instr.flag}) " if instr.pred else ""
    width = f"{instr.width}|{instr.group}" if instr.group else str(instr.width)
    mods = []
    if instr.sat:
        mods.append("sat")
    if instr.cond:
        mods.append(f"{instr.cond}:f{instr.flag}")
    if instr.no_mask:
        mods.append("nomask")
    braces = f" {{{' '.join(mods)}}}" if mods else ""
    head = f"{pred}{instr.op.name}({width}){braces}"
    if instr.op.kind == "flow":
        return f"{head} @{instr.target}"
    if instr.op.kind == "none":
        return head
    parts = [head, _region(instr.dst)]
    message = instr.message
    if message is not None:
        parts += [_bare(src) for src in instr.srcs]
        parts += [message.unit, f"desc={message.desc:#x}", f"len={message.length}"]
        parts.append(f"res={message.result}")
        parts += ["header"] if message.header else []
        parts += ["end"] if message.end else []
    else:
        parts += [_region(src) for src in instr.srcs]
    return " ".join(parts)


def _bare(region: Region) -> str:
    return "null" if region.file == "n" else f"{region.file}{region.nr + region.offset // 32}"


def _region(region: Region) -> str:
    if region.file == "i":
        return f"#{region.bits:#x}:{region.type.name}"
    if region.file == "n":
        return f"null<{region.stride}>:{region.type.name}"
    nr, offset = region.nr, region.offset
    if region.file == "g":
        nr, offset = nr + offset // 32, offset % 32
    text = f"{region.file}{nr}{f'.{offset}' if offset else ''}<{region.stride}>:{region.type.name}"
    if region.swizzle:
        text += "." + "".join("xyzw"[c] for c in region.swizzle)
    if region.abs:
        text = f"|{text}|"
    return f"-{text}" if region.neg else text


def disassemble(code: Iterable[Instruction]) -> str:
    """Numbered lines; branches name their targets by these numbers."""
    return numbered_lines(code, line_of)


def assemble(text: str, name: str = "<assembly>") -> list[Instruction]:
    """Instructions of a text as `disassemble` writes it; `;` begins a comment."""
    return assembled(text, name, assemble_line)


def assemble_line(text: str) -> Instruction:
    """One instruction."""
    head = _HEAD.fullmatch(text.rstrip())
    if head is None:
        raise ValueError("an instruction is NAME(WIDTH) {modifiers} destination sources")
    op = OPCODES.get(head["op"])
    if op is None:
        raise ValueError(f"there is no instruction {head['op']!r}")
    flag, cond, sat, no_mask = int(head["pflag"] or 0), "", False, False
    for mod in (head["mods"] or "").split():
        if mod == "sat":
            sat = True
        elif mod == "nomask":
            no_mask = True
        else:
            cond, colon, which = mod.partition(":f")
            if cond not in CONDITIONS or not colon:
                raise ValueError(f"{mod!r} is no modifier")
            flag = int(which)
    words = head["rest"].split()
    width = int(head["width"])
    if width not in (1, 8, 16):
        raise ValueError(f"a width is 1, 8 or 16, not {width}")
    instr = Instruction(
        op,
        width,
        group=int(head["group"] or 0),
        pred=head["pred"] or "",
        flag=flag,
        cond=cond,
        sat=sat,
        no_mask=no_mask,
    )
    if op.kind == "flow":
        instr.target = int(_wanted(words, 0, "a target").removeprefix("@"))
    elif op.kind == "send":
        instr.dst = _parse_region(_wanted(words, 0, "a destination"))
        instr.srcs = tuple(_parse_bare(_wanted(words, k, "a register")) for k in (1, 2))
        instr.message = _parse_message(words[3:])
    elif op.kind != "none":
        instr.dst = _parse_region(_wanted(words, 0, "a destination"))
        if len(words) != op.sources + 1:
            raise ValueError(f"{op.name} has {op.sources} sources, not {len(words) - 1}")
        instr.srcs = tuple(_parse_region(word) for word in words[1:])
    return instr


def _wanted(words: Sequence[str], at: int, what: str) -> str:
    if at >= len(words):
        raise ValueError(f"{what} is missing")
    return words[at]


def _parse_bare(word: str) -> Region:
    if word == "null":
        return NULL
    return Region(word[0], int(word[1:]), TYPES["UD"])


def _parse_region(word: str) -> Region:
    if word.startswith("null"):
        stride, _, type = word.removeprefix("null<").partition(">:")
        return Region("n", 0, _type(type), 0, int(stride))
    found = _IMMEDIATE.fullmatch(word)
    if found is not None:
        return Region("i", 0, _type(found["type"]), 0, 0, bits=int(found["bits"], 16))
    found = _REGION.fullmatch(word)
    if found is None:
        raise ValueError(f"{word!r} is no operand")
    swizzle = tuple("xyzw".index(c) for c in found["swz"] or "")
    return Region(
        found["file"],
        int(found["nr"]),
        _type(found["type"]),
        int(found["off"] or 0),
        int(found["stride"]),
        bool(found["neg"]),
        bool(found["abs"]),
        swizzle,
    )


def _type(name: str) -> RegType:
    if name not in TYPES:
        raise ValueError(f"{name!r} is no type")
    return TYPES[name]


def _parse_message(words: Sequence[str]) -> Message:
    unit = _wanted(words, 0, "a unit")
    if unit not in UNITS:
        raise ValueError(f"there is no unit {unit!r}")
    numbers = {"desc": 0, "len": 0, "res": 0}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if equals and name in numbers:
            numbers[name] = int(value, 0)
    return Message(
        unit, numbers["desc"], numbers["len"], numbers["res"], "header" in words, "end" in words
    )
