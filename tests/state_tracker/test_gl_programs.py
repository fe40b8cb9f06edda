"""Programs of `programs/*.txt` answer as their files say, on a driver of ours and natively."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gallette.state_tracker import create_context
from tests.conftest import native_context
from tests.state_tracker.gl_programs import Program, programs_of, run

FOLDER = Path(__file__).parent / "programs"


def every_program() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("*.txt")):
        for program in programs_of(path):
            for driver in program.drivers:
                native = driver == "native" or program.against_native
                marks = [pytest.mark.native] if native else []
                name = f"{path.stem}: {program.name}: {driver}"
                yield pytest.param(program, driver, id=name, marks=marks)


def answers(program: Program, driver: str, native: list[Any] | None = None) -> list[Any]:
    options: dict[str, Any] = {
        "profile": program.profile, "version": program.version, "size": program.size,
    }  # fmt: skip
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    try:
        return run(gl, program, native)
    finally:
        gl.release()


@pytest.mark.parametrize(("program", "driver"), list(every_program()))
def test_the_program_answers_as_its_file_says(program: Program, driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    compared = driver != "native" and program.against_native
    native = answers(program, "native") if compared else None
    assert len(answers(program, driver, native)) == len(program.lines) > 0
