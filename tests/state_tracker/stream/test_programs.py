"""Programs that come into use within a batch: each has uniforms of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from tests.state_tracker.stream.worlds import PLAIN, VERTEX, Recorded, pending, switch_off

COLOR = """
#version 330
uniform vec4 tint; in vec2 uv; out vec4 o;
void main() { o = tint * vec4(uv, SHADE, 1.0); }
"""
RANGE = "#version 330\nin vec2 uv; out vec4 o; uniform vec4 tint;\n"
RANGE += "void main() { o = vec4(uv, gl_DepthRange.far, 1.0) * tint; }"
LARGE = "#version 330\nin vec2 uv; out vec4 o; uniform vec4 tint, more[300];\n"
LARGE += "void main() { o = vec4(uv, 0.5, 1.0) * tint + more[int(uv.x * 9.0)]; }"


class Played:
    """A world, the programs of it and others, and what it looked like after each frame."""

    def __init__(self, driver: str) -> None:
        self.world = world = Recorded(driver, 5)
        self.random = np.random.default_rng(9)
        self.programs = list(zip(world.programs, world.places, strict=True))
        self.seen: list[Any] = []
        world.gl.enable(GL.BLEND)
        world.gl.blend_func(GL.ONE, GL.ONE_MINUS_SRC_ALPHA)

    def add(self, fragment: str) -> int:
        gl = self.world.gl
        program = self.world.program_of(gl, VERTEX, fragment)
        self.programs.append((program, self.places(program)))
        return program

    def places(self, program: int) -> list[int]:
        return [self.world.gl.get_uniform_location(program, name) for name in ("place", "tint")]

    def draw(self, which: int, moves: bool = True) -> None:
        """With one of the programs, perhaps where it was last."""
        gl, (program, (place, tint)) = self.world.gl, self.programs[which]
        gl.use_program(program)
        numbers = self.random.random(8).astype(np.float32)
        numbers[:3] = numbers[:3] * 2 - 1
        if moves:
            gl.uniform4fv(place, 1, numbers[:4])
        gl.uniform4fv(tint, 1, numbers[4:])
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)

    def frame(self, *order: int, times: int = 5) -> None:
        for number, which in enumerate(order * times):
            self.draw(which, number % 4 < 3)
        self.seen += [self.world.gl.get_error(), self.world.read(0)]
        for program, places in self.programs:
            self.seen += [self.world.gl.get_uniformfv(program, place) for place in places]


@pytest.fixture(params=["numpipe", "jit"])
def both(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Played], None]], Played]:
    """Does the same with and without recording; what was seen must be the same."""
    if request.param == "jit":
        pytest.importorskip("llvmlite")

    def play(script: Callable[[Played], None]) -> Played:
        played = []
        for recorded in (True, False):
            if not recorded:
                switch_off(monkeypatch)
            played.append(Played(request.param))
            script(played[-1])
        first, second = played
        for one, other in zip(first.seen, second.seen, strict=True):
            np.testing.assert_array_equal(one, other)
        assert len(np.unique(np.frombuffer(first.seen[1], np.uint8))) > 10
        return first

    return play


def test_draws_of_alternating_programs_are_recorded(
    both: Callable[..., Played], sizes: list[int]
) -> None:
    def script(played: Played) -> None:
        for _ in range(4):
            played.frame(0, 1, 2, 1)

    both(script)
    assert sizes[-2:] == [20, 20]


def test_the_last_one_stays_in_use(both: Callable[..., Played]) -> None:
    def script(played: Played) -> None:
        gl = played.world.gl
        for last in (0, 1, 2, 0):
            played.frame(0, 1, 2)
            for which in (0, 2, 1, last):
                played.draw(which)
            played.seen.append(gl.get_integerv(GL.CURRENT_PROGRAM))
            (_, tint) = played.programs[last][1]
            gl.uniform4f(tint, 0.5, 0.25, 0.5, 1.0)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            played.seen.append(played.world.read(0))

    both(script)


def test_a_deleted_program_is_freed_when_another_is_used(both: Callable[..., Played]) -> None:
    def script(played: Played) -> None:
        gl = played.world.gl
        played.add(COLOR.replace("SHADE", "0.3"))
        for _ in range(3):
            played.frame(0, 3, 1)
        played.draw(3)
        program, places = played.programs.pop()
        gl.delete_program(program)
        for _ in range(12):  # it is still in use
            gl.uniform4f(places[1], *played.random.random(4).tolist())
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        for which in (0, 1, 0, 1, 0, 1):
            played.draw(which)
        gl.use_program(program)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 1, 4)
        played.seen += [gl.get_error(), gl.get_integerv(GL.CURRENT_PROGRAM), gl.is_program(program)]
        played.frame(0, 1)

    found = both(script)
    assert GL.INVALID_VALUE in [each for each in found.seen if isinstance(each, int)]


def test_one_that_is_linked_again_has_other_uniforms(both: Callable[..., Played]) -> None:
    def script(played: Played) -> None:
        gl = played.world.gl
        program = played.add(COLOR.replace("SHADE", "0.3"))
        shader = program + 2  # made behind it, and behind the vertex shader
        for other in (PLAIN, COLOR.replace("SHADE", "0.9").replace("vec4 tint", "vec4 a, b, tint")):
            for _ in range(3):
                played.frame(0, 3, 1)
            gl.shader_source(shader, other)
            gl.compile_shader(shader)
            gl.link_program(program)
            played.programs[3] = program, played.places(program)
        played.frame(0, 3, 1)
        gl.shader_source(shader, "nonsense")
        gl.compile_shader(shader)
        played.frame(0, 3, 1)
        gl.link_program(program)
        played.frame(0, 1)
        for which in (1, 0, 1, 0):
            played.draw(which)
        gl.use_program(program)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 1, 4)
        played.seen += [gl.get_error(), played.world.read(0)]

    assert both(script).seen[-2] == GL.INVALID_OPERATION


@pytest.mark.parametrize("fragment", [RANGE, LARGE])
def test_some_are_not_recorded(both: Callable[..., Played], fragment: str) -> None:
    """What the state tracker fills in for them may change, or there is too much of it."""

    def script(played: Played) -> None:
        gl = played.world.gl
        played.add(fragment)
        for far in (0.25, 0.75):
            played.frame(0, 1, 0, 1)
            gl.depth_range(0.0, far)
            played.frame(0, 3, 1, 3)
            played.frame(3, times=12)

    both(script)


def test_there_may_be_many(both: Callable[..., Played]) -> None:
    def script(played: Played) -> None:
        for number in range(40):
            played.add(COLOR.replace("SHADE", f"0.{number:02}"))
        for _ in range(3):
            played.frame(*range(43), times=2)

    both(script)


def test_units_and_blocks_of_others_may_change(both: Callable[..., Played]) -> None:
    """Of those that are not in use when recording begins."""

    def script(played: Played) -> None:
        world, gl = played.world, played.world.gl
        textured, plain = world.programs[:2]
        gl.active_texture(GL.TEXTURE1)
        gl.bind_texture(GL.TEXTURE_2D, world.textures[1])
        gl.active_texture(GL.TEXTURE0)
        gl.bind_buffer_base(GL.UNIFORM_BUFFER, 1, world.paints[1])
        for number in range(4):
            gl.use_program(textured)
            gl.uniform1i(gl.get_uniform_location(textured, "image"), number % 2)
            gl.uniform_block_binding(plain, 0, number // 2)
            for _ in range(2):
                played.frame(2, 0, 1)

    both(script)


def test_names_from_some_on_are_not_recorded(both: Callable[..., Played]) -> None:
    def script(played: Played) -> None:
        gl = played.world.gl
        for _ in range(1100):
            gl.create_shader(GL.VERTEX_SHADER)
        assert played.add(COLOR.replace("SHADE", "0.3")) > 1024
        for _ in range(3):
            played.frame(0, 3, 1)
            played.frame(3, times=9)

    both(script)


def test_none_in_use_is_left_to_python(both: Callable[..., Played]) -> None:
    def script(played: Played) -> None:
        gl = played.world.gl
        for _ in range(3):
            played.frame(0, 1)
            gl.use_program(0)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            played.seen += [gl.get_error(), gl.get_integerv(GL.CURRENT_PROGRAM)]

    both(script)


def test_other_calls_read_the_uniforms_set_before_them(
    both: Callable[..., Played],
) -> None:
    """They are made the long way; what was set behind them is set afterwards."""

    def script(played: Played) -> None:
        gl = played.world.gl
        for count in (3, 5, 1, 2):
            gl.clear(GL.COLOR_BUFFER_BIT)
            for which in (0, 1, 2, 0, 1, 2, 1, 0):
                played.draw(which)
            for which in (0, 2, 1):
                played.draw(which)
                gl.draw_arrays((GL.TRIANGLE_STRIP, GL.LINES)[count < 3], 0, count)
                gl.uniform4f(played.programs[which][1][1], *played.random.random(4).tolist())
            played.frame()

    both(script)


def test_recording_continues_when_another_is_used() -> None:
    played = Played("numpipe")
    for _ in range(3):
        played.frame(0, 1, 2)
    for which in (0, 0, 0, 0, 0, 1, 2, 1):
        played.draw(which)
        began = pending()
    assert began
    played.world.gl.release()
