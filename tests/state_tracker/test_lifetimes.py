"""Objects live as long as something holds them, and follow their storage when it is replaced."""

from __future__ import annotations

import ctypes
import gc
import weakref

import pytest

from gallette.pipe.resource import LeakError
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import program, quad


def attached_texture(gl: GLInterface, size: int = 8) -> tuple[int, int]:
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    args = (GL.RGBA8, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    gl.tex_image2d(GL.TEXTURE_2D, 0, *args)
    (fbo,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    return int(texture), int(fbo)


def test_a_released_context_leaves_nothing_behind() -> None:
    context = create_context("numpipe", size=(16, 16))
    assert isinstance(context, Context)
    quad(context, program(context))
    attached_texture(context)
    context.gen_queries(3)
    context.generate_mipmap(GL.TEXTURE_2D)
    context.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    screen = context.screen
    context.release()
    assert screen.resources.live == []
    context.release()  # twice is once


def test_a_leak_is_reported_by_name() -> None:
    context = create_context("noop")
    assert isinstance(context, Context)
    (name,) = context.gen_buffers(1)
    context.bind_buffer(GL.ARRAY_BUFFER, name)
    context.buffer_data(GL.ARRAY_BUFFER, 16, None, GL.STATIC_DRAW)
    buffer = context.buffers.names.require(name)
    assert buffer.resource is not None
    held = buffer.resource.ref()
    with pytest.raises(LeakError, match="buffer 1"):
        context.release()
    held.unref()


def test_contexts_made_and_released_leave_nothing() -> None:
    def count() -> int:
        gc.collect()
        return sum(isinstance(o, Context) for o in gc.get_objects())

    before = count()
    for _ in range(20):
        create_context("numpipe", size=(8, 8)).release()
    assert count() == before


def test_an_exception_in_a_c_callback_is_not_kept(capfd: pytest.CaptureFixture[str]) -> None:
    class Canary:
        pass

    context = create_context("noop")
    canary = Canary()
    watch = weakref.ref(canary)

    def broken(*args: object, kept: object = canary) -> None:
        raise RuntimeError("broken on purpose")

    context.flush = broken
    context.make_current()
    ctypes.CFUNCTYPE(None)(context.load_opengl_function("glFlush"))()
    del context.flush, broken, canary
    context.calls.clear()
    gc.collect()
    assert watch() is None
    context.release()


def test_empty_lists_are_names_and_nothing_else() -> None:
    gl = create_context("noop", profile="compat", version=(2, 1), size=(4, 4))
    first = gl.gen_lists(100_000)
    assert list(gl.lists.names.values()) == []
    assert gl.is_list(first) and gl.is_list(first + 99_999) and not gl.is_list(first + 100_000)
    gl.call_list(first)
    gl.delete_lists(first + 1, 70_000)
    gl.delete_lists(first, 2)
    kept = [gl.is_list(first + k) for k in (0, 1, 70_000, 70_001, 99_999)]
    assert kept == [0, 0, 0, 1, 1] and gl.get_error() == 0
    gl.release()


def test_consecutive_names_are_found_between_others() -> None:
    gl = create_context("noop", profile="compat", version=(2, 1), size=(4, 4))
    for name in (5, 7, (1 << 32) - 2):
        gl.new_list(name, GL.COMPILE)
        gl.end_list()
    assert gl.gen_lists(4) == 1
    assert gl.gen_lists(1) == (1 << 32) - 1
    assert gl.gen_lists(1) == 6
    assert gl.gen_lists(1000) == 8
    gl.release()
