"""Depth bounds, exported stencil references, alpha to one: on numpipe, jit and llvmpipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def test_bounds_see_what_earlier_fragments_of_the_draw_stored(gl: GLInterface) -> None:
    need(gl, "GL_EXT_depth_bounds_test")
    fragment = """#version 430
flat in int number;
out vec4 color;
void main() { gl_FragDepth = number * 0.25 + 0.1; color = vec4(number / 255.0); }"""
    program(gl, VS, fragment)
    gl.enable(GL.DEPTH_TEST)
    gl.depth_func(GL.ALWAYS)
    gl.clear_depth(0.3)
    gl.clear(GL.DEPTH_BUFFER_BIT)
    gl.enable(GL.DEPTH_BOUNDS_TEST_EXT)
    gl.depth_bounds_ext(0.2, 0.7)
    # Number 0 stores 0.1, outside: nothing after it is drawn.
    gl.draw_arrays(GL.TRIANGLES, 0, 12)
    assert (pixels(gl)[..., 0] == 0).all()
    gl.clear(GL.DEPTH_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLES, 3, 9)  # 1 stores 0.35, 2 stores 0.6, 3 stores 0.85
    assert (pixels(gl)[..., 0] == 3).all()


@pytest.mark.parametrize("func", ["ALWAYS", "LESS", "EQUAL"])
def test_the_shader_writes_the_stencil_reference(gl: GLInterface, func: str) -> None:
    need(gl, "GL_ARB_shader_stencil_export")
    fragment = """#version 430
#extension GL_ARB_shader_stencil_export : require
flat in int number;
out vec4 color;
void main() {
    gl_FragStencilRefARB = int(gl_FragCoord.x) + 3 * number;
    color = vec4((number + 1) / 255.0);
}"""
    program(gl, VS, fragment)
    gl.clear_stencil(20)
    gl.clear(GL.STENCIL_BUFFER_BIT)
    gl.enable(GL.STENCIL_TEST)
    gl.stencil_func(getattr(GL, func), 7, 0x3F)
    gl.stencil_op(GL.KEEP, GL.KEEP, GL.REPLACE)
    gl.draw_arrays(GL.TRIANGLES, 0, 9)
    assert errors(gl) == []
    raw = gl.read_pixels(0, 0, 64, 64, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
    stencil = np.frombuffer(raw, np.uint8).reshape(64, 64)
    expected, color = np.full(64, 20), np.zeros(64, int)
    for number in range(3):
        reference = np.arange(64) + 3 * number
        compare = {"ALWAYS": np.less_equal, "LESS": np.less, "EQUAL": np.equal}[func]
        passes = compare(reference & 0x3F, expected & 0x3F)
        passes = np.ones(64, bool) if func == "ALWAYS" else passes
        expected, color = np.where(passes, reference, expected), np.where(passes, number + 1, color)
    assert (stencil == expected).all()
    assert (pixels(gl)[..., 0] == color).all()


@pytest.mark.parametrize("coverage", [False, True])
def test_alpha_to_one_comes_after_coverage(gl: GLInterface, coverage: bool) -> None:
    fragment = """#version 430
out vec4 color;
void main() { color = vec4(1.0, 0.0, 0.0, gl_FragCoord.x < 32.0 ? 0.5 : 0.0); }"""
    program(gl, VS, fragment)
    renderbuffers = gl.gen_renderbuffers(1)
    (fbo,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    gl.bind_renderbuffer(GL.RENDERBUFFER, renderbuffers[0])
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, 4, GL.RGBA8, 64, 64)
    target = (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, renderbuffers[0])
    gl.framebuffer_renderbuffer(*target)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.enable(GL.SAMPLE_ALPHA_TO_ONE)
    if coverage:
        gl.enable(GL.SAMPLE_ALPHA_TO_COVERAGE)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 0)
    gl.blit_framebuffer(0, 0, 64, 64, 0, 0, 64, 64, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    seen = pixels(gl)
    assert errors(gl) == []
    left, right = (128, 0) if coverage else (255, 255)
    assert (abs(seen[:, :32, 3].astype(int) - left) <= 1).all()
    assert (seen[:, 32:, 3] == right).all()
    assert (seen[..., 0] == seen[..., 3]).all()


def test_the_ends_of_the_depth_range_are_clamped_apart(gl: GLInterface) -> None:
    need(gl, "GL_AMD_depth_clamp_separate")
    program(gl, VS.replace("corner.x * 0.999", "corner.x * 2.0"), WHITE)
    columns = {}
    for near in (0, 1):
        for far in (0, 1):
            (gl.enable if near else gl.disable)(GL.DEPTH_CLAMP_NEAR_AMD)
            (gl.enable if far else gl.disable)(GL.DEPTH_CLAMP_FAR_AMD)
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.draw_arrays(GL.TRIANGLES, 0, 3)
            drawn = np.flatnonzero(pixels(gl)[32, :, 0])
            columns[near, far] = (int(drawn[0]), int(drawn[-1]))
    assert columns == {(0, 0): (16, 47), (1, 0): (0, 47), (0, 1): (16, 63), (1, 1): (0, 63)}
    assert gl.is_enabled(GL.DEPTH_CLAMP)
    gl.disable(GL.DEPTH_CLAMP)
    assert not gl.is_enabled(GL.DEPTH_CLAMP_NEAR_AMD)
    assert errors(gl) == []


STENCIL_OPS: dict[str, Callable[[int], int]] = {
    "KEEP": lambda old: old,
    "ZERO": lambda old: 0,
    "REPLACE": lambda old: 0x5A,
    "INCR": lambda old: min(old + 1, 255),
    "DECR": lambda old: max(old - 1, 0),
    "INCR_WRAP": lambda old: (old + 1) % 256,
    "DECR_WRAP": lambda old: (old - 1) % 256,
    "INVERT": lambda old: 255 - old,
}


def test_operations_on_stencils_at_the_ends_and_between(gl: GLInterface) -> None:
    program(gl, VS, WHITE)
    gl.enable(GL.STENCIL_TEST)
    gl.stencil_func(GL.ALWAYS, 0x5A, 0xFF)
    stored = (0, 1, 0x47, 254, 255)
    for name, operation in STENCIL_OPS.items():
        gl.enable(GL.SCISSOR_TEST)
        for column, old in enumerate(stored):
            gl.scissor(column, 0, 1, 64)
            gl.clear_stencil(old)
            gl.clear(GL.STENCIL_BUFFER_BIT)
        gl.disable(GL.SCISSOR_TEST)
        gl.stencil_op(GL.KEEP, GL.KEEP, getattr(GL, name))
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        raw = gl.read_pixels(0, 0, len(stored), 1, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
        assert list(raw[: len(stored)]) == [operation(old) for old in stored], name
    assert errors(gl) == []


LOGIC_OPS: dict[str, Callable[[int, int], int]] = {
    "CLEAR": lambda s, d: 0,
    "AND": lambda s, d: s & d,
    "AND_REVERSE": lambda s, d: s & ~d,
    "COPY": lambda s, d: s,
    "AND_INVERTED": lambda s, d: ~s & d,
    "NOOP": lambda s, d: d,
    "XOR": lambda s, d: s ^ d,
    "OR": lambda s, d: s | d,
    "NOR": lambda s, d: ~(s | d),
    "EQUIV": lambda s, d: ~(s ^ d),
    "INVERT": lambda s, d: ~d,
    "OR_REVERSE": lambda s, d: s | ~d,
    "COPY_INVERTED": lambda s, d: ~s,
    "OR_INVERTED": lambda s, d: ~s | d,
    "NAND": lambda s, d: ~(s & d),
    "SET": lambda s, d: -1,
}


def test_logic_operations_combine_every_pair_of_bits(gl: GLInterface) -> None:
    source, stored = 0x55, 0x33
    program(gl, VS, WHITE.replace("vec4(1.0)", f"vec4({source}.0 / 255.0)"))
    gl.clear_color(*[stored / 255.0] * 4)
    gl.enable(GL.COLOR_LOGIC_OP)
    for name, operation in LOGIC_OPS.items():
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.logic_op(getattr(GL, name))
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        assert (pixels(gl)[..., :3] == operation(source, stored) & 0xFF).all(), name
    assert errors(gl) == []
