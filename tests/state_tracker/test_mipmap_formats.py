"""Which formats have mipmaps: each internal format is asked as on the native GL."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS
from tests.conftest import native_context

PROFILES = [("core", (4, 5)), ("compat", (4, 5)), ("es", (3, 2))]


def answers(gl: Any) -> dict[str, int]:
    """The error of making mipmaps, by name of the format, where there can be storage at all."""
    found = {}
    for value, info in INTERNAL_FORMATS.items():
        gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
        gl.tex_storage2d(GL.TEXTURE_2D, 2, value, 2, 2)
        if gl.get_error() == 0:
            gl.generate_mipmap(GL.TEXTURE_2D)
            found[info.name] = gl.get_error()
    gl.release()
    return found


def reason(profile: str, name: str, native: int) -> str:
    """Why the native GL answers otherwise, "" if it should not."""
    if native == GL.OUT_OF_MEMORY:
        return "it runs out of memory where nobody compresses"
    if name.startswith("STENCIL_INDEX"):
        return "stencil has no means; the native GL makes them of sized formats"
    if profile == "es" and name == "RGB16F":
        return "the format can be rendered to here, so it has mipmaps"
    return ""


@pytest.mark.native
@pytest.mark.parametrize(("profile", "version"), PROFILES)
def test_formats_have_mipmaps_as_on_the_native_gl(profile: str, version: tuple[int, int]) -> None:
    theirs = answers(native_context(profile=profile, version=version))
    ours = answers(create_context("numpipe", profile=profile, version=version))
    both = ours.keys() & theirs.keys()
    other = {n for n in both if ours[n] != theirs[n] and not reason(profile, n, theirs[n])}
    assert other == set()
    assert {ours[n] for n in both} == {0, GL.INVALID_OPERATION}
    # The native GL takes some names without sizes, too.
    assert ours.keys() - theirs.keys() == set()
    assert len(both) > 50
