"""Small draws of several instances wait and are executed together as if each were alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.draw import execution, queue
from gallette.drivers.common.draw.execution import Execution
from gallette.state_tracker import GL, create_context

from .helpers import pixels, program

NUMBERED = """#version 420
layout(location = 0) in vec2 corner;
layout(location = 1) in vec2 offset;
layout(location = 2) in vec3 paint;
uniform vec4 place;
out vec3 tint;
void main() {
    vec2 step = vec2(gl_InstanceID % 3, gl_InstanceID / 3) * 0.3;
    gl_Position = vec4(corner * place.z + place.xy + offset + step, 0.0, 1.0);
    tint = paint;
}"""
PLAIN = NUMBERED.replace(" + step", "").replace(
    "    vec2 step = vec2(gl_InstanceID % 3, gl_InstanceID / 3) * 0.3;\n", ""
)
FS = """#version 420
uniform vec4 place;
in vec3 tint;
out vec4 color;
void main() { color = vec4(tint * (place.w + 0.5), 0.7); }"""
DRAWS, SIZE = 60, 64
MODES = [GL.TRIANGLES, GL.TRIANGLE_STRIP, GL.TRIANGLE_FAN, GL.LINES, GL.LINE_LOOP, GL.POINTS]


def arrays(gl: Any, rng: np.random.Generator, divisors: tuple[int, int]) -> None:
    """Corners by vertex; offsets and colours by so many instances, of which there are few."""
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    many = rng.uniform(-0.3, 0.3, (40, 2)), rng.uniform(-0.4, 0.4, (5, 2)), rng.random((5, 3))
    for index, (data, divisor) in enumerate(zip(many, (0, *divisors), strict=True)):
        data = data.astype(np.float32)
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(index, data.shape[1], GL.FLOAT, 0, 0, None)
        gl.vertex_attrib_divisor(index, divisor)
        gl.enable_vertex_attrib_array(index)


def picture(
    driver: str, vertex: str, mode: int, indexed: bool, divisors: tuple[int, int], least: int = 1
) -> npt.NDArray[Any]:
    rng = np.random.default_rng(4)
    gl = create_context(driver, profile="core", version=(4, 3), size=(SIZE, SIZE))
    name = program(gl, vertex, FS)
    made = []
    for _ in range(2):
        arrays(gl, rng, divisors)
        gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, gl.gen_buffers(1)[0])
        order = rng.integers(0, 42, 64).astype(np.uint16)
        order[rng.integers(0, 64, 6)] = 65535
        gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, order.nbytes, order, GL.STATIC_DRAW)
        made.append(gl.get_integerv(GL.VERTEX_ARRAY_BINDING)[0])
    gl.enable(GL.PRIMITIVE_RESTART)
    gl.primitive_restart_index(65535)
    gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    gl.enable(GL.BLEND)
    gl.clear(GL.COLOR_BUFFER_BIT)
    place = gl.get_uniform_location(name, "place")
    for k in range(DRAWS):
        if k % 10 == 9:
            gl.bind_vertex_array(made[int(rng.integers(2))])
        gl.uniform4f(place, *rng.uniform(-0.6, 0.6, 2).tolist(), rng.uniform(0.3, 2), k % 3 / 3)
        first, count, many = (int(n) for n in rng.integers((0, least, 0), (20, 10, 6)))
        base = int(rng.integers(4)) if k % 5 == 0 else 0
        if not indexed:
            gl.draw_arrays_instanced_base_instance(mode, first, count, many, base)
        else:
            gl.draw_elements_instanced_base_vertex_base_instance(
                mode, count, GL.UNSIGNED_SHORT, 2 * first, many, k % 3, base
            )
    assert gl.get_error() == GL.NO_ERROR
    found = np.array(pixels(gl))
    gl.release()
    return found


@pytest.mark.parametrize("vertex", [PLAIN, NUMBERED], ids=["plain", "numbered"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("indexed", [False, True], ids=["arrays", "elements"])
def test_they_look_as_one_by_one(
    indexed: bool, mode: int, vertex: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    images = []
    for small in (4096, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(picture("numpipe", vertex, mode, indexed, (1, 2)))
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 10
    np.testing.assert_array_equal(*images)


@pytest.mark.parametrize("divisors", [(0, 1), (1, 0), (3, 1)])
def test_whatever_the_divisors(divisors: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    images = []
    for small in (4096, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(picture("numpipe", NUMBERED, GL.TRIANGLES, False, divisors))
    np.testing.assert_array_equal(*images)


@pytest.mark.parametrize("indexed", [False, True], ids=["arrays", "elements"])
def test_on_a_driver_with_code_of_its_own(indexed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    images = []
    for small in (4096, 0):
        monkeypatch.setattr(queue, "SMALL", small)
        images.append(picture("jit", NUMBERED, GL.TRIANGLES, indexed, (1, 2)))
    np.testing.assert_array_equal(*images)


def test_they_stay_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    execute = Execution.run

    def counted(self: Execution, draws: Any) -> None:
        found.append(len(draws))
        execute(self, draws)

    monkeypatch.setattr(Execution, "run", counted)
    picture("numpipe", NUMBERED, GL.TRIANGLES, False, (1, 1), least=3)
    assert len(found) == 1
