"""The pixel format table: a format's name lists its channels, and everything else is derived from
it.

`R8G8B8A8_UNORM` reads: four 8-bit channels in memory order, unsigned normalised. Formats whose
channels all have 8, 16, 32 or 64 bits are arrays of channels; the others (`B5G6R5_UNORM`) are
packed into one little-endian word, first channel in the lowest bits. Formats that cannot be spelled
that way (shared exponents, block compression) have codecs of their own in `gallette.pipe.codecs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.text_tables import table_rows

Array = npt.NDArray[Any]

_TYPES = ("UNORM", "SNORM", "UINT", "SINT", "USCALED", "SSCALED", "FLOAT", "SRGB", "FIXED")


@lazy_dataclass(frozen=True)
class Channel:
    """One channel: its letter (R G B A L I X Z S), bits, position in the block, numeric type."""

    name: str
    bits: int
    shift: int
    type: str  # one of _TYPES, with SRGB resolved to UNORM


@dataclass(frozen=True, eq=False)
class Format:
    """A pixel format. Formats are interned: compare them with `is`."""

    name: str
    channels: tuple[Channel, ...]
    block_bytes: int
    block_width: int = 1
    block_height: int = 1
    is_srgb: bool = False
    codec: str = "plain"  # "plain", or the name of a codec in pipe.codecs

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return format_named, (self.name,)

    @cached_property
    def is_compressed(self) -> bool:
        return self.block_width > 1

    @cached_property
    def has_depth(self) -> bool:
        return any(c.name == "Z" for c in self.channels)

    @cached_property
    def has_stencil(self) -> bool:
        return any(c.name == "S" for c in self.channels)

    @cached_property
    def is_depth_stencil(self) -> bool:
        return self.has_depth or self.has_stencil

    @cached_property
    def is_color(self) -> bool:
        return not self.is_depth_stencil

    @cached_property
    def is_pure_integer(self) -> bool:
        """Whether it is a UINT or SINT colour format, which is never filtered, blended or
        converted.
        """
        integer = any(c.type in ("UINT", "SINT") and c.name != "X" for c in self.channels)
        return self.is_color and integer

    @cached_property
    def is_signed_integer(self) -> bool:
        return self.is_pure_integer and any(c.type == "SINT" for c in self.channels)

    @cached_property
    def is_float(self) -> bool:
        return any(c.type == "FLOAT" for c in self.channels)

    @cached_property
    def is_normalized(self) -> bool:
        return any(c.type in ("UNORM", "SNORM") for c in self.channels)

    @cached_property
    def is_fixed_point(self) -> bool:
        """Whether channels are fractions from 0 to 1."""
        return all(c.type == "UNORM" for c in self.channels if c.name != "X")

    @cached_property
    def is_byte_color(self) -> bool:
        """Whether texels are four unsigned normalised bytes, one of them perhaps padding."""
        return len(self.channels) == 4 and all(
            c.bits == 8 and c.type == "UNORM" and c.name in "RGBAX" for c in self.channels
        )

    @cached_property
    def is_unorm8(self) -> bool:
        """Whether all channels are 8-bit normalised and stored linearly, so that they are blended
        and filtered in 8 bits.
        """
        return (
            self.is_array
            and not self.is_srgb
            and all(c.bits == 8 and c.type == "UNORM" for c in self.channels)
        )

    @cached_property
    def rgba_dtype(self) -> np.dtype[Any]:
        """The type that `unpack` returns: float32 (never float64), or int32 / uint32 for pure
        integers.
        """
        if not self.is_pure_integer:
            return np.dtype(np.float32)
        return np.dtype(np.int32 if self.is_signed_integer else np.uint32)

    @cached_property
    def is_array(self) -> bool:
        """Whether all channels have the same whole-byte size, so that memory is an array of
        channels.
        """
        sizes = {c.bits for c in self.channels}
        return self.codec == "plain" and len(sizes) == 1 and sizes <= {8, 16, 32, 64}

    @cached_property
    def swizzle(self) -> tuple[str | int, str | int, str | int, str | int]:
        """The source of R, G, B, A: an index into `channels`, or "0" / "1"."""
        found: dict[str, int] = {c.name: i for i, c in enumerate(self.channels)}
        if "L" in found:
            source = found["L"]
            return source, source, source, found.get("A", "1")
        if "I" in found:
            source = found["I"]
            return source, source, source, source
        if self.is_depth_stencil:
            return found.get("Z", 0), "0", "0", "1"
        red, green, blue = (found.get(name, "0") for name in "RGB")
        return red, green, blue, found.get("A", "1")

    def row_bytes(self, width: int) -> int:
        """Bytes of one row of blocks, tightly packed."""
        return -(-width // self.block_width) * self.block_bytes

    def rows(self, height: int) -> int:
        """Rows of blocks in an image of this height."""
        return -(-height // self.block_height)


def _channels(items: Iterable[tuple[str, str]]) -> tuple[Channel, ...]:
    """Channels of layouts such as `R8`, and their types."""
    shift = 0
    channels = []
    for layout, kind in items:
        letter, bits = layout[0], int(layout[1:])
        assert kind in _TYPES, kind
        resolved = "UINT" if letter == "S" else "UNORM" if kind == "SRGB" else kind
        channels.append(Channel(letter, bits, shift, resolved))
        shift += bits
    return tuple(channels)


def _spelt(name: str) -> Format:
    """A format whose name spells its channels."""
    layout, _, kind = name.rpartition("_")
    channels = _channels((each, kind) for each in re.findall(r"[RGBALIXZS]\d+", layout))
    return Format(name, channels, sum(c.bits for c in channels) // 8, is_srgb=kind == "SRGB")


def _described(name: str, description: str) -> Format:
    size, block, codec, *items = description.split()
    width, height = map(int, block.split("x"))
    channels = _channels(item.partition(":")[::2] for item in items)
    return Format(name, channels, int(size), width, height, "SRGB" in description, codec)


def _read() -> Iterator[Format]:
    """The formats of `formats.txt`."""
    groups: dict[str, str] = {}
    for line in table_rows(Path(__file__).with_suffix(".txt")):
        name, equals, rest = line.partition(" = ")
        if line.startswith("{"):
            groups[name] = rest
        elif equals:
            yield _described(name, rest)
        else:
            for entry in line.split():
                group = entry[entry.find("{") :]
                kinds = groups[group].split() if group in groups else [group]
                yield from (_spelt(entry.removesuffix(group) + kind) for kind in kinds)


FORMATS: dict[str, Format] = {format.name: format for format in _read()}
ASTC_FOOTPRINTS = tuple(
    (f.block_width, f.block_height) for f in FORMATS.values() if re.match("ASTC.*_RGBA", f.name)
)


@cache
def format_named(name: str) -> Format:
    """The format of that name; KeyError if there is none."""
    return FORMATS[name]
