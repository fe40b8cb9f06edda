"""Each draw has a budget of its own, however it is executed: others leave it all there is.

What is looked at is the most work that anything did since its budget began. Four draws (each twice,
so that they may be made one) that wait together do, at most, hardly more than one does alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gallette.drivers.common.draw import execution, pixel_order
from gallette.drivers.common.draw.snapshot import Snapshot
from gallette.drivers.common.work import Work
from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import errors, linked, program

SIZE = 16
LOOP = "for (int i = 0; i < rounds; i++) sum = sum * 0.5 + %s;"
VERTEX = """#version 430
uniform vec4 place;
uniform int rounds;
in vec2 position;
flat out float kind;
void main() {
    float sum = 0.0;
    %s
    kind = sum;
    gl_Position = vec4(position * place.xy + place.zw, sum * 0.001, 1.0);
}"""
FRAGMENT = """#version 430
uniform vec4 color;
uniform int rounds;
flat in float kind;
out vec4 result;
void main() {
    float sum = kind;
    %s
    result = color + vec4(sum * 0.0001, %d.0 / 255.0, 0.0, 0.0);
}"""
COMPUTE = """#version 430
layout(local_size_x = 8) in;
uniform int rounds;
shared float x[8];
void main() { float sum = 0.0; %s x[gl_LocalInvocationIndex] = sum; }"""
HEAVY = {  # what costs most: rounds in the vertex shader, in the fragment shader; triangles
    "vertices": (LOOP % "position.x", "", 1),
    "fragments": ("", LOOP % "gl_FragCoord.x", 1),
    "primitives": ("", "", 600),
}
CASES = [
    *(("numpipe", heavy, samples) for heavy in HEAVY for samples in (0, 4)),
    ("simd", "fragments", 0),
    ("tiler", "vertices", 0),
    ("jit", "primitives", 0),  # loops of its own code count themselves
]
FAMILIES = 4
ROUNDS = 40


class Scene:
    """Programs that differ, to draw triangles that cover everything, or nothing."""

    def __init__(self, driver: str, heavy: str, samples: int) -> None:
        vertex, fragment, self.triangles = HEAVY[heavy]
        self.gl: GLInterface = create_context(
            driver, size=(SIZE, SIZE), version=(4, 3), samples=samples
        )
        self.programs = [
            program(self.gl, VERTEX % vertex, FRAGMENT % (fragment, k)) for k in range(FAMILIES)
        ]
        corners = np.zeros((self.triangles, 3, 2), np.float32)
        corners[0] = (-1, -1), (3, -1), (-1, 3)
        gl = self.gl
        self.arrays = gl.gen_vertex_arrays(FAMILIES)
        for array in self.arrays:
            gl.bind_vertex_array(array)
            gl.bind_buffer(GL.ARRAY_BUFFER, *gl.gen_buffers(1))
            gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
            for name in self.programs:
                at = gl.get_attrib_location(name, "position")
                gl.vertex_attrib_pointer(at, 2, GL.FLOAT, 0, 0, 0)
                gl.enable_vertex_attrib_array(at)

    def begin(self) -> None:
        """Nothing is set any more."""
        self.gl.disable(GL.BLEND)
        self.gl.disable(GL.DEPTH_TEST)
        self.gl.viewport(0, 0, SIZE, SIZE)
        self.gl.bind_vertex_array(self.arrays[0])
        self.gl.finish()

    def draw(self, number: int, times: int) -> None:
        """Some draws of one of the programs."""
        gl, name = self.gl, self.programs[number]
        gl.use_program(name)
        gl.uniform1i(gl.get_uniform_location(name, "rounds"), ROUNDS)
        gl.uniform4f(gl.get_uniform_location(name, "place"), 1.0, 1.0, 0.0, 0.0)
        for turn in range(times):
            gl.uniform4f(gl.get_uniform_location(name, "color"), turn / 2, 0.0, number / 8, 0.5)
            gl.draw_arrays(GL.TRIANGLES, 0, 3 * self.triangles)


@pytest.fixture
def most(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Its one number is the most work since a budget began."""
    found = [0]
    begin, spend = Work.begin, Work.spend
    snapshot: dict[int, int] = {}  # to each by its last `begin`

    def begun(work: Work, merged: bool = False) -> None:
        begin(work, merged)
        snapshot[id(work)] = work.left

    def counted(work: Work, units: int) -> None:
        spend(work, units)
        found[0] = max(found[0], snapshot.get(id(work), work.limit) - work.left)

    monkeypatch.setattr(Work, "begin", begun)
    monkeypatch.setattr(Work, "spend", counted)
    return found


def blended(scene: Scene, number: int) -> None:
    scene.gl.enable(GL.BLEND)
    scene.gl.blend_func(GL.SRC_ALPHA, GL.ONE)


def blended_in_turn(scene: Scene, number: int) -> None:
    scene.gl.enable(GL.BLEND)
    scene.gl.blend_func(GL.SRC_ALPHA, (GL.ONE, GL.ZERO, GL.DST_COLOR, GL.DST_ALPHA)[number])


def deep(scene: Scene, number: int) -> None:
    scene.gl.enable(GL.DEPTH_TEST)
    scene.gl.depth_func(GL.ALWAYS)


def cleared(scene: Scene, number: int) -> None:
    scene.gl.enable(GL.SCISSOR_TEST)
    scene.gl.scissor(number, 0, 2, 9)
    scene.gl.clear(GL.COLOR_BUFFER_BIT)
    scene.gl.disable(GL.SCISSOR_TEST)


def elsewhere(scene: Scene, number: int) -> None:
    scene.gl.viewport(4 * number, 0, 4, SIZE)


def from_elsewhere(scene: Scene, number: int) -> None:
    scene.gl.bind_vertex_array(scene.arrays[number])


def finished(scene: Scene, number: int) -> None:
    scene.gl.finish()


# What comes before each program's draws, how many programs take turns, how often each draws.
WAYS: list[tuple[Callable[[Scene, int], None], int, int]] = [
    (blended, FAMILIES, 2),
    (deep, FAMILIES, 2),
    (cleared, FAMILIES, 2),
    (elsewhere, FAMILIES, 2),
    (blended_in_turn, 1, 2),
    (from_elsewhere, 1, 2),
    (finished, FAMILIES, 2),
    (finished, FAMILIES, 1),
    (blended, FAMILIES, 1),
]


@pytest.mark.parametrize(("driver", "heavy", "samples"), CASES)
def test_draws_have_budgets_of_their_own(
    driver: str, heavy: str, samples: int, most: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(driver, heavy, samples, most, monkeypatch)


def test_portions_of_draws_have_budgets_of_their_own(
    most: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pixel_order, "AT_ONCE", 64)
    check("numpipe", "fragments", 0, most, monkeypatch)


def check(
    driver: str, heavy: str, samples: int, most: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draw in all ways."""
    monkeypatch.setattr(execution, "WORTH_MERGING", 1)
    monkeypatch.setattr(
        Snapshot, "_make_plan", lambda snapshot, mode: None
    )  # those count otherwise
    scene = Scene(driver, heavy, samples)
    more = []
    for between, programs, times in WAYS:
        if programs == 1 and heavy == "primitives":
            continue  # draws that are made one share a budget
        scene.begin()
        between(scene, 0)
        scene.draw(0, times)
        scene.gl.finish()
        alone, most[0] = most[0], 0
        assert alone > 100_000
        for number in range(FAMILIES):
            between(scene, number)
            scene.draw(number % programs, times)
        scene.gl.finish()
        if most[0] >= 1.5 * alone:
            more.append((between.__name__, programs, times, alone, most[0]))
        most[0] = 0
    assert more == []
    assert errors(scene.gl) == []
    scene.gl.release()


@pytest.mark.parametrize("driver", ("numpipe", "simd", "tiler"))
def test_dispatches_have_budgets_of_their_own(driver: str, most: list[int]) -> None:
    gl = create_context(driver, size=(SIZE, SIZE), version=(4, 3))
    name = linked(gl, compute=COMPUTE % (LOOP % "0.5"))
    gl.uniform1i(gl.get_uniform_location(name, "rounds"), ROUNDS)
    told = []
    for _ in range(3):
        gl.dispatch_compute(2, 1, 1)
        gl.finish()
        told.append(most[0])
    assert errors(gl) == []
    gl.release()
    assert told[0] > 100_000
    assert told == told[:1] * 3
