"""Depth bounds, stencil masks, exported references, alpha to one: on numpipe, jit and llvmpipe."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels, program

VS = """#version 430
flat out int number;
void main() {
    number = gl_VertexID / 3;
    vec2 corner = vec2(gl_VertexID % 3 == 1 ? 3.0 : -1.0, gl_VertexID % 3 == 2 ? 3.0 : -1.0);
    gl_Position = vec4(corner, corner.x * 0.999, 1.0);
}"""
WHITE = "#version 430\nout vec4 color;\nvoid main() { color = vec4(1.0); }"


@pytest.fixture(params=["numpipe", "jit", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    options: dict[str, Any] = {"profile": "core", "version": (4, 3), "size": (64, 64)}
    if request.param == "native":
        context = native_context(**options)
    else:
        if request.param == "jit":
            pytest.importorskip("llvmlite")
        context = create_context(request.param, **options)
    context.bind_vertex_array(context.gen_vertex_arrays(1)[0])
    context.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    yield context
    context.release()


def need(gl: GLInterface, name: str) -> None:
    count = gl.get_integerv(GL.NUM_EXTENSIONS)[0]
    if name not in {gl.get_stringi(GL.EXTENSIONS, i) for i in range(count)}:
        assert "gallette" not in gl.get_string(GL.RENDERER)
        pytest.skip(f"no {name}")


@pytest.mark.parametrize("depth_test", [False, True])
def test_depth_bounds_test_stored_depths(gl: GLInterface, depth_test: bool) -> None:
    need(gl, "GL_EXT_depth_bounds_test")
    program(gl, VS, WHITE)
    gl.enable(GL.DEPTH_TEST)
    gl.depth_func(GL.ALWAYS)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)  # a ramp from 0 to 1
    raw = gl.read_pixels(0, 0, 64, 64, GL.DEPTH_COMPONENT, GL.FLOAT)
    depth = np.frombuffer(raw, np.float32).reshape(64, 64)
    gl.clear(GL.COLOR_BUFFER_BIT)
    if not depth_test:
        gl.disable(GL.DEPTH_TEST)
    gl.enable(GL.DEPTH_BOUNDS_TEST_EXT)
    gl.depth_bounds_ext(0.25, 0.5)
    assert list(gl.get_floatv(GL.DEPTH_BOUNDS_EXT)[:2]) == [0.25, 0.5]
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert errors(gl) == []
    seen = pixels(gl)[..., 0] > 0
    assert (seen == ((depth >= 0.25) & (depth <= 0.5))).all()
    assert 0 < seen.sum() < seen.size
    gl.depth_bounds_ext(0.75, 0.5)
    assert errors(gl) == ["GL_INVALID_VALUE"]


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_stencil_masks_and_references_are_no_part_of_compiled_code(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name = "common.fixed.arrays", "_function"
    if driver == "jit":
        pytest.importorskip("llvmlite")
        module, name = "jit.tile_functions", "compile_module"
    place = importlib.import_module(f"gallette.drivers.{module}")
    made: list[object] = []
    compiled = getattr(place, name)

    def counted(*given: Any) -> Any:
        made.append(given)
        return compiled(*given)

    monkeypatch.setattr(place, name, counted)
    gl = create_context(driver, profile="core", version=(4, 3), size=(64, 64))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    program(gl, VS, WHITE)
    gl.enable(GL.STENCIL_TEST)
    gl.stencil_op(GL.INVERT, GL.INVERT, GL.INVERT)
    stored = 0
    counts = []
    for read, written, reference in ((0xFF, 0xFF, 1), (0xF0, 0x3C, 0x51), (0, 0x81, 0), (3, 9, 2)):
        gl.stencil_func(GL.GREATER, reference, read)
        gl.stencil_mask(written)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        stored ^= written
        found = gl.read_pixels(0, 0, 64, 64, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
        assert set(found) == {stored}
        counts.append(len(made))
    gl.release()
    assert counts[-1] == counts[0]
