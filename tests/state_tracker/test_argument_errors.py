"""Arguments that are none: every GL function names the one, on our contexts and on native ones."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.arguments import misfit
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Kind


@pytest.fixture(params=["noop", pytest.param("native:llvmpipe", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[Any]:
    context = create_context(request.param, version=(3, 3))
    yield context
    context.release()


@pytest.mark.parametrize(
    ("method", "args", "message"),
    [
        ("draw_arrays", ("x", 0, 3), "draw_arrays: mode is an enum, not 'x'"),
        ("draw_arrays", (4, 0), "draw_arrays: 3 arguments, 2 given; missing: count"),
        ("enable", (None,), "enable: cap is an enum, not None"),
        ("clear_color", (0, 0, 0, "x"), "clear_color: alpha is a number (float), not 'x'"),
        ("gen_buffers", ("two",), "gen_buffers: n is a whole number (sizei), not 'two'"),
        ("viewport", (0, 0, "w", 2), "viewport: width is a whole number (sizei), not 'w'"),
        (
            "uniform4fv",
            (0, 1, [1, "a", 2, 3]),
            "uniform4fv: value is numbers (float), not [1, 'a', 2, 3]",
        ),
        ("active_texture", (), "active_texture: 1 argument, 0 given; missing: texture"),
    ],
)
def test_the_argument_is_named(gl: Any, method: str, args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError) as told:
        getattr(gl, method)(*args)
    assert str(told.value) == message
    assert gl.get_error() == GL.NO_ERROR


def test_a_gl_error_is_still_a_gl_error(gl: Any) -> None:
    gl.enable(0x1234567)
    assert gl.get_error() == GL.INVALID_ENUM
    gl.shader_source(77, "void main() {}")  # its count is left out
    assert gl.get_error() == GL.INVALID_VALUE
    gl.draw_arrays(GL.TRIANGLES, -1, np.int32(3))
    assert gl.get_error() != GL.NO_ERROR


def test_a_gl_error_names_no_output_that_was_left_out(gl: Any) -> None:
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE)
    assert gl.get_error() == GL.INVALID_FRAMEBUFFER_OPERATION


DATA = bytes(64)
READS = [  # where a buffer is bound, the last argument is an offset
    ("ELEMENT_ARRAY_BUFFER", "draw_elements", (GL.TRIANGLES, 3, GL.UNSIGNED_INT, DATA)),
    ("ELEMENT_ARRAY_BUFFER", "draw_elements", (GL.TRIANGLES, 3, GL.UNSIGNED_INT, np.zeros(3))),
    ("DRAW_INDIRECT_BUFFER", "draw_arrays_indirect", (GL.TRIANGLES, DATA)),
    ("QUERY_BUFFER", "get_query_objectuiv", (1, GL.QUERY_RESULT, bytearray(4))),
    ("PIXEL_PACK_BUFFER", "read_pixels", (0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytearray(4))),
]


@pytest.mark.parametrize(("target", "method", "args"), READS)
def test_data_in_place_of_an_offset_is_an_error(target: str, method: str, args: Any) -> None:
    gl: Any = create_context("numpipe", profile="compat", version=(4, 6), size=(4, 4))
    gl.bind_buffer(getattr(GL, target), gl.gen_buffers(1)[0])
    gl.buffer_data(getattr(GL, target), 256, None, GL.STATIC_DRAW)
    gl.begin_query(GL.SAMPLES_PASSED, *gl.gen_queries(1))
    gl.end_query(GL.SAMPLES_PASSED)
    getattr(gl, method)(*args)
    assert (gl.get_error(), gl.get_error()) == (GL.INVALID_OPERATION, GL.NO_ERROR)
    gl.release()


def test_keywords_are_refused_by_the_function_s_name() -> None:
    context: Any = create_context("noop", version=(3, 3))
    with pytest.raises(TypeError, match=r"^draw_arrays\(\)"):
        context.draw_arrays(mode=4, first=0, count=3)
    context.release()


def test_every_function_has_a_signature_and_every_number_of_it_is_checked() -> None:
    """A text where a number belongs, for each plain parameter of each function there is."""
    looked = 0
    for function in FUNCTIONS.values():
        assert list(function.signature.parameters) == [p.name for p in function.params]
        for i, param in enumerate(function.params[: function.required]):
            if param.kind is not Kind.VALUE or param.stars or "PROC" in param.type:
                continue
            if param.type == "sync":
                continue
            fine: list[Any] = [None if p.stars else 0 for p in function.params]
            assert misfit(function, tuple(fine)) == "", function
            fine[i] = "text"
            told = misfit(function, tuple(fine))
            assert told.startswith(f"{function.method}: {param.name} is "), function
            looked += 1
    assert looked > 4000


def test_dir_lists_the_functions_a_context_has() -> None:
    context: Any = create_context("noop", version=(3, 3))
    listed = dir(context)
    assert {"draw_arrays", "tex_image2d", "get_integerv"} <= set(listed)
    shown = inspect.signature(context.draw_arrays)
    assert str(shown) == "(mode: 'enum mode', first: 'int first', count: 'sizei count', /)"
    context.release()
