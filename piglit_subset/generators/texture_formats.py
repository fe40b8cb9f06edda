"""Texture formats: what a lookup gives of channels a format has, and of those it has not; drawing
into them.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import templates

_CHANNELS = {
    "R8": "R", "RG8": "RG", "RGB8": "RGB", "RGBA8": "RGBA", "R16": "R", "RG16": "RG",
    "RGB16": "RGB", "RGBA16": "RGBA", "R8_SNORM": "R", "RG8_SNORM": "RG", "RGBA8_SNORM": "RGBA",
    "R16F": "R", "RG16F": "RG", "RGB16F": "RGB", "RGBA16F": "RGBA", "R32F": "R", "RG32F": "RG",
    "RGB32F": "RGB", "RGBA32F": "RGBA", "RGB10_A2": "RGBA", "R11F_G11F_B10F": "RGB",
    "RGB9_E5": "RGB", "SRGB8": "RGB", "SRGB8_ALPHA8": "RGBA", "RGBA4": "RGBA", "RGB5_A1": "RGBA",
    "RGB565": "RGB",
}  # fmt: skip
_INTEGERS = ("R8UI", "R8I", "R16UI", "R16I", "R32UI", "R32I", "RGBA8UI", "RGBA8I", "RGBA16UI",
             "RGBA16I", "RGBA32UI", "RGBA32I", "RG8UI", "RG8I", "RG32UI", "RG32I")  # fmt: skip
_RENDERED = ("R8", "RG8", "RGBA8", "R16", "RG16", "RGBA16", "R16F", "RG16F", "RGBA16F", "R32F",
             "RG32F", "RGBA32F", "RGB10_A2", "R11F_G11F_B10F", "SRGB8_ALPHA8")  # fmt: skip
_QUADRANTS = {(2, 2): "1001", (12, 2): "0101", (2, 12): "0011", (12, 12): "1111"}


def tests() -> Iterator[str]:
    make = templates("texture_formats")
    for name, channels in _CHANNELS.items():
        seen = [(x, y, _kept(color, channels)) for (x, y), color in _QUADRANTS.items()]
        yield make.sampled(name, seen)
    for name in _INTEGERS:
        channels = name.rstrip("UI").rstrip("0123456789")
        missing = [(c, "01"[c == "a"]) for c in "gba" if c.upper() not in channels]
        yield make.integer(name, "u" if name.endswith("UI") else "", missing)
    for name in _RENDERED:
        yield make.rendered(name, _kept(("1", "0.5", "0.25", "0"), _CHANNELS[name]))


def _kept(color: str | tuple[str, ...], channels: str) -> list[str]:
    """A colour as a format keeps it: 0 0 0 1 for the channels that it has not."""
    pairs = zip("RGBA", color, strict=True)
    return [value if c in channels else "01"[c == "A"] for c, value in pairs]
