"""Programs of `programs/*.txt` answer as their files say, on a driver of ours and natively."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gallette.state_tracker import create_context
from gallette.state_tracker.context import Context
from gallette.state_tracker.native.context import NativeContext
from gallette.state_tracker.stream.calls import CALLS
from tests.conftest import native_context
from tests.state_tracker.gl_programs import Program, programs_of, run
from tests.state_tracker.stream.worlds import Through

FOLDER = Path(__file__).parent / "programs"
IN_STREAM = [call.function.method for call in CALLS]


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


@pytest.mark.parametrize(("program", "driver"), list(every_program()))
def test_the_program_answers_as_its_file_says(
    program: Program, driver: str, executed: list[int]
) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    compared = program.reference and driver != program.reference
    reference = answers(program, program.reference) if compared else None
    together = executed if driver == "numpipe" else None
    assert answers(program, driver, reference, together)
