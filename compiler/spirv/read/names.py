"""Names, decorations, imports and entry points of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.spirv.grammar import grammar, name_of
from gallette.compiler.spirv.module import Instruction, text_of
from gallette.compiler.spirv.read.model import EntryPoint, by_name

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.declarations import Declarations


def _name(d: Declarations, i: Instruction) -> None:
    d.names[i.words[0]] = text_of(i.words, 1)[0]


def _member_name(d: Declarations, i: Instruction) -> None:
    d.member_names[i.words[0], i.words[1]] = text_of(i.words, 2)[0]


def _decoration(i: Instruction, at: int) -> tuple[str, tuple[int, ...]]:
    """The name and the operands of the decoration that this word of the instruction names."""
    name, operands = name_of("Decoration", i.words[at]), i.words[at + 1 :]
    known = grammar().enums["Decoration"].by_value.get(i.words[at])
    if known is not None and len(operands) < len(known.parameters):
        raise i.error(f"the decoration {name} lacks an operand")
    return name, operands


def _decorate(d: Declarations, i: Instruction) -> None:
    name, operands = _decoration(i, 1)
    d.decorations.setdefault(i.words[0], {})[name] = operands


def _decorate_member(d: Declarations, i: Instruction) -> None:
    name, operands = _decoration(i, 2)
    d.member_decorations.setdefault((i.words[0], i.words[1]), {})[name] = operands


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


def _source(d: Declarations, i: Instruction) -> None:
    """Record the first source file that the module names."""
    if len(i.words) > 2:
        d.source_file = d.source_file or i.words[2]


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
    for entry in d.entries:
        if entry.function == i.words[0]:
            entry.modes[name] = words


DECORATIONS = by_name(
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
ENTRIES = by_name(
    {
        "OpExtInstImport": _import,
        "OpString": _string,
        "OpSource": _source,
        "OpMemoryModel": _memory_model,
        "OpEntryPoint": _entry,
        "OpExecutionMode OpExecutionModeId": _mode,
    }
)
