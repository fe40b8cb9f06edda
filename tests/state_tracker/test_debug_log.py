"""The log of debug messages as C takes it: as many as are wanted, and as fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context

TEXTS = ("first", "a second one", "3rd")


@pytest.fixture(params=["numpipe", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[Any]:
    options: Any = {"profile": "core", "version": (4, 5), "debug": True}
    native = request.param == "native"
    context: Any = native_context(**options) if native else create_context("numpipe", **options)
    context.enable(GL.DEBUG_OUTPUT)
    while context.get_integerv(GL.DEBUG_LOGGED_MESSAGES)[0]:
        context.get_debug_message_log(1, 0, None, None, None, None, None, None)
    for number, text in enumerate(TEXTS):
        context.debug_message_insert(
            GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_TYPE_MARKER, number + 7,
            GL.DEBUG_SEVERITY_HIGH, len(text), text,
        )  # fmt: skip
    yield context
    context.release()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("room", [0, 5, 6, 18, 19, 22, 23, 64])
def test_messages_are_taken_while_there_is_room(count: int, room: int, gl: Any) -> None:
    expected: list[str] = []
    for text in TEXTS[:count]:
        if sum(len(t) + 1 for t in (*expected, text)) <= room:
            expected.append(text)
        else:
            break
    ids, lengths = np.zeros(10, np.uint32), np.zeros(10, np.int32)
    log = np.full(80, 255, np.uint8)
    told = gl.get_debug_message_log(count, room, None, None, ids, None, lengths, log)
    assert told == len(expected)
    assert bytes(log).startswith(b"".join(t.encode() + b"\0" for t in expected))
    assert (log[room:] == 255).all()
    assert ids[:told].tolist() == [7 + i for i in range(told)] and not ids[told:].any()
    assert lengths[:told].tolist() == [len(t) + 1 for t in expected]
    left = gl.get_integerv(GL.DEBUG_LOGGED_MESSAGES)[0]
    assert left == len(TEXTS) - told
    if left:
        assert gl.get_integerv(GL.DEBUG_NEXT_LOGGED_MESSAGE_LENGTH)[0] == len(TEXTS[told]) + 1


def test_debug_contexts_begin_with_output_that_is_not_synchronous(gl: Any) -> None:
    assert gl.is_enabled(GL.DEBUG_OUTPUT)
    assert not gl.is_enabled(GL.DEBUG_OUTPUT_SYNCHRONOUS)


def test_a_pointer_to_no_message_is_refused() -> None:
    gl = create_context("numpipe", profile="core", version=(4, 5), debug=True)
    messages: Any = gl
    messages.debug_message_insert(
        GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_TYPE_MARKER, 1, GL.DEBUG_SEVERITY_HIGH, 1, None
    )
    assert gl.get_error() == GL.INVALID_VALUE
    messages.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, 1, None)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.pop_debug_group()
    assert gl.get_error() == GL.STACK_UNDERFLOW
    gl.release()
