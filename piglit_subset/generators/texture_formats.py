"""Texture formats: lookups of present and missing channels, and drawing into them."""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import channels_of, templates

_SAMPLED = (
    "R8", "RG8", "RGB8", "RGBA8", "R16", "RG16", "RGB16", "RGBA16", "R8_SNORM", "RG8_SNORM",
    "RGBA8_SNORM", "R16F", "RG16F", "RGB16F", "RGBA16F", "R32F", "RG32F", "RGB32F", "RGBA32F",
    "RGB10_A2", "R11F_G11F_B10F", "RGB9_E5", "SRGB8", "SRGB8_ALPHA8", "RGBA4", "RGB5_A1", "RGB565",
)  # fmt: skip
_INTEGERS = ("R8UI", "R8I", "R16UI", "R16I", "R32UI", "R32I", "RGBA8UI", "RGBA8I", "RGBA16UI",
             "RGBA16I", "RGBA32UI", "RGBA32I", "RG8UI", "RG8I", "RG32UI", "RG32I")  # fmt: skip
_RENDERED = ("R8", "RG8", "RGBA8", "R16", "RG16", "RGBA16", "R16F", "RG16F", "RGBA16F", "R32F",
             "RG32F", "RGBA32F", "RGB10_A2", "R11F_G11F_B10F", "SRGB8_ALPHA8")  # fmt: skip
_QUADRANTS = {(2, 2): "1001", (12, 2): "0101", (2, 12): "0011", (12, 12): "1111"}


def tests() -> Iterator[str]:
    make = templates("texture_formats")
    for name in _SAMPLED:
        seen = [(x, y, _kept(color, channels_of(name))) for (x, y), color in _QUADRANTS.items()]
        yield make.sampled(name, seen)
    for name in _INTEGERS:
        missing = [(c, "01"[c == "a"]) for c in "gba" if c.upper() not in channels_of(name)]
        yield make.integer(name, "u" if name.endswith("UI") else "", missing)
    for name in _RENDERED:
        yield make.rendered(name, _kept(("1", "0.5", "0.25", "0"), channels_of(name)))


def _kept(color: str | tuple[str, ...], channels: str) -> list[str]:
    """A colour as a format stores it: 0 0 0 1 for missing channels."""
    pairs = zip("RGBA", color, strict=True)
    return [value if c in channels else "01"[c == "A"] for c, value in pairs]
