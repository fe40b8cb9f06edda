"""BPTC and ASTC: random blocks decode as on llvmpipe, and made ones to what was put in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.pipe.codecs import block_decoder
from gallette.pipe.codecs.astc import _quints, _trits
from gallette.pipe.formats import ASTC_FOOTPRINTS, FORMATS
from gallette.state_tracker import GL
from tests.conftest import native_context

Bytes = npt.NDArray[np.uint8]
COUNT = 16


def random_blocks(seed: int) -> Bytes:
    """Blocks of random bits: for BPTC in every mode, for ASTC in many configurations."""
    blocks = np.random.default_rng(seed).integers(0, 256, (COUNT * COUNT, 16), np.uint8)
    void = (blocks[:, 0] == 0xFC) & (blocks[:, 1] & 1 == 1)
    blocks[void, 1:8] = (0xFD, *[0xFF] * 6)  # with legal extents: llvmpipe does not look at them
    return blocks


def native_texels(blocks: Bytes, name: str, width: int, height: int) -> Any:
    """What llvmpipe reads: floats `[block, texel, 4]`."""
    gl = native_context(profile="compat", version=(4, 3), size=(8, 8))
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    size = (COUNT * width, COUNT * height)
    form = getattr(GL, name)
    args = (GL.TEXTURE_2D, 0, form, *size, 0, blocks.nbytes, blocks)
    gl.compressed_tex_image2d(*args)
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.FLOAT)
    assert gl.get_error() == GL.NO_ERROR
    gl.release()
    image = np.frombuffer(raw, np.float32).reshape(COUNT, height, COUNT, width, 4)
    return image.transpose(0, 2, 1, 3, 4).reshape(COUNT * COUNT, height * width, 4)


@pytest.mark.native
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bc7_is_exact(seed: int) -> None:
    blocks = random_blocks(seed)
    for number in range(8):  # as many blocks of each mode
        rows = slice(number * 32, number * 32 + 32)
        blocks[rows, 0] = blocks[rows, 0] >> (number + 1) << (number + 1) | 1 << number
    expected = native_texels(blocks, "COMPRESSED_RGBA_BPTC_UNORM", 4, 4) * 255
    seen = block_decoder(FORMATS["BPTC_RGBA"])(blocks).reshape(COUNT * COUNT, 16, 4)
    assert abs(seen - expected).max() < 0.01


@pytest.mark.native
@pytest.mark.parametrize("name", ["BPTC_RGB_FLOAT", "BPTC_RGB_UFLOAT"])
def test_bc6h_is_exact(name: str) -> None:
    gl_name = {"BPTC_RGB_FLOAT": "SIGNED", "BPTC_RGB_UFLOAT": "UNSIGNED"}[name]
    blocks = random_blocks(4)
    expected = native_texels(blocks, f"COMPRESSED_RGB_BPTC_{gl_name}_FLOAT", 4, 4)
    seen = block_decoder(FORMATS[name])(blocks).reshape(COUNT * COUNT, 16, 4)
    numbers, modes = blocks[:, 0] & 31, []
    for number in (0, 1, 2, 3, 6, 7, 10, 11, 14, 15, 18, 22, 26, 30):
        of_mode = (numbers & 3 if number < 2 else numbers) == number
        if of_mode.any():
            difference = abs(seen[of_mode] - expected[of_mode])
            assert (difference <= 1e-6 * abs(expected[of_mode])).all(), number
            modes.append(number)
    assert len(modes) > 12


@pytest.mark.native
@pytest.mark.parametrize("footprint", ASTC_FOOTPRINTS)
def test_astc_is_exact(footprint: tuple[int, int]) -> None:
    width, height = footprint
    blocks = random_blocks(width * 100 + height)
    blocks[: COUNT * 8, 1] &= 0xE7  # more blocks of one partition
    blocks[-8:, :2] = (0xFC, 0xFD)  # one colour
    blocks[-8:, 2:8] = 0xFF
    name = f"COMPRESSED_RGBA_ASTC_{width}x{height}_KHR"
    expected = native_texels(blocks, name, width, height) * 255
    seen = block_decoder(FORMATS[f"ASTC_{width}x{height}_RGBA"])(blocks)
    seen = seen.reshape(COUNT * COUNT, -1, 4)
    wrong = (abs(seen - expected) > 0.01).any(axis=(1, 2))
    legal = (expected != [255, 0, 255, 255]).any(axis=(1, 2))
    assert legal.sum() > COUNT
    assert np.flatnonzero(wrong).tolist() == []


def test_a_bc7_block_of_one_colour() -> None:
    block = np.zeros((1, 16), np.uint8)
    block[0, 0] = 1 << 6  # mode 6: both end points the same
    value = 1 << 6
    for i, channel in enumerate((10, 20, 30, 127)):
        for end in range(2):
            value |= channel << (7 + 14 * i + 7 * end)
    value |= 3 << 63  # lowest bits
    block[0] = np.frombuffer(value.to_bytes(16, "little"), np.uint8)
    texels = block_decoder(FORMATS["BPTC_RGBA"])(block)
    assert (texels == [21, 41, 61, 255]).all()


def test_a_reserved_astc_block_is_magenta() -> None:
    texels = block_decoder(FORMATS["ASTC_6x5_RGBA"])(np.zeros((1, 16), np.uint8))
    assert texels.shape == (1, 5, 6, 4)
    assert (texels == [255, 0, 255, 255]).all()


@pytest.mark.parametrize(
    ("decode", "base", "digits", "bits"), [(_trits, 3, 5, 8), (_quints, 5, 3, 7)]
)
def test_packed_digits(
    decode: Callable[[int], tuple[int, ...]], base: int, digits: int, bits: int
) -> None:
    """Every code stands for digits, every combination of digits has a code, most of them one."""
    found = Counter(decode(code) for code in range(1 << bits))
    assert set(found) == set(product(range(base), repeat=digits))
    codes = sorted(found.values())
    assert sum(codes) == 1 << bits and codes[base**digits // 2] == 1
