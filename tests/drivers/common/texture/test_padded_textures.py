"""Copies of textures give the very bits that are sampled without them: padded ones for every wrap
mode and level, decoded ones for every format.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.common.texture import Unit
from gallette.drivers.common.texture.packed import Padded
from gallette.pipe.enums import Filter, MipFilter, Target, Wrap
from gallette.pipe.formats import FORMATS, format_named
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import SamplerState, SamplerView

LINEAR = SamplerState(min_img_filter=Filter.LINEAR, mag_img_filter=Filter.LINEAR)


def texture(format: str, width: int, height: int, **more: Any) -> HostResource:
    desc = ResourceDesc(Target.TEXTURE_2D, format_named(format), width, height, **more)
    resource = create_resource(desc, ResourceLedger())
    random = np.random.default_rng(5)
    for level in resource.storage:
        level[:] = random.integers(0, 256, level.shape)
    return resource


def copy_of(unit: Unit) -> Padded:
    assert unit.packed is not None and unit.packed._padded is not None
    return unit.packed._padded._padded


def both(
    resource: HostResource,
    sampler: SamplerState,
    coords: list[Any],
    **more: Any,
) -> list[list[Any]]:
    """What is sampled without a padded copy, and with one."""
    results = []
    last = resource.desc.last_level
    view = SamplerView(resource, resource.desc.format, resource.desc.target, last_level=last)
    for texels in (1 << 40, 0):
        unit = Unit(view, sampler)
        copy_of(unit).texels = texels
        results.append(unit.sample("txl", coords, len(coords[0]), **more))
    return results


@pytest.mark.parametrize(
    ("wrap_s", "wrap_t"),
    list(itertools.product((Wrap.REPEAT, Wrap.CLAMP_TO_EDGE), repeat=2)),
)
@pytest.mark.parametrize("size", [(16, 16), (7, 12), (1, 3)])
@pytest.mark.parametrize("format", ["R8G8B8A8_UNORM", "R8_UNORM", "B5G6R5_UNORM"])
def test_every_wrap_mode(wrap_s: Wrap, wrap_t: Wrap, size: tuple[int, int], format: str) -> None:
    random = np.random.default_rng(6)
    s, t = random.uniform(-2.5, 2.5, (2, 2000)).astype(np.float32)
    edges = np.array([0, 1, -1, 0.5, np.nan, np.inf, -np.inf, 1e30, -1e30, 0.9999999], np.float32)
    s[: len(edges)], t[10 : 10 + len(edges)] = edges, edges
    sampler = SamplerState(
        min_img_filter=Filter.LINEAR, mag_img_filter=Filter.LINEAR, wrap_s=wrap_s, wrap_t=wrap_t
    )
    without, having = both(texture(format, *size), sampler, [s, t])
    for a, b in zip(without, having, strict=True):
        np.testing.assert_array_equal(a, b)


def test_levels_and_between_them() -> None:
    random = np.random.default_rng(7)
    s, t = random.uniform(-1, 2, (2, 3000)).astype(np.float32)
    lod = random.uniform(-1, 5, 3000).astype(np.float32)
    for between in (MipFilter.NEAREST, MipFilter.LINEAR):
        sampler = SamplerState(
            min_img_filter=Filter.LINEAR,
            mag_img_filter=Filter.LINEAR,
            min_mip_filter=between,
            wrap_s=Wrap.REPEAT,
        )
        resource = texture("R8G8B8A8_UNORM", 32, 16, last_level=5)
        without, having = both(resource, sampler, [s, t], lod=lod)
        for a, b in zip(without, having, strict=True):
            np.testing.assert_array_equal(a, b)


def test_layers() -> None:
    random = np.random.default_rng(8)
    s, t = random.uniform(-1, 2, (2, 1000)).astype(np.float32)
    layer = random.uniform(-1, 5, 1000).astype(np.float32)
    desc = ResourceDesc(Target.TEXTURE_2D_ARRAY, format_named("R8G8B8A8_UNORM"), 8, 8, array_size=4)
    resource = create_resource(desc, ResourceLedger())
    resource.storage[0][:] = random.integers(0, 256, resource.storage[0].shape)
    view = SamplerView(resource, desc.format, desc.target, last_layer=3)
    found = []
    for texels in (1 << 40, 0):
        unit = Unit(view, LINEAR)
        copy_of(unit).texels = texels
        found.append(unit.sample("txl", [s, t, layer], 1000))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_copy_is_made_when_it_pays_and_again_after_a_write() -> None:
    resource = texture("R8G8B8A8_UNORM", 16, 16)
    view = SamplerView(resource, resource.desc.format, resource.desc.target)
    unit = Unit(view, LINEAR)
    at = [np.full(100, 0.5, np.float32)] * 2
    made = []
    for step in range(9):
        if step in (4, 6):
            resource.storage[0][:] = 200
            resource.touch()
        values = unit.sample("tex", at, 100)
        found = resource.derived.get(copy_of(unit)._key)
        made.append(found is not None and found[0] == resource.writes)
    # It is made at once after a write if it paid for what was there before the write.
    assert made == [False, False, True, True, True, True, False, False, True]
    assert (values[0] == np.float32(200) / np.float32(255)).all()


@pytest.mark.parametrize("wrap", [Wrap.REPEAT, Wrap.CLAMP_TO_EDGE])
def test_taps_around_a_point(wrap: Wrap) -> None:
    sampler = SamplerState(
        min_img_filter=Filter.LINEAR, mag_img_filter=Filter.LINEAR, wrap_s=wrap, wrap_t=wrap
    )
    resource = texture("R8G8B8A8_UNORM", 32, 16)
    view = SamplerView(resource, resource.desc.format, resource.desc.target)
    having, without = Unit(view, sampler), Unit(view, sampler)
    copy_of(having).layout.texels, copy_of(without).layout.texels = 0, 1 << 40
    s, t = np.random.default_rng(9).uniform(0, 1, (2, 700)).astype(np.float32)
    columns = [s + np.float32(k / 32) for k in range(-2, 3)]
    for round in range(3):
        for k in range(-2, 3):
            row = t + np.float32(k / 16)
            for column in columns:
                found = having.sample("tex", [column, row], 700)
                expected = without.sample("tex", [column, row], 700)
                for a, b in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(a, b)
        columns[round][::7] += np.float32(0.3)  # the same arrays with other coordinates
        if round == 1:
            resource.storage[0][:] += np.uint8(77)
            resource.touch()


@pytest.mark.parametrize("name", [name for name, f in FORMATS.items() if f.is_color])
def test_decoded_copies_of_every_format(name: str) -> None:
    resource = texture(name, 12, 8, last_level=1)
    view = SamplerView(resource, resource.desc.format, Target.TEXTURE_2D, last_level=1)
    unit = Unit(view, SamplerState())
    index = np.random.default_rng(1).integers(0, 12 * 8 + 6 * 4, 50)
    with np.errstate(all="ignore"):
        if unit.image.decoded is None:  # nothing to decode
            return
        unit.image.decoded.texels = 1 << 40
        one_by_one = unit.image.gather(index)
        unit.image.decoded.texels = 0
        copied = unit.image.gather(index)
    for given, wanted in zip(copied, one_by_one, strict=True):
        assert given.dtype == wanted.dtype
        assert np.array_equal(np.broadcast_to(given, 50), np.broadcast_to(wanted, 50), True)
