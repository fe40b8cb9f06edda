"""Assembly text, both ways.

    (sy)(rpt2)add.f r0.x, (r)r1.x, (neg)c2.y
    mov r0.x, #0x3f800000
    cmps.f.lt p0.x, r0.x, (abs)c0.y
    br !p0.x, @12
    sam r4.x, r8.x, desc=0x30021 len=3 res=4

(ss) and (sy) wait, (rptN) repeats, (sat) clamps to 0..1, (r) takes the next register in each
repetition, `!` inverts a predicate, `#` begins an immediate, `@` a branch's target.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gallette.drivers.common.machine.assembly_text import assembled, numbered_lines
from gallette.drivers.common.machine.messages import describe

from .instruction import NONE, Instruction, Message, Operand, name_of
from .opcodes import OPCODES

__all__ = ["assemble", "assemble_line", "disassemble", "line_of", "meaning_of"]

_HEAD = re.compile(r"\s*(?P<mods>(?:\([a-z]+\d?\))*)(?P<op>[a-z][a-z0-9.]*)\s*(?P<rest>.*)")
_OPERAND = re.compile(r"(?P<mods>(?:\([a-z]+\))*)(?P<file>hr|r|c)(?P<reg>\d+)\.(?P<part>[xyzw])")
_PREDICATE = re.compile(r"(?P<not>!?)p0\.(?P<part>[xyzw])")
_IMMEDIATE = re.compile(r"#(?P<bits>-?(?:0x)?[0-9a-f]+)")


def line_of(instr: Instruction) -> str:
    """One instruction as text."""
    mods = "(sy)" * instr.sy + "(ss)" * instr.ss + "(sat)" * instr.sat
    if instr.repeat:
        mods += f"(rpt{instr.repeat})"
    op = instr.op
    if op.cat == 0:
        parts = []
        if op.name in ("br", "brdead", "kill"):
            parts.append(f"{'!' if instr.inverse else ''}p0.{'xyzw'[instr.pred]}")
        if op.kind == "flow" and op.name != "end":
            parts.append(f"@{instr.target}")
    else:
        parts = [_text(instr.dst) if instr.dst.file else "null", *(_text(s) for s in instr.srcs)]
    text = f"{mods}{op.name} {', '.join(parts)}".rstrip()
    message = instr.message
    if message is not None:
        text += f", desc={message.desc:#x} len={message.length} res={message.result}"
    return text


def meaning_of(instr: Instruction) -> str:
    """A message's descriptor as text; empty for other instructions."""
    return "" if instr.message is None else describe(instr.unit, instr.message.desc)


def _text(operand: Operand) -> str:
    if operand.file == "i":
        return f"#{operand.bits:#x}"
    mods = "(neg)" * operand.neg + "(abs)" * operand.abs + "(r)" * operand.rep
    return mods + name_of(operand)


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
        raise ValueError("an instruction is (modifiers)NAME destination, sources")
    op = OPCODES.get(head["op"])
    if op is None:
        raise ValueError(f"there is no instruction {head['op']!r}")
    made = Instruction(op)
    for mod in re.findall(r"\(([a-z]+)(\d?)\)", head["mods"]):
        _modify(made, *mod)
    words = [word.strip() for word in head["rest"].split(",")] if head["rest"] else []
    if op.cat == 0:
        for word in words:
            predicate = _PREDICATE.fullmatch(word)
            if predicate is not None:
                made.inverse, made.pred = bool(predicate["not"]), "xyzw".index(predicate["part"])
            elif word.startswith("@"):
                made.target = int(word[1:])
            else:
                raise ValueError(f"{word!r} is neither a predicate nor a target")
        return made
    if not words:
        raise ValueError(f"{op.name} wants a destination")
    made.dst = NONE if words[0] == "null" else _parse(words[0])
    sources = words[1:]
    if op.kind == "message":
        numbers = dict(part.split("=") for part in sources.pop().split()) if sources else {}
        made.message = Message(*(int(numbers.get(k, "0"), 0) for k in ("desc", "len", "res")))
    if len(sources) != op.sources:
        raise ValueError(f"{op.name} has {op.sources} sources, not {len(sources)}")
    made.srcs = tuple(_parse(word) for word in sources)
    return made


def _modify(instr: Instruction, name: str, number: str) -> None:
    if name == "rpt":
        instr.repeat = int(number or 0)
    elif name in ("ss", "sy", "sat"):
        setattr(instr, name, True)
    else:
        raise ValueError(f"({name}) is no modifier")


def _parse(word: str) -> Operand:
    number = _IMMEDIATE.fullmatch(word)
    if number is not None:
        return Operand("i", 0, bits=int(number["bits"], 0) & 0xFFFFFFFF)
    predicate = _PREDICATE.fullmatch(word)
    if predicate is not None:
        return Operand("p", "xyzw".index(predicate["part"]))
    found = _OPERAND.fullmatch(word)
    if found is None:
        raise ValueError(f"{word!r} is no operand")
    mods = set(re.findall(r"\(([a-z]+)\)", found["mods"]))
    if mods - {"neg", "abs", "r"}:
        raise ValueError(f"{word!r} has a modifier that does not exist")
    file = "h" if found["file"] == "hr" else found["file"]
    nr = 4 * int(found["reg"]) + "xyzw".index(found["part"])
    return Operand(file, nr, neg="neg" in mods, abs="abs" in mods, rep="r" in mods)
