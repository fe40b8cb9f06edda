"""GALLETTE_CAPS changes what a driver says it can do; the pictures stay."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.errors import InputError
from gallette.compiler.nir.lower import Machine
from gallette.pipe.caps import Caps
from gallette.pipe.loader import create_screen
from gallette.pipe.overrides import overridden
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import pixels


def test_pairs_name_caps_and_values() -> None:
    caps = overridden(Caps(), "max_samples=4, lower_alpha_test=1,max_anisotropy=2.5")
    assert (caps.max_samples, caps.lower_alpha_test, caps.max_anisotropy) == (4, True, 2.5)
    assert overridden(Caps(), "two_sided_color=0").lower_two_sided_color
    assert overridden(Caps(), "stages=vertex+fragment+compute").stages == {
        *("vertex", "fragment", "compute")
    }
    assert overridden(Caps(), "machine=frcp+frsq").machine == Machine.of("frcp frsq")
    formats = overridden(Caps(), "address_formats=global=fat generic=fat").address_formats
    assert formats == "global=fat generic=fat"
    assert overridden(Caps(), "") == Caps()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_sample=4", "there is no cap 'max_sample'; did you mean 'max_samples'?"),
        ("max_samples", "expected name=value, not 'max_samples'"),
        ("max_samples=many", "'many' is no value of max_samples (it is 1)"),
        (
            "address_formats=global=thin",
            "'global=thin' is no value of address_formats "
            "(it is 'global=global64 shared=offset32 function_temp=offset32 generic=generic62')",
        ),
        ("instancing=2", "'2' is no value of instancing (it is True)"),
    ],
)
def test_mistakes_are_reported(text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        overridden(Caps(), text)
    assert str(error.value) == f"GALLETTE_CAPS: {said}"


def scene() -> bytes:
    """Flat shading, two-sided colour, the alpha test and a clip plane at once."""
    gl = create_context("numpipe", profile="compat", version=(2, 1), size=(64, 64))
    gl.light_modeli(GL.LIGHT_MODEL_TWO_SIDE, 1)
    gl.enable(GL.VERTEX_PROGRAM_TWO_SIDE)
    gl.shade_model(GL.FLAT)
    gl.enable(GL.ALPHA_TEST)
    gl.alpha_func(GL.GREATER, 0.3)
    gl.clip_plane(GL.CLIP_PLANE0, np.array([1.0, 0.0, 0.0, 0.5]))
    gl.enable(GL.CLIP_PLANE0)
    gl.begin(GL.TRIANGLES)
    for i, (x, y) in enumerate([(-1, -1), (1, -1), (0, 1), (-1, 1), (1, 1), (0, -0.5)]):
        gl.color4f(0.2 * i, 1.0 - 0.1 * i, 0.5, 0.2 + 0.1 * i)
        gl.vertex2f(x, y)
    gl.end()
    image = pixels(gl).tobytes()
    gl.release()
    return image


def test_what_the_driver_leaves_the_tracker_does(monkeypatch: pytest.MonkeyPatch) -> None:
    own = scene()
    assert len(set(own)) > 3
    changes = "two_sided_color=0,flatshade=0,alpha_test=0,clip_planes=0,clamp_color=0"
    monkeypatch.setenv("GALLETTE_CAPS", changes)
    screen = create_screen("numpipe")
    assert screen.caps.lower_flatshade and screen.caps.lower_clip_planes
    assert scene() == own
