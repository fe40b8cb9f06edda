"""A function in which a pass finds nothing does not keep it from the shader's other functions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from nir_cases import NirCase, parse_passes, read_cases

from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.text.printer import print_shader

CASES = sorted((Path(__file__).parent / "passes").glob("*.nir"))
IDLE = re.compile(r"(?m)^function idle \(\)\n|^impl idle \{\n(?:.*\n)*?\}\n")


@cache
def chosen() -> dict[str, NirCase]:
    """For each sequence of passes the first case that it changes."""
    found: dict[str, NirCase] = {}
    for path in CASES:
        for case in read_cases(path):
            if case.progress and not case.error:
                found.setdefault(case.run, case)
    return found


def after(case: NirCase, idle: bool) -> str:
    shader = case.shader()
    if idle:
        _add_idle(shader)
    for step in parse_passes(case.run):
        step.run(shader)
    return IDLE.sub("", print_shader(shader))


def _add_idle(shader: Shader) -> None:
    """As the first of all functions."""
    FunctionImpl(shader, shader.add_function("idle"))
    shader.functions.insert(0, shader.functions.pop())


def test_each_pass_does_the_same_beside_an_idle_function() -> None:
    assert len(chosen()) > 60
    for run, case in chosen().items():
        assert after(case, True) == after(case, False), run
