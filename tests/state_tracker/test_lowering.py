"""Caps decide who lowers: what a driver leaves to the tracker looks the same afterwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir.ownership import COUNTERS
from gallette.pipe.caps import Caps
from gallette.pipe.interface import Screen
from gallette.pipe.loader import create_screen
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker import context as context_module
from tests.state_tracker.helpers import compiled, errors, pixels
from tests.state_tracker.test_compatibility import (
    alpha_tested,
    clipped,
    immediate,
    lit,
    two_sided,
)

LOWERED = [f.name for f in dataclasses.fields(Caps) if f.name.startswith("lower_")]


def flat(gl: Any) -> None:
    gl.shade_model(GL.FLAT)
    immediate(gl)


def clamp_wrapped(gl: Any) -> None:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    data = np.random.default_rng(3).integers(0, 256, (8, 8, 4), np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    for pname in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.CLAMP)
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
    gl.enable(GL.TEXTURE_2D)
    gl.begin(GL.QUADS)
    for s, t in ((0, 0), (1, 0), (1, 1), (0, 1)):
        gl.tex_coord2f(2 * s - 0.5, 2 * t - 0.5)
        gl.vertex2f(1.6 * s - 0.8, 1.6 * t - 0.8)
    gl.end()


def sprites(gl: Any) -> None:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    data = np.random.default_rng(4).integers(0, 256, (4, 4, 4), np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
    gl.enable(GL.TEXTURE_2D)
    gl.enable(GL.POINT_SPRITE)
    gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, 1)
    gl.point_size(20.0)
    gl.begin(GL.POINTS)
    gl.vertex2f(0.0, 0.0)
    gl.end()
    gl.tex_coord2f(0.3, 0.3)
    gl.rectf(0.5, 0.5, 0.9, 0.9)


def bright(gl: Any) -> None:
    """Colours beyond 1, clamped at the vertices: halfway they would differ."""
    gl.begin(GL.TRIANGLES)
    for color, vertex in (((4, 0, 0), (-0.9, -0.8)), ((0, 3, 0), (0.9, -0.6)), ((0, 0, 2), (0, 1))):
        gl.color3f(*color)
        gl.vertex2f(*vertex)
    gl.end()


def alpha_of_bytes(gl: Any) -> None:
    """Beyond 1, without clamping: what counts is what a byte would store."""
    gl.clamp_color(GL.CLAMP_VERTEX_COLOR, GL.FALSE)
    gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, GL.FALSE)
    gl.enable(GL.ALPHA_TEST)
    gl.alpha_func(GL.EQUAL, 1.0)
    gl.color4f(1.0, 0.5, 0.25, 1.5)
    gl.rectf(-0.5, -0.5, 0.5, 0.5)


SCENES = (
    alpha_of_bytes,
    alpha_tested,
    clipped,
    lit,
    two_sided,
    flat,
    clamp_wrapped,
    sprites,
    bright,
)


def lowering_screen(driver: str, **options: Any) -> Screen:
    """A numpipe that claims to do none of it itself."""
    screen = create_screen(driver, **options)
    screen.caps = dataclasses.replace(screen.caps, **dict.fromkeys(LOWERED, True))
    return screen


def drawn(scene: Callable[[Any], None]) -> np.ndarray[Any, Any]:
    gl = create_context("numpipe", profile="compat", version=(2, 1), size=(64, 64))
    scene(gl)
    assert errors(gl) == []
    image = pixels(gl).copy()
    gl.release()
    return image


@pytest.mark.parametrize("scene", SCENES, ids=[s.__name__ for s in SCENES])
def test_lowered_scenes_look_the_same(
    scene: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = drawn(scene)
    assert plain.any()
    monkeypatch.setattr(context_module, "create_screen", lowering_screen)
    lowered = drawn(scene)
    difference = np.abs(plain.astype(int) - lowered.astype(int))
    assert difference.max() <= 1


def test_a_shader_is_cloned_only_for_a_key_that_lowers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_module, "create_screen", lowering_screen)
    gl: GLInterface = create_context("noop", profile="compat", version=(2, 1), size=(8, 8))
    name = gl.create_program()
    fragment = "void main() { gl_FragColor = gl_Color; }\n"
    gl.attach_shader(name, compiled(gl, GL.FRAGMENT_SHADER, fragment))
    gl.link_program(name)
    gl.use_program(name)
    before = COUNTERS.cloned
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.flush()
    clamping = COUNTERS.cloned - before  # vertex colours are clamped by default
    assert clamping == 1
    gl.shade_model(GL.FLAT)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.shade_model(GL.SMOOTH)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.shade_model(GL.FLAT)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.flush()
    assert COUNTERS.cloned - before == clamping + 1
    gl.release()
