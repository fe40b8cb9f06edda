"""Benchmarks draw what they always have, which is what the native GL draws."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.benchmarks import BENCHMARKS
from tests.conftest import native_context
from tests.tools.bench_pictures import parts, picture, read

pytest.importorskip("moderngl")


def test_every_benchmark_is_written_down() -> None:
    assert list(read()) == list(BENCHMARKS)


@pytest.mark.native
@pytest.mark.parametrize("name", BENCHMARKS)
def test_pictures(name: str) -> None:
    """A change that is meant: `python -m tests.tools.bench_pictures`, look at the diff."""
    native_context().release()
    ours, theirs = (picture(driver, name) for driver in ("numpipe", "native:llvmpipe"))
    np.testing.assert_allclose(np.array(parts(ours)), np.array(read()[name]), atol=0.25)
    off = np.abs(ours - theirs).max(axis=2)
    assert (off > 8).mean() < 0.002 and off.mean() < 1.0
