"""Vertices, matrices and lists that C calls in the compatibility profile: as one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.entry_points import machine_code
from gallette.state_tracker.optional.compatibility import (
    immediate,
    recorded_draws,
    recorded_lists,
)
from gallette.state_tracker.vertices import vertex_input
from tests.state_tracker.helpers import linked
from tests.state_tracker.stream.old_programs import (
    SHADED,
    SIZE,
    ArraySprites,
    BufferSprites,
    Listing,
    Nested,
    Old,
    Saving,
    Shaded,
    Sprites,
    Tracking,
)
from tests.state_tracker.stream.worlds import pending, switch_off

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there is a command stream on x86-64 with Linux only"
)


def compared(
    kind: type[Old],
    driver: str,
    seed: int,
    patch: pytest.MonkeyPatch,
    sizes: list[int],
    known: int = 1,
) -> list[Any]:
    """The pictures of a program, which are those without commands; at least `known` draws are."""
    runs = []
    for records in (True, False):
        if not records:
            assert sum(sizes) >= known
            switch_off(patch)
        old = kind(driver, seed)
        runs.append((old.run(), old.told))
        old.context.release()
    (pictures, told), (others, others_told) = runs
    for picture, other in zip(pictures, others, strict=True):
        np.testing.assert_array_equal(picture, other)
    assert told == others_told
    return pictures


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_recorded_vertices_and_lists_look_like_others(
    driver: str, seed: int, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    if seed == 2:
        monkeypatch.setattr(recorded_lists, "_MOST_CALLS", 40)
    pictures = compared(Old, driver, seed, monkeypatch, sizes, 60)
    assert all(len(np.unique(picture)) > 2 for picture in pictures)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_recorded_sprites_look_like_others(
    driver: str, seed: int, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    if seed == 2:  # buffers are full, and released
        monkeypatch.setattr(recorded_draws, "_ROOM", 1 << 15)
        monkeypatch.setattr(recorded_draws, "_MOST_ROOMS", 2)
    compared(Sprites, driver, seed, monkeypatch, sizes)


@pytest.mark.parametrize("kind", [ArraySprites, Shaded])
@pytest.mark.parametrize("seed", range(1, 3))
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_draws_from_client_arrays_look_like_others(
    driver: str, seed: int, kind: Any, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    compared(kind, driver, seed, monkeypatch, sizes)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_lists_compiled_from_recorded_calls_look_like_others(
    driver: str, seed: int, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    compared(Listing, driver, seed, monkeypatch, sizes, 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_draws_from_buffers_look_like_others(
    driver: str, seed: int, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    if seed == 2:
        monkeypatch.setattr(vertex_input, "_MOST_CONSTANT", 4)
    compared(BufferSprites, driver, seed, monkeypatch, sizes)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_sprites_that_leave_the_picture_stay_known(driver: str, sizes: list[int]) -> None:
    old = Old(driver, 1)
    for _ in range(3):
        sizes.clear()
        for step in range(40):
            old.gl.scissor(0, 0, 32 + step % 2, 64)
            old.gl.push_matrix()
            old.gl.translatef(0.05 * step, 0.0, 0.0)
            old.gl.begin(GL.QUADS)
            for x, y in ((0, 0), (0.2, 0), (0.2, 0.2), (0, 0.2)):
                old.gl.vertex2f(x, y)
            old.gl.end()
            old.gl.pop_matrix()
        old.gl.finish()
    assert sum(sizes) == 40
    old.context.release()


@pytest.mark.parametrize("shaded", [False, True])
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_draws_from_client_arrays_are_known(driver: str, shaded: bool, sizes: list[int]) -> None:
    old = Old(driver, 1)
    gl, indices = old.gl, np.array([0, 1, 2, 2, 1, 3], np.uint16)
    if shaded:
        plain = "void main() { gl_FragColor = gl_Color; }"
        linked(old.context, vertex=SHADED, fragment=plain)
    memory = np.zeros((4, 5), np.float32)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.enable_client_state(GL.COLOR_ARRAY)
    for frame in range(3):
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.finish()
        sizes.clear()
        for step in range(40):
            memory[:, :2] = np.array([[0, 0], [1, 0], [0, 1], [1, 1]]) * 0.1 + 0.02 * step
            memory[:, 2:] = step / 40.0
            gl.vertex_pointer(2, GL.FLOAT, 20, memory.ctypes.data)
            gl.color_pointer(3, GL.FLOAT, 20, memory.ctypes.data + 8)
            gl.scissor(0, 0, 60 + step % 2, 64)
            if step % 4 < 2:
                gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            else:
                gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, indices.ctypes.data)
        gl.finish()
        assert sum(sizes) == 40 or not frame
    picture = np.frombuffer(gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.UNSIGNED_BYTE), np.uint8)
    assert picture.reshape(SIZE, SIZE)[59, 59] == 242  # of the last draw but one: 38 / 40
    old.context.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_draws_from_buffers_are_known(driver: str, sizes: list[int]) -> None:
    """Between them matrices, colours, materials and arrays change, and lights between frames."""
    old = BufferSprites(driver, 1)
    gl = old.gl
    gl.enable(GL.LIGHTING)
    for frame in range(4):
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.lightfv(GL.LIGHT0, GL.POSITION, np.array([frame, 1, 1, 1], np.float32))
        gl.finish()
        sizes.clear()
        for step in range(40):
            gl.push_matrix()
            gl.translatef(0.02 * step, 0.0, 0.0)
            gl.color3f(step % 4 / 4.0, 0.5, 1.0)
            gl.materialfv(GL.FRONT, GL.DIFFUSE, np.array([step / 40, 0, 1, 1], np.float32))
            gl.client_active_texture(GL.TEXTURE0 + step % 2)
            gl.bind_buffer(GL.ARRAY_BUFFER, old.buffers[step % 3])
            gl.tex_coord_pointer(2, GL.FLOAT, 0, 8 * (step % 2))
            if step % 4 < 2:
                gl.draw_arrays(GL.TRIANGLES, step % 6, 6)
            else:
                gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 12)
            gl.pop_matrix()
        gl.finish()
        assert sum(sizes) == 40 or frame < 2
    old.context.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_primitives_beside_draws_from_buffers_read_their_own_vertices(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = []
    for records in (True, False):
        if not records:
            switch_off(monkeypatch)
        old = BufferSprites(driver, 1)
        gl = old.gl
        for _ in range(3):
            gl.clear(GL.COLOR_BUFFER_BIT)
            for step in range(12):
                gl.translatef(0.05, 0.0, 0.0)
                gl.color3f(step / 12, 1.0, 0.5)
                gl.begin(GL.TRIANGLES)
                for corner in ((-1, 1), (-0.75, 1), (-1, 0.75)):
                    gl.vertex2f(*corner)
                gl.end()
                gl.draw_arrays(GL.TRIANGLES, 0, 6)
            gl.load_identity()
            pictures.append(old.look().copy())
        old.context.release()
    for picture, other in zip(pictures[:3], pictures[3:], strict=True):
        np.testing.assert_array_equal(picture, other)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_a_primitive_between_two_batches_leaves_draws_known(driver: str, sizes: list[int]) -> None:
    old = Old(driver, 1)
    gl, count = old.gl, 2500  # of 9 calls: a batch ends within one
    for frame in range(2):
        gl.finish()
        sizes.clear()
        for step in range(count):
            gl.push_matrix()
            gl.translatef(step / count, 0.0, 0.0)
            gl.color3f(1.0, step / count, 0.0)
            gl.begin(GL.TRIANGLES)
            for corner in ((0.0, 0.0), (0.1, 0.0), (0.0, 0.1)):
                gl.vertex2f(*corner)
            gl.end()
            gl.pop_matrix()
        gl.finish()
        assert sum(sizes) > count - 20 or not frame
    old.context.release()


def test_matrices_without_effect_leave_draws_known(sizes: list[int]) -> None:
    old = Old("jit", 1)
    gl = old.gl
    for frame in range(40):
        gl.finish()
        sizes.clear()
        gl.push_matrix()  # never popped: from the 32nd frame on the stack is full
        for step in range(16):
            gl.load_identity()
            gl.translatef(step / 16.0, 0.0, 0.0)
            gl.rectf(0.0, 0.0, 0.1, 0.1)
        gl.finish()
        assert sum(sizes) == 16 or not frame
    assert gl.get_error() == GL.STACK_OVERFLOW
    old.context.release()


def test_what_no_draw_consists_of_leaves_draws_known(sizes: list[int]) -> None:
    """An end without a beginning, which is an error, and a switch of what depends on the colour."""
    old = Old("jit", 1)
    gl = old.gl
    for frame in range(4):
        gl.finish()
        sizes.clear()
        for step in range(24):
            gl.load_identity()
            gl.translatef(step / 16.0, 0.0, 0.0)
            gl.rectf(0.0, 0.0, 0.1, 0.1)
            if step == 7:
                gl.end()
            if step in (12, 16):
                (gl.enable if step == 12 else gl.disable)(GL.COLOR_MATERIAL)
        gl.finish()
        assert sum(sizes) >= 16 or frame < 2
        assert gl.get_error() == GL.INVALID_OPERATION
    old.context.release()


def test_colours_outside_primitives_are_set_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside an end without a beginning, too."""
    made: list[int] = []
    every = immediate.set_current
    monkeypatch.setattr(immediate, "set_current", lambda *args: [made.append(1), every(*args)])
    old = Old("jit", 1)
    for step in range(200):
        old.gl.color4ub(step, 0, 0, 255)
    old.gl.end()
    for step in range(200):
        old.gl.color4ub(0, step, 0, 255)
    assert old.gl.get_error() == GL.INVALID_OPERATION
    assert old.gl.get_floatv(GL.CURRENT_COLOR)[:2] == [0.0, pytest.approx(199 / 255)]
    assert len(made) < 100
    old.context.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_lists_with_the_current_colour_are_a_series(driver: str, sizes: list[int]) -> None:
    """Lists of shapes have no colours; one that sets the colour ends a series."""
    old = Old(driver, 1)
    gl, lists = old.gl, old.gl.gen_lists(3)
    for number in range(3):
        gl.new_list(lists + number, GL.COMPILE)
        gl.begin(GL.TRIANGLE_FAN)
        for x, y in ((0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)):
            if number == 2:
                gl.color3f(0.0, 1.0, 0.0)
            gl.vertex2f(x, y)
        gl.end()
        gl.end_list()
    for frame in range(3):
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.finish()
        sizes.clear()
        gl.color3f(1.0, 0.0, 0.0)
        for step in range(60):
            gl.push_matrix()
            gl.translatef(-0.95 + 0.03 * step, 0.0, 0.0)
            gl.call_list(lists + (2 if step == 30 else step % 2))
            gl.pop_matrix()
        gl.finish()
        assert sum(sizes) > 50 or not frame
    row = np.frombuffer(gl.read_pixels(0, 33, SIZE, 1, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    seen = row.reshape(SIZE, 4)[:, :3]
    assert (seen[4] == (255, 0, 0)).all() and (seen[60] == (0, 255, 0)).all()
    old.context.release()


def test_materials_that_follow_the_colour_are_those_of_each_draw(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    pictures = compared(Tracking, "jit", 0, monkeypatch, sizes, 0)
    assert len(np.unique(pictures[-1])) > 16


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_lists_in_lists_look_like_others(
    driver: str, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    pictures = compared(Nested, driver, 1, monkeypatch, sizes, 0)
    assert all(len(np.unique(picture)) > 2 for picture in pictures)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_restored_states_look_like_others(
    driver: str, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    compared(Saving, driver, 1, monkeypatch, sizes, 1000)


WRONG: dict[str, Callable[[Any], None]] = {
    "an end without a begin": lambda gl: gl.end(),
    "a begin in a primitive": lambda gl: [gl.begin(GL.POINTS), gl.begin(GL.POINTS), gl.end()],
    "no primitive": lambda gl: [gl.begin(77), gl.vertex2f(0.0, 0.0)],
    "no unit": lambda gl: gl.multi_tex_coord2f(77, 0.0, 0.0),
    "an empty stack": lambda gl: gl.pop_matrix(),
    "a full stack": lambda gl: [gl.push_matrix() for _ in range(40)],
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_among_many_recorded_calls_are_those_of_calls_one_by_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []
    for records in (True, False):
        if not records:
            switch_off(monkeypatch)
        old = Old("numpipe", 1)
        old.primitives(40)
        old.scene(40, (0, 2))
        WRONG[name](old.gl)
        old.primitives(40)
        old.scene(40, (0, 2))
        assert pending() == records
        found.append((old.gl.get_error(), old.look().tolist(), old.told[:2]))
        old.context.release()
    assert found[0] == found[1]
    assert found[0][0] != GL.NO_ERROR


def test_a_null_pointer_is_no_command() -> None:
    old = Old("numpipe", 1)
    old.primitives(40)
    assert pending()
    old.gl.vertex3fv(None)
    assert not pending()
    old.context.release()
