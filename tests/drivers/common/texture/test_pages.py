"""What a texture held before it was written: each version is the texture as it was then."""

from __future__ import annotations

import numpy as np
import pytest
from test_units import texture, view_of

from gallette.drivers.common.memory.storage import box_window
from gallette.drivers.common.texture.pages import Pages
from gallette.pipe.state import Box, SamplerState

SIZES = [(24, 20), (700, 40), (300, 9), (16, 900), (1030, 3)]
"""Smaller than a page, of rows longer and shorter than one."""


@pytest.mark.parametrize("format", ["R8_UNORM", "R8G8B8A8_UNORM", "R16G16B16A16_UNORM"])
@pytest.mark.parametrize("size", SIZES)
def test_every_version_is_what_was_there(size: tuple[int, int], format: str) -> None:
    """Boxes of several levels are written, some of them before anybody has read the last ones."""
    rng = np.random.default_rng([*size, len(format)])
    resource = texture(format, *size, last_level=2)
    pages = Pages(resource)
    there = []
    for draw in range(1, 14):
        read = draw == 1 or bool(rng.random() < 0.7)
        if read:
            there.append([level.copy() for level in resource.storage])
        level = int(rng.integers(3))
        extents = [max(1, extent >> level) for extent in size]
        (x0, x1), (y0, y1) = (sorted(rng.integers(0, extent + 1, 2)) for extent in extents)
        box = Box(int(x0), int(y0), 0, int(x1 - x0), int(y1 - y0))
        assert pages.may_write(level, box, draw, read)
        part = resource.storage[level][box_window(resource.desc, level, box)]
        part[...] = rng.integers(0, 256, part.shape, np.uint8)
        resource.touch()
    there.append([level.copy() for level in resource.storage])
    assert len(pages.ends) == len(there) - 1
    for version, wanted in enumerate(there[:-1]):
        for was, level in zip(wanted, pages.alone(version).storage, strict=True):
            np.testing.assert_array_equal(level, was)
    # One unit looks at all of them at once: as many texels as its lanes, of versions and levels.
    which = rng.integers(0, len(there), 500)
    levels = rng.integers(0, 3, 500)
    x, y = (rng.integers(0, np.maximum(extent >> levels, 1)) for extent in size)
    unit = pages.unit(view_of(resource), SamplerState(), np.arange(len(there)))
    found = unit.sample("txf", [x, y, which], 500, lod=levels)[0]
    word = np.dtype(np.uint16 if "16" in format else np.uint8)
    channels = resource.desc.format.block_bytes // word.itemsize
    red = [
        there[version][level].view(word)[0, row, column * channels]
        for version, level, column, row in zip(which, levels, x, y, strict=True)
    ]
    np.testing.assert_allclose(found, np.array(red) / np.iinfo(word).max, rtol=1e-6)
