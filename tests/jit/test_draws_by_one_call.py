"""Draws that are made by one call look as if each had been made alone, wherever the call ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.bound import COUNTING
from gallette.drivers.jit import command_lists
from gallette.drivers.jit.shader.command_list_code import COSTLY
from gallette.drivers.jit.shader.plan_code import DONE, LARGE, LISTS, STOPPED, THREADS
from gallette.pipe.draw_series import Series
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.entry_points import abi, machine_code
from tests.state_tracker.stream.worlds import Through, switch_off

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there is a command stream on x86-64 with Linux only"
)

SIZE = 96
PLACED = """#version 330
layout(location = 0) in vec2 position; layout(location = 1) in vec4 paint;
layout(location = 2) in vec2 beside;
uniform vec4 place; out vec4 color;
void main() {
    color = paint;
    gl_Position = vec4(position * place.w + place.xy + beside, place.z, 1.0);
}"""
PAINTED = """#version 330
uniform vec4 tint; in vec4 color; out vec4 o;
void main() { o = color * tint; }"""
LOOPS = """#version 330
uniform vec4 tint; in vec4 color; out vec4 o;
void main() {
    float sum = 0.0;
    for (int i = 0; i < int(tint.x); ++i) sum = sum * 0.5 + color.x;
    o = vec4(sum);
}"""
SAMPLED = """#version 330
uniform samplerBuffer texels; uniform vec4 tint; in vec4 color; out vec4 o;
void main() { o = texelFetch(texels, 0) * tint; }"""
TEXTURED = """#version 330
uniform sampler2D image; uniform vec4 tint; in vec4 color; out vec4 o;
void main() { o = texture(image, gl_FragCoord.xy / 16.0) * tint; }"""
SQUARE = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)


@dataclass
class Stage:
    """A context that is called as C programs call it, and some things to draw with."""

    gl: Any
    random: Any = field(default_factory=lambda: np.random.default_rng(8))
    places: dict[str, int] = field(default_factory=dict)
    counted: list[int] = field(default_factory=list)

    def use(self, fragment: str) -> None:
        gl = self.gl
        program = gl.create_program()
        for kind, source in ((GL.VERTEX_SHADER, PLACED), (GL.FRAGMENT_SHADER, fragment)):
            shader = gl.create_shader(kind)
            gl.shader_source(shader, source)
            gl.compile_shader(shader)
            gl.attach_shader(program, shader)
        gl.link_program(program)
        gl.use_program(program)
        self.places = {n: gl.get_uniform_location(program, n) for n in ("place", "tint")}

    def buffer(self, data: Any, target: int = GL.ARRAY_BUFFER) -> int:
        (name,) = self.gl.gen_buffers(1)
        self.gl.bind_buffer(target, name)
        self.gl.buffer_data(target, data.nbytes, data, GL.STREAM_DRAW)
        return int(name)

    def array(self, data: Any = SQUARE) -> int:
        """A vertex array of those positions, whose buffer stays bound, and of other attributes."""
        gl = self.gl
        (name,) = gl.gen_vertex_arrays(1)
        gl.bind_vertex_array(name)
        paint = self.random.uniform(0.5, 1, (len(data), 4)).astype(np.float32)
        for index, each in ((1, paint), (2, np.zeros_like(data)), (0, data)):
            self.buffer(each)
            gl.vertex_attrib_pointer(index, each.shape[1], GL.FLOAT, 0, 4 * each.shape[1], 0)
            gl.enable_vertex_attrib_array(index)
        return int(name)

    def place(self, size: float, x: float = 0.0, y: float = 0.0) -> None:
        self.gl.uniform4fv(self.places["place"], 1, np.array([x, y, 0, size], np.float32))

    def tint(self, *tint: float) -> None:
        self.gl.uniform4fv(self.places["tint"], 1, np.array(tint, np.float32))

    def often(self, one: Callable[[int], None], many: int = 24) -> Callable[[], None]:
        """Make that draw so many times; first each alone, so that there is a quick way for it."""
        for number in range(9):
            one(number)
            self.gl.finish()

        def draw() -> None:
            for number in range(many):
                one(number)

        return draw

    def often_now(self, many: int) -> None:
        for _ in range(many):
            self.anywhere()
            self.gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)

    def anywhere(self) -> None:
        self.place(0.2, *self.random.uniform(-1, 1, 2).tolist())
        self.tint(*self.random.uniform(0, 1, 4).tolist())


@dataclass
class Scene:
    """What is drawn in each frame, how runs end there, and whether there are any."""

    make: Callable[[Stage], Callable[[], None]]
    ends: set[int]
    together: bool = True


SCENES: dict[str, Scene] = {}


def scene(*ends: int, together: bool = True) -> Callable[[Any], Any]:
    def add(make: Any) -> Any:
        SCENES[make.__name__] = Scene(make, set(ends), together)
        return make

    return add


@scene(DONE)
def other_uniforms(on: Stage) -> Callable[[], None]:
    on.array()

    return lambda: on.often_now(20)


@scene(DONE)
def vertices_written_before_each(on: Stage) -> Callable[[], None]:
    on.array()

    def draw() -> None:
        on.place(0.5)
        for number in range(20):
            on.tint(*on.random.uniform(0, 1, 4).tolist())
            some = on.random.uniform(-1, 1, 8 - 2 * (number % 3)).astype(np.float32)
            on.gl.buffer_sub_data(GL.ARRAY_BUFFER, 8 * (number % 2), some.nbytes - 8, some)
            on.gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)

    return draw


@scene(DONE)
def other_first_vertices(on: Stage) -> Callable[[], None]:
    """Also ones behind the last: what is read there is zero, one by one."""
    on.array(on.random.uniform(-1, 1, (24, 2)).astype(np.float32))

    def draw() -> None:
        on.place(0.7)
        for number in range(30):
            on.tint(*on.random.uniform(0, 1, 4).tolist())
            on.gl.draw_arrays(GL.TRIANGLES, number, 3)

    return draw


@scene(DONE)
def several_arrays_and_calls(on: Stage) -> Callable[[], None]:
    arrays = [on.array(SQUARE * np.float32(size)) for size in (1, 0.5, 1.5)]

    def one(number: int) -> None:
        on.anywhere()
        on.gl.bind_vertex_array(arrays[number % 3])
        on.gl.draw_arrays(*((GL.TRIANGLE_STRIP, 0, 4), (GL.TRIANGLE_STRIP, 1, 3))[number & 1])

    return on.often(one)


@scene(DONE)
def instances(on: Stage) -> Callable[[], None]:
    """By which rows attributes are read is another thing in each of these calls."""
    on.array()
    on.buffer(on.random.uniform(-0.5, 0.5, (8, 2)).astype(np.float32))
    on.gl.vertex_attrib_pointer(2, 2, GL.FLOAT, 0, 8, 0)
    on.gl.enable_vertex_attrib_array(2)
    on.gl.vertex_attrib_divisor(2, 1)

    def one(number: int) -> None:
        on.anywhere()
        on.gl.draw_arrays_instanced(GL.TRIANGLE_STRIP, 0, 4 - (number == 13), 2)

    return on.often(one)


def _indexed(on: Stage) -> Any:
    on.array(on.random.uniform(-1, 1, (40, 2)).astype(np.float32))
    indices = on.random.integers(0, 8, 12).astype(np.uint16)
    on.buffer(indices, GL.ELEMENT_ARRAY_BUFFER)
    return indices


@scene(DONE)
def indices(on: Stage) -> Callable[[], None]:
    _indexed(on)

    def one(number: int) -> None:
        on.anywhere()
        on.gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 4 * (number % 3))

    return on.often(one)


@scene(together=False)
def indices_written_before_each(on: Stage) -> Callable[[], None]:
    _indexed(on)

    def draw() -> None:
        for _ in range(24):
            on.anywhere()
            some = on.random.integers(0, 8, 2).astype(np.uint16)
            on.gl.buffer_sub_data(GL.ELEMENT_ARRAY_BUFFER, 2, 4, some)
            on.gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0)

    return draw


def _in_bytes(on: Stage) -> None:
    on.array()
    on.buffer(on.random.integers(0, 256, (4, 4)).astype(np.uint8))
    on.gl.vertex_attrib_pointer(1, 4, GL.UNSIGNED_BYTE, 1, 4, 0)
    on.gl.enable_vertex_attrib_array(1)


@scene(DONE)
def attributes_in_bytes(on: Stage) -> Callable[[], None]:
    """Other ones in each frame."""
    _in_bytes(on)

    def draw() -> None:
        on.gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 16, on.random.integers(0, 256, 16, np.uint8))
        on.often_now(20)

    return draw


@scene(DONE)
def textures_given_other_texels(on: Stage) -> Callable[[], None]:
    """One in each frame, which may lie elsewhere then."""
    gl = on.gl
    on.use(TEXTURED)
    on.array()
    textures = gl.gen_textures(9)

    def give(number: int) -> None:
        texels = on.random.integers(0, 256, (4, 4, 4), np.uint8)
        gl.bind_texture(GL.TEXTURE_2D, textures[number])
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, texels)

    def one(number: int) -> None:
        on.anywhere()
        gl.bind_texture(GL.TEXTURE_2D, textures[number % 9])
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)

    for texture in textures:
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 4, 4)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    every = on.often(one)
    frames = itertools.count()

    def draw() -> None:
        give(8 - next(frames))
        every()

    return draw


@scene(DONE)
def clears_in_between(on: Stage) -> Callable[[], None]:
    """CommandLists end there, and the draws behind may begin where the first of all began."""
    on.array(on.random.uniform(-1, 1, (24, 2)).astype(np.float32))
    on.gl.enable(GL.SCISSOR_TEST)
    on.gl.scissor(0, 0, SIZE, SIZE // 2)
    on.gl.clear_color(0.25, 0.5, 0.75, 1.0)

    def draw() -> None:
        on.place(1.5)
        for first in (0, 0, 0, 0, 3, 6, 9, 12, -1, 0, -1, 0, 0, 3, 6, 9, -1, 0):
            on.tint(*on.random.uniform(0, 1, 4).tolist())
            if first < 0:
                on.gl.clear(GL.COLOR_BUFFER_BIT)
            else:
                on.gl.draw_arrays(GL.TRIANGLES, first, 3)

    return draw


def _queries(on: Stage, count: int) -> list[int]:
    on.array()
    queries: list[int] = on.gl.gen_queries(count)
    for query in queries:  # they all exist
        on.gl.begin_query(GL.SAMPLES_PASSED, query)
        on.gl.end_query(GL.SAMPLES_PASSED)
    return queries


@scene(DONE)
def samples_of_each(on: Stage) -> Callable[[], None]:
    """Of one draw, of none, of several."""
    queries = _queries(on, 12)

    def draw() -> None:
        for number, query in enumerate(queries):
            on.gl.begin_query(GL.SAMPLES_PASSED, query)
            on.often_now((1, 0, 3, 2)[number % 4])
            on.gl.end_query(GL.SAMPLES_PASSED)
        on.counted += [on.gl.get_query_objectuiv(q, GL.QUERY_RESULT) for q in queries]

    return draw


@scene(DONE)
def a_query_that_goes_on(on: Stage) -> Callable[[], None]:
    """From one frame to the next: a query of that frame begins where it ends."""
    first, second = _queries(on, 2)
    on.gl.begin_query(GL.SAMPLES_PASSED, first)

    def draw() -> None:
        on.often_now(7)
        on.gl.end_query(GL.SAMPLES_PASSED)
        on.gl.begin_query(GL.SAMPLES_PASSED, second)
        on.often_now(5)
        on.gl.end_query(GL.SAMPLES_PASSED)
        on.often_now(6)
        on.counted += [on.gl.get_query_objectuiv(q, GL.QUERY_RESULT) for q in (first, second)]
        on.gl.begin_query(GL.SAMPLES_PASSED, first)
        on.often_now(4)

    return draw


@scene(together=False)
def attributes_in_bytes_written_before_each(on: Stage) -> Callable[[], None]:
    _in_bytes(on)

    def draw() -> None:
        for _ in range(24):
            on.anywhere()
            some = on.random.integers(0, 256, 8).astype(np.uint8)
            on.gl.buffer_sub_data(GL.ARRAY_BUFFER, 4, 8, some)
            on.gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)

    return draw


@scene(DONE)
def what_is_written_is_looked_at_later(on: Stage) -> Callable[[], None]:
    _in_bytes(on)
    paint = on.gl.get_integerv(GL.ARRAY_BUFFER_BINDING)[0]
    painted = on.gl.get_integerv(GL.VERTEX_ARRAY_BINDING)[0]
    plain = on.array()

    def draw() -> None:
        on.gl.bind_vertex_array(plain)
        on.gl.bind_buffer(GL.ARRAY_BUFFER, paint)
        on.often_now(5)
        for _ in range(20):
            on.anywhere()
            on.gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 4, on.random.integers(0, 256, 4, np.uint8))
            on.gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        on.gl.finish()
        on.gl.bind_vertex_array(painted)
        on.anywhere()
        on.gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)

    return draw


@scene(together=False)
def texels_written_before_each(on: Stage) -> Callable[[], None]:
    gl = on.gl
    on.use(SAMPLED)
    on.array()
    texels = on.buffer(np.ones(8, np.uint8))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_BUFFER, texture)
    gl.tex_buffer(GL.TEXTURE_BUFFER, GL.RGBA8, texels)

    def draw() -> None:
        for _ in range(24):
            on.anywhere()
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 4, on.random.integers(0, 256, 4, np.uint8))
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)

    return draw


def _many_triangles(on: Stage, count: int) -> Callable[[float], None]:
    """Draws of thin triangles that reach from one side to the other, and so many times as far."""
    high = np.linspace(-1, 1, count, dtype=np.float32)
    thin = np.stack([np.full(count, -1), high, np.full(count, 1), high, -high * 0, high + 0.05], 1)
    on.array(thin.astype(np.float32).reshape(-1, 2))

    def draw(size: float, beside: float = 0.0) -> None:
        on.place(size, beside, beside)
        on.tint(*on.random.uniform(0, 1, 4).tolist())
        on.gl.draw_arrays(GL.TRIANGLES, 0, 3 * count)

    return draw


@scene(DONE, LARGE)
def too_many_pieces(on: Stage) -> Callable[[], None]:
    """Where many triangles cross two planes there is no room for the pieces."""
    one = _many_triangles(on, 8000)
    return on.often(lambda number: one(1.6 if number == 9 else 0.02))


@scene(DONE, LISTS)
def longer_lists(on: Stage) -> Callable[[], None]:
    """More triangles in more tiles than any draw before."""
    others = [on.array() for _ in range(3)]
    one = _many_triangles(on, 900)
    many = on.gl.get_integerv(GL.VERTEX_ARRAY_BINDING)[0]
    frames = itertools.count(-1)

    def once(number: int) -> None:
        late = number == 15 and next(frames) == 1
        on.gl.bind_vertex_array(many)
        one(*(0.9, 0.0) if late else (0.02, -0.5))
        for other in others:
            on.gl.bind_vertex_array(other)
            on.often_now(1)

    return on.often(once)


@scene(DONE, THREADS)
def worth_threads(on: Stage) -> Callable[[], None]:
    one = _many_triangles(on, 700)
    return on.often(lambda number: one(*(0.9, 0.0) if number == 15 else (0.02, -0.5)))


@scene(DONE, THREADS)
def samples_of_what_is_worth_threads(on: Stage) -> Callable[[], None]:
    """A run ends in the middle of what a query counts."""
    one = _many_triangles(on, 700)
    queries = on.gl.gen_queries(8)

    def counted(number: int) -> None:
        if number % 3 == 0:
            on.gl.begin_query(GL.SAMPLES_PASSED, queries[number // 3])
        one(*(0.9, 0.0) if number == 15 else (0.02, -0.5))
        if number % 3 == 2:
            on.gl.end_query(GL.SAMPLES_PASSED)

    every = on.often(counted)

    def draw() -> None:
        every()
        on.counted += [on.gl.get_query_objectuiv(q, GL.QUERY_RESULT) for q in queries]

    return draw


@pytest.fixture(autouse=True)
def new_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pointers of our own: others may have been made for somebody else."""
    monkeypatch.setattr(abi, "_ADDRESSES", {})


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """How many entries each run made by its call, and how that ended."""
    found: list[tuple[int, int]] = []
    run = command_lists.CommandLists._run

    def seen(self: Any, commands: Any) -> Any:
        made = run(self, commands)
        found.append(made[1:])
        return made

    monkeypatch.setattr(command_lists.CommandLists, "_run", seen)
    return found


@pytest.fixture
def stages() -> Iterator[Callable[[], Stage]]:
    made = []

    def make() -> Stage:
        gl = create_context("jit", profile="core", version=(3, 3), size=(SIZE, SIZE))
        made.append(gl)
        stage = Stage(Through(gl))
        stage.use(PAINTED)
        gl.enable(GL.BLEND)
        gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
        return stage

    yield make
    for gl in made:
        gl.release()


def _frames(stage: Stage, draw: Callable[[], None]) -> Any:
    """A few frames, with what a query counted."""
    gl, seen = stage.gl, []
    (query,) = gl.gen_queries(1)
    for number in range(4):
        gl.clear(GL.COLOR_BUFFER_BIT)
        if number == 3:
            gl.begin_query(GL.PRIMITIVES_GENERATED, query)
        draw()
        pixels = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE)
        seen.append(np.frombuffer(pixels, np.uint8))
    gl.end_query(GL.PRIMITIVES_GENERATED)
    assert gl.get_error() == GL.NO_ERROR
    return np.array(seen), gl.get_query_objectuiv(query, GL.QUERY_RESULT)


@pytest.mark.parametrize("name", SCENES)
def test_a_run_looks_like_its_draws(
    name: str,
    ends: list[tuple[int, int]],
    stages: Callable[[], Stage],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = SCENES[name]
    stage = stages()
    pixels, counted = _frames(stage, wanted.make(stage))
    samples = stage.counted
    assert {end for _, end in ends} == wanted.ends
    assert bool(ends) == wanted.together
    assert not ends or max(made for made, _ in ends) > (4 if wanted.ends == {DONE} else 2)
    switch_off(monkeypatch)
    del ends[:]
    stage = stages()
    others = _frames(stage, wanted.make(stage))
    assert not ends
    np.testing.assert_array_equal(pixels, others[0])
    assert counted == others[1]
    assert samples == stage.counted
    assert len(np.unique(pixels)) > 10


@pytest.mark.parametrize("seed", range(10))
def test_runs_end_where_a_draw_would_find_other_queries(seed: int) -> None:
    """Draws of the number of queries that count samples go on."""
    rng = np.random.default_rng(seed)
    looked = object.__new__(command_lists.CommandLists)
    looked._series = Series([None] * 5, *[None] * 3)  # type: ignore[arg-type]
    looked._steps = np.array([1, -1, 0, 0, 0])
    epochs = [7 + COUNTING * number for number in range(3)]
    which = rng.choice(5, 20, p=[0.15, 0.15, 0.2, 0.25, 0.25])
    found = looked._follow(which, epochs[1], list(zip((2, 3, 4), epochs, strict=True)))
    more = 0
    for number, good in zip(which.tolist(), found.tolist(), strict=True):
        if number < 2:
            more += 1 - 2 * number
            assert good
        else:
            assert good is (number - 3 == more)


@pytest.mark.parametrize("end", [STOPPED, COSTLY])
def test_a_run_ends_with_what_costs_too_much(
    end: int,
    ends: list[tuple[int, int]],
    stages: Callable[[], Stage],
) -> None:
    """And so does the context, with the reason."""
    stage = stages()
    gl = stage.gl
    stage.use(LOOPS)
    stage.array()

    def draw(many: int, bad: int = -1) -> None:
        for number in range(many):
            stage.place(1.0 if number == bad else 0.05, 0.5, -0.5)
            stage.tint(1e9 if number == bad and end == STOPPED else 1.0, 1, 1, 1)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)

    for _ in range(3):
        draw(24)
        gl.finish()
    assert {each for _, each in ends} == {DONE}
    del ends[:]
    if end == COSTLY:
        gl.pipe._states.work.limit = 8 * SIZE * SIZE // 3
    else:
        gl.pipe._states.work.time_limit = 0.0
    draw(24, 13)
    gl.finish()
    assert gl.lost
    assert gl.get_error() == GL.CONTEXT_LOST
    assert [each for _, each in ends] == [end]
