"""Queries whose answers depend on an index, and errors of pixel types, as in OpenGL 4.6."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface
from tests.state_tracker.differential import answers
from tests.state_tracker.helpers import errors

UNIT = 3
TARGETS = (
    "1D", "2D", "3D", "1D_ARRAY", "2D_ARRAY", "RECTANGLE", "CUBE_MAP", "CUBE_MAP_ARRAY", "BUFFER",
    "2D_MULTISAMPLE", "2D_MULTISAMPLE_ARRAY",
)  # fmt: skip
TYPES = (
    "UNSIGNED_BYTE", "FLOAT", "UNSIGNED_INT_24_8", "FLOAT_32_UNSIGNED_INT_24_8_REV",
    "UNSIGNED_INT_8_8_8_8", "UNSIGNED_INT_10_10_10_2", "UNSIGNED_SHORT_5_6_5",
    "UNSIGNED_INT_10F_11F_11F_REV",
)  # fmt: skip


def bindings(gl: GLInterface) -> list[Any]:
    """What each unit has, while another one is active."""
    gl.active_texture(GL.TEXTURE0 + UNIT)
    for name in TARGETS:
        gl.bind_texture(getattr(GL, f"TEXTURE_{name}"), gl.gen_textures(1)[0])
    gl.bind_sampler(UNIT, gl.gen_samplers(1)[0])
    gl.active_texture(GL.TEXTURE0)
    names = [getattr(GL, f"TEXTURE_BINDING_{name}") for name in TARGETS] + [GL.SAMPLER_BINDING]
    answers: list[Any] = [
        [gl.get_integeri_v(name, unit)[0] > 0 for unit in (0, UNIT)] for name in names
    ]
    for name in names:
        gl.get_integeri_v(name, 1 << 20)
        answers.append(errors(gl))
    return answers


def depth_and_stencil(gl: GLInterface) -> list[Any]:
    """Each type with the format of depth and stencil: read, uploaded, read back."""
    answers: list[Any] = []
    for format in (GL.DEPTH24_STENCIL8, GL.DEPTH_COMPONENT24):
        gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
        gl.tex_storage2d(GL.TEXTURE_2D, 1, format, 4, 4)
        for name in TYPES:
            kind = getattr(GL, name)
            calls: tuple[Callable[[], Any], ...] = (
                lambda k=kind: gl.read_pixels(0, 0, 1, 1, GL.DEPTH_STENCIL, k),  # type: ignore[misc]
                lambda k=kind: gl.get_tex_image(GL.TEXTURE_2D, 0, GL.DEPTH_STENCIL, k),  # type: ignore[misc]
            )
            for call in calls:
                call()
                answers.append(errors(gl))
    return answers


def sampler_state_of_samples(gl: GLInterface) -> list[Any]:
    gl.bind_texture(GL.TEXTURE_2D_MULTISAMPLE, gl.gen_textures(1)[0])
    answers = []
    for name, value in (
        ("MIN_FILTER", GL.NEAREST), ("MAG_FILTER", GL.NEAREST), ("WRAP_S", GL.CLAMP_TO_EDGE),
        ("COMPARE_MODE", GL.NONE), ("COMPARE_FUNC", GL.LESS), ("BASE_LEVEL", 0),
        ("BASE_LEVEL", 1), ("MAX_LEVEL", 3), ("SWIZZLE_R", GL.ONE),
    ):  # fmt: skip
        gl.tex_parameteri(GL.TEXTURE_2D_MULTISAMPLE, getattr(GL, f"TEXTURE_{name}"), value)
        answers.append(errors(gl))
    return answers


def separable_and_spirv(gl: GLInterface) -> list[Any]:
    program = gl.create_program()
    gl.program_parameteri(program, GL.PROGRAM_SEPARABLE, 1)
    answers: list[Any] = [gl.get_programiv(program, GL.PROGRAM_SEPARABLE)]
    (count,) = gl.get_integerv(GL.NUM_SPIR_V_EXTENSIONS)
    names = sorted(gl.get_stringi(GL.SPIR_V_EXTENSIONS, i) for i in range(count))
    gl.get_stringi(GL.SPIR_V_EXTENSIONS, count)
    return [*answers, names, errors(gl)]


@pytest.mark.native
@pytest.mark.parametrize(
    "ask", [bindings, depth_and_stencil, sampler_state_of_samples, separable_and_spirv]
)
def test_answers_are_native_gls(ask: Callable[[Any], list[Any]]) -> None:
    native, ours = answers(ask)
    assert ours == native
