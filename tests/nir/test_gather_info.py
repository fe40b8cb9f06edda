"""The summary of a shader is what its code says, whatever the summary said before."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.passes.io.gather_info import gather_info
from gallette.compiler.nir.text.parser import parse
from tests.cases import Case, each

NAMES = [f.name for f in fields(ShaderInfo)]
GATHERED = NAMES[: NAMES.index("has_transform_feedback")]
WRONG: dict[type, Any] = {set: {3, 77}, int: 99, bool: True}


@pytest.mark.parametrize("name", GATHERED)
def test_what_was_said_before_is_forgotten(name: str) -> None:
    shader = Builder.shader_main(Stage.FRAGMENT, "empty").shader
    gather_info(shader)
    wanted = shader.info.copy()
    wrong = WRONG[type(getattr(wanted, name))]
    setattr(shader.info, name, wrong.copy() if isinstance(wrong, set) else wrong)
    gather_info(shader)
    assert shader.info == wanted
    shader.info = ShaderInfo()
    gather_info(shader)
    assert getattr(shader.info, name) == getattr(wanted, name)


HEAD = """
    32 %zero = load_const (0)
    32 %two = load_const (2)
    32 %x = undef
    32x2 %xy = undef
    32x4 %v = undef
    1 %c = undef
"""


@each(Path(__file__).with_name("gathered.txt"))
def test_each_instruction_sets_its_facts(case: Case) -> None:
    stage, _, code = case.text.partition(": ")
    text = f'shader {stage} "one"\nfunction main () entry\nimpl main {{{HEAD}{code}\n}}\n'
    shader = parse(text)
    gather_info(shader)
    wanted = ShaderInfo()
    for word in case.answer.replace("nothing", "").split():
        name, _, values = word.partition("=")
        numbers = set(map(int, values.split(",")))
        kind = type(getattr(wanted, name))
        setattr(wanted, name, numbers if kind is set else kind(*numbers))
    assert shader.info == wanted
