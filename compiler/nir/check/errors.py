"""Validation errors, with the shader's text around the offending instructions."""

from __future__ import annotations

from gallette.compiler.errors import ValidationError
from gallette.compiler.nir.ir.instrs import Instr
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.text.printer import Printer


def metadata_error(where: str, fact: str) -> ValidationError:
    return ValidationError(f"{where}: {fact} claims to be valid but is stale")


def validation_error(
    shader: Shader, problems: list[tuple[str, Instr | None]], where: str = ""
) -> ValidationError:
    """An error that prints the shader and points at each offending instruction."""
    printer = Printer()
    lines = printer.shader(shader).splitlines()
    marks: dict[str, list[str]] = {}
    loose: list[str] = []
    for message, instr in problems:
        if instr is not None and instr.block is not None:
            marks.setdefault(printer.instr(instr), []).append(message)
        else:
            loose.append(message)
    shown: list[str] = []
    for line in lines:
        shown.append(line)
        for message in marks.get(line.strip(), ()):
            pad = " " * (len(line) - len(line.lstrip()))
            shown.append(f"{pad}^ {message}")
    head = f"invalid shader{' after ' + where if where else ''}: {problems[0][0]}"
    if len(problems) > 1:
        head += f" (and {len(problems) - 1} more)"
    return ValidationError("\n".join([head, *loose, *shown]))
