"""glCopyImageSubData: which formats it copies between, and what the texels are afterwards."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gallette.state_tracker import GL, GLInterface
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS
from tests.state_tracker.differential import answers

VERSIONS = {"compat": (4, 5), "es": (3, 2)}
# (one format, the other, why) of pairs that are copied here and not natively, or the other way.
_ES = r"COMPRESSED_.*_(ETC2|EAC|ASTC_\d+x\d+_KHR)"
_ANY = r"\w+"
EXPLAINED = [
    (_ES, _ANY, "classes of OpenGL ES, in every profile"),
    (_ANY, _ES, "and the other way around"),
    ("YCBCR_MESA", "YCBCR_MESA", "luma and chroma are kept beside the texels"),
]
TIMES = {
    "compat": [182, 144, 1],
    "es": [0, 0, 0],
}


def textures(gl: GLInterface, samples: int) -> dict[str, int]:
    """One of each internal format that there is."""
    found, target = {}, GL.TEXTURE_2D_MULTISAMPLE if samples else GL.TEXTURE_2D
    for info in INTERNAL_FORMATS.values():
        (name,) = gl.gen_textures(1)
        gl.bind_texture(target, name)
        if samples:
            gl.tex_storage2d_multisample(target, samples, info.value, 12, 12, 1)
        else:
            gl.tex_storage2d(target, 1, info.value, 12, 12)
        if gl.get_error() == GL.NO_ERROR:
            found[info.name] = name
    return found


def pairs(gl: GLInterface, samples: int) -> dict[tuple[str, str], int]:
    """Every pair of formats, and the error that a copy of nothing makes."""
    names, target = textures(gl, samples), GL.TEXTURE_2D_MULTISAMPLE if samples else GL.TEXTURE_2D
    answers = {}
    for source, a in names.items():
        for goal, b in names.items():
            gl.copy_image_sub_data(a, target, 0, 0, 0, 0, b, target, 0, 0, 0, 0, 0, 0, 1)
            answers[source, goal] = gl.get_error()
    return answers


@pytest.mark.native
@pytest.mark.parametrize(("profile", "samples"), [("compat", 0), ("compat", 4), ("es", 0)])
def test_formats_are_copied_to_those_of_their_class(profile: str, samples: int) -> None:
    native, ours = answers(lambda gl: pairs(gl, samples), profile, VERSIONS[profile])
    common = native.keys() & ours.keys()
    assert len(common) > 1000
    wrong, used = [], Counter[int]()
    for names in sorted(common):
        if native[names] != ours[names]:
            rows = [i for i, (*patterns, _) in enumerate(EXPLAINED)
                    if all(map(re.fullmatch, patterns, names))]  # fmt: skip
            used.update(rows[:1])
            wrong += [] if rows else [(names, native[names], ours[names])]
    assert wrong == []
    assert [used[row] for row in range(len(EXPLAINED))] == (
        [0, 0, 0] if samples else TIMES[profile]
    )


BYTES = {
    "RGB8": (GL.RGB, GL.UNSIGNED_BYTE),
    "SRGB8": (GL.RGB, GL.UNSIGNED_BYTE),
    "RGB8UI": (GL.RGB_INTEGER, GL.UNSIGNED_BYTE),
    "RGB8I": (GL.RGB_INTEGER, GL.BYTE),
    "RGB8_SNORM": (GL.RGB, GL.BYTE),
}


@pytest.mark.parametrize("source", BYTES)
@pytest.mark.parametrize("goal", BYTES)
def test_texels_of_three_bytes_are_copied_as_they_are(
    gl: GLInterface, source: str, goal: str
) -> None:
    """However they are stored: drivers put a fourth byte beside some of them."""
    texels = bytes(range(1, 4 * 4 * 3 + 1))
    names = gl.gen_textures(2)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    for name, format, data in zip(names, (source, goal), (texels, bytes(48)), strict=True):
        gl.bind_texture(GL.TEXTURE_2D, name)
        value = getattr(GL, format)
        gl.tex_image2d(GL.TEXTURE_2D, 0, value, 4, 4, 0, *BYTES[format], data)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAX_LEVEL, 0)
    place = (GL.TEXTURE_2D, 0, 0, 0, 0)
    gl.copy_image_sub_data(names[0], *place, names[1], *place, 4, 3, 1)
    assert gl.get_error() == GL.NO_ERROR
    raw = bytes(gl.get_tex_image(GL.TEXTURE_2D, 0, *BYTES[goal]))
    assert raw == texels[:36] + bytes(12)


# What is done to two textures of one level, and the error of copying level 0 and 1 to level 0.
STATES: dict[str, tuple[str, str]] = {
    "": ("INVALID_OPERATION", "INVALID_OPERATION"),
    "filter": ("NO_ERROR", "INVALID_VALUE"),
    "level": ("INVALID_OPERATION", "INVALID_OPERATION"),
    "level filter": ("NO_ERROR", "NO_ERROR"),
    "level last": ("NO_ERROR", "NO_ERROR"),
    "first filter": ("INVALID_OPERATION", "INVALID_OPERATION"),
}


@pytest.mark.parametrize("state", STATES)
def test_a_texture_that_is_copied_is_complete(gl: GLInterface, state: str) -> None:
    """By the filter it has itself."""
    names, target = gl.gen_textures(2), GL.TEXTURE_2D
    for name in names:
        gl.bind_texture(target, name)
        for level in range(2 if "level" in state else 1):
            size = 8 >> level
            gl.tex_image2d(target, level, GL.RGBA8, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
        if "filter" in state:
            gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.LINEAR)
        if "last" in state:
            gl.tex_parameteri(target, GL.TEXTURE_MAX_LEVEL, 1)
        if "first" in state:
            gl.tex_parameteri(target, GL.TEXTURE_BASE_LEVEL, 1)
    found = []
    for level in (0, 1):
        place = (names[0], target, level, 0, 0, 0)
        gl.copy_image_sub_data(*place, names[1], target, 0, 0, 0, 0, 1, 1, 1)
        found.append(GL.name_of(gl.get_error(), "error").removeprefix("GL_"))
    assert tuple(found) == STATES[state]


BLOCKS = (
    *("RGBA32UI", "RG32UI", "COMPRESSED_RGBA_BPTC_UNORM", "COMPRESSED_RED_RGTC1"),
    "COMPRESSED_RGBA_S3TC_DXT5_EXT",
)
# Where a region begins in the source and in the goal, and its size in texels of the source.
REGIONS = [
    (0, 0, 20), (0, 0, 5), (0, 0, 4), (0, 0, 1), (0, 4, 1), (0, 4, 4), (4, 1, 16), (4, 1, 20),
    (4, 0, 1), (4, 4, 1), (16, 4, 4), (16, 16, 4), (16, 1, 4), (2, 0, 4), (0, 2, 4), (0, 20, 0),
    (0, 21, 0), (21, 0, 0), (4, 16, 1),
]  # fmt: skip


def region_errors(gl: GLInterface) -> dict[tuple[object, ...], int]:
    """The error of copying each region between each pair of formats and of sizes."""
    names, answers = {}, {}
    for format in BLOCKS:
        for size in (20, 5, 4):
            (name,) = gl.gen_textures(1)
            gl.bind_texture(GL.TEXTURE_2D, name)
            gl.tex_storage2d(GL.TEXTURE_2D, 1, getattr(GL, format), size, size)
            names[format, size] = name
    for source, a in names.items():
        for goal, b in names.items():
            for x, to, size in REGIONS:
                place = (a, GL.TEXTURE_2D, 0, x, 0, 0, b, GL.TEXTURE_2D, 0, to, 0, 0)
                gl.copy_image_sub_data(*place, size, min(size, 4), 1)
                answers[source, goal, x, to, size] = gl.get_error()
    return answers


@pytest.mark.native
def test_regions_are_in_texels_of_the_source_and_inside_both_images() -> None:
    native, ours = answers(region_errors)
    assert {k: v for k, v in ours.items() if native[k] != v} == {}
    assert {GL.NO_ERROR, GL.INVALID_VALUE, GL.INVALID_OPERATION} == set(native.values())
