"""What unmodified C programs met: small rules that no picture of ours had shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL


@pytest.fixture
def gl() -> Iterator[Context]:
    context = Context(profile="compat", version=(4, 3), size=(32, 32))
    yield context
    context.release()


def test_debug_groups_end_with_what_was_switched_inside() -> None:
    gl = Context(profile="compat", version=(4, 3), debug=True)
    arguments = (GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_TYPE_MARKER)

    def say() -> int:
        gl.get_debug_message_log(100)
        gl.debug_message_insert(*arguments, 7, GL.DEBUG_SEVERITY_HIGH, -1, "hello")
        return len(gl.get_debug_message_log(100))

    gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "outer")
    gl.debug_message_control(*arguments, GL.DONT_CARE, 1, [7], False)
    gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "inner")
    assert say() == 0
    gl.debug_message_control(*arguments, GL.DONT_CARE, 1, [7], True)
    assert say() == 1
    gl.pop_debug_group()
    assert say() == 0
    gl.pop_debug_group()
    assert say() == 1
    gl.release()
