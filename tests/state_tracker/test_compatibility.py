"""Calls between glBegin and glEnd, from Python and from C."""

from __future__ import annotations

import ctypes

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.optional.compatibility.immediate import may_stand_inside
from tests.state_tracker.helpers import errors


def test_core_profiles_have_no_immediate_mode(ours: GLInterface) -> None:
    ours.begin(GL.TRIANGLES)
    assert errors(ours) == ["GL_INVALID_OPERATION"]
    assert ours.load_opengl_function("glBegin") == 0


POINTERS = (ctypes.c_void_p, ctypes.c_char_p)


def test_between_begin_and_end_c_is_refused_what_python_is() -> None:
    """Every function of plain numbers that has no business there, by its C pointer."""
    gl = create_context("noop", profile="compat")
    called = 0
    for function in FUNCTIONS.values():
        if function.restype is not None or may_stand_inside(function):
            continue
        pointer = gl.load_opengl_function(function.c_name)
        if not pointer or any(hasattr(t, "contents") or t in POINTERS for t in function.argtypes):
            continue
        call = ctypes.CFUNCTYPE(None, *function.argtypes)(pointer)
        gl.begin(GL.TRIANGLES)
        call(*(0 for _ in function.params))
        gl.end()
        assert gl.get_error() == GL.INVALID_OPERATION, function.c_name
        called += 1
    assert called > 400
    gl.release()
