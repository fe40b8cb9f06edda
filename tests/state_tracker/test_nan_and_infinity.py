"""NaN and infinity as arguments: each setting accepts or refuses them as the native GL does."""

from __future__ import annotations

import math

import pytest

from gallette.state_tracker import GL, create_context

SETTERS = {
    "fogf": (),
    "light_modelf": (),
    "lightf": (GL.LIGHT0,),
    "materialf": (GL.FRONT,),
    "patch_parameterfv": (),
    "pixel_storef": (),
    "pixel_transferf": (),
    "point_parameterf": (),
    "sampler_parameterf": (1,),
    "sampler_parameterfv": (1,),
    "tex_envf": (GL.TEXTURE_ENV,),
    "tex_genf": (GL.S,),
    "tex_parameterf": (GL.TEXTURE_2D,),
    "tex_parameterfv": (GL.TEXTURE_2D,),
}
"""Functions that set something to a real number, and what they are called with first."""
NAMES = sorted(
    {
        value
        for name, value in vars(GL).items()
        if name.isupper() and isinstance(value, int) and 0 <= value < 0x10000
    }
)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_every_setting_is_set_to_no_number(value: float) -> None:
    with create_context("numpipe", profile="compat") as gl:
        gl.gen_samplers(1)
        taken = 0
        for setter, first in SETTERS.items():
            call, given = getattr(gl, setter), [value] * 4 if setter.endswith("v") else value
            for name in NAMES:
                call(*first, name, given)
                taken += gl.get_error() == GL.NO_ERROR
        assert taken > 30  # so these are names of settings


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_fixed_point_numbers_stand_for_what_is_none(value: float) -> None:
    with create_context("numpipe", profile="compat") as gl:
        gl.map_grid1f(4, value, 1.0)
        first, second = gl.get_fixedv(GL.MAP1_GRID_DOMAIN)
        assert second == 65536
        assert first == (0 if value != value else math.copysign(2**31, value) - (value > 0))
