"""Each GL program with several draws answers as when every call is executed at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.draw import execution
from tests.state_tracker.gl_programs import Program
from tests.state_tracker.test_gl_programs import answers, every_program

RECORDED = ("programs_in_turn", "queries_of_pending_draws", "recorded_draws")
"""files whose programs are about draws that the driver takes as a series"""


def programs_with_draws() -> Iterator[Any]:
    """On numpipe, where calls are recorded, and on others where they may merge draws."""
    for parameter in every_program():
        program, driver = parameter.values
        if any("CONTEXT_LOST" in text for _, text in program.body):
            continue  # the call that is told so is another one
        wanted = driver == "numpipe" or program.has_draws_in_series
        if driver != "native" and program.has_several_draws and wanted:
            yield pytest.param(program, driver, id=parameter.id)


def bits(answer: Any) -> Any:
    return answer.tobytes() if isinstance(answer, np.ndarray) else repr(answer)


@pytest.mark.parametrize(("program", "driver"), list(programs_with_draws()))
def test_recorded_and_merged_calls_answer_as_when_each_is_executed_at_once(
    program: Program,
    driver: str,
    sizes: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    deferred = answers(program, driver, from_c=True)
    recorded = sum(sizes)
    assert recorded or program.file.stem not in RECORDED
    monkeypatch.setenv("GALLETTE_STREAM", "off")
    if driver == "jit":  # which draws again what it has drawn before by plans
        from gallette.drivers.jit.program import BoundJit

        monkeypatch.setattr(BoundJit, "plan", lambda *_: None)
    at_once = answers(program, driver)
    for line, one, other in zip(program.lines, deferred, at_once, strict=True):
        assert bits(one) == bits(other), f"{program.file.name}:{line.number}"
