"""Blits and mipmaps by machine code: the same bytes as the shared ones make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gallette.drivers.common.memory.blit import blit
from gallette.drivers.common.memory.mipmap import generate_mipmap
from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.jit.blits import _is_plain, halve, move
from gallette.pipe.enums import Filter, Target
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import BlitInfo, Box, ScissorState

KINDS = sorted((f for f in FORMATS.values() if _is_plain(f)), key=lambda f: f.name)
BYTES = ["R8G8B8A8_UNORM", "B8G8R8A8_UNORM", "R8G8_UNORM", "R8_UNORM", "L8_UNORM", "A8_UNORM"]
RNG = np.random.default_rng(11)


def _made(format: Format, width: int, height: int, samples: int = 0, last: int = 0) -> HostResource:
    desc = ResourceDesc(Target.TEXTURE_2D, format, width, height, samples=samples, last_level=last)
    resource = create_resource(desc, ResourceLedger())
    for level in range(last + 1):
        bytes_ = resource.level(level)
        bytes_[...] = RNG.integers(0, 256, bytes_.shape, np.uint8)
        if format.is_array and format.channels[0].type == "FLOAT":  # which NaN a sum is nobody says
            wide = format.channels[0].bits == 32
            words = bytes_.view(np.uint32 if wide else np.uint16)
            words &= 0xFF7FFFFF if wide else 0xFBFF
    return resource


def _alike(resource: HostResource) -> HostResource:
    other = create_resource(resource.desc, ResourceLedger())
    other.backing()[...] = resource.backing()
    return other


def _agree(info: BlitInfo, moves: bool = True) -> None:
    assert isinstance(info.dst, HostResource)
    other = _alike(info.dst)
    with np.errstate(all="ignore"):
        assert move(info, None) is moves
        if not moves:
            return
        blit(replace(info, dst=other))
    assert info.dst.backing().tobytes() == other.backing().tobytes()


@pytest.mark.parametrize("format", KINDS, ids=lambda f: str(f.name))
def test_samples_are_averaged_and_formats_change(format: Format) -> None:
    """A rectangle inside of both, wider than a vector and not a multiple of it."""
    wide = FORMATS["R16G16B16A16_FLOAT"]
    target = Box(5, 2, 0, 37, 5)
    several, one, floats = _made(format, 40, 9, 4), _made(format, 50, 9), _made(wide, 50, 9)
    bytes_ = _made(FORMATS["R8G8B8A8_SNORM"], 50, 9)
    _agree(BlitInfo(one, 0, target, format, several, 0, Box(2, 3, 0, 37, 5), format))
    for source, to in ((one, floats), (floats, one), (bytes_, one)):
        kinds = to.desc.format, source.desc.format
        if kinds[0] is not kinds[1]:
            floating = any(c.type == "FLOAT" for c in kinds[1].channels)
            info = BlitInfo(to, 0, target, kinds[0], source, 0, Box(1, 4, 0, 37, 5), kinds[1])
            _agree(info, not floating)


@pytest.mark.parametrize("name", [name for name in BYTES if name in FORMATS])
def test_bytes_are_filtered(name: str) -> None:
    format = FORMATS[name]
    source, target = _made(format, 61, 43), _made(format, 80, 70)
    for to, at in (
        (Box(0, 0, 0, 80, 70), Box(0, 0, 0, 61, 43)),
        (Box(70, 3, 0, -55, 40), Box(4, 5, 0, 20, 30)),
        (Box(3, 3, 0, 20, 20), Box(0, 0, 0, 61, 43)),
        (Box(-10, -10, 0, 70, 60), Box(-5, 20, 0, 90, -60)),
    ):
        scissor = ScissorState(2, 1, 66, 60)
        info = BlitInfo(target, 0, to, format, source, 0, at, format, filter=Filter.LINEAR)
        _agree(info)
        _agree(replace(info, scissor=scissor))


@pytest.mark.parametrize("name", [name for name in BYTES if name in FORMATS])
def test_levels_are_halved(name: str) -> None:
    format = FORMATS[name]
    resource = _made(format, 37, 64, last=6)
    other = _alike(resource)
    generate_mipmap(other, format, 0, 6, 0, 0)
    for level in range(1, 7):
        assert halve(resource, format, level, 0, None)
    assert resource.backing().tobytes() == other.backing().tobytes()


def test_what_there_is_no_code_for_is_left_alone() -> None:
    format = FORMATS["R8G8B8A8_UNORM"]
    source, target = _made(format, 20, 20), _made(format, 20, 20)
    srgb, whole, integers = FORMATS["R8G8B8A8_SRGB"], Box(0, 0, 0, 20, 20), FORMATS["R8_UINT"]
    info = BlitInfo(target, 0, whole, format, source, 0, whole, format, filter=Filter.LINEAR)
    _agree(replace(info, mask="rgb"), False)
    _agree(replace(info, dst=source), False)
    _agree(replace(info, src_format=srgb, dst_format=srgb), False)
    _agree(replace(info, filter=Filter.NEAREST), False)
    assert not halve(_made(integers, 8, 8, last=1), integers, 1, 0, None)
