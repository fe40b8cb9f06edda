"""Framebuffers of every internal format: are they complete, and what is said of their colours?"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS, InternalFormat
from tests.conftest import native_context

KINDS = {"texture": 0, "multisample": 4, "renderbuffer": 0}
NAMES = (GL.RGBA_SIGNED_COMPONENTS_EXT, GL.RGBA_FLOAT_MODE_ARB, GL.RGBA_INTEGER_MODE_EXT)
POINTS = {
    "Z": GL.DEPTH_ATTACHMENT,
    "ZS": GL.DEPTH_STENCIL_ATTACHMENT,
    "S": GL.STENCIL_ATTACHMENT,
}


def attach(gl: GLInterface, info: InternalFormat, kind: str) -> bool:
    """Attach an image of that format to the bound framebuffer; False if there is none."""
    point = POINTS.get(info.base, GL.COLOR_ATTACHMENT0)
    if kind == "renderbuffer":
        (name,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, name)
        gl.renderbuffer_storage(GL.RENDERBUFFER, info.value, 4, 4)
    else:
        target = GL.TEXTURE_2D if kind == "texture" else GL.TEXTURE_2D_MULTISAMPLE
        (name,) = gl.gen_textures(1)
        gl.bind_texture(target, name)
        if kind == "texture":
            gl.tex_storage2d(target, 1, info.value, 4, 4)
            if gl.get_error() != GL.NO_ERROR:  # formats that do not say their sizes
                image = (4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
                gl.tex_image2d(target, 0, info.value, *image)
        else:
            gl.tex_storage2d_multisample(target, 4, info.value, 4, 4, 1)
    if gl.get_error() != GL.NO_ERROR:
        return False
    if kind == "renderbuffer":
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, name)
    else:
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, target, name, 0)
    return True


def described(profile: str, native: bool) -> dict[tuple[str, str], tuple[str, list[int]]]:
    """Format, kind of image -> the framebuffer's status; if complete, what is said of it."""
    create = native_context if native else lambda **options: create_context("numpipe", **options)
    gl = create(profile=profile, version=(4, 5), size=(16, 16))
    found = {}
    for info in INTERNAL_FORMATS.values():
        for kind in KINDS:
            (framebuffer,) = gl.gen_framebuffers(1)
            gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
            if not attach(gl, info, kind):
                continue
            status = GL.name_of(gl.check_framebuffer_status(GL.FRAMEBUFFER))
            said: list[int] = []
            if status == "GL_FRAMEBUFFER_COMPLETE" and info.is_color:
                said = [int(v) for name in NAMES for v in gl.get_integerv(name)]
            found[info.name, kind] = status.removeprefix("GL_FRAMEBUFFER_"), said
            gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
            gl.delete_framebuffers(1, [framebuffer])
            assert gl.get_error() == GL.NO_ERROR
    gl.release()
    return found


# (formats, native status, ours, why)
EXPLAINED = [
    ("S(R|RG)8_EXT|SLUM.*", "UNSUPPORTED", "COMPLETE", "drivers here encode any colours"),
    ("COMPRESSED_(ALPHA|INTENSITY)", "COMPLETE", "INCOMPLETE_ATTACHMENT", "asked to be blocks"),
    ("COMPRESSED_SLUM.*", "UNSUPPORTED", "INCOMPLETE_ATTACHMENT", "and so are these"),
]
TIMES = {"core": [2, 0, 0], "compat": [6, 2, 2]}


@pytest.mark.native
@pytest.mark.parametrize("profile", TIMES)
def test_framebuffers_of_each_format_are_complete_as_natively(profile: str) -> None:
    native, ours = described(profile, True), described(profile, False)
    wrong, used = [], Counter[int]()
    common = native.keys() & ours.keys()
    for key in sorted(common):
        theirs, mine = native[key], ours[key]
        if theirs == mine:
            continue
        names = key[0], theirs[0], mine[0]
        rows = [i for i, (*patterns, _) in enumerate(EXPLAINED)
                if all(map(re.fullmatch, patterns, names))]  # fmt: skip
        used.update(rows)
        wrong += [] if rows else [(key, theirs, mine)]
    assert wrong == []
    assert len(common) > 200
    assert {kind: ours[name, kind] for name, kind in ours if name == "RGB9_E5"} == dict.fromkeys(
        ("texture", "renderbuffer"), ("UNSUPPORTED", [])
    )
    assert [used[row] for row in range(len(EXPLAINED))] == TIMES[profile]


def test_integers_that_are_attached_and_not_drawn_to_count(gl: GLInterface) -> None:
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    for i, format in enumerate((GL.RGBA8, GL.RGBA8UI)):
        assert gl.get_integerv(GL.RGBA_INTEGER_MODE_EXT) == [0]
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage(GL.RENDERBUFFER, format, 4, 4)
        point = GL.COLOR_ATTACHMENT0 + i
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
    assert gl.get_integerv(GL.RGBA_INTEGER_MODE_EXT) == [1]
    assert gl.get_integerv(GL.RGBA_FLOAT_MODE_ARB) == [0]
    assert gl.get_error() == GL.NO_ERROR
