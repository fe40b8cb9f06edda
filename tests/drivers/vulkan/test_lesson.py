"""The lesson's pictures are right with what the driver does, and wrong without it."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.lessons.gl_on_vulkan import STEPS, drawn

from .device import needs_device

COLORS = {"writes": 2, "pipelines": 2, "order": 2, "slots": 64}
"""How many colours the right picture has at least."""


@needs_device
@pytest.mark.parametrize("step", STEPS)
def test_a_step_is_wrong_without_what_it_is_about(step: str) -> None:
    right, wrong = (drawn(STEPS[step], without) for without in (False, True))
    assert len(np.unique(right.reshape(-1, 3), axis=0)) >= COLORS[step]
    assert (right != wrong).any(axis=-1).mean() >= 0.5
