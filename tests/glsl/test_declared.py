"""What a linked shader declares, in all its attributes: `declared.txt`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.text.printer import print_shader

PROGRAMS = (Path(__file__).parent / "declared.txt").read_text(encoding="ascii").split("\n\n")[1:]


def parts_of(program: str) -> tuple[str, dict[str, Any], list[tuple[Stage, str]], list[str]]:
    """API, options of linking, shaders, what they declare."""
    head, *lines = program.strip().splitlines()
    api, *words = head.removeprefix("# ").split()
    options = {key: value.split(",") for key, _, value in (w.partition("=") for w in words)}
    shaders: list[tuple[Stage, str]] = []
    for line in lines:
        if line.startswith("@"):
            shaders.append((Stage(line[1:]), ""))
        elif not line.startswith(">"):
            stage, text = shaders[-1]
            shaders[-1] = stage, f"{text}{line}\n"
    return api, options, shaders, [line[2:] for line in lines if line.startswith("> ")]


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
    assert found == wanted
