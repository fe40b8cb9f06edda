"""Fragments of the shared rasterizer that jit shades in chunks: the same as on numpipe.

Bounds of depth, stipples and much else that is rare leave them to the shared parts; here everything
is left to them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.drivers.jit import draw_plan, rasterization, tile_functions
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_file
from gallette.piglit_subset.suite import find_tests

SOME = find_tests([])[::67]


@pytest.mark.parametrize("name, path", SOME, ids=[name for name, _ in SOME])
def test_bundled_programs(name: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (rasterization, tile_functions):
        monkeypatch.setattr(each, "has_code", lambda *args: False)
    monkeypatch.setattr(draw_plan, "make_plan", lambda draw, mode: None)
    outcome = run_test(parse_file(path), "jit")
    assert (outcome.result, outcome.reason) == ("pass", "")
