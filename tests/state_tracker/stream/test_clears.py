"""Clears are commands like the draws around them, and so is the state that is set before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.entry_points import machine_code
from tests.state_tracker.stream.worlds import SIZE, Recorded, draw, pending

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there is a command stream on x86-64 with Linux only"
)

NAN = float("nan")


def to_an_image(world: Recorded, used: list[int], kind: int = GL.RGBA8) -> list[int]:
    """Draw to a framebuffer of two images; answers its name and another's."""
    gl = world.gl
    names: list[int] = gl.gen_framebuffers(2)
    for name in reversed(names):
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        for number, texture in enumerate(gl.gen_textures(2)):
            gl.bind_texture(GL.TEXTURE_2D, texture)
            gl.tex_storage2d(GL.TEXTURE_2D, 1, kind, SIZE, SIZE)
            place = GL.COLOR_ATTACHMENT0 + number
            gl.framebuffer_texture2d(GL.FRAMEBUFFER, place, GL.TEXTURE_2D, texture, 0)
    gl.bind_texture(GL.TEXTURE_2D, world.textures[0])
    gl.draw_buffers(len(used), used)
    return names


FIRST, SECOND = GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT1

SO_ALREADY: dict[str, Callable[[Any, list[int]], None]] = {
    "framebuffer": lambda gl, names: gl.bind_framebuffer(GL.FRAMEBUFFER, names[0]),
    "framebuffer to draw to": lambda gl, names: gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, names[0]),
    "draw buffers": lambda gl, names: gl.draw_buffers(3, [FIRST, 0, SECOND]),
    "colour mask": lambda gl, names: gl.color_mask(1, 2, 4, 8),
    "colour mask of one": lambda gl, names: gl.color_maski(7, 255, 128, 64, 32),
    "depth mask": lambda gl, names: gl.depth_mask(128),
}

OTHERWISE: dict[str, tuple[Callable[[Any, list[int]], None], int, list[int]]] = {
    "framebuffer": (
        lambda gl, names: gl.bind_framebuffer(GL.FRAMEBUFFER, names[1]),
        *(GL.READ_FRAMEBUFFER_BINDING, [2]),
    ),
    "framebuffer to read": (
        lambda gl, names: gl.bind_framebuffer(GL.READ_FRAMEBUFFER, names[1]),
        *(GL.READ_FRAMEBUFFER_BINDING, [2]),
    ),
    "fewer draw buffers": (
        lambda gl, names: gl.draw_buffers(2, [FIRST, 0]),
        *(GL.DRAW_BUFFER2, [0]),
    ),
    "other draw buffers": (
        lambda gl, names: gl.draw_buffers(3, [FIRST, SECOND, 0]),
        *(GL.DRAW_BUFFER1, [SECOND]),
    ),
    "the last draw buffer": (
        lambda gl, names: gl.draw_buffers(3, [FIRST, 0, 0]),
        *(GL.DRAW_BUFFER2, [0]),
    ),
    **{
        f"colour mask {number}": (
            lambda gl, names, number=number: gl.color_mask(*(number != each for each in range(4))),
            *(GL.COLOR_WRITEMASK, [number != each for each in range(4)]),
        )
        for number in range(4)
    },
    **{
        f"colour mask of one {number}": (
            lambda gl, names, number=number: gl.color_maski(
                0, *(number != each for each in range(4))
            ),
            *(GL.COLOR_WRITEMASK, [number != each for each in range(4)]),
        )
        for number in range(4)
    },
    "depth mask": (lambda gl, names: gl.depth_mask(0), GL.DEPTH_WRITEMASK, [0]),
}


@pytest.mark.parametrize("name", SO_ALREADY)
def test_what_is_so_already_is_left_out(name: str, world: Recorded) -> None:
    names = to_an_image(world, [FIRST, GL.NONE, SECOND])
    draw(world, 600)
    assert pending()
    SO_ALREADY[name](world.gl, names)
    assert pending()


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_otherwise_is_set(name: str, world: Recorded) -> None:
    names = to_an_image(world, [FIRST, GL.NONE, SECOND])
    draw(world, 600)
    assert pending()
    call, asked, expected = OTHERWISE[name]
    call(world.gl, names)
    found = world.gl.get_integerv(asked)
    assert found == ([names[1]] if "framebuffer" in name else expected)
    assert world.gl.get_error() == GL.NO_ERROR


def test_framebuffers_that_are_not_complete_are_not_recorded(world: Recorded) -> None:
    gl, (one, two) = world.gl, world.targets[:2]
    gl.bind_framebuffer(GL.FRAMEBUFFER, one)
    draw(world, 600)
    gl.bind_framebuffer(GL.FRAMEBUFFER, two)
    draw(world, 600)
    assert pending()
    gl.bind_framebuffer(GL.FRAMEBUFFER, one)
    draw(world, 1)
    assert pending()
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, FIRST, GL.TEXTURE_2D, 0, 0)
    gl.bind_framebuffer(GL.FRAMEBUFFER, two)
    draw(world, 600)
    gl.bind_framebuffer(GL.FRAMEBUFFER, one)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert gl.get_error() == GL.INVALID_FRAMEBUFFER_OPERATION
    gl.bind_framebuffer(GL.FRAMEBUFFER, two)
    gl.delete_framebuffers(1, [one])
    draw(world, 600)
    assert pending()
    gl.bind_framebuffer(GL.FRAMEBUFFER, one)
    assert gl.get_error() == GL.INVALID_OPERATION


def test_only_the_framebuffer_that_is_read_too_is_bound_already(world: Recorded) -> None:
    gl, names = world.gl, to_an_image(world, [FIRST])
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, names[1])
    draw(world, 600)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, names[0])
    assert pending()
    gl.bind_framebuffer(GL.FRAMEBUFFER, names[0])
    assert gl.get_integerv(GL.READ_FRAMEBUFFER_BINDING) == [names[0]]


def test_masks_that_differ_are_not_those_of_all(world: Recorded) -> None:
    gl = world.gl
    gl.color_maski(2, 0, 1, 1, 1)
    draw(world, 600)
    gl.color_maski(2, 0, 1, 1, 1)
    gl.color_maski(1, 1, 1, 1, 1)
    assert pending()
    gl.color_mask(1, 1, 1, 1)
    assert gl.get_booleani_v(GL.COLOR_WRITEMASK, 2) == [1, 1, 1, 1]


def test_clear_values_are_current_for_every_reader(world: Recorded) -> None:
    gl = world.gl
    gl.clear_color(0.25, -2.0, 1e30, 0.5)
    gl.clear_depth(0.375)
    gl.clear_stencil(-3)
    assert pending()
    assert gl.get_floatv(GL.COLOR_CLEAR_VALUE) == [0.25, -2.0, float(np.float32(1e30)), 0.5]
    assert gl.get_doublev(GL.DEPTH_CLEAR_VALUE) == [0.375]
    assert gl.get_integerv(GL.STENCIL_CLEAR_VALUE) == [-3]
    draw(world, 600)
    gl.clear_depthf(0.125)
    gl.clear_stencil(7)
    assert pending()
    assert gl.get_doublev(GL.DEPTH_CLEAR_VALUE) == [0.125]
    assert gl.get_integerv(GL.STENCIL_CLEAR_VALUE) == [7]
    assert gl.get_floatv(GL.COLOR_CLEAR_VALUE)[0] == 0.25


@pytest.mark.parametrize("value", [-0.0, -1e-30, 1.0000000000000002, 2.0, -5.0, NAN, float("inf")])
@pytest.mark.parametrize("name", ["clear_depth", "clear_depthf"])
def test_depth_is_limited(name: str, value: float, world: Recorded) -> None:
    gl = world.gl
    draw(world, 600)
    assert pending()
    getattr(gl, name)(value)
    found = gl.get_doublev(GL.DEPTH_CLEAR_VALUE)
    getattr(gl, name)(0.5)
    getattr(world.plain, name)(value)
    assert found == gl.get_doublev(GL.DEPTH_CLEAR_VALUE)
    assert 0.0 <= found[0] <= 1.0


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("value", [NAN, -NAN, float("inf"), float("-inf")])
def test_colours_that_are_no_numbers(value: float, place: int, world: Recorded) -> None:
    gl = world.gl
    color = [0.5] * 4
    color[place] = value
    draw(world, 600)
    gl.clear_color(*color)
    found = gl.get_floatv(GL.COLOR_CLEAR_VALUE)
    world.plain.clear_color(*color)
    np.testing.assert_array_equal(found, gl.get_floatv(GL.COLOR_CLEAR_VALUE))


def test_a_colour_that_is_no_float_is_kept(world: Recorded) -> None:
    """Integers, and numbers Python has given: what they clear to is not rounded."""
    gl = world.gl
    for color in ((0.1, 0.2, 0.3, 0.4), (1, 2, 3, 4), (1e300, 0.0, 0.0, 1.0)):
        gl.finish()
        world.plain.fragment.clear_color = color
        draw(world, 600)
        assert pending()
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.finish()
        assert world.plain.fragment.clear_color == color
