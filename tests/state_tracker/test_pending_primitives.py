"""Primitives of glBegin that wait for others are drawn as if each were drawn at its glEnd."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.context import Context

SIZE = 32
_MODES = (
    GL.POINTS, GL.LINES, GL.LINE_STRIP, GL.LINE_LOOP, GL.TRIANGLES, GL.TRIANGLE_STRIP,
    GL.TRIANGLE_FAN, GL.QUADS, GL.QUAD_STRIP, GL.POLYGON,
)  # fmt: skip


def _scene(gl: Any, seed: int) -> None:
    """Primitives of all kinds, complete or not; what is between them waits with them or not."""
    rng = random.Random(seed)

    def number() -> float:
        return rng.uniform(-1.0, 1.0)

    def some_state() -> None:
        choice = rng.randrange(8)
        if choice == 0:
            gl.color4f(*(rng.random() for _ in range(4)))
        elif choice == 1:
            gl.normal3f(number(), number(), 1.0)
        elif choice == 2:
            gl.materialfv(GL.FRONT_AND_BACK, GL.AMBIENT, [rng.random() for _ in range(4)])
        elif choice == 3:
            gl.rotatef(10.0, 0.0, 0.0, 1.0)
        elif choice == 4:
            gl.enable(rng.choice((GL.LIGHTING, GL.BLEND, GL.COLOR_MATERIAL, GL.LINE_STIPPLE)))
        elif choice == 5:
            gl.disable(rng.choice((GL.LIGHTING, GL.BLEND, GL.COLOR_MATERIAL)))
        elif choice == 6:
            gl.rectf(number(), number(), number(), number())
        else:
            gl.vertex_attrib_i4i(5, 1, 2, 3, 4)

    gl.enable(GL.LIGHT0)
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    gl.line_stipple(1, 0x5A5A)
    for _ in range(40):
        if rng.random() < 0.5:
            some_state()
        mode = rng.choice(_MODES)
        # How quads that are not flat are cut depends on whether the view cuts one of the same draw.
        reach = 0.6 if mode in (GL.QUADS, GL.QUAD_STRIP) else 1.0
        gl.begin(mode)
        for _ in range(rng.randrange(10)):
            if rng.random() < 0.4:
                gl.color3f(*(rng.random() for _ in range(3)))
            if rng.random() < 0.1:
                gl.materialfv(GL.FRONT_AND_BACK, GL.DIFFUSE, [rng.random() for _ in range(4)])
            gl.vertex3f(number() * reach, number() * reach, number())
        gl.end()


def _picture(driver: str, seed: int) -> np.ndarray[Any, Any]:
    gl = create_context(driver, profile="compat", version=(2, 1), size=(SIZE, SIZE))
    try:
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        _scene(gl, seed)
        picture = np.zeros((SIZE, SIZE, 4), np.uint8)
        gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE, picture)
        assert gl.get_error() == GL.NO_ERROR
        return picture
    finally:
        gl.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("seed", range(3))
def test_drawn_together_and_one_by_one(
    driver: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = _picture(driver, seed)
    monkeypatch.setenv("GALLETTE_STREAM", "off")
    assert (together == _picture(driver, seed)).all()
    assert len(np.unique(together.reshape(-1, 4), axis=0)) > 10


def _draws(calls: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the driver is asked to draw."""
    gl = create_context("noop", profile="compat", version=(2, 1), size=(SIZE, SIZE))
    made: list[Any] = []
    monkeypatch.setattr(type(gl.pipe), "draw_vbo", lambda pipe, info: made.append(info))
    try:
        calls(gl)
        gl.finish()
        return len(made)
    finally:
        gl.release()


def _squares(gl: Any, between: Any = None, mode: int = GL.QUADS) -> None:
    for number in range(10):
        gl.color3f(number / 10.0, 0.0, 0.0)
        gl.begin(mode)
        for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)):
            gl.vertex2f(x, y)
        gl.end()
        if between is not None:
            between(gl)


@pytest.mark.parametrize("mode", [GL.QUADS, GL.TRIANGLE_STRIP, GL.LINE_LOOP])
def test_colors_between_primitives_end_no_draw(mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _draws(lambda gl: _squares(gl, mode=mode), monkeypatch) == 1


def _lit_squares(gl: Any) -> None:
    def dye(gl: Any) -> None:
        gl.materialfv(GL.FRONT_AND_BACK, GL.AMBIENT, [next(shades), 0.5, 0.0, 1.0])
        gl.materialf(GL.FRONT, GL.SHININESS, 8.0)

    shades = iter(range(20))
    gl.enable(GL.LIGHTING)
    _squares(gl, dye, GL.POLYGON)


def _list_of_lit_squares(gl: Any) -> None:
    gl.new_list(1, GL.COMPILE)
    _lit_squares(gl)
    gl.end_list()
    gl.call_list(1)


@pytest.mark.parametrize("calls", [_lit_squares, _list_of_lit_squares])
def test_materials_between_primitives_end_no_draw(
    calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _draws(calls, monkeypatch) == 1


def test_state_between_primitives_ends_a_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    def turn(gl: Any) -> None:
        gl.rotatef(1.0, 0.0, 0.0, 1.0)

    assert _draws(lambda gl: _squares(gl, turn), monkeypatch) == 10


def test_another_context_sees_pending_primitives() -> None:
    gl: Any = create_context("numpipe", profile="compat", version=(2, 1), size=(8, 8))
    other = Context("numpipe", profile="compat", version=(2, 1), size=(8, 8), share=gl)
    try:
        name = gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_2D, name)
        gl.tex_image2d(
            GL.TEXTURE_2D, 0, GL.RGBA8, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE,
            np.zeros((8, 8, 4), np.uint8),
        )  # fmt: skip
        target = gl.gen_framebuffers(1)[0]
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, name, 0)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)
        other.bind_texture(GL.TEXTURE_2D, name)
        seen = np.zeros((8, 8, 4), np.uint8)
        other.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, seen)
        assert (seen == 255).all()
    finally:
        other.release()
        gl.release()


def test_primitives_are_pending_until_another_context_draws() -> None:
    gl: Any = create_context("numpipe", profile="compat", version=(2, 1), size=(8, 8))
    other = Context("numpipe", profile="compat", version=(2, 1), size=(8, 8), share=gl)
    try:
        gl.make_current()
        name = gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_2D, name)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        texel = np.array([255, 0, 0, 255], np.uint8)
        gl.tex_image2d(
            GL.TEXTURE_2D, 0, GL.RGBA8, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, texel
        )  # fmt: skip
        gl.enable(GL.TEXTURE_2D)
        gl.begin(GL.QUADS)
        for corner in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            gl.vertex2f(*corner)
        gl.end()
        assert gl.immediate.busy
        other.bind_texture(GL.TEXTURE_2D, name)
        other.tex_sub_image2d(
            GL.TEXTURE_2D, 0, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, texel[[1, 0, 2, 3]]
        )
        assert not gl.immediate.busy
        seen = gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE)
        assert (np.frombuffer(seen, np.uint8).reshape(-1, 4) == texel).all()
    finally:
        other.release()
        gl.release()


@pytest.mark.parametrize("filled", [False, True])
def test_a_list_draws_what_its_calls_draw(filled: bool) -> None:
    """A primitive of a list stays in a buffer; after it the color is the list's."""
    gl = create_context("numpipe", profile="compat", version=(2, 1), size=(SIZE, SIZE))
    try:
        gl.new_list(1, GL.COMPILE)
        _squares(gl)
        gl.end_list()
        pictures = []
        for way in (lambda: _squares(gl), lambda: gl.call_list(1), lambda: gl.call_list(1)):
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.color3f(0.0, 1.0, 0.0)
            way()
            if filled:
                gl.rectf(-1.0, -1.0, 0.0, 0.0)
            picture = np.zeros((SIZE, SIZE, 4), np.uint8)
            gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE, picture)
            pictures.append(picture)
            assert gl.get_floatv(GL.CURRENT_COLOR)[0] == pytest.approx(0.9)
        assert (pictures[0] == pictures[1]).all()
        assert (pictures[0] == pictures[2]).all()
    finally:
        gl.delete_lists(1, 1)
        gl.release()
