"""OpenGL ES 1's functions of fixed-point numbers do what those of floats do, name by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context

from .helpers import errors

ONE = 65536
FOUR = (0.25, 0.5, 0.75, 0.125)


@pytest.fixture
def gls() -> Iterator[tuple[Any, Any]]:
    made = [create_context("numpipe", profile="es", version=(1, 1), size=(8, 8)) for _ in "ab"]
    yield made[0], made[1]
    for gl in made:
        assert errors(gl) == []
        gl.release()


def fixed(values: tuple[float, ...], named: bool) -> list[int]:
    return [int(v) if named else round(v * ONE) for v in values]


# Setter, arguments in front, values; what is asked of it, as floats.
VECTORS: dict[str, tuple[str, tuple[int, ...], tuple[float, ...], str, tuple[int, ...]]] = {
    "fog color": ("fog", (GL.FOG_COLOR,), FOUR, "get_floatv", (GL.FOG_COLOR,)),
    "fog density": ("fog", (GL.FOG_DENSITY,), (0.5,), "get_floatv", (GL.FOG_DENSITY,)),
    "fog mode": ("fog", (GL.FOG_MODE,), (GL.LINEAR,), "get_floatv", (GL.FOG_MODE,)),
    "ambient": ("light_model", (GL.LIGHT_MODEL_AMBIENT,), FOUR, "get_floatv",
                (GL.LIGHT_MODEL_AMBIENT,)),
    "two sides": ("light_model", (GL.LIGHT_MODEL_TWO_SIDE,), (1,), "get_floatv",
                  (GL.LIGHT_MODEL_TWO_SIDE,)),
    **{
        f"light {name}": ("light", (GL.LIGHT1, getattr(GL, name)), values, "get_lightfv",
                          (GL.LIGHT1, getattr(GL, name)))
        for name, values in {
            "AMBIENT": FOUR, "DIFFUSE": FOUR, "SPECULAR": FOUR, "POSITION": (1.0, 2.0, -3.0, 1.0),
            "SPOT_DIRECTION": (0.5, -0.5, 1.0), "SPOT_EXPONENT": (7.5,), "SPOT_CUTOFF": (45.0,),
            "CONSTANT_ATTENUATION": (1.5,), "LINEAR_ATTENUATION": (0.5,),
            "QUADRATIC_ATTENUATION": (0.25,),
        }.items()
    },
    **{
        f"material {name}": ("material", (GL.FRONT_AND_BACK, getattr(GL, name)), values,
                             "get_materialfv", (GL.FRONT, getattr(GL, name)))
        for name, values in {"AMBIENT": FOUR, "DIFFUSE": FOUR, "SPECULAR": FOUR, "EMISSION": FOUR,
                             "SHININESS": (12.5,)}.items()
    },
    "both": ("material", (GL.FRONT_AND_BACK, GL.AMBIENT_AND_DIFFUSE), FOUR, "get_materialfv",
             (GL.FRONT, GL.DIFFUSE)),
    **{
        f"points {name}": ("point_parameter", (getattr(GL, name),), values, "get_floatv",
                           (getattr(GL, name),))
        for name, values in {"POINT_SIZE_MIN": (1.5,), "POINT_SIZE_MAX": (4.5,),
                             "POINT_FADE_THRESHOLD_SIZE": (2.5,),
                             "POINT_DISTANCE_ATTENUATION": (0.5, 0.25, 0.125)}.items()
    },
    **{
        f"environment {name}": ("tex_env", (GL.TEXTURE_ENV, getattr(GL, name)), values,
                                "get_tex_envfv", (GL.TEXTURE_ENV, getattr(GL, name)))
        for name, values in {
            "TEXTURE_ENV_COLOR": FOUR, "RGB_SCALE": (2.0,), "ALPHA_SCALE": (4.0,),
            "TEXTURE_ENV_MODE": (GL.COMBINE,), "COMBINE_RGB": (GL.DOT3_RGB,),
            "COMBINE_ALPHA": (GL.ADD,),
            **{f"SRC{i}_{k}": (GL.PRIMARY_COLOR,) for i in range(3) for k in ("RGB", "ALPHA")},
            **{f"OPERAND{i}_{k}": (GL.ONE_MINUS_SRC_ALPHA,)
               for i in range(3) for k in ("RGB", "ALPHA")},
        }.items()
    },
    "points replace": ("tex_env", (GL.POINT_SPRITE, GL.COORD_REPLACE), (1,),
                       "get_tex_envfv", (GL.POINT_SPRITE, GL.COORD_REPLACE)),
    **{
        f"texture {name}": ("tex_parameter", (GL.TEXTURE_2D, getattr(GL, name)), (value,),
                            "get_tex_parameterfv", (GL.TEXTURE_2D, getattr(GL, name)))
        for name, value in {"TEXTURE_MIN_FILTER": GL.LINEAR, "TEXTURE_MAG_FILTER": GL.NEAREST,
                            "TEXTURE_WRAP_S": GL.CLAMP_TO_EDGE, "TEXTURE_WRAP_T": GL.CLAMP_TO_EDGE,
                            "GENERATE_MIPMAP": 1}.items()
    },
    "crop": ("tex_parameter", (GL.TEXTURE_2D, GL.TEXTURE_CROP_RECT_OES), (1, 2, 3, 4),
             "get_tex_parameterfv", (GL.TEXTURE_2D, GL.TEXTURE_CROP_RECT_OES)),
}  # fmt: skip
INTEGERS = ("MODE", "TWO_SIDE", "COMBINE", "SRC", "OPERAND", "replace", "texture", "crop", "mode",
            "two sides")  # fmt: skip


@pytest.mark.parametrize("case", VECTORS)
def test_parameters(case: str, gls: tuple[Any, Any]) -> None:
    setter, front, values, getter, asked = VECTORS[case]
    named = any(word in case for word in INTEGERS)
    ours, floats = gls
    before = list(getattr(floats, getter)(*asked))
    given = np.array([*fixed(values, named), 0x7FFFFFF, 0x7FFFFFF, 0x7FFFFFF], np.int32)
    getattr(ours, f"{setter}xv")(*front, given)
    getattr(floats, f"{setter}fv")(*front, np.array([*values, 9, 9, 9], np.float32))
    wanted = list(getattr(floats, getter)(*asked))
    assert list(getattr(ours, getter)(*asked)) == wanted != before
    if getter != "get_floatv":
        found = getattr(ours, getter.replace("fv", "xv"))(*asked)
        assert list(found) == [round(v) if named else round(v * ONE) for v in wanted]
    if len(values) == 1:
        again = create_context("numpipe", profile="es", version=(1, 1), size=(8, 8))
        getattr(again, f"{setter}x")(*front, fixed(values, named)[0])
        assert list(getattr(again, getter)(*asked)) == wanted
        again.release()


PLAIN: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], int]] = {
    "clear color": (lambda gl: gl.clear_colorx(ONE // 4, ONE // 2, ONE, 0),
                    lambda gl: gl.clear_color(0.25, 0.5, 1.0, 0.0), GL.COLOR_CLEAR_VALUE),
    "clear depth": (lambda gl: gl.clear_depthx(ONE // 4), lambda gl: gl.clear_depthf(0.25),
                    GL.DEPTH_CLEAR_VALUE),
    "depth range": (lambda gl: gl.depth_rangex(ONE // 4, ONE // 2),
                    lambda gl: gl.depth_rangef(0.25, 0.5), GL.DEPTH_RANGE),
    "alpha": (lambda gl: gl.alpha_funcx(GL.GREATER, ONE // 4),
              lambda gl: gl.alpha_func(GL.GREATER, 0.25), GL.ALPHA_TEST_REF),
    "line": (lambda gl: gl.line_widthx(5 * ONE // 2), lambda gl: gl.line_width(2.5),
             GL.LINE_WIDTH),
    "point": (lambda gl: gl.point_sizex(5 * ONE // 2), lambda gl: gl.point_size(2.5),
              GL.POINT_SIZE),
    "offset": (lambda gl: gl.polygon_offsetx(ONE // 4, ONE), lambda gl: gl.polygon_offset(0.25, 1),
               GL.POLYGON_OFFSET_FACTOR),
    "units": (lambda gl: gl.polygon_offsetx(ONE // 4, 3 * ONE),
              lambda gl: gl.polygon_offset(0.25, 3), GL.POLYGON_OFFSET_UNITS),
    "coverage": (lambda gl: gl.sample_coveragex(ONE // 4, 1),
                 lambda gl: gl.sample_coverage(0.25, 1), GL.SAMPLE_COVERAGE_VALUE),
    "color": (lambda gl: gl.color4x(ONE // 4, ONE // 2, ONE // 8, 0),
              lambda gl: gl.color4f(0.25, 0.5, 0.125, 0.0), GL.CURRENT_COLOR),
    "normal": (lambda gl: gl.normal3x(ONE // 4, -ONE, ONE // 2),
               lambda gl: gl.normal3f(0.25, -1.0, 0.5), GL.CURRENT_NORMAL),
    "coordinates": (lambda gl: gl.multi_tex_coord4x(GL.TEXTURE0, ONE // 4, -ONE, ONE // 2, ONE),
                    lambda gl: gl.multi_tex_coord4f(GL.TEXTURE0, 0.25, -1.0, 0.5, 1.0),
                    GL.CURRENT_TEXTURE_COORDS),
    "rotation": (lambda gl: gl.rotatex(30 * ONE, ONE, 0, ONE // 2),
                 lambda gl: gl.rotatef(30.0, 1.0, 0.0, 0.5), GL.MODELVIEW_MATRIX),
    "scale": (lambda gl: gl.scalex(ONE // 4, ONE, 3 * ONE), lambda gl: gl.scalef(0.25, 1.0, 3.0),
              GL.MODELVIEW_MATRIX),
    "translation": (lambda gl: gl.translatex(ONE // 4, ONE, 3 * ONE),
                    lambda gl: gl.translatef(0.25, 1.0, 3.0), GL.MODELVIEW_MATRIX),
    "ortho": (lambda gl: gl.orthox(-ONE, 2 * ONE, -ONE, ONE, ONE // 2, 9 * ONE),
              lambda gl: gl.orthof(-1.0, 2.0, -1.0, 1.0, 0.5, 9.0), GL.MODELVIEW_MATRIX),
    "frustum": (lambda gl: gl.frustumx(-ONE, 2 * ONE, -ONE, ONE, ONE // 2, 9 * ONE),
                lambda gl: gl.frustumf(-1.0, 2.0, -1.0, 1.0, 0.5, 9.0), GL.MODELVIEW_MATRIX),
    "matrix": (lambda gl: gl.load_matrixx(np.arange(16, dtype=np.int32) * ONE // 4),
               lambda gl: gl.load_matrixf(np.arange(16, dtype=np.float32) / 4),
               GL.MODELVIEW_MATRIX),
}  # fmt: skip


@pytest.mark.parametrize("case", PLAIN)
def test_values(case: str, gls: tuple[Any, Any]) -> None:
    in_fixed, in_floats, pname = PLAIN[case]
    ours, floats = gls
    before = list(floats.get_floatv(pname))
    in_fixed(ours)
    in_floats(floats)
    wanted = list(floats.get_floatv(pname))
    assert wanted != before
    np.testing.assert_allclose(ours.get_floatv(pname), wanted, rtol=1e-6)
    np.testing.assert_allclose(ours.get_fixedv(pname), np.round(np.array(wanted) * ONE), atol=1)


def test_matrices_are_multiplied_and_planes_kept(gls: tuple[Any, Any]) -> None:
    ours, floats = gls
    matrix = np.arange(16, dtype=np.float32) / 8 + np.eye(4, dtype=np.float32).ravel()
    for gl in gls:
        gl.scalef(2.0, 3.0, 4.0)
    ours.mult_matrixx((matrix * ONE).astype(np.int32))
    floats.mult_matrixf(matrix)
    assert list(ours.get_floatv(GL.MODELVIEW_MATRIX)) == list(
        floats.get_floatv(GL.MODELVIEW_MATRIX)
    )
    for gl in gls:
        gl.load_identity()
    ours.clip_planex(GL.CLIP_PLANE0, np.array([v * ONE for v in FOUR], np.int32))
    floats.clip_planef(GL.CLIP_PLANE0, np.array(FOUR, np.float32))
    wanted = list(floats.get_clip_planef(GL.CLIP_PLANE0))
    assert wanted == list(FOUR) == list(ours.get_clip_planef(GL.CLIP_PLANE0))
    assert list(ours.get_clip_planex(GL.CLIP_PLANE0)) == [round(v * ONE) for v in FOUR]


def test_numbers_beyond_what_fixed_point_holds(gls: tuple[Any, Any]) -> None:
    ours, _ = gls
    ours.load_identity()
    ours.scalef(1e9, -1e9, 1.0)
    found = list(ours.get_fixedv(GL.MODELVIEW_MATRIX))
    assert found[0] == 2**31 - 1 and found[5] == -(2**31) and found[10] == ONE
