"""EXT_direct_state_access: what is named changes, what is bound stays; also on the native GL."""

from __future__ import annotations

import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.registry import implementation
from gallette.state_tracker.optional.compatibility.direct_access.ordinary_forms import ordinary_form

"""A quarter turn and a step, column by column."""


def test_every_function_is_there() -> None:
    ours = [n for n in FUNCTIONS if FUNCTIONS[n].extension == "GL_EXT_direct_state_access"]
    assert len(ours) > 230
    assert [n for n in ours if implementation(FUNCTIONS[n]) is None] == []


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("MatrixLoadTransposedEXT", ("LoadTransposeMatrixd", "matrix")),
        ("MatrixPushEXT", ("PushMatrix", "matrix")),
        ("GetCompressedMultiTexImageEXT", ("GetCompressedTexImage", "unit")),
        ("CopyTextureSubImage2DEXT", ("CopyTexSubImage2D", "texture")),
        ("MultiTexCoordPointerEXT", None),
        ("NamedProgramLocalParameter4fEXT", ("ProgramLocalParameter4fARB", "program")),
        ("TexImage3DEXT", None),
        ("TextureParameteri", None),
    ],
)
def test_forms_follow_from_their_names(name: str, twin: tuple[str, str] | None) -> None:
    assert ordinary_form(name) == twin


def test_listed_in_the_compatibility_profile_only() -> None:
    for profile, there in (("compat", True), ("core", False)):
        gl = Context(profile=profile, version=(3, 3))
        names = {
            gl.get_stringi(GL.EXTENSIONS, i) for i in range(*gl.get_integerv(GL.NUM_EXTENSIONS))
        }
        assert ("GL_EXT_direct_state_access" in names) is there
        gl.release()
