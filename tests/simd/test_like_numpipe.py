"""simd draws what numpipe draws: scenes, colour within 1/255 and the same coverage."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.render import render_scenes
from gallette.scenes import SCENES
from tests.scenes_once import OF_THE_TEXTURE_UNIT, numpipe_scenes


def test_scenes_are_numpipes(tmp_path_factory: pytest.TempPathFactory) -> None:
    names = [name for name in SCENES if name not in OF_THE_TEXTURE_UNIT]
    ours = render_scenes("simd", names)
    theirs = numpipe_scenes(tmp_path_factory)
    assert not ours.errors
    assert len(names) == len(SCENES) - 3
    for name in names:
        for one, other in zip(ours.passes[name], theirs[name], strict=True):
            assert np.array_equal(one.coverage, other.coverage), (name, one.name)
            scale = 1 if one.color.dtype == np.uint8 else 255
            apart = np.abs(one.color.astype(np.float64) - other.color.astype(np.float64))
            assert np.nanmax(apart) * scale <= 1, (name, one.name)
