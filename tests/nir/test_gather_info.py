"""The summary of a shader is what its code says, whatever the summary said before."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.passes.io.gather_info import gather_info

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
