"""Blocks made of texels decode to nearly these texels, and exactly where a block can say them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.pipe import codecs
from gallette.pipe.formats import FORMATS

COLOR = ("DXT1_RGB", "DXT1_RGBA", "DXT3_RGBA", "DXT5_RGBA")
CHANNELS = {"RGTC1_UNORM": 1, "RGTC1_SNORM": 1, "RGTC2_UNORM": 2, "RGTC2_SNORM": 2}


def back(name: str, codes: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    format = FORMATS[name]
    rows = codecs.encode_blocks(format, codes[None])
    assert rows.shape == (1, format.rows(codes.shape[0]), format.row_bytes(codes.shape[1]))
    top = 127 if name.endswith("SNORM") else 255
    return np.rint(codecs.decode_blocks(format, rows)[0, : codes.shape[0], : codes.shape[1]] * top)


@pytest.mark.parametrize("name", COLOR)
def test_two_colours_of_a_block_are_exact(name: str) -> None:
    codes = np.zeros((8, 12, 4), np.int32)
    codes[..., 3] = 255
    codes[:, 6:, 0] = 255
    codes[4:, :, 2] = 255
    assert (back(name, codes) == codes).all()


@pytest.mark.parametrize("name", COLOR)
def test_smooth_colours_are_close(name: str) -> None:
    y, x = np.mgrid[0:33, 0:18]
    codes = np.stack([x * 4 + 90, y * 4 + 60, 200 - x * 3, np.full_like(x, 255)], axis=-1)
    found = back(name, codes.astype(np.int32))
    assert np.abs(found - codes)[..., :3].max() <= 14
    assert (found[..., 3] == 255).all()


def test_transparent_texels_of_dxt1_are_transparent() -> None:
    codes = np.full((4, 4, 4), 255, np.int32)
    codes[::2, ::2, 3] = 10
    assert (back("DXT1_RGBA", codes)[..., 3] == np.where(codes[..., 3] < 128, 0, 255)).all()


@pytest.mark.parametrize(("name", "error"), [("DXT3_RGBA", 9), ("DXT5_RGBA", 6)])
def test_alpha_is_close(name: str, error: int) -> None:
    codes = np.full((4, 8, 4), 128, np.int32)
    codes[..., 3] = np.arange(32).reshape(4, 8) * 2 + 100
    assert np.abs(back(name, codes)[..., 3] - codes[..., 3]).max() <= error


@pytest.mark.parametrize("name", CHANNELS)
def test_single_channels_are_close(name: str) -> None:
    rng = np.random.default_rng(3)
    low, high = (-127, 128) if name.endswith("SNORM") else (0, 256)
    codes = rng.integers(low, high, (16, 16, 4)).astype(np.int32)
    found = back(name, codes)
    for channel in range(CHANNELS[name]):
        assert np.abs(found[..., channel] - codes[..., channel]).max() <= 20
    flat = np.full((4, 4, 4), low, np.int32)
    assert (back(name, flat)[..., 0] == low).all()
