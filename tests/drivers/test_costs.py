"""The compiler's work, counted: what changes no picture changes a number."""

from __future__ import annotations

import re

import pytest

from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.compiler.text_tables import table_rows
from tests.drivers import costs

PARTS = 4


def without_jit(lines: list[str]) -> list[str]:
    return [re.sub(r"  jit \d+", "", line) for line in lines]


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_cost_what_is_written_down(part: int) -> None:
    """A change that is meant: `python -m tests.drivers.costs` writes the file, look at the diff."""
    names = costs.names()[part::PARTS]
    expected = [line for line in table_rows(costs.FILE) if line.split()[0] in names]
    found = list(costs.costs(names))
    if not costs.has_jit():
        expected = without_jit(expected)
    assert sorted(found) == sorted(expected)
    assert len(found) > 20


def test_other_code_has_other_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: another form of the same code is seen."""
    monkeypatch.setitem(costs.SETTINGS, "nir", OptimizeOptions(scalar=True))
    names = costs.names()[5:9]
    expected = [line for line in table_rows(costs.FILE) if line.split()[0] in names]
    found = list(costs.costs(names))
    assert len(found) == len(expected)
    assert without_jit(found) != without_jit(expected)
