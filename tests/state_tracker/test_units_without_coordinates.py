"""Texture units beyond those that have coordinates: only shaders use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.differential import answers

from .helpers import errors

ONES = np.ones(4, np.float32)
# What is refused for a unit without coordinates, and answered for the others.
CALLS: dict[str, Callable[[Any], Any]] = {
    "switched on": lambda gl: gl.enable(GL.TEXTURE_GEN_S),
    "switched off": lambda gl: gl.disable(GL.TEXTURE_GEN_Q),
    "is it on": lambda gl: gl.is_enabled(GL.TEXTURE_GEN_T),
    "mode": lambda gl: gl.tex_geni(GL.S, GL.TEXTURE_GEN_MODE, GL.SPHERE_MAP),
    "plane": lambda gl: gl.tex_genfv(GL.R, GL.OBJECT_PLANE, ONES),
    "the mode": lambda gl: gl.get_tex_geniv(GL.S, GL.TEXTURE_GEN_MODE),
    "the plane": lambda gl: gl.get_tex_genfv(GL.T, GL.EYE_PLANE),
    "of points": lambda gl: gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, 1),
    "are they of points": lambda gl: gl.get_tex_envfv(GL.POINT_SPRITE, GL.COORD_REPLACE),
    "the coordinates": lambda gl: gl.get_floatv(GL.CURRENT_TEXTURE_COORDS),
    "of the raster position": lambda gl: gl.get_floatv(GL.CURRENT_RASTER_TEXTURE_COORDS),
}  # fmt: skip


@pytest.mark.native
@pytest.mark.parametrize("unit", [0, 7, 8, 15])
@pytest.mark.parametrize("call", CALLS)
def test_what_needs_coordinates(call: str, unit: int) -> None:
    def ask(gl: Any) -> Any:
        gl.active_texture(GL.TEXTURE0 + unit)
        found = CALLS[call](gl)
        wrong = errors(gl)
        assert wrong == (["GL_INVALID_OPERATION"] if unit > 7 else [])
        return None if wrong or found is None else np.ravel(found).tolist()

    native, ours = answers(ask, "compat")
    assert ours == native


def test_a_refused_unit_replaces_nothing() -> None:
    """Points keep the coordinates they have."""
    gl: Any = create_context("numpipe", profile="compat", version=(4, 5), size=(8, 8))
    gl.active_texture(GL.TEXTURE8)
    gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, 1)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    assert gl.raster.coord_replace == 0
    gl.release()


def test_the_environment_of_a_unit_fixed_function_does_not_have() -> None:
    gl: Any = create_context("numpipe", profile="compat", version=(4, 5), size=(8, 8))
    for unit, wanted in ((7, [1.0] * 4), (8, [0.0] * 4)):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, ONES)
        assert list(gl.get_tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR)) == wanted
    assert errors(gl) == []
    gl.release()
