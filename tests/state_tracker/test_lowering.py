"""Caps decide who lowers: what a driver leaves to the tracker looks the same afterwards."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir.ownership import COUNTERS
from gallette.pipe.caps import Caps
from gallette.pipe.interface import Screen
from gallette.pipe.loader import create_screen
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker import context as context_module
from tests.state_tracker.gl_programs import Program, programs_of
from tests.state_tracker.helpers import linked
from tests.state_tracker.test_gl_programs import FOLDER, answers

LOWERED = [f.name for f in dataclasses.fields(Caps) if f.name.startswith("lower_")]

SCENES = [
    program
    for program in programs_of(FOLDER / "fixed_function.txt")
    if not program.name.startswith("edges")
]


def lowering_screen(driver: str, **options: Any) -> Screen:
    """A numpipe that claims to do none of it itself."""
    screen = create_screen(driver, **options)
    screen.caps = dataclasses.replace(screen.caps, **dict.fromkeys(LOWERED, True))
    return screen


@pytest.mark.parametrize("program", SCENES, ids=[program.name for program in SCENES])
def test_lowered_scenes_look_the_same(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = answers(program, "numpipe")[-1]
    assert plain.any()
    monkeypatch.setattr(context_module, "create_screen", lowering_screen)
    lowered = answers(program, "numpipe")[-1]
    assert np.abs(plain.astype(int) - lowered.astype(int)).max() <= 1


def test_a_shader_is_cloned_only_for_a_key_that_lowers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_module, "create_screen", lowering_screen)
    gl: GLInterface = create_context("noop", profile="compat", version=(2, 1), size=(8, 8))
    linked(gl, fragment="void main() { gl_FragColor = gl_Color; }\n")
    before = COUNTERS.cloned
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.flush()
    clamping = COUNTERS.cloned - before  # vertex colours are clamped by default
    assert clamping == 1
    gl.shade_model(GL.FLAT)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.shade_model(GL.SMOOTH)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.shade_model(GL.FLAT)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.flush()
    assert COUNTERS.cloned - before == clamping + 1
    gl.release()
