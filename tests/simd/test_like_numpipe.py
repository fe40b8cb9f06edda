"""simd draws what numpipe draws: every scene, colour within 1/255 and the same coverage."""

from __future__ import annotations

import numpy as np

from gallette.render import render_scenes
from gallette.scenes import SCENES


def test_every_scene_is_numpipes() -> None:
    ours, theirs = (render_scenes(driver, list(SCENES)) for driver in ("simd", "numpipe"))
    assert not ours.errors and not theirs.errors
    for name in SCENES:
        for one, other in zip(ours.passes[name], theirs.passes[name], strict=True):
            assert np.array_equal(one.coverage, other.coverage), (name, one.name)
            scale = 1 if one.color.dtype == np.uint8 else 255
            apart = np.abs(one.color.astype(np.float64) - other.color.astype(np.float64))
            assert np.nanmax(apart) * scale <= 1, (name, one.name)
