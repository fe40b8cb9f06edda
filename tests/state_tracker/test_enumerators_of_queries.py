"""glGet, glIsEnabled and indexed queries accept the enumerators that the native GL accepts.

`test_state_queries.py` compares the answers; its names come from the tracker's own tables, so that
it would not notice what they lack.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from gallette.compiler.errors import GalletteError
from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.differential import answers
from tests.state_tracker.test_es_enums import every_enum

VERSIONS = {"core": (4, 5), "compat": (4, 5), "es": (3, 2)}
KINDS: dict[str, tuple[int, ...]] = {"get_floatv": (), "is_enabled": (), "get_integeri_v": (0,)}

_OURS = "of an extension that this GL lists and the native one does not"
_DIRECT = "of EXT_direct_state_access, which is there in compatibility profiles alone"
_SPARSE = "(MAX_)?SPARSE_\\w+_ARB|MAX_SPARSE_ARRAY_TEXTURE_LAYERS"
_PLACES = "SAMPLE_LOCATION_\\w+|PROGRAMMABLE_SAMPLE_LOCATION_TABLE_SIZE_ARB"
_CONSERVATIVE = "CONSERVATIVE_RASTERIZATION_NV|(MAX_)?SUBPIXEL_PRECISION_BIAS_(\\w_)?BITS_NV"

# What ours alone answers: profiles, query, enumerators, how many of them, why.
OURS_ALONE: list[tuple[str, str, str, int, str]] = [
    ("core|compat", "get_floatv", f"{_SPARSE}|{_PLACES}|{_CONSERVATIVE}", 26, _OURS),
    ("core|compat", "get_floatv|is_enabled", "DEPTH_(BOUNDS|CLAMP)_\\w+", 14, _OURS),
    ("core|compat", "is_enabled", "CONSERVATIVE_RASTERIZATION_NV", 2, _OURS),
    ("core|compat", "get_floatv|get_integeri_v", "MAX_COMPUTE_VARIABLE_\\w+", 4, _OURS),
    ("core|compat", "get_floatv", "PACK_REVERSE_ROW_ORDER_ANGLE|GPU_DISJOINT_EXT", 4, _OURS),
    ("core|compat", "get_floatv", "FRAGMENT_SHADER_DISCARDS_SAMPLES_EXT", 2, _OURS),
    ("compat", "get_integeri_v", "(TRANSPOSE_)?PROGRAM_MATRIX_\\w+", 3,
     "EXT_direct_state_access has it; the native GL has forgotten it"),
    ("compat", "get_integeri_v", "CURRENT_TEXTURE_COORDS|TEXTURE_(STACK_DEPTH|COORD_ARRAY_\\w+)", 6,
     "as above"),
    ("es", "get_floatv", "CLIP_DISTANCE.|MAX_CULL_DISTANCES|MAX_COMBINED_CLIP_AND_CULL_DISTANCES",
     10, "of EXT_clip_cull_distance"),
    ("es", "get_floatv", "DEPTH_CLAMP", 1, "of EXT_depth_clamp"),
]  # fmt: skip
# What the native GL alone answers; in core profiles also what ours answers in others.
THEIRS_ALONE: list[tuple[str, str, str, int, str]] = [
    ("core", "get_integeri_v", "(TRANSPOSE_)?TEXTURE_\\w+", 2, _DIRECT),
    ("es", "get_integeri_v", "(TRANSPOSE_)?TEXTURE_\\w+", 8, _DIRECT),
    (".*", "get_floatv|get_integeri_v", "NUM_DEVICE_UUIDS_EXT", 6, "of EXT_memory_object"),
    ("core|compat", "is_enabled", "SAMPLE_COVERAGE_INVERT", 2, "it is no switch (table 23.13)"),
    ("core|compat", "get_floatv", "TEXTURE_GEN_STR_OES", 2, "of OpenGL ES 1.1"),
    ("core", "get_floatv", "\\w+_ARRAY_COUNT_EXT", 6, "of compatibility profiles"),
    ("es", "get_floatv|is_enabled", "TEXTURE_EXTERNAL_OES", 2, "of OpenGL ES 1.1"),
    ("es", "get_floatv", "MAX_TEXTURE_COORDS|BLEND_SRC|CLAMP_\\w+_COLOR", 4, "of OpenGL"),
    ("es", "get_floatv", "TEXTURE_BUFFER_(DATA_STORE_BINDING|FORMAT_ARB)", 2, "of OpenGL"),
]


def answered(gl: Any) -> set[tuple[str, str]]:
    """Queries with the enumerators they know."""
    found = set()
    for kind, more in KINDS.items():
        ask = getattr(gl, kind)
        for number, name in every_enum().items():
            try:
                ask(number, *more)
            except GalletteError:
                continue
            if gl.get_error() == GL.NO_ERROR:
                found.add((kind, name))
    return found


@pytest.mark.native
def test_what_native_gl_answers_is_answered() -> None:
    unexplained = []
    counts = Counter[tuple[str, str, str, int, str]]()
    compat: set[tuple[str, str]] = set()
    for profile, version in sorted(VERSIONS.items()):  # "compat" comes first
        contexts = [
            native_context(profile=profile, version=version, size=(16, 16)),
            create_context("numpipe", profile=profile, version=version, size=(16, 16)),
        ]
        native, ours = map(answered, contexts)
        assert len(native & ours) > (700 if profile == "compat" else 250)
        if profile == "compat":
            compat = ours
        for rows, alone in ((OURS_ALONE, ours - native), (THEIRS_ALONE, native - ours)):
            for kind, name in sorted(alone):
                for row in rows:
                    if all(map(re.fullmatch, row, (profile, kind, name))):
                        counts[row] += 1
                        break
                else:
                    if not (profile == "core" and rows is THEIRS_ALONE and (kind, name) in compat):
                        unexplained.append((profile, kind, name, rows is OURS_ALONE))
        for gl in contexts:
            gl.release()
    assert unexplained == []
    assert [(row, counts[row]) for row in OURS_ALONE + THEIRS_ALONE if counts[row] != row[3]] == []


@pytest.mark.native
def test_whether_a_framebuffer_encodes() -> None:
    """EXT_framebuffer_sRGB: as the image is that is drawn to."""

    def ask(gl: Any) -> list[list[int]]:
        gl.bind_framebuffer(GL.FRAMEBUFFER, *gl.gen_framebuffers(1))
        told = [list(gl.get_booleanv(GL.FRAMEBUFFER_SRGB_CAPABLE_EXT))]
        for internal in (GL.RGBA8, GL.SRGB8_ALPHA8, GL.RGBA16F):
            (texture,) = gl.gen_textures(1)
            gl.bind_texture(GL.TEXTURE_2D, texture)
            gl.tex_storage2d(GL.TEXTURE_2D, 1, internal, 4, 4)
            image = (GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
            gl.framebuffer_texture2d(GL.FRAMEBUFFER, *image)
            assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
            told.append(list(gl.get_booleanv(GL.FRAMEBUFFER_SRGB_CAPABLE_EXT)))
        assert gl.get_error() == GL.NO_ERROR
        return told

    assert answers(ask, "compat") == ([[0], [0], [1], [0]],) * 2


def test_whether_any_colour_that_is_drawn_is_encoded() -> None:
    gl = create_context("numpipe", profile="compat", version=(4, 5), size=(16, 16))
    gl.bind_framebuffer(GL.FRAMEBUFFER, *gl.gen_framebuffers(1))
    for k, internal in enumerate((GL.RGBA8, GL.SRGB8_ALPHA8, GL.RGBA16F)):
        (texture,) = gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, internal, 4, 4)
        point = GL.COLOR_ATTACHMENT0 + k
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, texture, 0)
    for points in ((), (0,), (1,), (2,), (0, 2), (0, 1), (1, 2), (2, 3), (3, 1)):
        buffers = [GL.COLOR_ATTACHMENT0 + k for k in points] or [GL.NONE]
        gl.draw_buffers(len(buffers), buffers)
        assert gl.get_booleanv(GL.FRAMEBUFFER_SRGB_CAPABLE_EXT) == [int(1 in points)]
    assert gl.get_error() == GL.NO_ERROR
    gl.release()
