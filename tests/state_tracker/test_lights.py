"""Lights whose distance or direction is no number still leave their ambient part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import pixels
from tests.state_tracker.pictures import compare

POSITIONS: dict[str, tuple[float, ...]] = {
    "near": (0, 0, 1, 1),
    "a small w": (1, 1, 1, 1e-10),
    "a square beyond floats": (0, 0, 1, 1e-20),
    "a tiny w": (1, 1, 1, 1e-30),
    "the smallest w": (0, 0, 1, 1e-42),
    "a tiny negative w": (0, 0, 1, -1e-30),
    "a direction": (0, 0, 1, 0),
    "no direction": (0, 0, 0, 0),
    "at the vertices": (-1, -1, 0, 1),
    "far away": (1e38, 1e38, 1e38, 1),
}
TERMS = {"constant": (1, 0, 0), "linear": (0, 1, 0), "quadratic": (0, 0, 1), "none": (0, 0, 0)}
AMBIENT = (0.2, 0.1, 0.3, 1.0)


def lit(position: tuple[float, ...], cutoff: float, terms: tuple[float, ...]) -> Any:
    def scene(gl: Any) -> None:
        def color(call: Any, name: int, *values: float) -> None:
            call(name, np.array(values, np.float32))

        gl.enable(GL.LIGHTING)
        gl.enable(GL.LIGHT0)
        color(gl.light_modelfv, GL.LIGHT_MODEL_AMBIENT, *AMBIENT)
        gl.lightfv(GL.LIGHT0, GL.DIFFUSE, np.array((0.5, 0.4, 0.3, 1), np.float32))
        gl.lightfv(GL.LIGHT0, GL.POSITION, np.array(position, np.float32))
        gl.lightf(GL.LIGHT0, GL.SPOT_CUTOFF, cutoff)
        for name, term in zip(("CONSTANT", "LINEAR", "QUADRATIC"), terms, strict=True):
            gl.lightf(GL.LIGHT0, getattr(GL, f"{name}_ATTENUATION"), term)
        for name in (GL.AMBIENT_AND_DIFFUSE, GL.SPECULAR):
            gl.materialfv(GL.FRONT_AND_BACK, name, np.ones(4, np.float32))
        gl.materialf(GL.FRONT_AND_BACK, GL.SHININESS, 4.0)
        gl.normal3f(0.0, 0.0, 1.0)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)

    return scene


@pytest.mark.native
@pytest.mark.parametrize("cutoff", [180.0, 45.0])
@pytest.mark.parametrize("name", POSITIONS)
def test_lights_without_attenuation_are_native_gls(name: str, cutoff: float) -> None:
    compare(lit(POSITIONS[name], cutoff, TERMS["constant"]), tolerance=1)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", ["a tiny w", "the smallest w", "far away"])
def test_a_light_too_far_away_for_a_direction_leaves_the_ambient_color(
    name: str, terms: str
) -> None:
    gl = create_context("numpipe", profile="compat", version=(2, 1), size=(8, 8))
    lit(POSITIONS[name], 180.0, TERMS[terms])(gl)
    wanted = np.array(AMBIENT) * 255
    assert np.abs(pixels(gl, 8, 8) - wanted).max() <= 1
    gl.release()
