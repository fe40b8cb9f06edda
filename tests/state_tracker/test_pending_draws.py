"""Pending draws are merged, within the bounds of what may be kept for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.draw import copy_on_write, execution
from gallette.drivers.common.memory.storage import TAIL
from gallette.state_tracker import GL, create_context
from tests.state_tracker.gl_programs import programs_of
from tests.state_tracker.helpers import errors, program, quad
from tests.state_tracker.test_gl_programs import FOLDER, answers


def play(file: str, name: str) -> None:
    """Run one of the programs on numpipe."""
    (found,) = [p for p in programs_of(FOLDER / f"{file}.txt") if p.name == name]
    answers(found, "numpipe")


@pytest.mark.parametrize("other", ["blocks", "scissor", "viewport"])
def test_draws_that_differ_in_some_state_are_merged(
    other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    merge = execution.merge

    def seen(entries: Any) -> Any:
        made = merge(entries)
        found.append(len(made))
        return made

    monkeypatch.setattr(execution, "merge", seen)
    play("merged_draws", f"draws with other blocks are executed together: painted, other_{other}")
    assert found == [1]


def test_frames_of_few_draws_are_merged_from_the_24th_on(monkeypatch: pytest.MonkeyPatch) -> None:
    together = []
    own = execution.Execution._together

    def counted(self: Any, entries: Any, found: Any, failures: Any) -> Any:
        together.append(len(entries))
        return own(self, entries, found, failures)

    monkeypatch.setattr(execution.Execution, "_together", counted)
    play("merged_draws", "each frame of a few draws is the same")
    assert together == [3]


def test_copies_of_written_buffers_have_a_bound(
    executed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_on_write, "MOST", 10 * (480 + TAIL))
    play(
        "buffers_written_between_draws",
        "draws stay pending while buffers are written: all_vertices",
    )
    assert max(executed) == 11
    assert sum(executed) == 40


def test_kept_boxes_of_textures_have_a_bound(
    executed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_on_write, "MOST_TEXELS", 4 * 40 * 24 * 5)
    play(
        "textures_written_between_draws",
        "draws stay pending while textures are written: a_whole_level",
    )
    assert executed == [6] * 5


def test_timestamps_of_pending_draws_are_in_their_order() -> None:
    gl = create_context("numpipe", size=(16, 16))
    quad(gl, program(gl))
    queries = gl.gen_queries(20)
    for query in queries:
        gl.query_counter(query, GL.TIMESTAMP)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    times = [gl.get_query_objectui64v(query, GL.QUERY_RESULT)[0] for query in queries]
    assert times == sorted(times)
    assert times[0] < times[-1]
    gl.release()


def test_a_context_may_end_with_pending_queries_and_written_buffers() -> None:
    gl = create_context("numpipe", size=(16, 16))
    quad(gl, program(gl))
    query, running = gl.gen_queries(2)
    gl.begin_query(GL.TIME_ELAPSED, running)
    for _ in range(5):
        gl.begin_query(GL.SAMPLES_PASSED, query)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.end_query(GL.SAMPLES_PASSED)
        gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 8, np.zeros(2, np.float32))
    gl.delete_queries(1, [query])
    assert errors(gl) == []
    gl.release()  # which names resources that are left
