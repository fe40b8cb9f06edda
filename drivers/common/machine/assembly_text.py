"""Assembly text of any machine: numbered lines, comments, and errors with line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from gallette.compiler.errors import InputError, Span

__all__ = ["assembled", "numbered_lines"]

Instr = TypeVar("Instr")


def numbered_lines(code: Iterable[Instr], line_of: Callable[[Instr], str]) -> str:
    """Numbered lines; branches name their targets by these numbers."""
    return "".join(f"{at:4}: {line_of(instr)}\n" for at, instr in enumerate(code))


def assembled(text: str, name: str, assemble_line: Callable[[str], Instr]) -> list[Instr]:
    """The instructions of an assembly text; `;` begins a comment."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        body = re.sub(r"^\s*\d+:", "", line.split(";")[0])
        if body.strip():
            try:
                found.append(assemble_line(body))
            except (ValueError, KeyError, IndexError) as error:
                reason = str(error.args[0] if error.args else error)
                at = len(line) - len(line.lstrip()) + 1
                raise InputError(reason, Span(number, at, 0, name), line) from error
    return found
