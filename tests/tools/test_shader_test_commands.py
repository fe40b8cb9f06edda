"""Commands of shader_tests: what each says of a right and of a wrong expectation.

`shader_test_commands.txt` has the cases. The native GL decides alike, so that a case says what
OpenGL does and not only what the stack does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text

pytestmark = pytest.mark.native

_HEADER = re.compile(r"text (\w+)(?: = (\w+))?|\[(\w+)\]")


@dataclass
class Block:
    """A program, or a case with the program it runs: indented text, commands and the verdict."""

    line: int
    name: str
    base: str
    text: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    verdict: str = ""


def _blocks(path: Path) -> Iterator[Block]:
    block: Block | None = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        header = _HEADER.fullmatch(line)
        if header is not None:
            if block is not None:
                yield block
            block = Block(number, header[1] or "", header[2] or header[3] or "")
        elif block is None or not line.strip():
            if block is not None and block.name:
                block.text.append("")
        elif line.startswith("    "):
            block.text.append(line[4:])
        elif line.startswith("-> "):
            block.verdict = line[3:]
        elif not line.startswith("#"):
            block.commands.append(line)
    assert block is not None
    yield block


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


def _replaced(text: str, changes: list[str]) -> str:
    for change in filter(None, changes):
        old, arrow, new = change.partition(" => ")
        assert arrow and _unescaped(old) in text, change
        text = text.replace(_unescaped(old), _unescaped(new))
    return text


def cases() -> Iterator[Any]:
    """The text of a shader_test, the commands after it, and the verdict."""
    programs: dict[str, str] = {}
    for block in _blocks(Path(__file__).with_name("shader_test_commands.txt")):
        if block.base:
            text = _replaced(programs[block.base], block.text)
        else:
            text = "\n" + "\n".join(block.text).rstrip() + "\n"
        if block.name:
            programs[block.name] = text
            continue
        commands = "\n".join(block.commands)
        name = f"{block.line} {commands.partition(chr(10))[0]}"
        driver = "numpipe" if block.base == "spirv_block" else "native"
        yield pytest.param(text, commands, _unescaped(block.verdict), driver, id=name)


# What llvmpipe does not do: without its cache it keeps no programs. (Asked for a block without a
# name it ends the process: spirv_block is not for it.)
_NOT_NATIVE = (
    "requires GL_ARB_compute_variable_group_size",
    "t.shader_test:12: program binary save restore: restoring failed:\n",
)


@pytest.mark.parametrize(("text", "commands", "verdict", "reference"), list(cases()))
def test_the_verdict_on_a_command(
    native: str, text: str, commands: str, verdict: str, reference: str
) -> None:
    for driver in ("numpipe",) if reference == "numpipe" else (native, "numpipe"):
        found = run_test(parse_text(f"{text}{commands}\n", "t.shader_test"), driver)
        if driver == native and found.reason in _NOT_NATIVE:
            continue
        if verdict in ("pass", "warn"):
            assert found.result == verdict, (driver, found.reason)
        else:
            assert found.result != "pass" or "note:" in verdict, driver
            assert verdict in "\n".join([found.reason, *found.messages]), driver
