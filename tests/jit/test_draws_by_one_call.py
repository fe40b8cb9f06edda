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
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.entry_points import abi, machine_code
from tests.state_tracker.gl_programs import Program, programs_of
from tests.state_tracker.helpers import linked
from tests.state_tracker.stream.worlds import Through, switch_off
from tests.state_tracker.test_gl_programs import FOLDER, answers

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
        program = linked(gl, vertex=PLACED, fragment=fragment)
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


class ManyKinds:
    """Draws that all differ in state, and changes between frames of them."""

    def __init__(self, on: Stage) -> None:
        self.on, gl = on, on.gl
        self.indexed = on.array(np.concatenate((SQUARE, SQUARE * 0.5, SQUARE * 1.5)))
        self.vertices = gl.get_integerv(GL.ARRAY_BUFFER_BINDING)[0]
        self.indices = on.buffer(np.array([0, 1, 2, 2, 1, 3], np.uint16), GL.ELEMENT_ARRAY_BUFFER)
        self.bytes = on.buffer(np.arange(48, dtype=np.uint8) * 5)
        gl.vertex_attrib_pointer(1, 4, GL.UNSIGNED_BYTE, 1, 0, 0)
        self.plain = on.array()
        (self.target,) = gl.gen_framebuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.target)
        (texture,) = gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        kind = (GL.RGBA8, SIZE, SIZE, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
        gl.tex_image2d(GL.TEXTURE_2D, 0, *kind)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
        gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
        self.values = np.random.default_rng(4)
        self.places = self.values.uniform(-0.7, 0.7, (40, 2)).tolist()

    def one(self, number: int) -> None:
        on, gl = self.on, self.on.gl
        gl.scissor(number, 0, SIZE - 2 * number, SIZE - number)
        on.place(0.3, *self.places[number])
        on.tint(1, number / 40, 0.5, 0.8)
        if number % 4 == 3:
            gl.bind_vertex_array(self.plain)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        else:
            gl.bind_vertex_array(self.indexed)
            gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0)

    def draw(self) -> None:
        self.on.gl.enable(GL.SCISSOR_TEST)
        for number in range(40):
            self.one(number)
        self.on.gl.disable(GL.SCISSOR_TEST)

    def write_indices(self) -> None:
        self.on.gl.bind_vertex_array(self.indexed)
        some = self.values.integers(0, 12, 6).astype(np.uint16)
        self.on.gl.buffer_sub_data(GL.ELEMENT_ARRAY_BUFFER, 0, 12, some)

    def write_vertices(self) -> None:
        self.on.gl.bind_buffer(GL.ARRAY_BUFFER, self.vertices)
        self.on.gl.buffer_sub_data(
            GL.ARRAY_BUFFER, 0, 32, self.values.uniform(-1, 1, 8).astype(np.float32)
        )

    def write_bytes(self) -> None:
        self.on.gl.bind_buffer(GL.ARRAY_BUFFER, self.bytes)
        colors = self.values.integers(0, 256, 48, dtype=np.uint8)
        self.on.gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 48, colors)

    def give_new_storage(self) -> None:
        self.on.gl.bind_buffer(GL.ARRAY_BUFFER, self.bytes)
        colors = self.values.integers(0, 256, 48, dtype=np.uint8)
        self.on.gl.buffer_data(GL.ARRAY_BUFFER, 48, colors, GL.STREAM_DRAW)

    def draw_one_alone(self) -> None:
        self.on.gl.finish()
        self.one(0)
        self.on.gl.finish()
        self.one(3)
        self.on.gl.finish()

    def draw_elsewhere(self) -> None:
        self.on.gl.bind_framebuffer(GL.FRAMEBUFFER, self.target)
        self.draw()
        self.on.gl.bind_framebuffer(GL.FRAMEBUFFER, 0)

    def replace_array(self) -> None:
        self.on.gl.delete_vertex_arrays(1, [self.plain])
        self.plain = self.on.array(SQUARE * 0.7)

    def nothing(self) -> None:
        pass


CHANGES = [name for name in vars(ManyKinds) if name not in ("one", "draw") and name[0] != "_"]


@pytest.mark.parametrize("change", CHANGES)
def test_draws_of_many_kinds_look_like_single_ones_after_a_change(
    change: str,
    ends: list[tuple[int, int]],
    stages: Callable[[], Stage],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def pictures() -> list[Any]:
        stage, found = stages(), []
        kinds = ManyKinds(stage)
        for number in range(12):
            stage.gl.clear(GL.COLOR_BUFFER_BIT)
            kinds.draw()
            if number > 5:
                getattr(kinds, change)()
                kinds.draw()
            pixels = stage.gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE)
            found.append(np.frombuffer(pixels, np.uint8))
        assert stage.gl.get_error() == GL.NO_ERROR
        return found

    together = pictures()
    assert max(made for made, _ in ends) > 20
    switch_off(monkeypatch)
    del ends[:]
    np.testing.assert_array_equal(together, pictures())
    assert not ends
    assert len(np.unique(together)) > 10


@pytest.mark.parametrize("drawn", ["other_uniforms", "written_vertices", "bytes", "written_texels"])
def test_draws_of_a_frame_are_one_call(drawn: str, ends: list[tuple[int, int]]) -> None:
    answers(_recorded(drawn), "jit", from_c=True)
    assert max(made for made, _ in ends) > 2


@pytest.mark.parametrize(
    "drawn", ["written_indices", "written_bytes", "written_texels_of_a_buffer"]
)
def test_draws_that_read_what_is_written_between_are_several(
    drawn: str, ends: list[tuple[int, int]]
) -> None:
    """Vertices of floats are an exception: the list has a copy of those for each draw."""
    answers(_recorded(drawn), "jit", from_c=True)
    assert not ends


def _recorded(drawn: str) -> Program:
    (found,) = [p for p in programs_of(FOLDER / "recorded_draws.txt") if f", {drawn}, " in p.name]
    return found


def test_nothing_is_prepared_again_in_the_next_frame(
    stages: Callable[[], Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where draws to several framebuffers are in one batch, each with other states."""
    prepared: list[str] = []

    for kind in (command_lists.Calls, command_lists.Part, command_lists.CommandList):

        def made(self: Any, *args: Any, begin: Any = kind.__init__) -> None:
            prepared.append(type(self).__name__)
            begin(self, *args)

        monkeypatch.setattr(kind, "__init__", made)
    stage = stages()
    gl = stage.gl
    stage.array()
    framebuffers = []
    for _ in range(4):
        (framebuffer,), (texture,) = gl.gen_framebuffers(1), gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 32, 32)
        gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
        framebuffers.append(framebuffer)
    gl.viewport(0, 0, 32, 32)
    pictures = []
    for frame in range(6):
        del prepared[:]
        for number, framebuffer in enumerate(framebuffers):
            gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
            gl.clear(GL.COLOR_BUFFER_BIT)
            for k in range(6):
                stage.place(0.1 * k, 0.2 * number - 0.1 * frame, 0.3)
                stage.tint(0.2 * number, 0.1 * k, 1, 0.5)
                (gl.enable if k % 2 else gl.disable)(GL.BLEND)
                gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        pixels = gl.read_pixels(0, 0, 32, 32, GL.RGBA, GL.UNSIGNED_BYTE)
        pictures.append(bytes(pixels))
    assert not prepared
    assert len(set(pictures)) == 6


@pytest.mark.parametrize("seed", range(10))
def test_runs_end_where_a_draw_would_find_other_queries(seed: int) -> None:
    """Draws of the number of queries that count samples go on."""
    rng = np.random.default_rng(seed)
    part = object.__new__(command_lists.Part)
    part.steps = np.array([1, -1, 0, 0, 0])
    epochs = [7 + COUNTING * number for number in range(3)]
    part._draws, part._epoch = [2, 3, 4], epochs[1]
    which = rng.choice(5, 20, p=[0.15, 0.15, 0.2, 0.25, 0.25])
    found = part._follow(which, np.array(epochs))
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
