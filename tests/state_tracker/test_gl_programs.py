"""Programs of `programs/*.txt` answer as their files say, on a driver of ours and natively.

Those with several draws are run once more on drivers of ours, from C pointers: calls are recorded
then, draws are merged, and each call answers the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.context import HostContext
from gallette.drivers.common.draw import execution
from gallette.state_tracker import create_context
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points import abi
from gallette.state_tracker.native.context import NativeContext
from gallette.state_tracker.stream.calls import CALLS
from tests.conftest import native_context
from tests.state_tracker.gl_programs import Program, programs_of, run
from tests.state_tracker.stream.worlds import Through

FOLDER = Path(__file__).parent / "programs"
IN_STREAM = [call.function.method for call in CALLS]
RECORDED = ("programs_in_turn", "queries_of_pending_draws", "recorded_draws")
"""files whose programs are about draws that the driver takes as a series"""


def every_program() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("*.txt")):
        for program in programs_of(path):
            for driver in program.drivers:
                native = "native" in (driver, program.reference)
                marks = [pytest.mark.native] if native else []
                name = f"{path.stem}: {program.name}: {driver}"
                yield pytest.param(program, driver, id=name, marks=marks)


def answers(
    program: Program,
    driver: str,
    reference: list[Any] | None = None,
    executed: list[int] | None = None,
    from_c: bool = False,
) -> list[Any]:
    # Mesa's llvmpipe ends with 4.5, of which the programs for 4.6 use no more.
    version = min(program.version, (4, 5)) if driver == "native" else program.version
    options: dict[str, Any] = {"profile": program.profile, "version": version, "size": program.size}
    made: list[Any] = []

    def another() -> Any:
        """A context, which shares objects with the first."""
        if not made:
            create = native_context if driver == "native" else partial(create_context, driver)
        elif driver == "native":
            create = partial(NativeContext, "llvmpipe", share=made[0])
        else:
            create = partial(Context, driver, share=made[0])
        new = create(**options)
        made.append(new)
        return Through(new, IN_STREAM) if from_c else new

    try:
        return run(another(), program, reference, executed, not from_c, another)
    finally:
        for gl in reversed(made):
            gl.release()


@lru_cache(maxsize=1)
def native_answers(program: Program) -> list[Any]:
    """What the native GL answers; tests of one program follow one another."""
    return answers(program, "native")


def may_be_recorded(program: Program, driver: str) -> bool:
    """On numpipe draws are recorded, other drivers may merge those that follow one another."""
    if any("CONTEXT_LOST" in text for _, text in program.body):
        return False  # the call that is told of a lost context is another one
    wanted = driver == "numpipe" or program.has_draws_in_series
    return program.has_several_draws and wanted


def bits(answer: Any) -> Any:
    return answer.tobytes() if isinstance(answer, np.ndarray) else repr(answer)


@pytest.mark.parametrize(("program", "driver"), list(every_program()))
def test_the_program_answers_as_its_file_says(
    program: Program, driver: str, executed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    again = may_be_recorded(program, driver)
    if again and driver == "jit":  # which draws again what it has drawn before by plans
        from gallette.drivers.jit.program import BoundJit

        monkeypatch.setattr(BoundJit, "plan", lambda *_: None)
    if driver == "native":
        assert native_answers(program)
        return
    reference = None
    if program.reference == "native":
        reference = native_answers(program)
    elif program.reference and driver != program.reference:
        reference = answers(program, program.reference)
    together = executed if driver == "numpipe" else None
    found = answers(program, driver, reference, together)
    assert found
    if not again:
        return
    monkeypatch.undo()  # what looks at draws would flush the stream
    monkeypatch.setattr(abi, "_ADDRESSES", {})  # made where the stream may be off
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    recorded: list[int] = []
    every = HostContext.draw_series

    def counted(self: Any, series: Any) -> int:
        recorded.append(every(self, series))
        return recorded[-1]

    monkeypatch.setattr(HostContext, "draw_series", counted)
    deferred = answers(program, driver, from_c=True)
    assert sum(recorded) or program.file.stem not in RECORDED
    for line, one, other in zip(program.lines, found, deferred, strict=True):
        assert bits(one) == bits(other), f"{program.file.name}:{line.number}"
