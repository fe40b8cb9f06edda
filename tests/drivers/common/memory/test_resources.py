"""Resources in host memory: views that are kept, what follows from contents, windows, clears."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import OutOfMemoryError
from gallette.drivers.common.memory import resource as resources
from gallette.drivers.common.memory import storage
from gallette.drivers.common.memory.clear import (
    ClearValues,
    clear,
    clear_color,
    clear_depth_stencil,
    cleared_rect,
)
from gallette.drivers.common.memory.resource import (
    HostResource,
    create_resource,
    flat_texels,
    surface_texels,
    transfer_map,
    transfer_unmap,
)
from gallette.drivers.common.memory.screen import MemoryScreen
from gallette.drivers.common.memory.storage import (
    ResourceError,
    box_window,
    copy_region,
    level_offsets,
)
from gallette.pipe.caps import Caps
from gallette.pipe.enums import Bind, ClearFlags, MapFlags, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.interface import Context
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import Box, FramebufferState, ScissorState, Surface


def described(format: str, width: int = 8, height: int = 6, **more: Any) -> ResourceDesc:
    target = more.pop("target", Target.TEXTURE_2D)
    return ResourceDesc(target, FORMATS[format], width, height, **more)


def made(format: str, width: int = 8, height: int = 6, **more: Any) -> HostResource:
    found = create_resource(described(format, width, height, **more), ResourceLedger())
    for number, level in enumerate(found.storage):
        level[...] = np.arange(level.size).reshape(level.shape) * (number + 3) & 0xFF
    return found


def buffer(size: int) -> HostResource:
    return made("R8_UNORM", size, 1, target=Target.BUFFER)


# -- views -----------------------------------------------------------------------------------------


def test_views_are_kept_and_are_the_resources_memory() -> None:
    image = made("R8G8B8A8_UNORM", last_level=1)
    for make in (
        lambda: image.view(0, np.uint32),
        lambda: image.view(1, np.uint32),
        lambda: image.view(0, np.uint8),
        image.words,
        lambda: image.texels(np.dtype(np.uint8), 4),
        lambda: image.texels(np.dtype(np.uint16), 2),
        lambda: image.texels(np.dtype(np.uint32), 1),
        lambda: image.memory,
    ):
        assert make() is make()
    assert image.view(0, np.uint32).shape == (1, 6, 8)
    assert image.view(1, np.uint32).shape == (1, 3, 4)
    image.view(1, np.uint32)[0, 2, 3] = 0x01020304
    assert image.storage[1][0, 2, 12:].tolist() == [4, 3, 2, 1]


def test_texels_of_all_levels_are_one_run() -> None:
    for format, word, count in (
        ("R8G8B8A8_UNORM", np.uint32, 1),
        ("R16G16B16_UNORM", np.uint16, 3),
        ("R32G32B32A32_FLOAT", np.uint32, 4),
        ("R8_UNORM", np.uint8, 1),
    ):
        image = made(format, 8, 6, last_level=2)
        size = FORMATS[format].block_bytes
        run = image.texels(np.dtype(word), count)
        assert run.ndim == (2 if count > 1 else 1)
        offsets = level_offsets(image.desc)
        assert all(at % size == 0 and at % 16 == 0 for at in offsets)
        for at, level in zip(offsets, image.storage, strict=False):
            found = run[at // size : at // size + level.size // size]
            assert found.tobytes() == level.tobytes()
        last = offsets[-2] + image.storage[-1].size
        assert offsets[-2] < last <= offsets[-1] < last + math.lcm(16, size)


def test_buffers_as_words_and_bytes() -> None:
    for size in (0, 1, 3, 4, 5, 8):
        some = buffer(size)
        whole = some.storage[0].tobytes()
        words = some.words()
        padded = whole + bytes(-size % 4)
        assert words.tobytes() == padded and len(words) == -(-size // 4)
        assert some.memory.tobytes() == whole
    some = buffer(10)
    for offset, size, wanted in (
        (0, 10, range(10)), (2, 3, range(2, 5)), (8, 5, range(8, 10)), (10, 4, ()), (12, 1, ()),
        (-3, 4, range(4)), (4, 0, ()), (4, -2, ()),
    ):  # fmt: skip
        assert some.bytes_at(offset, size).tolist() == [3 * k for k in wanted]
    some.bytes_at(4, 2)[...] = 77
    assert some.storage[0][0, 0, 3:7].tolist() == [9, 77, 77, 18]


def test_what_follows_from_contents_is_made_again_when_they_change() -> None:
    some = buffer(4)

    def contents() -> list[int]:
        return [int(k) for k in some.storage[0][0, 0]]

    first, second = some.derive("a", contents), some.derive("b", contents)
    assert first == [0, 3, 6, 9] and first is not second
    assert some.derive("a", contents) is first and some.derive("b", contents) is second
    some.storage[0][0, 0, 1] = 7
    some.touch()
    assert some.derive("a", contents) == [0, 7, 6, 9]
    assert some.derive("a", contents) is some.derive("a", contents) is not first
    assert some.derive("b", contents) == [0, 7, 6, 9]


def test_units_that_are_kept_have_a_bound() -> None:
    some = buffer(4)
    for k in range(resources._MOST_UNITS):
        some.make_room_for_unit()
        assert len(some.units) == k
        some.units[k] = k
    some.make_room_for_unit()
    assert some.units == {}


def test_a_resource_that_is_gone_keeps_nothing() -> None:
    ledger = ResourceLedger()
    some = create_resource(described("R8_UNORM"), ledger)
    some.derive("a", lambda: 1)
    some.units["b"] = 2
    assert some.words() is some.words() and some.memory is some.memory
    some.unref()
    assert (some.derived, some.units, some._views, some.storage) == ({}, {}, {}, [])
    assert some._memory is None


def test_planes_are_layers_times_samples() -> None:
    for samples, wanted in ((0, 1), (1, 1), (4, 4)):
        some = made("R8_UNORM", samples=samples, target=Target.TEXTURE_2D_ARRAY, array_size=3)
        assert some.samples == wanted and some.level(0).shape == (3 * wanted, 6, 8)
        assert some.level(0) is some.storage[0]


def test_memory_of_the_application() -> None:
    given = (ctypes.c_uint8 * 6)(1, 2, 3, 4, 5, 6)
    desc = described("R8_UNORM", 6, 1, target=Target.BUFFER, memory=ctypes.addressof(given))
    some = create_resource(desc, ResourceLedger())
    assert some.live and some.storage[0].tolist() == [[[1, 2, 3, 4, 5, 6]]]
    some.storage[0][0, 0, 2] = 9
    assert given[2] == 9
    assert not buffer(6).live


# -- storage ---------------------------------------------------------------------------------------


def test_memory_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = described("R16G16B16A16_FLOAT", 1 << 14, 1 << 14)
    assert level_offsets(wide)[-1] == storage.MAX_RESOURCE_BYTES
    more = described("R16G16B16A16_FLOAT", 1 << 14, (1 << 14) + 1)
    with pytest.raises(OutOfMemoryError) as caught:
        storage.allocate(more)
    assert str(caught.value) == (
        "out of memory: a 2d resource of 2.0 GiB (R16G16B16A16_FLOAT, 16384x16385x1x1)"
    )
    # No larger, but its texels need numbers of 32 bits.
    with pytest.raises(OutOfMemoryError, match=r"a buffer resource of 2\.0 GiB"):
        storage.allocate(described("R8_UNORM", 1 << 31, 1, target=Target.BUFFER))
    given = (ctypes.c_uint8 * 4)()
    lent = described("R8_UNORM", 1 << 31, 1, target=Target.BUFFER, memory=ctypes.addressof(given))
    with pytest.raises(OutOfMemoryError, match=r"a buffer resource of 2\.0 GiB"):
        storage.allocate(lent)

    def nothing_left(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "zeros", nothing_left)
    for desc in (wide, described("R8_UNORM")):  # as much as is allowed is asked for
        with pytest.raises(
            OutOfMemoryError, match=f"^out of memory: {level_offsets(desc)[-1]} byt"
        ):
            storage.allocate(desc)


def test_addresses_are_what_maps_promise() -> None:
    for size in (1, 63, 64, 65, 1000):
        some = buffer(size)
        assert some.storage[0].__array_interface__["data"][0] % 64 == 0
        assert some.backing().size >= size + 32 and not some.backing()[size:].any()


def test_windows_end_where_levels_do() -> None:
    desc = described("R16_UNORM", 8, 6, last_level=2, target=Target.TEXTURE_2D_ARRAY, array_size=3)
    assert box_window(desc, 0, Box(1, 2, 1, 7, 4, 2)) == (
        slice(1, 3), slice(2, 6), slice(2, 16),
    )  # fmt: skip
    assert box_window(desc, 1, Box(0, 0, 0, 4, 3, 3)) == (
        slice(0, 3), slice(0, 3), slice(0, 8),
    )  # fmt: skip
    for level, box in (
        (0, (-1, 0, 0, 2, 2, 1)), (0, (0, -1, 0, 2, 2, 1)), (0, (0, 0, -1, 2, 2, 1)),
        (0, (1, 0, 0, 8, 2, 1)), (0, (0, 1, 0, 2, 6, 1)), (0, (0, 0, 2, 2, 2, 2)),
        (0, (2, 0, 0, -1, 2, 1)), (0, (2, 2, 0, 1, -1, 1)), (0, (2, 0, 1, 1, 2, -1)),
        (1, (0, 0, 0, 5, 3, 1)), (1, (0, 0, 0, 4, 4, 1)),
    ):  # fmt: skip
        with pytest.raises(ResourceError, match="is not inside level"):
            box_window(desc, level, Box(*box))
    for level in (-1, 3):
        with pytest.raises(ResourceError, match=f"^level {level} of a resource with 3 levels$"):
            box_window(desc, level, Box(0, 0, 0, 1, 1, 1))
    some = described("R8_UNORM", 10, 1, target=Target.BUFFER)
    assert box_window(some, 0, Box(3, 0, 0, 7, 1, 1))[2] == slice(3, 10)
    for x, width in ((-1, 2), (3, -1), (3, 8), (11, 0)):
        with pytest.raises(ResourceError, match=f"^bytes {x}..{x + width} of a buffer of 10 bytes"):
            box_window(some, 0, Box(x, 0, 0, width, 1, 1))


def test_windows_of_blocks() -> None:
    desc = described("BC1_RGB_UNORM" if "BC1_RGB_UNORM" in FORMATS else "DXT1_RGB", 10, 6)
    size = desc.format.block_bytes
    for box, rows, columns in (
        ((0, 0, 0, 10, 6, 1), (0, 2), (0, 3)),
        ((4, 4, 0, 6, 2, 1), (1, 2), (1, 3)),
        ((4, 0, 0, 4, 4, 1), (0, 1), (1, 2)),
    ):
        assert box_window(desc, 0, Box(*box)) == (
            slice(0, 1), slice(*rows), slice(columns[0] * size, columns[1] * size),
        )  # fmt: skip
    for box in ((1, 0, 0, 4, 4, 1), (0, 2, 0, 4, 4, 1), (0, 0, 0, 9, 4, 1), (0, 0, 0, 4, 5, 1)):
        with pytest.raises(ResourceError, match="does not consist of whole blocks of"):
            box_window(desc, 0, Box(*box))


def test_copies_need_blocks_of_one_size() -> None:
    one, other = made("R8G8B8A8_UNORM"), made("R16_UNORM")
    box = Box(0, 0, 0, 2, 2, 1)
    with pytest.raises(ResourceError, match=r"^cannot copy R16_UNORM to R8G8B8A8_UNORM: bl"):
        copy_region(one.desc, one.storage[0], 0, (0, 0, 0), other.desc, other.storage[0], 0, box)
    some = buffer(40)
    copy_region(some.desc, some.storage[0], 0, (3, 0, 0), other.desc, other.storage[0], 0,
                Box(1, 1, 0, 4, 1, 1))  # fmt: skip
    assert some.storage[0][0, 0, 3:11].tolist() == other.storage[0][0, 1, 2:10].tolist()


# -- transfers -------------------------------------------------------------------------------------


def test_transfers_that_write_count() -> None:
    box = Box(1, 2, 0, 3, 2, 1)
    for flags, writes, live in (
        (MapFlags.READ, 0, False),
        (MapFlags.READ | MapFlags.PERSISTENT, 0, False),
        (MapFlags.WRITE, 2, False),
        (MapFlags.READ | MapFlags.WRITE, 2, False),
        (MapFlags.WRITE | MapFlags.PERSISTENT, 2, True),
    ):
        some = made("R8_UNORM")
        transfer = transfer_map(some, 0, flags, box)
        assert (some.writes, some.live) == (writes // 2, live)
        assert transfer.data.tolist() == some.storage[0][:1, 2:4, 1:4].tolist()
        transfer_unmap(transfer)
        assert some.writes == writes


# -- clears ----------------------------------------------------------------------------------------


def surfaces() -> Iterator[tuple[HostResource, Surface]]:
    for samples in (1, 4):
        some = made("R8G8B8A8_UNORM", samples=samples, target=Target.TEXTURE_2D_ARRAY, array_size=4)
        yield some, Surface(some, some.desc.format, 0, 1, 2)


def test_surfaces_are_their_layers() -> None:
    for some, surface in surfaces():
        texels, samples = surface_texels(surface), some.samples
        assert texels.shape == (2 * samples, 6, 8)
        assert texels.tobytes() == some.storage[0][samples : 3 * samples].tobytes()
        for sample in range(samples):
            flat, row, layer = flat_texels(surface, sample)
            assert (row, layer) == (8, 48 * samples)
            for z, y, x in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 5, 7)):
                assert flat[z * layer + y * row + x] == texels[z * samples + sample, y, x]


def test_a_rectangle_of_chosen_channels_is_cleared() -> None:
    color = (1.0, 0.0, 1.0, 0.0)
    values = [255, 0, 255, 0]
    for rect in (None, ScissorState(2, 1, 5, 4), ScissorState(-3, -2, 4, 3),
                 ScissorState(6, 4, 99, 99), ScissorState(-5, -5, -1, -1)):  # fmt: skip
        for bits in range(16):
            mask = bool(bits & 1), bool(bits & 2), bool(bits & 4), bool(bits & 8)
            for some, surface in surfaces():
                before, writes = some.storage[0].copy(), some.writes
                clear_color(surface, color, rect, mask)
                wanted = before.reshape(-1, 6, 8, 4).copy()
                inside = rect or ScissorState(0, 0, 8, 6)
                for y, x in itertools.product(range(6), range(8)):
                    if inside.minx <= x < inside.maxx and inside.miny <= y < inside.maxy:
                        for channel in range(4):
                            if mask[channel]:
                                planes = slice(some.samples, 3 * some.samples)
                                wanted[planes, y, x, channel] = values[channel]
                assert some.storage[0].tobytes() == wanted.tobytes()
                assert some.writes == writes + 1


@pytest.mark.parametrize("format", ["Z24_UNORM_S8_UINT", "Z16_UNORM", "S8_UINT", "Z32_FLOAT"])
def test_depth_and_stencil_are_cleared_apart(format: str) -> None:
    for flags in (ClearFlags.DEPTH, ClearFlags.STENCIL, ClearFlags.DEPTH | ClearFlags.STENCIL):
        for written in (0, 0x0F, 0xFF, 0x1F0):
            for depth in (-1.0, 0.0, 1.0, 7.0):
                some = made(format)
                before = some.storage[0].copy()
                rect = ScissorState(1, 2, 7, 5)
                clear_depth_stencil(
                    Surface(some, some.desc.format, 0, 0, 0), flags, depth, 0x1A5, rect, written
                )
                size = some.desc.format.block_bytes
                for y, x in itertools.product(range(6), range(8)):
                    at = slice(size * x, size * x + size)
                    old, new = (int.from_bytes(s[0, y, at].tobytes(), "little")
                                for s in (before, some.storage[0]))  # fmt: skip
                    wanted = old
                    if 1 <= x < 7 and 2 <= y < 5:
                        for channel in some.desc.format.channels:
                            bits = ((1 << channel.bits) - 1) << channel.shift
                            if channel.name == "Z" and flags & ClearFlags.DEPTH:
                                one = 0x3F800000 if format == "Z32_FLOAT" else bits
                                wanted = wanted & ~bits | (one if depth >= 1 else 0)
                            elif channel.name == "S" and flags & ClearFlags.STENCIL:
                                bits = (written & 0xFF) << channel.shift
                                wanted = wanted & ~bits | 0xA5 << channel.shift & bits
                    assert new == wanted


def test_a_clear_is_of_what_its_flags_name_inside_the_framebuffer() -> None:
    colors = [made("R8_UNORM", seed_width, 6) for seed_width in (8, 8, 8)]
    depth = made("Z16_UNORM")
    surface = [Surface(c, c.desc.format, 0, 0, 0) for c in colors]
    zs = Surface(depth, depth.desc.format, 0, 0, 0)
    framebuffer = FramebufferState(5, 4, cbufs=(surface[0], None, surface[2]), zsbuf=zs)
    color0 = int(ClearFlags.COLOR0)
    for flags in (color0, color0 << 1, color0 << 2, color0 * 5, int(ClearFlags.DEPTH),
                  int(ClearFlags.DEPTH) | color0):  # fmt: skip
        for some in (*colors, depth):
            some.storage[0][...] = 7
        values = ClearValues((1.0, 0, 0, 0), 1.0, 0)
        clear(framebuffer, ClearFlags(flags), values, ScissorState(1, -2, 99, 3))
        for number, some in enumerate((*colors, depth)):
            named = flags & color0 << number if number < 3 else flags & int(ClearFlags.DEPTH)
            size = some.desc.format.block_bytes
            wanted = np.full(some.storage[0].shape, 7, np.uint8)
            if named and number != 1:
                wanted[0, 0:3, size : 5 * size] = 255
            assert some.storage[0].tolist() == wanted.tolist(), (flags, number)
    assert cleared_rect(framebuffer, None) == ScissorState(0, 0, 5, 4)
    assert cleared_rect(framebuffer, ScissorState(-1, 1, 4, 9)) == ScissorState(0, 1, 4, 4)


# -- what a screen can do --------------------------------------------------------------------------


class OnlyMemory(MemoryScreen):
    """A device without contexts."""

    def context_create(self) -> Context:
        raise NotImplementedError


def test_what_is_done_with_formats() -> None:
    screen = OnlyMemory(Caps(max_samples=4))
    assert screen.describe() == "memory"

    def can(format: str, bind: Bind, target: Target = Target.TEXTURE_2D, samples: int = 0) -> bool:
        return screen.is_format_supported(FORMATS[format], target, samples, bind)

    for format in ("R8G8B8A8_UNORM", "R32_UINT", "R16G16B16A16_FLOAT"):
        assert can(format, Bind.RENDER_TARGET) and can(format, Bind.VERTEX_BUFFER)
        assert can(format, Bind.SAMPLER_VIEW) and not can(format, Bind.DEPTH_STENCIL)
        assert can(format, Bind.RENDER_TARGET, samples=4)
        assert not can(format, Bind.RENDER_TARGET, samples=5)
    for format in ("Z16_UNORM", "S8_UINT", "Z24_UNORM_S8_UINT"):
        assert can(format, Bind.DEPTH_STENCIL) and not can(format, Bind.RENDER_TARGET)
    for kind in ("USCALED", "SSCALED", "FIXED"):
        numbers = [name for name, f in FORMATS.items() if {c.type for c in f.channels} == {kind}]
        assert numbers
        for format in numbers:
            assert not can(format, Bind.RENDER_TARGET) and can(format, Bind.VERTEX_BUFFER)
    assert not can("R9G9B9E5_FLOAT", Bind.RENDER_TARGET)
    assert not can("R64_FLOAT", Bind.RENDER_TARGET) and can("R64_FLOAT", Bind.VERTEX_BUFFER)
    compressed = next(name for name, f in FORMATS.items() if f.is_compressed)
    assert can(compressed, Bind.SAMPLER_VIEW)
    assert can(compressed, Bind.SAMPLER_VIEW, Target.TEXTURE_2D_ARRAY)
    for bind in (Bind.RENDER_TARGET, Bind.VERTEX_BUFFER, Bind.DEPTH_STENCIL):
        assert not can(compressed, bind)
    for target in (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY, Target.BUFFER):
        assert not can(compressed, Bind.SAMPLER_VIEW, target)
        assert can("R8_UNORM", Bind.SAMPLER_VIEW, target)
    single = OnlyMemory(Caps(max_samples=0))
    bytes_ = FORMATS["R8_UNORM"]
    assert single.is_format_supported(bytes_, Target.TEXTURE_2D, 1, Bind.SAMPLER_VIEW)
    assert not single.is_format_supported(bytes_, Target.TEXTURE_2D, 2, Bind.SAMPLER_VIEW)
