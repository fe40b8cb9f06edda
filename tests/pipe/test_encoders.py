"""Encoded blocks decode to nearly what was encoded, and blocks of one colour to that colour."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gallette.pipe.codecs import can_encode, pack, unpack
from gallette.pipe.formats import FORMATS

# The largest error of one colour, and the mean error of a smooth picture, of 255.
CASES = {
    "DXT1_RGB": (5, 5),
    "DXT1_RGBA": (5, 4),
    "DXT3_RGBA": (9, 5),
    "DXT5_RGBA": (5, 4),
    "DXT5_SRGBA": (9, 5),
    "RGTC1_UNORM": (0.6, 1),
    "RGTC1_SNORM": (1.1, 1.5),
    "RGTC2_UNORM": (0.6, 1),
    "RGTC2_SNORM": (1.1, 1.5),
    "BPTC_RGBA": (1.5, 4),
    "BPTC_RGB_UFLOAT": (2, 5),
    "BPTC_RGB_FLOAT": (4, 5),
}


def smooth() -> npt.NDArray[np.float32]:
    """Two gradients: in a block of one pair of end points neither is exact."""
    y, x = np.mgrid[:22, :30] / 30
    planes = (x, y, (x + y) / 2, 1 - x * 0.9)
    return np.stack(planes, axis=-1).astype(np.float32)


@pytest.mark.parametrize("name", CASES)
def test_what_was_encoded_comes_back(name: str) -> None:
    format = FORMATS[name]
    letters = [c.name for c in format.channels]
    used = ["RGBA".index(c) for c in letters]
    worst, mean = CASES[name]
    rng = np.random.default_rng(5)
    for color in rng.random((20, 4), np.float32):
        if name == "DXT1_RGBA":
            color[3] = 1.0
        image = np.broadcast_to(color, (4, 4, 4))
        seen = unpack(format, pack(format, image)).reshape(4, 4, 4)
        assert abs(seen - image)[..., used].max() * 255 <= worst
    image = smooth()
    if name == "DXT1_RGBA":
        image[..., 3] = 1.0
    seen = unpack(format, pack(format, image))[:22, :30]
    assert abs(seen - image)[..., used].mean() * 255 <= mean


def test_transparent_texels_of_dxt1() -> None:
    image = smooth()
    image[..., 3] = image[..., 0] > 0.5
    format = FORMATS["DXT1_RGBA"]
    seen = unpack(format, pack(format, image))[:22, :30]
    assert (seen[..., 3] == image[..., 3]).all()


def test_wide_ranges_of_halves() -> None:
    for name, low in (("BPTC_RGB_FLOAT", -3000.0), ("BPTC_RGB_UFLOAT", 0.0)):
        for value in (60000.0, 1.0, 0.0, low, 1e-4):
            image = np.full((4, 4, 4), value, np.float32)
            seen = unpack(FORMATS[name], pack(FORMATS[name], image))[..., :3]
            assert np.allclose(seen, value, rtol=0.07, atol=1e-5), (name, value)
            assert seen.any() == (value != 0), (name, value)  # nothing stays exactly nothing


def test_formats_without_an_encoder_say_so() -> None:
    assert not can_encode(FORMATS["ETC2_RGB8"])
    assert not can_encode(FORMATS["ASTC_4x4_RGBA"])
    assert can_encode(FORMATS["BPTC_RGBA"])
