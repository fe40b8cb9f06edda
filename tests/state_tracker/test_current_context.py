"""C pointers mean the thread's current context; contexts can share objects."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points import abi
from gallette.state_tracker.entry_points.current import current_context, set_current


def pointer(name: str, *argtypes: Any, result: Any = None) -> Callable[..., Any]:
    return ctypes.CFUNCTYPE(result, *argtypes)(abi.address(name))


def clear_through_c(red: float) -> None:
    pointer("glClearColor", *[ctypes.c_float] * 4)(red, 0.0, 0.0, 1.0)
    pointer("glClear", ctypes.c_uint)(GL.COLOR_BUFFER_BIT)


def red_of(context: Context) -> int:
    return int(context.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)[0])


def test_a_pointer_draws_into_the_context_that_is_current() -> None:
    first, second = Context("noop", size=(4, 4)), Context("noop", size=(4, 4))
    assert current_context() is second
    address = first.load_opengl_function("glClearColor")
    assert address == second.load_opengl_function("glClearColor") != 0
    first.make_current()
    clear_through_c(0.5)
    assert first.get_floatv(GL.COLOR_CLEAR_VALUE)[0] == 0.5
    assert second.get_floatv(GL.COLOR_CLEAR_VALUE)[0] == 0.0


def test_entering_a_context_comes_back_to_the_one_before() -> None:
    first, second = Context("noop"), Context("noop")
    with first:
        assert current_context() is first
        with second:
            assert current_context() is second
        assert current_context() is first
    assert current_context() is second


def test_without_a_current_context_calls_do_nothing() -> None:
    context = Context("noop")
    set_current(None)
    clear_through_c(1.0)
    assert pointer("glGetError", result=ctypes.c_uint)() == GL.NO_ERROR
    assert pointer("glGetString", ctypes.c_uint, result=ctypes.c_void_p)(GL.VERSION) is None
    context.make_current()
    context.release()
    assert current_context() is None


def test_each_thread_has_its_own_current_context() -> None:
    contexts = [Context("noop", size=(4, 4)) for _ in range(3)]
    barrier = threading.Barrier(3)

    def work(index: int) -> None:
        contexts[index].make_current()
        barrier.wait()
        clear_through_c((index + 1) / 4)
        set_current(None)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [c.get_floatv(GL.COLOR_CLEAR_VALUE)[0] for c in contexts] == [0.25, 0.5, 0.75]


def test_a_texture_made_in_one_context_is_drawn_by_another() -> None:
    first = Context("numpipe", size=(4, 4), profile="compat")
    second = Context("numpipe", size=(4, 4), profile="compat", share=first)
    first.make_current()
    (texture,) = first.gen_textures(1)
    first.bind_texture(GL.TEXTURE_2D, texture)
    red = np.full((2, 2, 4), (200, 0, 0, 255), np.uint8)
    first.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, red)
    for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        first.tex_parameteri(GL.TEXTURE_2D, name, GL.NEAREST)
    second.make_current()
    assert second.is_texture(texture)
    second.bind_texture(GL.TEXTURE_2D, texture)
    second.enable(GL.TEXTURE_2D)
    second.rectf(-1.0, -1.0, 1.0, 1.0)
    assert red_of(second) == 200
    first.make_current()
    assert red_of(first) == 0
    first.release()
    second.make_current()  # the first took what was bound with it
    second.clear(GL.COLOR_BUFFER_BIT)
    assert red_of(second) == 0
    second.rectf(-1.0, -1.0, 1.0, 1.0)
    assert red_of(second) == 200


def test_contexts_that_share_keep_their_own_state() -> None:
    first = Context("numpipe", size=(4, 4))
    second = Context("numpipe", size=(4, 4), share=first)
    for turn in range(3):
        for index, context in enumerate((first, second)):
            context.make_current()
            if turn == 0:
                context.enable(GL.SCISSOR_TEST)
                context.scissor(index, 0, 1, 4)
                context.clear_color((index + 1) / 5, 0.0, 0.0, 1.0)
            context.clear(GL.COLOR_BUFFER_BIT)
    for index, context in enumerate((first, second)):
        context.make_current()
        pixels = context.read_pixels(0, 0, 4, 1, GL.RED, GL.UNSIGNED_BYTE)
        expected = [0, 0, 0, 0]
        expected[index] = 51 * (index + 1)
        assert list(np.frombuffer(pixels, np.uint8)[:4]) == expected


def test_objects_that_are_not_shared_have_their_own_names() -> None:
    first = Context("noop")
    second = Context("noop", share=first)
    (array,) = first.gen_vertex_arrays(1)
    first.bind_vertex_array(array)
    assert first.is_vertex_array(array) and not second.is_vertex_array(array)
    (buffer,) = first.gen_buffers(1)
    assert second.gen_buffers(1) != [buffer]
