"""What a linked shader declares, in all its attributes: `declared.txt`."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.glsl import (
    CompileOptions,
    LinkedProgram,
    LinkOptions,
    compile_shader,
    link_program,
)
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.text.printer import print_shader

PROGRAMS = (Path(__file__).parent / "declared.txt").read_text(encoding="ascii").split("\n\n")[1:]


def parts_of(program: str) -> tuple[str, dict[str, Any], list[tuple[Stage, str]], list[str]]:
    """API, options of linking, shaders, what they declare."""
    head, *lines = program.strip().splitlines()
    api, *words = head.removeprefix("# ").split()
    pairs = (word.partition("=") for word in words)
    options = {key: given.split(",") if key.endswith("s") else given for key, _, given in pairs}
    shaders: list[tuple[Stage, str]] = []
    for line in lines:
        if line.startswith("@"):
            shaders.append((Stage(line[1:]), ""))
        elif not line.startswith(">"):
            stage, text = shaders[-1]
            shaders[-1] = stage, f"{text}{line}\n"
    return api, options, shaders, [line[2:] for line in lines if line.startswith("> ")]


def told(value: Any) -> str:
    """A value of a table, without what is empty."""
    if is_dataclass(value):
        pairs = ((f.name, getattr(value, f.name)) for f in fields(value))
        some = [f"{name}={told(part)}" for name, part in pairs if part not in (None, "", 0, (), {})]
        return f"{type(value).__name__}({', '.join(some)})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(told, value)))}}}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(told, value))})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{told(key)}: {told(part)}' for key, part in value.items())}}}"
    if isinstance(value, Stage):
        return value.value
    return value.hex() if isinstance(value, bytes) else str(value)


def tables_of(linked: LinkedProgram) -> list[str]:
    """What the application and the state tracker are told of a program, a line for each row."""
    found = []
    for field in fields(linked):
        value = getattr(linked, field.name)
        if field.name == "shaders" or not value:
            continue
        rows = value if isinstance(value, list) else [value]
        found += [f"{field.name}: {told(row)}" for row in rows]
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_linked_shader_declares_what_is_written_here(program: str) -> None:
    api, options, texts, wanted = parts_of(program)
    shaders = [compile_shader(stage, text, CompileOptions(api=api)) for stage, text in texts]
    linked = link_program(shaders, LinkOptions(api=api, **options))
    assert linked.ok, linked.info_log
    found: list[str] = []
    for nir in linked.shaders.values():
        found += print_shader(nir).partition("\nfunction ")[0].splitlines()
        nir.unref()
    assert found + tables_of(linked) == wanted
