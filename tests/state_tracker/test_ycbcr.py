"""MESA_ycbcr_texture: images of luma and chroma answer and look as on llvmpipe."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.pipe.formats import FORMATS
from gallette.state_tracker.texturing.ycbcr import rgb


@pytest.mark.parametrize("width", [1, 3])
def test_the_missing_half_of_a_pair_is_grey(width: int) -> None:
    """The last of an odd number of columns has Cb of its own, and a Cr that changes nothing."""
    luma, cb = 120, 90
    words = np.full((2, width), luma << 8 | 128, np.uint16)
    words[:, -1] = luma << 8 | cb
    shown = rgb(words, FORMATS["R8G8B8A8_UNORM"]).reshape(2, width, 4)[:, -1]
    grey = 1.164383 * (luma - 16)
    expected = [grey, grey - 0.391762 * (cb - 128), grey + 2.017232 * (cb - 128), 255]
    assert np.abs(shown - np.array(expected)).max() <= 0.51
