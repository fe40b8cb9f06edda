"""An instruction set as text: the list of a command, and the page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .layout import Slot, Token
from .messages import UNITS
from .table import Isa


def listed(isa: Isa[Any]) -> str:
    """The opcode table, and the messages of the shared units."""
    columns = isa.given.columns
    widths = {name: max(4, len(name)) for name in columns}
    head = " ".join(f"{name:>{width}}" for name, width in widths.items())
    lines = [f"{'instruction':14} {head}  what it does"]
    for op in isa.opcodes.values():
        numbers = " ".join(f"{getattr(op, name):{width}}" for name, width in widths.items())
        lines.append(f"{op.name:14} {numbers}  {op.doc}")
    lines.append("\nunit       latency  fields of its messages (bits)")
    lines += [f"{name:10} {latency:7}  {_shown(fields)}" for name, latency, fields in _units()]
    return "\n".join(lines) + "\n"


def page(isa: Isa[Any]) -> str:
    """The page: formats bit by bit, forms of operands, fields, instructions and messages."""
    bits = 8 * isa.word_bytes
    lines = [
        f"# Instructions of {isa.name}",
        "",
        f"Generated from the table of the instruction set. An instruction is {bits} bits: "
        f"{isa.given.grammar}.",
        "",
        "## Formats",
    ]
    for name, items in isa.items.items():
        names = [f"`{op.name}`" for op in isa.opcodes.values() if op.format == name]
        lines += ["", f"**{name}**: {', '.join(names)}", "", "| bits | what |", "|---|---|"]
        lines += [f"| {where} | {what} |" for where, what in _places(items)]
        once = [isa.given.files[file][1] for file in isa.formats[name].once]
        if once:
            lines += ["", f"At most one source is {' or '.join(once)}."]
    lines += ["", "## Operands", "", "| form | what it may be | bits |", "|---|---|---|"]
    for name, form in isa.given.forms.items():
        for files, layout in form.layouts.items():
            codes = ", ".join(
                f"{isa.given.files[file][1]} ({form.files.index(file)})" for file in files
            )
            lines.append(f"| {name} | {codes} | {layout} |")
    lines += ["", "## Fields", "", "| field | what its bits mean |", "|---|---|"]
    for name, field in isa.fields.items():
        if name != "op":
            lines.append(f"| {name} | {field.meaning.replace('|', chr(92) + '|')} |")
    columns = isa.given.columns
    head = " | ".join(("instruction", *columns, "what it does"))
    lines += ["", "## Instructions", "", f"| {head} |", "|" + "---|" * (len(columns) + 2)]
    for op in isa.opcodes.values():
        numbers = " | ".join(str(getattr(op, name)) for name in columns)
        lines.append(f"| `{op.name}` | {numbers} | {op.doc} |")
    lines += ["", "## Messages", "", "| unit | latency | fields (bits) |", "|---|---|---|"]
    lines += [f"| {name} | {latency} | {_shown(fields)} |" for name, latency, fields in _units()]
    return "\n".join(lines) + "\n"


def _units() -> Iterator[tuple[str, int, tuple[tuple[str, int], ...]]]:
    for name, (latency, fields) in UNITS.items():
        yield name, latency, fields


def _shown(fields: tuple[tuple[str, int], ...]) -> str:
    return " ".join(f"{field}({bits})" for field, bits in fields)


def _places(items: list[Token | Slot]) -> Iterator[tuple[str, str]]:
    """The positions of a format's items."""
    at = 0
    for item in items:
        at = item.at if item.at is not None else at
        if isinstance(item, Slot):
            size = item.file_bits + max(
                sum(token.bits for token in tokens if token.at is None)
                for tokens in item.by_file.values()
            )
            yield f"{at}-{at + size - 1}", f"{item.name}, in the form {item.form_name}"
        else:
            size = item.bits
            yield (f"{at}-{at + size - 1}" if size > 1 else str(at)), item.name
        at += size
