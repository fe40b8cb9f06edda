"""A context whose calls come from C pointers, and random things to do to it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.state_tracker import GL
from gallette.state_tracker.entry_points import recording
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from tests.state_tracker.test_repeats import World

__all__ = ["Recorded", "draw", "is_recorded"]

THROUGH_C = (
    *("use_program", "bind_vertex_array", "active_texture", "bind_texture", "enable", "disable"),
    *("uniform4fv", "uniform4f", "draw_arrays", "draw_arrays_instanced", "draw_elements"),
    *("draw_elements_instanced", "bind_sampler", "bind_buffer", "buffer_sub_data", "scissor"),
    *("viewport", "begin_query", "end_query", "bind_buffer_base", "bind_buffer_range", "clear"),
    *("clear_color", "clear_depth", "clear_depthf", "clear_stencil", "color_mask", "color_maski"),
    *("depth_mask", "bind_framebuffer", "draw_buffers"),
)
CLEARED = (
    GL.COLOR_BUFFER_BIT,
    GL.DEPTH_BUFFER_BIT,
    GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT,
    GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT,
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
        def call(*given: Any) -> None:
            args = [np.array(a, np.uint32) if isinstance(a, list) else a for a in given]
            pointer(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in args])

        return call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gl, name)


class Recorded(World):
    """The same as a C program."""

    def __init__(self, driver: str, seed: int) -> None:
        super().__init__(driver, seed, True)
        self.plain, self.gl = self.gl, Through(self.gl)
        self.queries = self.gl.gen_queries(4)
        self.asked = False
        for query in self.queries:
            self.gl.begin_query(GL.SAMPLES_PASSED, query)
            self.gl.end_query(GL.SAMPLES_PASSED)

    def draw(self) -> None:
        gl, random = self.gl, self.random
        if random.random() < 0.04:
            self.in_turn()
        if random.random() < 0.2:
            self.clear()
        if random.random() < 0.9:
            place = np.append(random.uniform(-1, 1, 3), random.uniform(0.1, 0.3))
            gl.uniform4fv(self.place, 1, place.astype(np.float32))
        (gl.uniform4fv if random.random() < 0.8 else self.one_by_one)(self.tint, 1, self.numbers(4))
        if random.random() < 0.3:
            self.between()
        how = random.random()
        if how < 0.2:
            gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0)
        elif how < 0.3:
            gl.draw_elements_instanced(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0, 2)
        elif how < 0.6:
            gl.draw_arrays_instanced(GL.TRIANGLE_STRIP, int(random.integers(2)), 4, 1)
        else:
            gl.draw_arrays(GL.TRIANGLE_STRIP, int(random.integers(2)), 4)

    def in_turn(self) -> None:
        """One place of a buffer is written, then comes a draw, again and again."""
        gl, random = self.gl, self.random
        gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers))
        first = int(random.integers(5))
        many = int(random.integers(1, 6 - first))
        for number in range(int(random.integers(3, 14))):
            vertices = self.numbers(2 * many) * 2 - 1
            size = 8 * many - 4 * (number == 9)
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 8 * first, size, vertices)
            if number % 3:
                gl.uniform4fv(self.tint, 1, self.numbers(4))
            gl.draw_arrays(GL.TRIANGLE_STRIP, first % 2, 4)

    def clear(self) -> None:
        """A part or all is cleared, mostly with what is so already said once more."""
        gl, random = self.gl, self.random
        if random.random() < 0.5:
            gl.clear_color(*self.numbers(4).tolist())
            gl.clear_depth(random.random())
        if random.random() < 0.2:
            gl.clear_depthf(float(self.numbers(1)[0]))
            gl.clear_stencil(int(random.integers(-3, 300)))
        if random.random() < 0.5:
            gl.color_mask(1, 2, 4, 8)
            gl.color_maski(0, 1, 1, 1, 1)
            gl.depth_mask(1)
        if random.random() < 0.8:
            gl.enable(GL.SCISSOR_TEST)
            gl.scissor(*(int(v) for v in random.integers(-9, 80, 2)), 14, 9)
        gl.clear(self.pick(CLEARED))
        if random.random() < 0.9:
            gl.disable(GL.SCISSOR_TEST)

    def one_by_one(self, location: int, count: int, values: Any) -> None:
        self.gl.uniform4f(location, *values.tolist())

    def between(self) -> None:
        """What is recorded beside draws."""
        gl, random = self.gl, self.random
        what = random.random()
        if what < 0.3:
            gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers))
            first = int(random.integers(5))
            many = int(random.integers(1, 6 - first))
            vertices = self.numbers(2 * many) * 2 - 1
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 8 * first, 8 * many, vertices)
        elif what < 0.5:
            gl.bind_buffer(GL.UNIFORM_BUFFER, self.pick(self.paints))
            gl.buffer_sub_data(GL.UNIFORM_BUFFER, 4, 12, self.numbers(3))
        elif what < 0.7:
            gl.scissor(*(int(v) for v in random.integers(-9, 20, 2)), 60, int(random.integers(90)))
        elif what < 0.74:
            gl.bind_buffer_base(GL.UNIFORM_BUFFER, int(random.integers(4)), self.pick(self.paints))
        elif what < 0.78:
            gl.bind_buffer_range(GL.UNIFORM_BUFFER, 0, self.pick(self.paints), 0, 16)
        elif what < 0.8:
            self.use(int(random.integers(3)))
        elif what < 0.83:
            gl.viewport(*(int(v) for v in random.integers(-9, 20, 2)), 80, 70)
        elif self.asked:
            gl.end_query(GL.SAMPLES_PASSED)
            self.asked = False
        elif not self.counting:
            gl.begin_query(GL.SAMPLES_PASSED, self.pick(self.queries))
            self.asked = True

    def change(self) -> None:
        if self.asked:
            self.gl.end_query(GL.SAMPLES_PASSED)
            self.asked = False
        for query in self.queries:
            self.told.append(self.gl.get_query_objectuiv(query, GL.QUERY_RESULT))
        super().change()

    def bind(self) -> None:
        super().bind()
        self.gl.active_texture(GL.TEXTURE1)
        self.gl.bind_texture(GL.TEXTURE_2D, self.pick(self.textures))
        self.gl.active_texture(GL.TEXTURE0)


def draw(world: Recorded, times: int) -> None:
    gl = world.gl
    for number in range(times):
        gl.uniform4fv(world.tint, 1, np.full(4, number, np.float32))
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)


def is_recorded(world: Recorded) -> bool:
    return recording.MARK in vars(world.plain)
