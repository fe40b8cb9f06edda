"""Benchmarks draw what they drew."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.benchmarks import BENCHMARKS
from tests.tools.told import told, written


def apart(line: str, other: str) -> int:
    """Steps between the colours of two lines whose counts are the same; 255 if they are not."""
    (*counts, colors), (*others, theirs) = line.split(), other.split()
    pair = [np.frombuffer(bytes.fromhex(c), np.uint8).astype(int) for c in (colors, theirs)]
    return 255 if counts != others else int(np.abs(pair[0] - pair[1]).max())


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_benchmarks_draw_what_they_drew(name: str) -> None:
    """A change that is meant: `python -m tests.tools.told` writes the file, look at the diff."""
    assert apart(told(name), written()[name]) <= 1


def test_nothing_else_is_told() -> None:
    assert list(written()) == list(BENCHMARKS)


def test_another_picture_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    line = written()["gradient"]
    monkeypatch.setitem(BENCHMARKS, "gradient", BENCHMARKS["bilinear_texture"])
    assert apart(told("gradient"), line) > 1
