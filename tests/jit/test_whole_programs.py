"""Programs whose answers are known, drawn by machine code: what lanes agree on, many inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.drivers.jit.llvm.text import Builder
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text

PROGRAMS = sorted((Path(__file__).parent / "whole_programs").glob("*.shader_test"))


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path: Path, driver: str) -> None:
    outcome = run_test(parse_text(path.read_text()), driver)
    assert (outcome.result, outcome.reason) == ("pass", "")


def test_a_variable_takes_only_what_fits() -> None:
    b = Builder()
    b.begin("f", [("ptr", "ctx")])
    variable = b.var("i32")
    with pytest.raises(AssertionError):
        variable.set(b.lanes("i32", [1, 2, 3, 4]))
