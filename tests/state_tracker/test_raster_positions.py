"""The raster position has what a vertex at its place would have: told, and fed back by a point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors
from tests.state_tracker.test_feedback_values import fed


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


def f(*values: float) -> Any:
    return np.array(values, np.float32)


def lit(gl: Any) -> None:
    gl.enable(GL.LIGHTING)
    gl.enable(GL.LIGHT0)
    gl.enable(GL.LIGHT2)
    gl.light_modelfv(GL.LIGHT_MODEL_AMBIENT, f(0.1, 0.05, 0, 1))
    gl.materialfv(GL.FRONT, GL.AMBIENT, f(0.3, 0.2, 0.1, 1))
    gl.materialfv(GL.FRONT, GL.DIFFUSE, f(0.5, 0.6, 0.4, 0.75))
    gl.materialfv(GL.FRONT, GL.SPECULAR, f(0.4, 0.3, 0.5, 1))
    gl.materialfv(GL.FRONT, GL.EMISSION, f(0.02, 0.04, 0.06, 1))
    gl.materialf(GL.FRONT, GL.SHININESS, 3.0)
    gl.lightfv(GL.LIGHT0, GL.POSITION, f(0.3, 0.4, 1.0, 0))
    gl.lightfv(GL.LIGHT0, GL.AMBIENT, f(0.2, 0.1, 0.3, 1))
    gl.lightfv(GL.LIGHT0, GL.DIFFUSE, f(0.5, 0.4, 0.3, 1))
    gl.lightfv(GL.LIGHT0, GL.SPECULAR, f(0.3, 0.6, 0.2, 1))
    gl.lightfv(GL.LIGHT2, GL.POSITION, f(-0.5, 0.25, 0.75, 0.5))
    gl.lightfv(GL.LIGHT2, GL.DIFFUSE, f(0.2, 0.3, 0.4, 1))
    gl.normal3f(0.1, -0.2, 0.9)


def generated(mode: int, coords: tuple[int, ...]) -> Callable[[Any], None]:
    def state(gl: Any) -> None:
        gl.normal3f(0.36, -0.48, 0.8)
        gl.tex_coord4f(0.1, 0.2, 0.3, 1.5)
        for i, coord in enumerate(coords):
            gl.tex_geni(coord, GL.TEXTURE_GEN_MODE, mode)
            gl.tex_genfv(coord, GL.OBJECT_PLANE, f(0.5 * i, 1, -0.5, 0.25))
            gl.tex_genfv(coord, GL.EYE_PLANE, f(1, 0.5, 0.25 * i, -0.5))
            gl.enable(GL.TEXTURE_GEN_S + (coord - GL.S))

    return state


def attenuated(gl: Any) -> None:
    lit(gl)
    gl.lightf(GL.LIGHT2, GL.CONSTANT_ATTENUATION, 0.5)
    gl.lightf(GL.LIGHT2, GL.LINEAR_ATTENUATION, 0.25)
    gl.lightf(GL.LIGHT2, GL.QUADRATIC_ATTENUATION, 0.125)


def spot(cutoff: float) -> Callable[[Any], None]:
    def state(gl: Any) -> None:
        lit(gl)
        gl.lightf(GL.LIGHT2, GL.SPOT_CUTOFF, cutoff)
        gl.lightf(GL.LIGHT2, GL.SPOT_EXPONENT, 2.0)
        gl.lightfv(GL.LIGHT2, GL.SPOT_DIRECTION, f(0.8, -0.3, -1.5))

    return state


def also(state: Callable[[Any], None], *calls: tuple[Any, ...]) -> Callable[[Any], None]:
    def both(gl: Any) -> None:
        state(gl)
        for name, *arguments in calls:
            getattr(gl, name)(*arguments)

    return both


def colored(gl: Any) -> None:
    gl.color4f(1.5, 0.25, -0.5, 0.75)
    gl.tex_coord4f(0.5, 0.25, 2, 1)


def stretched(gl: Any) -> None:
    lit(gl)
    gl.matrix_mode(GL.MODELVIEW)
    gl.scalef(0.5, 0.5, 0.5)


STATES: dict[str, Callable[[Any], None]] = {
    "colours": colored,
    "unclamped": also(colored, ("clamp_color", GL.CLAMP_VERTEX_COLOR, GL.FALSE)),
    "lights": lit,
    "attenuated": attenuated,
    "inside a spot": spot(60.0),
    "outside a spot": spot(5.0),
    "near viewer": also(lit, ("light_modeli", GL.LIGHT_MODEL_LOCAL_VIEWER, 1)),
    "no shine": also(lit, ("materialf", GL.FRONT, GL.SHININESS, 0.0)),
    "specular apart": also(
        lit, ("light_modeli", GL.LIGHT_MODEL_COLOR_CONTROL, GL.SEPARATE_SPECULAR_COLOR)
    ),
    "turned away": also(lit, ("normal3f", 0.0, 0.0, -1.0)),
    "normalized": also(lit, ("enable", GL.NORMALIZE), ("normal3f", 0.2, 0.4, 0.8)),
    "stretched": stretched,
    "rescaled": also(stretched, ("enable", GL.RESCALE_NORMAL), ("normal3f", 0.6, 0.0, 0.8)),
    "object planes": generated(GL.OBJECT_LINEAR, (GL.S, GL.T, GL.R, GL.Q)),
    "eye planes": generated(GL.EYE_LINEAR, (GL.S, GL.T, GL.R, GL.Q)),
    "sphere": generated(GL.SPHERE_MAP, (GL.S, GL.T)),
    "reflections": generated(GL.REFLECTION_MAP, (GL.S, GL.T, GL.R)),
    "normals": generated(GL.NORMAL_MAP, (GL.S, GL.T, GL.R)),
    "one plane": generated(GL.OBJECT_LINEAR, (GL.T,)),
}
PLACE = (0.25, -0.5, -1.5, 1.0)


@pytest.mark.parametrize("what", STATES)
def test_it_has_what_a_vertex_has(gl: Any, what: str) -> None:
    gl.viewport(1, 2, 6, 4)
    gl.depth_range(0.25, 0.75)
    gl.matrix_mode(GL.PROJECTION)
    gl.frustum(-1, 1, -1, 1, 1, 4)
    gl.matrix_mode(GL.TEXTURE)
    gl.scalef(2, 1, 0.5)
    gl.translatef(0.125, 0, 0)
    gl.matrix_mode(GL.MODELVIEW)
    gl.rotatef(20, 0.5, 1, 0.25)
    gl.translatef(0, 0, -0.5)
    STATES[what](gl)
    found = fed(
        gl, lambda gl: (gl.begin(GL.POINTS), gl.vertex4f(*PLACE), gl.end()),
        GL._4D_COLOR_TEXTURE,
    )  # fmt: skip
    assert found[0] == "point"
    gl.raster_pos4f(*PLACE)
    assert bool(gl.get_booleanv(GL.CURRENT_RASTER_POSITION_VALID)[0])
    told = [
        *gl.get_floatv(GL.CURRENT_RASTER_POSITION), *gl.get_floatv(GL.CURRENT_RASTER_COLOR),
        *gl.get_floatv(GL.CURRENT_RASTER_TEXTURE_COORDS),
    ]  # fmt: skip
    wanted = [float(v) for v in found[1:]]
    np.testing.assert_allclose(told, wanted, atol=6e-4)
    secondary = list(gl.get_floatv(GL.CURRENT_RASTER_SECONDARY_COLOR))
    assert len(secondary) == 4
    assert secondary[3] == 1
    assert any(secondary[:3]) == (what == "specular apart")
    assert errors(gl) == []
