"""Calls that are recorded without Python do what they do one by one, and nobody can tell."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.drawing import replays
from gallette.state_tracker.drawing.replays import Replays
from gallette.state_tracker.entry_points import abi, machine_code, recording
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from tests.state_tracker.test_repeats import SIZE, World

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="calls are recorded on x86-64 with Linux only"
)

THROUGH_C = (
    *("use_program", "bind_vertex_array", "active_texture", "bind_texture", "enable", "disable"),
    *("uniform4fv", "uniform4f", "draw_arrays", "draw_arrays_instanced", "draw_elements"),
    *("draw_elements_instanced", "bind_sampler"),
)


class Through:
    """A context some of whose functions are called through their C pointers."""

    def __init__(self, gl: Any) -> None:
        self._gl = gl
        for name in THROUGH_C:
            function = FUNCTIONS.method(name)
            address = gl.load_opengl_function(function.c_name)
            pointer = ctypes.CFUNCTYPE(function.restype, *function.argtypes)(address)
            setattr(self, name, self._call(pointer))

    @staticmethod
    def _call(pointer: Any) -> Callable[..., None]:
        def call(*args: Any) -> None:
            pointer(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in args])

        return call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gl, name)


class Recorded(World):
    """The same as a C program."""

    def __init__(self, driver: str, seed: int) -> None:
        super().__init__(driver, seed, True)
        self.plain, self.gl = self.gl, Through(self.gl)

    def draw(self) -> None:
        gl, random = self.gl, self.random
        if random.random() < 0.9:
            place = np.append(random.uniform(-1, 1, 3), random.uniform(0.1, 0.3))
            gl.uniform4fv(self.place, 1, place.astype(np.float32))
        (gl.uniform4fv if random.random() < 0.98 else self.one_by_one)(
            self.tint, 1, self.numbers(4)
        )
        how = random.random()
        if how < 0.2:
            gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0)
        elif how < 0.3:
            gl.draw_elements_instanced(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0, 2)
        elif how < 0.6:
            gl.draw_arrays_instanced(GL.TRIANGLE_STRIP, int(random.integers(2)), 4, 1)
        else:
            gl.draw_arrays(GL.TRIANGLE_STRIP, int(random.integers(2)), 4)

    def one_by_one(self, location: int, count: int, values: Any) -> None:
        self.gl.uniform4f(location, *values.tolist())

    def bind(self) -> None:
        super().bind()
        self.gl.active_texture(GL.TEXTURE1)
        self.gl.bind_texture(GL.TEXTURE_2D, self.pick(self.textures))
        self.gl.active_texture(GL.TEXTURE0)


@pytest.fixture(autouse=True)
def nothing_is_forgotten() -> None:
    """What other tests do behind draws is not done here: it would end the recording."""


@pytest.fixture(autouse=True)
def new_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pointers of our own: others may have been made for somebody else."""
    for name in ("_ADDRESSES", "_POINTERS"):
        monkeypatch.setattr(abi, name, {})


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many draws were replayed, each time."""
    found: list[int] = []
    every = replays._Replay.all

    def counted(self: Any) -> None:
        found.append(len(self._log) // self._stride)
        every(self)

    monkeypatch.setattr(replays._Replay, "all", counted)
    return found


@pytest.fixture
def world() -> Iterator[Recorded]:
    """One of whose draws the next will be recorded."""
    made = Recorded("numpipe", 5)
    made.gl.uniform4fv(made.place, 1, np.array([0, 0, 0, 0.5], np.float32))
    draw(made, 4)
    yield made
    made.gl.release()
    assert recording.is_free()


def draw(world: Recorded, times: int) -> None:
    gl = world.gl
    for number in range(times):
        gl.uniform4fv(world.tint, 1, np.full(4, number, np.float32))
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)


def is_recorded(world: Recorded) -> bool:
    return recording.MARK in vars(world.plain)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_recorded_calls_look_like_others(
    driver: str, seed: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "_MOST_PATIENCE", 2)
    one = Recorded(driver, seed)
    first = one.run(500)
    assert sum(sizes) > 100
    assert max(sizes) > 8
    del sizes[:]
    monkeypatch.setattr(Replays, "repeated", lambda self, executable: None)
    other = Recorded(driver, seed)
    np.testing.assert_array_equal(first, other.run(500))
    assert one.told == other.told
    assert not sizes
    assert len(np.unique(first)) > 10


def test_what_was_recorded_is_so_for_whoever_asks(world: Recorded) -> None:
    gl = world.gl
    assert is_recorded(world)
    gl.enable(GL.BLEND)
    gl.disable(GL.DEPTH_TEST)
    gl.active_texture(GL.TEXTURE3)
    gl.bind_texture(GL.TEXTURE_2D, world.textures[2])
    gl.active_texture(GL.TEXTURE2)
    gl.bind_vertex_array(world.arrays[1])
    gl.uniform4fv(world.tint, 1, np.array([1, 2, 3, 4], np.float32))
    assert is_recorded(world)
    assert gl.is_enabled(GL.BLEND)
    assert not gl.is_enabled(GL.DEPTH_TEST)
    assert gl.get_integerv(GL.ACTIVE_TEXTURE) == [GL.TEXTURE2]
    assert gl.get_integerv(GL.VERTEX_ARRAY_BINDING) == [world.arrays[1]]
    assert gl.get_uniformfv(world.programs[0], world.tint) == [1, 2, 3, 4]
    gl.active_texture(GL.TEXTURE3)
    assert gl.get_integerv(GL.TEXTURE_BINDING_2D) == [world.textures[2]]
    gl.active_texture(GL.TEXTURE2)
    assert gl.get_integerv(GL.TEXTURE_BINDING_2D) == [0]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda gl: gl.bind_texture(GL.TEXTURE_2D, 77), GL.INVALID_OPERATION),
        (lambda gl: gl.bind_texture(GL.TEXTURE_2D, 0xFFFFFFFF), GL.INVALID_OPERATION),
        (lambda gl: gl.bind_vertex_array(77), GL.INVALID_OPERATION),
        (lambda gl: gl.bind_vertex_array(0xFFFFFFFF), GL.INVALID_OPERATION),
        (lambda gl: gl.use_program(77), GL.INVALID_VALUE),
        (lambda gl: gl.enable(77), GL.INVALID_ENUM),
        (lambda gl: gl.active_texture(77), GL.INVALID_ENUM),
        (lambda gl: gl.active_texture(0x84C0 + 4096), GL.INVALID_ENUM),
        (lambda gl: gl.draw_arrays(77, 0, 4), GL.INVALID_ENUM),
        (lambda gl: gl.draw_arrays(GL.TRIANGLES, -1, 4), GL.INVALID_VALUE),
        (lambda gl: gl.draw_arrays(GL.TRIANGLES, 0, -1), GL.INVALID_VALUE),
        (lambda gl: gl.draw_arrays_instanced(GL.TRIANGLES, 0, 3, -1), GL.INVALID_VALUE),
        (lambda gl: gl.draw_elements(GL.TRIANGLES, 3, 77, 0), GL.INVALID_ENUM),
        (lambda gl: gl.draw_elements(GL.TRIANGLES, -3, 77, 0), GL.INVALID_VALUE),
        (lambda gl: gl.uniform4fv(77, 1, np.zeros(4, np.float32)), GL.INVALID_OPERATION),
        (lambda gl: gl.uniform4fv(0, -1, np.zeros(4, np.float32)), GL.INVALID_VALUE),
        (lambda gl: gl.uniform4fv(-1, 1, np.zeros(4, np.float32)), GL.NO_ERROR),
    ],
)
def test_errors_are_the_same(
    call: Callable[[Any], None], error: int, world: Recorded, sizes: list[int]
) -> None:
    draw(world, 2)
    call(world.gl)
    assert world.gl.get_error() == error
    assert world.gl.get_error() == GL.NO_ERROR
    assert sum(sizes) >= 2


def test_names_that_are_deleted_or_new_are_not_known_for_long(world: Recorded) -> None:
    gl, texture = world.gl, world.textures[1]
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.bind_texture(GL.TEXTURE_2D, world.textures[0])
    assert is_recorded(world)
    gl.delete_textures(1, [texture])
    for _ in range(2):
        draw(world, 600)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        assert gl.get_error() == GL.INVALID_OPERATION
        assert gl.get_integerv(GL.TEXTURE_BINDING_2D) == [world.textures[0]]
    (flat,) = gl.gen_textures(1)
    gl.active_texture(GL.TEXTURE1)
    gl.bind_texture(GL.TEXTURE_1D, flat)
    draw(world, 600)
    assert is_recorded(world)
    gl.bind_texture(GL.TEXTURE_2D, flat)
    assert gl.get_error() == GL.INVALID_OPERATION


def test_a_deleted_texture_that_is_bound_elsewhere_stays(world: Recorded) -> None:
    """Nobody could bind it anew by its name; so nothing is recorded while it is there."""
    gl, texture = world.gl, world.textures[1]
    names = world.plain.textures.names
    gl.active_texture(GL.TEXTURE4)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.active_texture(GL.TEXTURE0)
    found = names.get(texture)
    gl.finish()
    found.deleted = True
    draw(world, 600)
    assert not is_recorded(world)
    found.deleted = False
    draw(world, 600)
    assert is_recorded(world)


def test_there_is_room_for_some(world: Recorded, sizes: list[int]) -> None:
    draw(world, 14_000)
    assert is_recorded(world)
    world.gl.finish()
    assert sum(sizes) > 13_900
    assert max(sizes) < 14_000


def test_what_is_said_of_a_recorded_context_stays_said(world: Recorded) -> None:
    def nothing() -> None:
        pass

    world.plain.look_at_window = nothing
    assert world.plain.look_at_window is nothing
    world.plain.find_image = None
    assert is_recorded(world)
    world.gl.finish()
    assert not is_recorded(world)
    assert world.plain.look_at_window is nothing


def test_another_context_may_become_current(world: Recorded, sizes: list[int]) -> None:
    draw(world, 3)
    other = Recorded("numpipe", 6)
    assert not is_recorded(world)
    draw(other, 8)
    assert is_recorded(other)
    world.gl.make_current()
    assert not is_recorded(other)
    assert sizes[-2:] == [4, 5]
    draw(world, 600)
    assert is_recorded(world)
    other.gl.release()
    draw(world, 3)
    assert world.gl.get_error() == GL.NO_ERROR


def test_another_thread_is_not_recorded(world: Recorded, sizes: list[int]) -> None:
    draw(world, 3)
    seen: list[bool] = []

    def work() -> None:
        other = Recorded("numpipe", 6)
        draw(other, 20)
        seen.append(is_recorded(other))
        other.gl.enable(GL.BLEND)
        seen.append(bool(other.gl.is_enabled(GL.BLEND)))
        other.gl.release()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False, True]
    assert is_recorded(world)
    assert not sizes
    assert not world.gl.is_enabled(GL.BLEND)
    assert sizes == [4]


def test_another_thread_may_share_what_there_is(world: Recorded, sizes: list[int]) -> None:
    """It sees the context as it was when that began, and replays nothing."""
    draw(world, 3)
    seen: list[Any] = []

    def work() -> None:
        other = Context("numpipe", share=world.plain)
        seen.append(world.plain.released)
        seen.append(other.is_texture(world.textures[0]))
        seen.append(is_recorded(world))
        other.release()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False, True, True]
    assert not sizes
    draw(world, 1)
    assert world.gl.get_error() == GL.NO_ERROR
    assert sizes == [5]


def test_another_thread_may_release_it(world: Recorded, sizes: list[int]) -> None:
    draw(world, 3)
    assert is_recorded(world)
    thread = threading.Thread(target=world.plain.release)
    thread.start()
    thread.join()
    assert world.plain.released
    assert sizes == [4] and recording.is_free()


def test_a_debug_context_hears_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Recorded("numpipe", 5)
    world.gl.enable(GL.DEBUG_OUTPUT)
    draw(world, 600)
    assert not is_recorded(world)
    world.gl.disable(GL.DEBUG_OUTPUT)
    draw(world, 600)
    assert is_recorded(world)
    world.gl.release()


def test_who_calls_something_else_in_between_is_not_recorded_often(
    world: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    begin = Replays._begin

    def counted(self: Replays, executable: Any) -> None:
        begun.append(1)
        begin(self, executable)

    monkeypatch.setattr(Replays, "_begin", counted)
    for _ in range(2000):
        draw(world, 1)
        world.gl.bind_sampler(0, 0)
    assert 0 < len(begun) < 30


def test_a_picture_of_draws_in_several_states(world: Recorded, sizes: list[int]) -> None:
    gl = world.gl
    gl.clear(GL.COLOR_BUFFER_BIT)
    for number in range(600):
        (gl.enable if number % 2 else gl.disable)(GL.BLEND)
        gl.bind_texture(GL.TEXTURE_2D, world.textures[number % 3])
        gl.bind_vertex_array(world.arrays[number % 2])
        draw(world, 1)
    assert is_recorded(world)
    assert gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE).count(0) < SIZE * SIZE * 4
    assert sum(sizes) > 500
