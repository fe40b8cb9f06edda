"""What tests of the drivers' shared parts have in common."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def as_in_a_draw() -> Iterator[None]:
    """NumPy's floating-point warnings are suppressed while a draw is executed."""
    with np.errstate(all="ignore"):
        yield
