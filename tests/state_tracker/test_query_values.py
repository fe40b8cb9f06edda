"""Values that queries answer: colours with and without clamping, sizes of renderbuffers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


GIVEN = np.array([2.0, -1.0, 0.25, 7.0], np.float32)
CLAMPED = [1.0, 0.0, 0.25, 1.0]


COLORS = {
    "border": (lambda gl: gl.tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR, GIVEN),
               lambda gl: gl.get_tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR)),
    "environment": (lambda gl: gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, GIVEN),
                    lambda gl: gl.get_tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR)),
    "clear": (lambda gl: gl.clear_color(*GIVEN.tolist()),
              lambda gl: gl.get_floatv(GL.COLOR_CLEAR_VALUE)),
    "blend": (lambda gl: gl.blend_color(*GIVEN.tolist()),
              lambda gl: gl.get_floatv(GL.BLEND_COLOR)),
    "fog": (lambda gl: gl.fogfv(GL.FOG_COLOR, GIVEN), lambda gl: gl.get_floatv(GL.FOG_COLOR)),
}  # fmt: skip


@pytest.mark.parametrize("what", COLORS)
def test_colour_queries_are_clamped_where_fragments_are(gl: Any, what: str) -> None:
    """ARB_color_buffer_float: queries clamp as CLAMP_FRAGMENT_COLOR says, the value is kept."""
    give, ask = COLORS[what]
    give(gl)
    for clamp, wanted in ((GL.TRUE, CLAMPED), (GL.FALSE, GIVEN.tolist()),
                          (GL.FIXED_ONLY, CLAMPED), (GL.FALSE, GIVEN.tolist())):  # fmt: skip
        gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, clamp)
        assert list(ask(gl)) == wanted, clamp
    assert errors(gl) == []
