"""Benchmarks draw the pictures that are recorded in benchmark_pictures.txt."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.benchmarks import BENCHMARKS
from tests.tools.benchmark_pictures import recorded, statistics


def color_difference(line: str, other: str) -> int:
    """Steps between the colours of two lines whose counts are the same; 255 if they are not."""
    (*counts, colors), (*others, theirs) = line.split(), other.split()
    pair = [np.frombuffer(bytes.fromhex(c), np.uint8).astype(int) for c in (colors, theirs)]
    return 255 if counts != others else int(np.abs(pair[0] - pair[1]).max())


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_benchmarks_draw_what_they_drew(name: str) -> None:
    """For an intended change, `python -m tests.tools.benchmark_pictures` writes the file anew."""
    assert color_difference(statistics(name), recorded()[name]) <= 1


def test_the_file_has_a_line_for_each_benchmark() -> None:
    assert list(recorded()) == list(BENCHMARKS)


def test_another_picture_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    line = recorded()["gradient"]
    monkeypatch.setitem(BENCHMARKS, "gradient", BENCHMARKS["bilinear_texture"])
    assert color_difference(statistics("gradient"), line) > 1
