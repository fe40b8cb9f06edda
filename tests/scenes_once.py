"""Every scene as numpipe draws it, rendered once for all tests of a run, whoever asks first.

Tests of other drivers compare with it; they may run in several processes of pytest-xdist at once.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gallette.render import load_passes, render_scenes, save_passes
from gallette.scenes import SCENES, Pass

OF_THE_TEXTURE_UNIT = {"anisotropic", "blur", "distance_text"}
"""Scenes of thousands of lookups: the unit is numpipe's on machines that are simulated, too."""
PATIENCE = 600.0
"""seconds to wait for another process's rendering before making one's own"""


def numpipe_scenes(factory: pytest.TempPathFactory) -> dict[str, list[Pass]]:
    """Passes of every scene."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # what the workers of one run have in common
    done, begun = shared / "numpipe-scenes.npz", shared / "numpipe-scenes.begun"
    if _first(begun):
        passes = _rendered()
        save_passes(done.with_suffix(".part.npz"), passes)
        done.with_suffix(".part.npz").rename(done)
        return passes
    deadline = time.monotonic() + PATIENCE
    while not done.exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    return load_passes(done) if done.exists() else _rendered()


def _first(begun: Path) -> bool:
    try:
        begun.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _rendered() -> dict[str, list[Pass]]:
    rendering = render_scenes("numpipe", list(SCENES))
    assert not rendering.errors
    return rendering.passes
