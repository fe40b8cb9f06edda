"""Calls from C that change nothing do not reach Python, and all others do."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.entry_points import abi, machine_code, shortcuts

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there are shortcuts on x86-64 with Linux only"
)

VERTEX = """
#version 400
subroutine vec4 Maker(); subroutine uniform Maker make;
subroutine(Maker) vec4 one() { return vec4(0.0); }
subroutine(Maker) vec4 two() { return vec4(1.0); }
void main() { gl_Position = make(); }
"""
PLAIN = "#version 330\nvoid main() { gl_Position = vec4(0.0); }"


class Client:
    """A C program with a context; `heard` are the calls that came as far as Python."""

    def __init__(self, **options: Any) -> None:
        self.gl: Any = create_context("numpipe", version=(4, 3), size=(4, 4), **options)
        self.heard: list[tuple[str, int]] = []

    def call(self, name: str, value: int) -> None:
        """Call a function of one number through its C pointer."""
        address = self.gl.load_opengl_function(name)
        table = self.gl.calls
        if not hasattr(table[name], "heard"):
            method = table[name]

            def hear(one: int) -> None:
                self.heard.append((name, one))
                method(one)

            hear.heard = True  # type: ignore[attr-defined]
            table[name] = hear
        ctypes.CFUNCTYPE(None, ctypes.c_uint)(address)(value)

    def program(self, source: str = PLAIN) -> int:
        gl = self.gl
        shader = gl.create_shader(GL.VERTEX_SHADER)
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        program: int = gl.create_program()
        gl.attach_shader(program, shader)
        gl.link_program(program)
        assert gl.get_programiv(program, GL.LINK_STATUS)
        return program


@pytest.fixture(autouse=True)
def new_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pointers of our own: others may have been made without shortcuts."""
    monkeypatch.setattr(abi, "_ADDRESSES", {})


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.gl.release()


def test_what_is_so_already_is_not_heard(client: Client) -> None:
    one, two = client.program(), client.program()
    array = client.gl.gen_vertex_arrays(1)[0]
    calls = [("glUseProgram", one), ("glBindVertexArray", array), ("glActiveTexture", GL.TEXTURE3)]
    calls += [("glEnable", GL.BLEND), ("glDisable", GL.DEPTH_TEST)]
    for call in calls * 3:
        client.call(*call)
    assert client.heard == calls
    for call in (("glUseProgram", two), ("glUseProgram", one), ("glDisable", GL.BLEND)):
        client.call(*call)
        assert client.heard[-1] == call
    assert client.gl.get_integerv(GL.CURRENT_PROGRAM) == [one]
    assert not client.gl.is_enabled(GL.BLEND)


@pytest.mark.parametrize(
    ("name", "value", "other", "query"),
    [
        ("glUseProgram", 0, lambda c, p: c.gl.use_program(p), GL.CURRENT_PROGRAM),
        ("glEnable", GL.BLEND, lambda c, p: c.gl.disable(GL.BLEND), GL.BLEND),
        ("glEnable", GL.BLEND, lambda c, p: c.gl.disablei(GL.BLEND, 0), GL.BLEND),
        ("glActiveTexture", GL.TEXTURE1, lambda c, p: c.gl.active_texture(GL.TEXTURE0), 0x84E0),
        ("glBindVertexArray", 0, lambda c, p: c.gl.bind_vertex_array(p), 0x85B5),
    ],
)
def test_what_python_did_is_undone(
    name: str, value: int, other: Callable[[Client, int], None], query: int, client: Client
) -> None:
    client.call(name, value)
    before = client.gl.get_integerv(query)
    new = client.program() if name == "glUseProgram" else client.gl.gen_vertex_arrays(1)[0]
    other(client, new)
    assert client.gl.get_integerv(query) != before
    client.call(name, value)
    assert client.gl.get_integerv(query) == before


def test_errors_are_errors_each_time(client: Client) -> None:
    for _ in range(2):
        client.call("glUseProgram", 0xFFFFFFFF)
        assert client.gl.get_error() == GL.INVALID_VALUE
        client.call("glEnable", 0x1234)
        assert client.gl.get_error() == GL.INVALID_ENUM


def test_a_program_with_subroutines_is_used_anew_each_time(client: Client) -> None:
    program = client.program(VERTEX)
    for _ in range(2):
        client.call("glUseProgram", program)
    assert client.heard == [("glUseProgram", program)] * 2


def test_contexts_do_not_hear_of_one_another(client: Client) -> None:
    client.call("glEnable", GL.BLEND)
    other = Client()
    other.call("glEnable", GL.BLEND)
    assert other.gl.is_enabled(GL.BLEND)
    other.gl.disable(GL.BLEND)
    client.gl.make_current()
    client.gl.disable(GL.BLEND)
    other.gl.make_current()
    other.call("glEnable", GL.BLEND)
    assert other.gl.is_enabled(GL.BLEND)
    assert not client.gl.is_enabled(GL.BLEND)
    other.gl.release()


def test_threads_do_not_hear_of_one_another(client: Client) -> None:
    seen: list[bool] = []

    def work() -> None:
        other = Client()
        for _ in range(2):
            other.call("glEnable", GL.BLEND)
        seen.append(bool(other.gl.is_enabled(GL.BLEND)))
        other.gl.release()

    client.call("glEnable", GL.CULL_FACE)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    client.call("glEnable", GL.BLEND)
    assert seen == [True]
    assert client.gl.is_enabled(GL.BLEND)


def test_who_wants_to_hear_hears_everything() -> None:
    compat = Client(profile="compat")
    for _ in range(2):
        compat.call("glEnable", GL.BLEND)
    assert len(compat.heard) == 2
    compat.gl.release()


def test_there_are_all_shortcuts_or_none(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, compiled = [False], []
    monkeypatch.setattr(shortcuts, "possible", lambda name: loaded[0])
    monkeypatch.setattr(shortcuts, "compiled", lambda pointers: compiled.append(pointers))
    enable = client.gl.load_opengl_function("glEnable")
    loaded[0] = True
    for name in ("glDisable", "glUseProgram"):
        assert client.gl.load_opengl_function(name)
    assert client.gl.load_opengl_function("glEnable") == enable
    assert not compiled


@pytest.mark.parametrize("name", ["glReadPixels", "glColorMaski", "glClampColor"])
def test_what_has_nothing_to_do_with_it_leaves_shortcuts_alone(client: Client, name: str) -> None:
    """Also a function that takes arguments as they come, like that of glReadPixels."""
    uint, room = ctypes.c_uint, ctypes.create_string_buffer(64)
    calls: dict[str, tuple[Any, ...]] = {
        "glReadPixels": (0, 0, 4, 4, uint(GL.RGBA), uint(GL.UNSIGNED_BYTE), room),
        "glColorMaski": (0, 1, 1, 0, 1),
        "glClampColor": (uint(GL.CLAMP_READ_COLOR), uint(GL.TRUE)),
    }
    client.call("glEnable", GL.BLEND)
    heard = len(client.heard)
    address = client.gl.load_opengl_function(name)
    given = calls[name]
    kinds = [type(each) if not isinstance(each, int) else ctypes.c_int for each in given]
    kinds = [
        ctypes.c_void_p if each is room else kind for each, kind in zip(given, kinds, strict=True)
    ]
    ctypes.CFUNCTYPE(None, *kinds)(address)(*given)
    client.call("glEnable", GL.BLEND)
    assert len(client.heard) == heard
    assert client.gl.get_error() == GL.NO_ERROR


def _bind(client: Client, target: int, buffer: int) -> None:
    """glBindBuffer through its C pointer."""
    name = "glBindBuffer"
    address = client.gl.load_opengl_function(name)
    table = client.gl.calls
    if not hasattr(table[name], "heard"):
        method = table[name]

        def hear(one: int, two: int) -> None:
            client.heard.append((name, two))
            method(one, two)

        hear.heard = True  # type: ignore[attr-defined]
        table[name] = hear
    ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_uint)(address)(target, buffer)


def test_the_buffer_that_is_bound_is_not_bound_again(client: Client) -> None:
    gl = client.gl
    one, two = gl.gen_buffers(2)
    for target in (GL.ARRAY_BUFFER, GL.UNIFORM_BUFFER, GL.ARRAY_BUFFER):
        for _ in range(2):
            _bind(client, target, one)
    heard = [("glBindBuffer", one)]
    assert client.heard == heard * 3  # of other targets all are heard
    _bind(client, GL.ARRAY_BUFFER, two)
    assert client.heard[-1] == ("glBindBuffer", two)
    _bind(client, GL.ARRAY_BUFFER, one)
    assert client.heard == [*heard * 3, ("glBindBuffer", two), *heard]
    assert gl.get_integerv(GL.ARRAY_BUFFER_BINDING) == [one]
    gl.bind_buffer(GL.ARRAY_BUFFER, two)
    _bind(client, GL.ARRAY_BUFFER, one)
    assert gl.get_integerv(GL.ARRAY_BUFFER_BINDING) == [one]
    gl.delete_buffers(1, [one])
    _bind(client, GL.ARRAY_BUFFER, one)  # which is a name no more
    assert gl.get_error() == GL.INVALID_OPERATION
    _bind(client, GL.ARRAY_BUFFER, one)
    assert gl.get_error() == GL.INVALID_OPERATION
    assert gl.get_integerv(GL.ARRAY_BUFFER_BINDING) == [0]
