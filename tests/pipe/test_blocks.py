"""Block compression against scalar decoders written from the format's definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.pipe.codecs import decode_blocks, unpack
from gallette.pipe.formats import FORMATS

Array = npt.NDArray[Any]


def blocks(count: int, size: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).integers(0, 256, (count, size), np.uint8)


def rgb565(word: int) -> list[int]:
    r, g, b = word >> 11, word >> 5 & 63, word & 31
    return [r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2]


def color_texels(raw: bytes, four: bool | None, punch: bool) -> list[list[float]]:
    """Sixteen exact colours of a colour block; `four` None lets the end points decide."""
    w0, w1 = int.from_bytes(raw[:2], "little"), int.from_bytes(raw[2:4], "little")
    a, b = rgb565(w0), rgb565(w1)
    if four if four is not None else w0 > w1:
        third = [[(2 * x + y) / 3 for x, y in zip(a, b, strict=True)] + [255]]
        palette = [[*a, 255], [*b, 255], *third]
        palette.append([(x + 2 * y) / 3 for x, y in zip(a, b, strict=True)] + [255])
    else:
        half = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
        palette = [[*a, 255], [*b, 255], [*half, 255], [0, 0, 0, 0 if punch else 255]]
    bits = int.from_bytes(raw[4:], "little")
    return [palette[bits >> 2 * i & 3] for i in range(16)]


def ramp_texels(raw: bytes, signed: bool) -> list[float]:
    """Sixteen exact values of a single-channel block."""
    a, b = raw[0], raw[1]
    low, high = 0, 255
    if signed:
        a, b = (max(x - 256 if x > 127 else x, -127) for x in (a, b))
        low, high = -127, 127
    if a > b:
        palette = [a, b] + [((7 - k) * a + k * b) / 7 for k in range(1, 7)]
    else:
        palette = [a, b] + [((5 - k) * a + k * b) / 5 for k in range(1, 5)] + [low, high]
    bits = int.from_bytes(raw[2:], "little")
    return [palette[bits >> 3 * i & 7] for i in range(16)]


@pytest.mark.parametrize(
    ("name", "four", "punch"),
    [("DXT1_RGB", None, False), ("DXT1_RGBA", None, True), ("DXT3_RGBA", True, False)],
)
def test_colour_blocks_are_at_most_a_code_and_a_third_from_exact(
    name: str, four: Any, punch: bool
) -> None:
    format = FORMATS[name]
    data = blocks(200, format.block_bytes)
    got = decode_blocks(format, data.reshape(200, 1, -1)) * 255
    for block, texels in zip(data, got.reshape(200, 16, 4), strict=True):
        want = np.array(color_texels(block[-8:].tobytes(), four, punch))
        if name == "DXT3_RGBA":
            nibbles = int.from_bytes(block[:8].tobytes(), "little")
            want[:, 3] = [(nibbles >> 4 * i & 15) * 17 for i in range(16)]
        assert np.abs(texels - want).max() < 1.34


@pytest.mark.parametrize(
    ("name", "channels", "signed"),
    [
        ("RGTC1_UNORM", 1, False),
        ("RGTC1_SNORM", 1, True),
        ("RGTC2_UNORM", 2, False),
        ("RGTC2_SNORM", 2, True),
    ],
)
def test_single_channel_blocks_are_within_two_codes_of_exact(
    name: str, channels: int, signed: bool
) -> None:
    format = FORMATS[name]
    data = blocks(200, format.block_bytes, 2)
    scale = 127 if signed else 255
    got = decode_blocks(format, data.reshape(200, 1, -1)).reshape(200, 16, 4) * scale
    for block, texels in zip(data, got, strict=True):
        for c in range(channels):
            want = ramp_texels(block[8 * c : 8 * c + 8].tobytes(), signed)
            assert np.abs(texels[:, c] - want).max() <= 2.001
    assert (got[..., channels:3] == 0).all()
    assert (got[..., 3] == scale).all()


def test_interpolated_alpha_goes_with_four_colours() -> None:
    format = FORMATS["DXT5_RGBA"]
    data = blocks(100, 16, 3)
    got = decode_blocks(format, data.reshape(100, 1, -1)).reshape(100, 16, 4) * 255
    for block, texels in zip(data, got, strict=True):
        want = np.array(color_texels(block[8:].tobytes(), True, False))
        want[:, 3] = ramp_texels(block[:8].tobytes(), False)
        assert np.abs(texels - want).max() <= 2.001


def test_blocks_land_where_they_belong() -> None:
    format = FORMATS["DXT1_RGB"]
    data = np.zeros((2, 3, 8), np.uint8)
    data[1, 2, :2] = [0x00, 0xF8]  # pure red at row 1, column 2 of the blocks
    image = unpack(format, data.reshape(2, 24))
    assert image.shape == (8, 12, 4)
    assert (image[4:, 8:, 0] == 1).all()
    assert image[..., 0].sum() == 16


def test_srgb_blocks_are_decoded_to_linear_light() -> None:
    data = np.zeros((1, 8), np.uint8)
    data[0, :2] = [0x10, 0x84]  # a mid grey
    plain = decode_blocks(FORMATS["DXT1_RGB"], data)[0, 0]
    linear = decode_blocks(FORMATS["DXT1_SRGB"], data)[0, 0]
    expected = ((plain[:3] + 0.055) / 1.055) ** 2.4
    np.testing.assert_allclose(linear[:3], expected, rtol=1e-5)
    assert linear[3] == 1
