"""How precise functions are: errors in units of the last place, and the page of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette import precision
from gallette.compiler.nir.lower import Machine
from gallette.precision import BINS, FUNCTIONS, MACHINES, Function, Precision, measure, shader_of


def test_errors_are_counted_in_bins() -> None:
    errors = np.array([0, 0.25, 0.5, 0.75, 1.5, 3, 10, 100, 1000, np.inf])
    found = Precision(errors, 7)
    assert found.worst == np.inf
    assert found.rounded == 0.3
    assert len(found.histogram) == len(BINS) + 1
    assert found.histogram == [0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]
    assert found.bits == 0.0
    for worst, bits in ((0.0, 24), (0.5, 24), (1, 23), (2, 22), (2.0**23, 0), (2.0**30, 0)):
        assert Precision(np.array([0.0, worst]), 1).bits == bits


def between(low: float, high: float) -> Callable[..., Any]:
    return lambda rng, n: (np.linspace(low, high, n),)


def test_a_step_is_the_last_place_of_the_true_value() -> None:
    """1/x is exact on a machine with a division; against another truth it is off by known steps."""
    exact = Function("1/x", lambda x: 1 / x, between(1, 2), "")
    assert measure(exact, Machine(), 64).worst <= 0.5
    step = 2.0**-24  # of numbers in [0.5, 1)
    off = replace(exact, truth=lambda x: 1 / x + 3 * step)
    errors = measure(off, Machine(), 64).errors
    assert ((errors[1:-1] >= 2.4) & (errors[1:-1] <= 3.6)).all()
    lost = replace(exact, truth=lambda x: np.full_like(x, np.nan))
    assert np.isinf(measure(lost, Machine(), 64).errors).all()
    assert measure(exact, Machine(), 64).errors.shape == (64,)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{f.name} {f.where}")
def test_functions_are_what_they_say_where_they_say_it(function: Function) -> None:
    """On a machine that has everything, results are near the truth; inputs lie in their range."""
    rng = np.random.default_rng(1)
    args = function.inputs(rng, 400)
    assert all(x.shape == (400,) for x in args)
    assert len({round(float(v), 6) for v in args[0]}) > 200
    found = measure(function, MACHINES["everything"], 400)
    if function.where != "2^13 to 2^120" and "turns" not in function.where:
        assert found.worst < 1e5
    assert found.instructions >= 3
    names = {"x/y": 2, "pow": 2, "atan2": 2}
    assert len(args) == names.get(function.name, 1)


def test_ranges_of_arguments() -> None:
    rng = np.random.default_rng(3)
    by_name = {(f.name, f.where): f.inputs(rng, 4000) for f in FUNCTIONS}
    (x,) = by_name["1/x", "2^-125 to 2^125"]
    assert 2.0**-125 <= np.abs(x).min() < 2.0**-120
    assert 2.0**120 < np.abs(x).max() <= 2.0**125
    assert 1500 < (x < 0).sum() < 2500
    (x,) = by_name["sqrt", "2^-125 to 2^125"]
    assert (x > 0).all()
    (x,) = by_name["sin", "half a turn"]
    assert -np.pi <= x.min() < -3
    assert 3 < x.max() <= np.pi
    x, y = by_name["pow", "(2^-8 to 2^8) to the power -8 to 8"]
    assert 2.0**-8 <= x.min() < 2.0**-7
    assert 2.0**7 < x.max() <= 2.0**8
    assert -8 <= y.min() < -7 and 7 < y.max() <= 8
    assert abs(np.corrcoef(np.log2(x), y)[0, 1]) < 0.1


def test_a_machine_without_a_function_computes_it() -> None:
    """More instructions, and fewer right bits with fewer steps."""
    (reciprocal,) = (f for f in FUNCTIONS if f.name == "1/x")
    found = {name: measure(reciprocal, machine, 2000) for name, machine in MACHINES.items()}
    assert found["everything"].instructions < found["8 bits, 1 step"].instructions
    bits = [found[f"8 bits, {n} step{'s' * (n != 1)}"].bits for n in range(3)]
    assert bits == sorted(bits)
    assert bits[0] < 9 < bits[1] < 18 < bits[2]
    text = shader_of("1/x", MACHINES["everything"], 1)
    assert text.count_instrs() == found["everything"].instructions


def test_the_page_has_a_table_for_each_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = {name: MACHINES[name] for name in ("everything", "8 bits, 0 steps")}
    monkeypatch.setattr(precision, "MACHINES", kept)
    monkeypatch.setattr(precision, "FUNCTIONS", FUNCTIONS[:2])
    monkeypatch.setattr(sys, "argv", ["precision", "--count", "100"])
    precision.main()
    page = capsys.readouterr().out
    lines = page.splitlines()
    assert lines[0] == "<!-- written by `python -m gallette.precision --write` -->"
    assert "100 random places each" in page
    assert [line for line in lines if line.startswith("## ")] == [f"## {n}" for n in kept]
    assert [line for line in lines if line.startswith("`")] == [f"`{m}`" for m in kept.values()]
    heads = [line for line in lines if line.startswith("| function |")]
    assert (
        heads
        == [
            "| function | where | up to 0.5 | up to 1 | up to 2 | up to 4 | up to 16 | up to 256 "
            "| up to 65536 | more | worst | instructions |"
        ]
        * 2
    )
    assert lines.count("|" + " --- |" * 12) == 2
    rows = [line.split(" | ") for line in lines if line.startswith(("| 1/x", "| x/y"))]
    assert len(rows) == 4
    found = measure(FUNCTIONS[0], kept["8 bits, 0 steps"], 100)
    shares = [f"{100 * p:.4g}" if p else "" for p in found.histogram]
    wanted = ["| 1/x", FUNCTIONS[0].where, *shares, f"{found.worst:.3g}"]
    assert [c.strip() for c in rows[2][:-1]] == [c.strip() for c in wanted]
    assert rows[2][-1] == f"{found.instructions} |"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs/reference").mkdir(parents=True)
    monkeypatch.setattr(sys, "argv", ["precision", "--count", "100", "--write"])
    precision.main()
    assert (tmp_path / "docs/reference/precision.md").read_text() + "\n" == page
    assert capsys.readouterr().out == ""
