"""simd draws what numpipe draws: every scene, colour within 1/255 and the same coverage."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.render import render_scenes
from gallette.scenes import SCENES
from tests.scenes_once import numpipe_scenes


def test_every_scene_is_numpipes(tmp_path_factory: pytest.TempPathFactory) -> None:
    ours = render_scenes("simd", list(SCENES))
    theirs = numpipe_scenes(tmp_path_factory)
    assert not ours.errors
    for name in SCENES:
        for one, other in zip(ours.passes[name], theirs[name], strict=True):
            assert np.array_equal(one.coverage, other.coverage), (name, one.name)
            scale = 1 if one.color.dtype == np.uint8 else 255
            apart = np.abs(one.color.astype(np.float64) - other.color.astype(np.float64))
            assert np.nanmax(apart) * scale <= 1, (name, one.name)
