"""Channels that are kept decoded are those of the texture as it is now."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.common.texture import image
from gallette.pipe.enums import Swizzle, Target
from gallette.pipe.formats import format_named
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import SamplerView

SIDE = 8


def texture(format: str) -> HostResource:
    desc = ResourceDesc(Target.TEXTURE_2D, format_named(format), SIDE, SIDE)
    return create_resource(desc, ResourceLedger())


def fill(resource: HostResource, seed: int) -> None:
    resource.storage[0][:] = np.random.default_rng(seed).integers(0, 60, resource.storage[0].shape)
    resource.touch()


@pytest.mark.parametrize("format", ["R16G16B16A16_FLOAT", "R11G11B10_FLOAT", "R8G8B8A8_SRGB"])
def test_texels_are_the_same_kept_or_not_and_follow_the_texture(format: str) -> None:
    resource = texture(format)
    swizzle = (Swizzle.Y, Swizzle.ONE, Swizzle.X, Swizzle.Y)
    view = SamplerView(resource, resource.desc.format, resource.desc.target, swizzle=swizzle)
    found = image.image_of_view(view)
    index = np.random.default_rng(1).integers(0, SIDE * SIDE, SIDE * SIDE)

    def kept() -> bool:
        return any(
            resource.derived.get(key, (-1,))[0] == resource.writes for key in resource.derived
        )

    def look(lanes: int) -> list[Any]:
        return [np.broadcast_to(plane, lanes) for plane in found.gather(index[:lanes])]

    for seed in (1, 2):
        fill(resource, seed)
        first = look(SIDE)
        assert not kept()  # not worth it yet
        every = look(SIDE * SIDE)
        assert kept()
        for some, all_of in zip(first, every, strict=True):
            np.testing.assert_array_equal(some, all_of[:SIDE])
    assert found.decoded is not None
    one = image.Image(**{f: getattr(found, f) for f in found.__slots__} | {"decoded": None})
    for mine, plain in zip(every, one.gather(index), strict=True):
        np.testing.assert_array_equal(mine, np.broadcast_to(plain, len(index)))
