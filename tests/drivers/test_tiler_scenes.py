"""tiler draws what numpipe draws: scenes, colour within 1/255 and the same coverage.

Colours in half precision may be one step further away where a pixel is blended several times; that
is how every second scene is drawn, the others in full precision.
"""

from __future__ import annotations

import numpy as np
import pytest

from gallette.render import render_scenes
from gallette.scenes import SCENES
from tests.scenes_once import OF_THE_TEXTURE_UNIT, numpipe_scenes

SLOW = ("deep_zoom",)
"""600 rounds of doubles made of integers take as long as all others together. Doubles are in
tests/drivers/test_random_lane_shaders, and `gallette diff deep_zoom --driver tiler` draws it."""


@pytest.mark.parametrize(("half_colors", "most", "first"), [("never", 1, 0), ("auto", 2, 1)])
def test_scenes_are_numpipes(
    half_colors: str, most: int, first: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = [n for n in SCENES if n not in {*SLOW, *OF_THE_TEXTURE_UNIT}][first::2]
    ours = render_scenes("tiler", names, options={"half_colors": half_colors})
    theirs = numpipe_scenes(tmp_path_factory)
    assert not ours.errors
    for name in names:
        for one, other in zip(ours.passes[name], theirs[name], strict=True):
            assert np.array_equal(one.coverage, other.coverage), (name, one.name)
            scale = 1 if one.color.dtype == np.uint8 else 255
            apart = np.abs(one.color.astype(np.float64) - other.color.astype(np.float64))
            assert np.nanmax(apart) * scale <= most, (name, one.name)
