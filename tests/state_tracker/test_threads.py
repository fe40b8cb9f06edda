"""Several threads: one address for a function, turns with what is shared, nothing left behind."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pytest

from gallette.egl import registry
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points import abi, c_strings, share_group_lock, thread_ends
from gallette.state_tracker.entry_points.current import current_context, set_current, threads_of
from tests.state_tracker import helpers

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds: nobody waits that long unless something is wrong."""


@pytest.fixture(autouse=True)
def nothing_is_forgotten() -> None:
    """What other tests do behind draws is not for several threads."""


def in_a_thread(work: Callable[[], T]) -> T:
    """The result of work that is done in a thread, which has ended by then."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def both(work: Callable[[], T]) -> list[T]:
    """The results of two threads that do the same."""
    with ThreadPoolExecutor(2) as pool:
        return [each.result() for each in [pool.submit(work), pool.submit(work)]]


def at_once(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
    """Two threads are in a function of a module at the same time."""
    function, meeting = getattr(module, name), threading.Barrier(2, timeout=PATIENCE)

    def met(*args: Any) -> Any:
        meeting.wait()
        return function(*args)

    monkeypatch.setattr(module, name, met)


# -- addresses -------------------------------------------------------------------------------------


def test_simultaneous_requests_return_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two the second would take the place of the first, which would be gone."""
    monkeypatch.setattr(abi, "_ADDRESSES", {})
    at_once(monkeypatch, abi, "_entry_point")
    one, other = both(lambda: abi.address("glDepthFunc"))
    assert one == other != 0


def test_egl_functions_have_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    __import__("gallette.egl.functions")
    monkeypatch.setattr(registry, "_POINTERS", {})
    at_once(monkeypatch, registry, "c_pointer")
    one, other = both(lambda: registry.c_address("eglBindAPI"))
    assert one == other != 0


def test_texts_stay_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_strings, "_KEPT", {})

    class Meeting:
        create_string_buffer = staticmethod(ctypes.create_string_buffer)
        addressof = staticmethod(ctypes.addressof)

    at_once(monkeypatch, Meeting, "create_string_buffer")
    monkeypatch.setattr(c_strings, "ctypes", Meeting)
    one, other = both(lambda: c_strings.c_string("a text"))
    assert one == other
    assert ctypes.string_at(one) == b"a text"


# -- what is current -------------------------------------------------------------------------------


def test_the_current_context_is_dropped_with_its_thread() -> None:
    """The next thread may get the identifier of one that ended."""
    context = Context("noop", size=(4, 4))
    assert in_a_thread(lambda: (context.make_current(), current_context())[1]) is context
    until = time.monotonic() + PATIENCE  # Python knows of a thread's end a little before that
    while len(threads_of(context)) > 1 and time.monotonic() < until:
        time.sleep(0.001)
    assert threads_of(context) == [threading.get_ident()]
    context.release()


def test_each_hook_is_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[int] = []
    monkeypatch.setattr(thread_ends, "_HOOKS", [lambda: 1 // 0, lambda: heard.append(1)])
    thread_ends._ended(1)
    assert heard == [1]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_what_is_current_elsewhere_stays() -> None:
    context, other = Context("noop"), Context("noop")
    context.make_current()
    in_a_thread(other.make_current)
    assert current_context() is context
    for each in (context, other):
        each.release()


# -- turns -----------------------------------------------------------------------------------------


def red_of(context: Any) -> int:
    return int(context.read_pixels(0, 0, 1, 1, GL.RED, GL.UNSIGNED_BYTE)[0])


def test_methods_of_contexts_that_share_need_no_current_context() -> None:
    first = Context("numpipe", size=(4, 4))
    second = Context("numpipe", size=(4, 4), share=first)
    set_current(None)
    for context, value in ((first, 0.2), (second, 0.4)):
        context.clear_color(value, 0.0, 0.0, 1.0)
    for context in (first, second, first):
        context.clear(GL.COLOR_BUFFER_BIT)
    assert [red_of(first), red_of(second)] == [51, 102]
    assert first.clear.__name__ == "clear"
    assert str(first.clear.__doc__) == str(Context("numpipe").clear.__doc__)
    second.release()
    first.release()


def in_a_call(context: Any, work: Callable[[], object]) -> None:
    """Do some work in the midst of a call on a (debug) context."""
    numbers = [ctypes.c_uint] * 4
    kind = ctypes.CFUNCTYPE(None, *numbers, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
    callback = kind(lambda *args: work())
    context.debug_message_callback(ctypes.cast(callback, ctypes.c_void_p).value, None)
    about = GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_TYPE_OTHER, 1, GL.DEBUG_SEVERITY_HIGH
    context.debug_message_insert(*about, -1, "now")
    context.debug_message_callback(None, None)


def test_joining_waits_for_the_call_of_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows of no turns: until now its context was alone."""
    waits, happened = threading.Event(), list[str]()
    monkeypatch.setattr(share_group_lock.time, "sleep", lambda seconds: waits.set())
    first = Context("noop", debug=True)

    def called() -> None:
        joining.start()
        assert waits.wait(PATIENCE)
        happened.append("the call goes on")

    def join() -> None:
        second = Context("noop", share=first)
        happened.append("joined")
        second.release()

    joining = threading.Thread(target=join)
    in_a_call(first, called)
    joining.join()
    assert happened == ["the call goes on", "joined"]
    first.release()


def test_joining_waits_for_no_other_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for threads that are in no call, nor for those that know of turns."""
    waits: list[float] = []
    monkeypatch.setattr(share_group_lock.time, "sleep", waits.append)
    first = Context("noop", debug=True)
    first.make_current()
    second = in_a_thread(lambda: Context("noop", share=first))
    thirds: list[Context] = []
    joining = threading.Thread(target=lambda: thirds.append(Context("noop", share=first)))

    def called() -> None:
        before = len(first.group.contexts)
        joining.start()
        until = time.monotonic() + PATIENCE
        while len(first.group.contexts) == before and time.monotonic() < until:
            threading.Event().wait(0.001)

    first.make_current()
    in_a_call(first, called)
    joining.join()
    assert not waits
    for each in (*thirds, second, first):
        each.release()


def test_when_python_ends_no_thread_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(thread_ends.atexit, "register", lambda *call: asked.append(call))
    found = thread_ends._key.__wrapped__()
    assert found is not None
    ((delete, number),) = asked
    assert number is found[1]
    assert delete(number) == 0
    assert delete(number) != 0


def test_leaving_waits_for_the_pipe() -> None:
    """A context may be released while another thread draws on one beside it."""
    first = Context("numpipe", size=(4, 4))
    second = Context("numpipe", size=(4, 4), share=first)
    leaving = threading.Thread(target=second.release)
    with first.using_pipe():
        leaving.start()
        first.clear_color(0.2, 0.0, 0.0, 1.0)
        first.clear(GL.COLOR_BUFFER_BIT)
        assert first.group.owner is first
        assert not second.released
    leaving.join()
    assert second.released
    assert red_of(first) == 51
    first.release()


# -- calls that are not heard ----------------------------------------------------------------------


def test_what_is_drawn_by_two_threads_is_drawn_as_by_one() -> None:
    """Through C pointers, so that both are in them at once; draws like these are recorded."""

    def draw() -> list[Any]:
        gl = Context("numpipe", version=(4, 3), size=(16, 16))
        calls = {name: pointer(gl, name, *kinds) for name, kinds in CALLED.items()}
        program = helpers.program(gl, VERTEX, FRAGMENT)
        calls["glUseProgram"](program)
        place = gl.get_uniform_location(program, "place")
        (array,) = gl.gen_vertex_arrays(1)
        gl.bind_vertex_array(array)
        seen: list[Any] = []
        for frame in range(4):
            gl.clear(GL.COLOR_BUFFER_BIT)
            for number in range(150):
                x, y = number % 16, number // 16 + 3 * frame
                calls["glUniform4f"](place, x / 8 - 0.9, y / 8 - 0.9, number / 150, frame / 4)
                calls["glDrawArrays"](GL.POINTS, 0, 1)
            seen.append(bytes(gl.read_pixels(0, 0, 16, 16, GL.RGBA, GL.UNSIGNED_BYTE)))
        assert gl.get_error() == GL.NO_ERROR
        gl.release()
        return seen

    alone = draw()
    assert len(set(alone)) == 4
    for _ in range(3):
        assert both(draw) == [alone, alone]


CALLED: dict[str, tuple[Any, ...]] = {
    "glUseProgram": (ctypes.c_uint,),
    "glUniform4f": (ctypes.c_int, *[ctypes.c_float] * 4),
    "glDrawArrays": (ctypes.c_uint, ctypes.c_int, ctypes.c_int),
}
VERTEX = """#version 330
uniform vec4 place;
out vec4 color;
void main() { gl_Position = vec4(place.xy, 0.0, 1.0); color = vec4(place.zw, 1.0, 1.0); }"""
FRAGMENT = "#version 330\nin vec4 color; out vec4 o; void main() { o = color; }"


def pointer(gl: Any, name: str, *kinds: Any) -> Callable[..., None]:
    return ctypes.CFUNCTYPE(None, *kinds)(gl.load_opengl_function(name))


def test_recorded_calls_of_threads_are_drawn_alternately() -> None:
    """A context is recorded when another thread's joins its group and draws."""
    gl = Context("numpipe", version=(4, 3), size=(16, 16))
    calls = {name: pointer(gl, name, *kinds) for name, kinds in CALLED.items()}
    program = helpers.program(gl, VERTEX, FRAGMENT)
    calls["glUseProgram"](program)
    place = gl.get_uniform_location(program, "place")
    gl.bind_vertex_array(*gl.gen_vertex_arrays(1))

    def points(count: int) -> None:
        for number in range(count):
            calls["glUniform4f"](place, number % 16 / 8 - 0.9, number // 16 / 8 - 0.9, 0.6, 0.8)
            calls["glDrawArrays"](GL.POINTS, 0, 1)

    def join() -> int:
        other = Context("numpipe", version=(4, 3), size=(16, 16), share=gl)
        other.clear_color(0.2, 0.0, 0.0, 1.0)
        other.clear(GL.COLOR_BUFFER_BIT)
        found = red_of(other)
        points(256)  # noted: the other context has the pipe
        kept.append(other)
        return found

    kept: list[Context] = []
    gl.clear(GL.COLOR_BUFFER_BIT)
    points(256)
    assert in_a_thread(join) == 51
    points(200)
    raw = gl.read_pixels(0, 0, 16, 16, GL.RGBA, GL.UNSIGNED_BYTE)
    pixels = np.frombuffer(raw, np.uint8).reshape(256, 4)
    assert (pixels == (153, 204, 255, 255)).all()
    assert red_of(kept[0]) == 51
    kept[0].release()
    gl.release()
