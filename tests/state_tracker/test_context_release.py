"""A released context leaves nothing in memory, whatever still refers to it."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import ReleasedError
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import compiled, errors, pixels

ROOT = Path(__file__).parents[2]
CONTEXT = "gallette.state_tracker.context.Context"
LEFT = 1 << 14
"""Bytes of a released context: its few attributes, and what bounded caches of Python take."""


def told(*command: str) -> Any:
    """What a child says on its last line; nothing of this process's tests is in its memory."""
    env = os.environ | {"GALLETTE_CACHE": "off", "GALLETTE_DEBUG": ""}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_objects_of_every_kind_are_released_with_their_context() -> None:
    found = told("-m", "tests.state_tracker.every_object", "numpipe", "jit", "simd", "tiler")
    for driver, left in found.items():
        assert left["objects"] == {CONTEXT: 3}, driver  # which the child holds
        assert left["bytes"] < LEFT, driver
        assert left["late"] == 0, driver


MODERNGL = """
import gc, json, struct, sys, tracemalloc
import moderngl
import gallette
from tests.state_tracker.every_object import live_objects

def one(driver):
    ctx = moderngl.create_context(standalone=True, context=gallette.moderngl_context(driver))
    program = ctx.program(
        vertex_shader="#version 330\\nin vec2 p; void main() { gl_Position = vec4(p, 0, 1); }",
        fragment_shader="#version 330\\nout vec4 c; void main() { c = vec4(1, 0, 0, 1); }",
    )
    target = ctx.simple_framebuffer((8, 8))
    target.use()
    target.clear()
    corners = ctx.buffer(struct.pack("6f", -1, -1, 3, -1, -1, 3))
    array = ctx.vertex_array(program, [(corners, "2f", "p")])
    array.render()
    assert target.read(components=4) == bytes((255, 0, 0, 255)) * 64
    for made in (array, corners, target, program, ctx):
        made.release()

def grown(driver):
    for _ in range(3):
        one(driver)
    before = live_objects()
    tracemalloc.start()
    one(driver)
    gc.collect()
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(5):
        one(driver)
    gc.collect()
    last = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {"bytes": (last - first) // 5, "objects": live_objects() - before}

print(json.dumps({driver: grown(driver) for driver in sys.argv[1:]}))
"""


def test_moderngl_keeps_a_context_without_its_objects() -> None:
    """It keeps some 31 KB of its own for each, with any OpenGL."""
    for driver, left in told("-c", MODERNGL, "numpipe", "jit").items():
        assert left["objects"].keys() <= {CONTEXT}, driver
        assert left["bytes"] < 32768 + LEFT, driver


# -- a context that is gone ------------------------------------------------------------------------

USES: dict[str, Callable[[Any], Any]] = {
    "a call": lambda gl: gl.draw_arrays(GL.TRIANGLES, 0, 3),
    "a call for an error": lambda gl: gl.get_error(),
    "its state": lambda gl: gl.textures,
    "being made current": lambda gl: gl.make_current(),
    "being entered": lambda gl: gl.__enter__(),
    "a function's address": lambda gl: gl.load_opengl_function("glClear"),
    "what does not exist": lambda gl: gl.draw_everything,
    "sharing": lambda gl: Context("noop", share=gl),
}


@pytest.mark.parametrize("name", USES)
def test_a_released_context_says_that_it_was_released(name: str) -> None:
    gl = create_context("noop", size=(4, 4))
    gl.release()
    with pytest.raises(ReleasedError, match="released"):
        USES[name](gl)


def test_a_released_context_can_be_queried() -> None:
    gl = create_context("noop", profile="compat", version=(3, 1), size=(4, 4))
    assert isinstance(gl, Context)
    gl.release()
    gl.release()
    assert gl.released and (gl.driver, gl.profile) == ("noop", "compat")
    assert not hasattr(gl, "clear")
    assert "Context" in repr(gl)


@pytest.mark.parametrize("driver", ["numpipe", "noop"])
def test_methods_taken_from_a_context_raise_after_its_release(driver: str) -> None:
    gl = create_context(driver, profile="compat", version=(3, 3), size=(4, 4))
    corners = np.zeros(8, np.float32)
    calls = [
        (gl.clear, (GL.COLOR_BUFFER_BIT,)),
        (gl.clear_color, (1.0, 0.0, 0.0, 1.0)),
        (gl.enable, (GL.BLEND,)),
        (gl.gen_buffers, (1,)),
        (gl.vertex2f, (0.0, 0.0)),
        (gl.uniform4fv, (0, 1, corners)),
        (gl.read_pixels, (0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)),
        (gl.draw_arrays, (GL.TRIANGLES, 0, 3)),
        (gl.get_integerv, (GL.VIEWPORT,)),
        (gl.viewport, (0, 0, 1, 1)),
    ]
    gl.release()
    for call, args in calls:
        with pytest.raises(ReleasedError):
            call(*args)


def test_c_pointers_do_nothing_after_the_release() -> None:
    gl = create_context("numpipe", size=(4, 4))
    clear = ctypes.CFUNCTYPE(None, ctypes.c_uint)(gl.load_opengl_function("glClear"))
    error = ctypes.CFUNCTYPE(ctypes.c_uint)(gl.load_opengl_function("glGetError"))
    gl.clear(0xFFFF)
    gl.release()
    clear(0xFFFF)
    assert error() == GL.NO_ERROR


# -- a context that goes while others share its objects --------------------------------------------


@pytest.fixture
def widow() -> Any:
    """A context, and what a released one has left in the group: names of each kind of object."""
    first = create_context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    assert isinstance(first, Context)
    second = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8), share=first)
    yield first, second
    second.release()


GREEN = "void main() { gl_FragColor = vec4(0, 1, 0, 1); }"
PROGRAM = "!!ARBfp1.0\nMOV result.color, program.env[0]; END"


def test_what_a_released_context_has_made_is_used_by_others(widow: tuple[Any, Any]) -> None:
    gone, gl = widow
    (buffer,) = gone.gen_buffers(1)
    gone.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gone.buffer_data(GL.ARRAY_BUFFER, 16, bytes(16), GL.STATIC_DRAW)
    (texture,) = gone.gen_textures(1)
    gone.bind_texture(GL.TEXTURE_2D, texture)
    gone.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, bytes(4))
    program, shader = gone.create_program(), compiled(gone, GL.FRAGMENT_SHADER, GREEN)
    gone.attach_shader(program, shader)
    gone.link_program(program)
    gone.bind_program_arb(GL.FRAGMENT_PROGRAM_ARB, 1)
    gone.program_string_arb(
        GL.FRAGMENT_PROGRAM_ARB, GL.PROGRAM_FORMAT_ASCII_ARB, len(PROGRAM), PROGRAM
    )
    gone.rectf(-1, -1, 1, 1)
    gone.use_program(program)
    gone.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytes(4))
    gone.rectf(-1, -1, 1, 1)
    gone.release()

    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 32, bytes(range(32)), GL.STATIC_DRAW)
    assert gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 32) == bytes(range(32))
    gl.bind_texture(GL.TEXTURE_2D, texture)
    texels = bytes([50] * 16)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    gl.enable(GL.TEXTURE_2D)
    gl.generate_mipmap(GL.TEXTURE_2D)
    gl.rectf(-1, -1, 1, 1)
    assert pixels(gl, 8, 8)[4, 4].tolist() == [50] * 4
    gl.use_program(program)
    gl.rectf(-1, -1, 1, 1)
    assert pixels(gl, 8, 8)[4, 4].tolist() == [0, 255, 0, 255]
    gl.link_program(program)
    gl.rectf(-1, -1, 1, 1)
    gl.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytes(4))
    gl.use_program(0)
    gl.bind_program_arb(GL.FRAGMENT_PROGRAM_ARB, 1)
    gl.program_env_parameter4f_arb(GL.FRAGMENT_PROGRAM_ARB, 0, 1, 0, 1, 1)
    gl.enable(GL.FRAGMENT_PROGRAM_ARB)
    gl.rectf(-1, -1, 1, 1)
    assert pixels(gl, 8, 8)[4, 4].tolist() == [255, 0, 255, 255]
    gl.delete_program(program)
    gl.delete_textures(1, [texture])
    assert errors(gl) == []


@pytest.mark.parametrize("released", [False, True])
def test_a_list_acts_in_the_context_that_calls_it(widow: tuple[Any, Any], released: bool) -> None:
    gone, gl = widow
    corners = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
    gone.vertex_pointer(2, GL.FLOAT, 0, corners)
    gone.enable_client_state(GL.VERTEX_ARRAY)
    gone.color4f(0, 0, 1, 1)
    gone.new_list(1, GL.COMPILE)
    gone.clear_color(0, 1, 0, 1)
    gone.clear(GL.COLOR_BUFFER_BIT)
    gone.scissor(0, 0, 4, 8)
    gone.enable(GL.SCISSOR_TEST)
    gone.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gone.raster_pos2f(-1, -1)
    gone.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytes([255] * 4))
    gone.end_list()
    gone.call_list(1)
    assert list(gone.get_integerv(GL.SCISSOR_BOX)) == [0, 0, 4, 8]
    gone.disable(GL.SCISSOR_TEST)
    if released:
        gone.release()
    gl.color4f(1, 0, 0, 1)
    gl.call_list(1)
    picture = pixels(gl, 8, 8)
    assert picture[4, 2].tolist() == [255, 0, 0, 255]
    assert picture[4, 6].tolist() == [0, 255, 0, 255]
    assert picture[0, 0].tolist() == [255] * 4
    assert gl.is_enabled(GL.SCISSOR_TEST) and errors(gl) == []
    if not released:
        assert not gone.is_enabled(GL.SCISSOR_TEST)
        gone.release()


def test_a_reader_sees_the_last_picture_of_a_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the program itself has never read pixels."""
    seen: list[bytes] = []

    class Last:
        def read(self, gl: Any, width: int, height: int) -> None: ...

        def died(self, gl: Any) -> None:
            seen.append(bytes(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)))

    monkeypatch.setattr("gallette.state_tracker.context.READERS", [Last()])
    gl = create_context("numpipe", size=(2, 2))
    gl.clear_color(1.0, 0.0, 0.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.release()
    assert seen == [b"\xff\x00\x00\xff"]
