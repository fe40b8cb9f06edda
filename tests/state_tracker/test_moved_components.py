"""Client pixels whose components keep their bits are moved: conversion by way of numbers makes the
same texels.
"""

from __future__ import annotations

import numpy as np
import pytest

from gallette.pipe.formats import FORMATS
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.pixel_data import convert
from gallette.state_tracker.pixel_data.pixels import COMPONENTS, PLAIN_TYPES, pixel_bytes

BYTES = GL.UNSIGNED_INT_8_8_8_8, GL.UNSIGNED_INT_8_8_8_8_REV
COLORS = [f for f, letters in COMPONENTS.items() if {*letters} <= {*"RGBALI"}]


@pytest.mark.parametrize(
    "name",
    [
        *("R8_UNORM", "R8G8B8X8_UNORM", "B8G8R8A8_SRGB", "A8R8G8B8_UNORM", "L8A8_UNORM"),
        *("I8_UNORM", "R16G16B16A16_UNORM", "R16G16_FLOAT", "R32G32B32A32_FLOAT"),
        *("R8G8B8A8_UINT", "R16G16B16A16_SINT", "L32A32_UINT", "R8G8B8A8_SNORM"),
    ],
)
def test_they_are_what_conversion_makes_of_them(name: str) -> None:
    target, random, moved = FORMATS[name], np.random.default_rng(7), 0
    for format in COLORS:
        for type in (*PLAIN_TYPES, *(BYTES if len(COMPONENTS[format]) == 4 else ())):
            pixels = random.integers(0, 256, (1, 2, 40, pixel_bytes(format, type)), np.uint8)
            for base in ("", "R", "RGB", "RGBA", "L", "LA", "A", "I"):
                if (format in convert.INTEGER_FORMATS) != target.is_pure_integer:
                    continue
                moved += convert._moves(target, format, type, base) is not None
                short = convert.to_pipe(target, format, type, pixels, base)
                values = convert.decode_client(format, type, pixels)
                with np.errstate(all="ignore"):
                    long = convert.pack_values(target, format, values, base)
                if target.is_float:
                    word = f"f{target.channels[0].bits // 8}"
                    short, long = short.view(word), long.view(word)  # all NaNs are alike
                same_bits = convert.same_bits(format, type) == target.name.replace("SRGB", "UNORM")
                if not same_bits:  # these are copied, whatever the base is
                    np.testing.assert_array_equal(short, long, f"{format:#x} {type:#x} {base}")
    assert (moved > 40) == (name != "R8G8B8A8_SNORM")
