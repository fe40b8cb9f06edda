"""Blits, pixel by pixel: where each looks in the source, and what becomes of the texel there.

The oracle goes through destination pixels one at a time with numbers of Python: the specification's
`u = src.x + (x + 0.5 - dst.x) * ratio`, clamped to the level.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.memory.blit import blit, spans, writes_everything
from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.pipe.codecs import pack, texels, unpack, unpack_depth, unpack_stencil
from gallette.pipe.enums import Filter, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger, level_extent
from gallette.pipe.state import BlitInfo, Box, ScissorState

Array = npt.NDArray[Any]


def made(format: str, width: int, height: int, seed: int = 0, **more: Any) -> HostResource:
    target = more.pop("target", Target.TEXTURE_2D)
    resource = create_resource(
        ResourceDesc(target, FORMATS[format], width, height, **more), ResourceLedger()
    )
    rng = np.random.default_rng(seed + width * 31 + height)
    for level in resource.storage:
        level[...] = rng.integers(0, 256, level.shape, np.uint8)
        if format.startswith("R16") and format.endswith("FLOAT"):
            level[...] &= 0x3F  # numbers all of them
    return resource


def sources(
    dst: tuple[int, int], src: tuple[int, int], low: int, high: int, extent: int
) -> dict[int, int]:
    """By destination place along an axis, the nearest source texel."""
    start, length = dst
    found = {}
    for at in range(min(start, start + length), max(start, start + length)):
        if low <= at < high:
            where = src[0] + (at + 0.5 - start) * (src[1] / length)
            found[at] = min(max(math.floor(where), 0), extent - 1)
    return found


def looked_at(info: BlitInfo) -> Iterator[tuple[tuple[int, int, int], tuple[int, int, int]]]:
    """Pairs of `(z, y, x)`: a destination pixel, and the source texel it is of."""
    width, height, depth = level_extent(info.dst.desc, info.dst_level)
    source = level_extent(info.src.desc, info.src_level)
    d, s, cut = info.dst_box, info.src_box, info.scissor or ScissorState(0, 0, 1 << 20, 1 << 20)
    columns = sources(
        (d.x, d.width), (s.x, s.width), max(0, cut.minx), min(width, cut.maxx), source[0]
    )
    rows = sources(
        (d.y, d.height), (s.y, s.height), max(0, cut.miny), min(height, cut.maxy), source[1]
    )
    layers = sources((d.z, d.depth), (s.z, s.depth), 0, depth, source[2])
    for z, y, x in itertools.product(layers, rows, columns):
        yield (z, y, x), (layers[z], rows[y], columns[x])


def random_info(rng: random.Random, dst: HostResource, src: HostResource, **more: Any) -> BlitInfo:
    """Boxes that are moved, scaled, flipped, and hang over the edges."""
    level = {
        "dst": rng.randint(0, dst.desc.last_level),
        "src": rng.randint(0, src.desc.last_level),
    }

    def box(resource: HostResource, level: int, inside: bool) -> Box:
        width, height, depth = level_extent(resource.desc, level)
        over = 0 if inside else 3
        x, y = rng.randint(-over, width - 1), rng.randint(-over, height - 1)
        wide, high = (rng.randint(2, extent + over) for extent in (width, height))
        if inside:
            wide, high = min(wide, width - x), min(high, height - y)
        if rng.random() < 0.3:
            x, wide = x + wide, -wide
        if rng.random() < 0.3:
            y, high = y + high, -high
        layers = rng.randint(1, depth)
        return Box(x, y, rng.randint(0, depth - layers), wide, high, layers)

    to, of = box(dst, level["dst"], False), box(src, level["src"], True)
    if rng.random() < 0.4:  # the same size, which takes a shorter way
        of = Box(of.x, of.y, of.z, abs(to.width), abs(to.height), of.depth)
    scissor = None
    if rng.random() < 0.5:
        x, y = rng.randint(-2, 5), rng.randint(-2, 5)
        scissor = ScissorState(x, y, x + rng.randint(1, 6), y + rng.randint(1, 6))
    formats = more.pop("formats", (dst.desc.format, src.desc.format))
    return BlitInfo(
        dst,
        level["dst"],
        to,
        formats[0],
        src,
        level["src"],
        of,
        formats[1],
        scissor=scissor,
        **more,
    )


@pytest.mark.parametrize(
    ("format", "more"),
    [
        ("R8G8B8A8_UNORM", {}),
        ("R32G32B32A32_FLOAT", {}),
        ("R16G16_UINT", {"target": Target.TEXTURE_2D_ARRAY, "array_size": 3}),
        ("R32_FLOAT", {"last_level": 2}),
        ("R8_UNORM", {"target": Target.TEXTURE_3D, "depth": 4}),
        ("Z24_UNORM_S8_UINT", {}),
    ],
)
def test_nearest_texels_are_moved_bit_for_bit(format: str, more: dict[str, Any]) -> None:
    rng = random.Random(format)
    mask = "zs" if FORMATS[format].is_depth_stencil else "rgba"
    changed = 0
    for seed in range(150):
        dst, src = made(format, 9, 7, seed, **more), made(format, 8, 10, seed, **more)
        info = random_info(rng, dst, src, mask=mask, filter=Filter.NEAREST)
        size = FORMATS[format].block_bytes
        wanted = [level.copy() for level in dst.storage]
        target = wanted[info.dst_level]
        source = src.storage[info.src_level]
        for (z, y, x), (sz, sy, sx) in looked_at(info):
            target[z, y, x * size : (x + 1) * size] = source[sz, sy, sx * size : (sx + 1) * size]
            changed += 1
        writes = dst.writes
        blit(info)
        assert all(map(np.array_equal, dst.storage, wanted)), info
        assert dst.writes == writes + any(True for _ in looked_at(info))
    assert changed > 500


@pytest.mark.parametrize("filter", [Filter.NEAREST, Filter.LINEAR])
@pytest.mark.parametrize(
    ("to", "given"),
    [
        ("R8G8B8A8_UNORM", "R8G8_SNORM"),
        ("R8G8B8A8_SRGB", "R8G8B8A8_UNORM"),
        ("R16G16B16A16_FLOAT", "B8G8R8A8_UNORM"),
        ("R32G32B32A32_FLOAT", "R16_UNORM"),
        ("R16G16_SINT", "R32G32B32A32_SINT"),
        ("R8G8B8A8_UINT", "R16G16B16A16_UINT"),
    ],
)
def test_blits_convert_as_codecs_do(to: str, given: str, filter: Filter) -> None:
    """Of equal sizes: filtering changes nothing there."""
    for mask in ("rgba", "rg", "b", "a", "gba"):
        dst, src = made(to, 6, 5), made(given, 6, 5)
        box = Box(0, 0, 0, 6, 5, 1)
        old, new = unpack(dst.desc.format, dst.storage[0]), unpack(src.desc.format, src.storage[0])
        mixed = np.stack(
            [(new if c in mask else old.astype(new.dtype))[..., k] for k, c in enumerate("rgba")],
            -1,
        )
        raw = dst.storage[0].copy()
        everything = set("rgba"[: len(dst.desc.format.channels)]) <= set(mask)
        info = BlitInfo(dst, 0, box, FORMATS[to], src, 0, box, FORMATS[given], mask, filter)
        assert writes_everything(info) == everything
        blit(info)
        wanted = pack(FORMATS[to], mixed)
        if not everything:  # what is kept is kept to the bit
            again = unpack(FORMATS[to], dst.storage[0])
            for k, c in enumerate("rgba"[: len(FORMATS[to].channels)]):
                if c not in mask:
                    np.testing.assert_allclose(again[..., k], unpack(FORMATS[to], raw)[..., k])
        found = unpack(FORMATS[to], dst.storage[0]).astype(np.float64)
        np.testing.assert_allclose(found, unpack(FORMATS[to], wanted).astype(np.float64), atol=1e-6)


@pytest.mark.parametrize(
    ("to", "given", "values", "wanted"),
    [
        ("R32_UINT", "R32_SINT", [-5, -1, 0, 7, 2**31 - 1], [0, 0, 0, 7, 2**31 - 1]),
        ("R32_SINT", "R32_UINT", [0, 7, 2**31 - 1, 2**31, 2**32 - 1],
         [0, 7, 2**31 - 1, 2**31 - 1, 2**31 - 1]),
        ("R8_UINT", "R32_SINT", [-5, 0, 255, 256, 1000], [0, 0, 255, 255, 255]),
        ("R8_SINT", "R32_UINT", [0, 127, 128, 255, 2**32 - 1], [0, 127, 127, 127, 127]),
    ],
)  # fmt: skip
def test_whole_numbers_are_clamped(
    to: str, given: str, values: list[int], wanted: list[int]
) -> None:
    dst, src = made(to, 5, 1), made(given, 5, 1)
    kind = np.int32 if given.endswith("SINT") else np.uint32
    src.storage[0][0, 0] = np.array(values).astype(kind).view(np.uint8)
    box = Box(0, 0, 0, 5, 1, 1)
    blit(BlitInfo(dst, 0, box, FORMATS[to], src, 0, box, FORMATS[given]))
    assert texels(FORMATS[to], dst.storage[0]).reshape(-1).tolist() == wanted


DEPTHS = ("Z16_UNORM", "Z24_UNORM_S8_UINT", "Z32_FLOAT", "Z32_FLOAT_S8X24_UINT", "S8_UINT")


@pytest.mark.parametrize("mask", ["z", "s", "zs"])
@pytest.mark.parametrize("to", DEPTHS)
@pytest.mark.parametrize("given", DEPTHS)
def test_depth_and_stencil_that_are_in_both_and_in_the_mask_are_moved(
    to: str, given: str, mask: str
) -> None:
    dst, src = made(to, 6, 4), made(given, 6, 4)
    rng = np.random.default_rng(1)
    for resource in (dst, src):
        format = resource.desc.format
        if format.has_depth and format.name.startswith("Z32"):
            view = resource.view(0, np.float32)
            step = 2 if format.has_stencil else 1
            view[..., ::step] = rng.random(view[..., ::step].shape)
    raw = {r: texels(r.desc.format, r.storage[0]) for r in (dst, src)}
    parts = (("z", "has_depth", unpack_depth), ("s", "has_stencil", unpack_stencil))
    wanted = {}
    for letter, there, part in parts:
        if getattr(FORMATS[to], there):
            moved = letter in mask and getattr(FORMATS[given], there)
            of = src if moved else dst
            wanted[letter] = part(of.desc.format, raw[of]).copy()
    box = Box(0, 0, 0, 6, 4, 1)
    blit(BlitInfo(dst, 0, box, FORMATS[to], src, 0, box, FORMATS[given], mask))
    after = texels(FORMATS[to], dst.storage[0])
    for letter, _, part in parts:
        if letter in wanted:
            found = part(FORMATS[to], after)
            np.testing.assert_allclose(found, wanted[letter], atol=1e-4 if letter == "z" else 0)


@pytest.mark.parametrize("samples", [2, 4])
@pytest.mark.parametrize("format", ["R8G8B8A8_UNORM", "R32_FLOAT", "R16_UINT", "Z32_FLOAT"])
@pytest.mark.parametrize("layers", [1, 2])
def test_samples_are_averaged_or_the_first_is_taken(samples: int, format: str, layers: int) -> None:
    more: dict[str, Any] = {"target": Target.TEXTURE_2D_ARRAY, "array_size": layers}
    src = made(format, 7, 5, samples=samples, **more)
    dst = made(format, 7, 5, **more)
    if format.endswith("FLOAT"):
        view = src.view(0, np.float32)
        view[...] = np.random.default_rng(3).integers(0, 64, view.shape) / 64
    boxes = Box(1, 0, 0, 5, 4, layers), Box(2, 1, 0, 5, 4, layers)

    def numbers(resource: HostResource) -> Array:
        raw = resource.storage[0]
        if format[0] != "Z":
            return unpack(FORMATS[format], raw).astype(np.float64)
        return np.asarray(unpack_depth(FORMATS[format], texels(FORMATS[format], raw)), np.float64)

    wanted, part = numbers(dst), numbers(src)
    for z in range(layers):
        all_of = part[z * samples : (z + 1) * samples]
        color = format[0] != "Z" and not format.endswith("UINT")
        one = all_of.mean(axis=0) if color else all_of[0]
        wanted[z, 0:4, 1:6] = one[1:5, 2:7]
    mask = "z" if format[0] == "Z" else "rgba"
    blit(BlitInfo(dst, 0, boxes[0], FORMATS[format], src, 0, boxes[1], FORMATS[format], mask))
    found = numbers(dst)
    tolerance = 0.51 / 255 if format.startswith("R8") else 0
    np.testing.assert_allclose(found, wanted, atol=tolerance + 1e-7)


def test_each_sample_is_blitted_to_its_own_or_all_are_the_same() -> None:
    box = Box(0, 0, 0, 4, 3, 1)
    several, one = made("R16_UINT", 4, 3, samples=4), made("R16_UINT", 4, 3, seed=9)
    other = made("R16_UINT", 4, 3, seed=5, samples=4)
    format = FORMATS["R16_UINT"]
    blit(BlitInfo(several, 0, box, format, other, 0, box, format))
    assert np.array_equal(several.storage[0], other.storage[0])
    blit(BlitInfo(several, 0, box, format, one, 0, box, format))
    for sample in range(4):
        assert np.array_equal(several.storage[0][sample], one.storage[0][0])
    # Filtered and converted, too.
    several, one = made("R8G8B8A8_UNORM", 4, 3, samples=4), made("R8G8_UNORM", 4, 3)
    to, given = several.desc.format, one.desc.format
    for filter in Filter:
        several.storage[0][...] = 7
        blit(BlitInfo(several, 0, box, to, one, 0, box, given, "rgba", filter))
        for sample in range(4):
            found = unpack(to, several.storage[0])[sample]
            np.testing.assert_allclose(found, unpack(given, one.storage[0])[0], atol=1e-3)


def test_linear_blits_mix_the_neighbours_of_each_centre() -> None:
    src = made("R32_FLOAT", 5, 4)
    values = np.arange(20, dtype=np.float32).reshape(4, 5) ** 2
    src.view(0, np.float32)[0] = values
    for to, of in (
        (Box(0, 0, 0, 10, 8, 1), Box(0, 0, 0, 5, 4, 1)),
        (Box(0, 0, 0, 10, 8, 1), Box(1, 1, 0, 3, 2, 1)),
        (Box(9, 0, 0, -9, 8, 1), Box(0, 0, 0, 5, 4, 1)),
    ):
        for samples in (1, 4):
            several = made("R32_FLOAT", 5, 4, samples=samples)
            several.view(0, np.float32)[...] = values
            dst = made("R32_FLOAT", 10, 8)
            before = dst.view(0, np.float32)[0].copy()
            info = BlitInfo(dst, 0, to, FORMATS["R32_FLOAT"], several, 0, of,
                            FORMATS["R32_FLOAT"], "rgba", Filter.LINEAR)  # fmt: skip
            blit(info)
            found = dst.view(0, np.float32)[0]
            xs, ys, zs = spans(info)
            assert (zs.start, zs.stop) == (0, 1)
            for y, x in itertools.product(range(8), range(10)):
                if not (xs.start <= x < xs.stop and ys.start <= y < ys.stop):
                    assert found[y, x].tobytes() == before[y, x].tobytes()
                    continue
                u = of.x + (x + 0.5 - to.x) * of.width / to.width - 0.5
                v = of.y + (y + 0.5 - to.y) * of.height / to.height - 0.5
                a, b = u - math.floor(u), v - math.floor(v)
                columns = [min(max(math.floor(u) + k, 0), 4) for k in range(2)]
                rows = [min(max(math.floor(v) + k, 0), 3) for k in range(2)]
                low, high = ((1 - a) * values[r, columns[0]] + a * values[r, columns[1]]
                             for r in rows)  # fmt: skip
                # Weights have eight bits.
                assert found[y, x] == pytest.approx((1 - b) * low + b * high, abs=0.6)


BYTES = """R8_UNORM A8_UNORM L8A8_UNORM R8G8_UNORM R8G8B8A8_UNORM B8G8R8A8_UNORM B8G8R8X8_UNORM
R8G8B8X8_UNORM A8R8G8B8_UNORM R8G8B8_UNORM B5G6R5_UNORM R4G4B4A4_UNORM"""


@pytest.mark.parametrize("format", BYTES.split())
def test_bytes_are_stored_as_they_are_filtered(format: str) -> None:
    """What is stored without conversion equals what is converted to floats and back."""
    src, dst, floats = made(format, 12, 9), made(format, 7, 15), made("R32G32B32A32_FLOAT", 7, 15)
    given, wide = FORMATS[format], FORMATS["R32G32B32A32_FLOAT"]
    to, of = Box(7, 0, 0, -7, 15, 1), Box(1, 0, 0, 11, 9, 1)
    blit(BlitInfo(dst, 0, to, given, src, 0, of, given, "rgba", Filter.LINEAR))
    blit(BlitInfo(floats, 0, to, wide, src, 0, of, given, "rgba", Filter.LINEAR))
    colours = unpack(wide, floats.storage[0])
    np.testing.assert_array_equal(
        unpack(given, dst.storage[0]), unpack(given, pack(given, colours))
    )


@pytest.mark.parametrize("format", ["R32_FLOAT", "R8G8B8A8_UNORM"])
def test_linear_blits_that_do_not_scale_move_texels(format: str) -> None:
    src, dst = made(format, 6, 5), made(format, 6, 5, seed=2)
    given = FORMATS[format]
    if format == "R32_FLOAT":
        src.view(0, np.float32)[...] = np.inf  # the mean of an infinity and another one is a NaN
    flipped = Box(6, 0, 0, -6, 5, 1)
    blit(BlitInfo(dst, 0, flipped, given, src, 0, Box(0, 0, 0, 6, 5, 1), given, "rgba",
                  Filter.LINEAR))  # fmt: skip
    found, expected = unpack(given, dst.storage[0]), unpack(given, src.storage[0])
    np.testing.assert_array_equal(found, expected[:, :, ::-1])


def test_boxes_of_nothing_change_nothing() -> None:
    dst, src = made("R8_UNORM", 6, 5), made("R8_UNORM", 6, 5, seed=2)
    before, format = dst.storage[0].copy(), FORMATS["R8_UNORM"]
    whole = Box(0, 0, 0, 6, 5, 1)
    for box, scissor in (
        (Box(0, 0, 0, 0, 5, 1), None),
        (Box(0, 0, 0, 6, 0, 1), None),
        (Box(0, 0, 0, 6, 5, 0), None),
        (Box(6, 0, 0, 3, 5, 1), None),
        (Box(-4, 0, 0, 4, 5, 1), None),
        (whole, ScissorState(6, 0, 9, 5)),
        (whole, ScissorState(2, 3, 2, 5)),
        (whole, ScissorState(4, 0, 2, 5)),
    ):
        writes = dst.writes
        blit(BlitInfo(dst, 0, box, format, src, 0, whole, format, scissor=scissor))
        assert np.array_equal(dst.storage[0], before) and dst.writes == writes
