"""NumPy code that is faster than a routine computes what the routine computes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.output import stored
from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.common.output.color import ColorTarget
from gallette.pipe.enums import BlendFactor, Target
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import BlendState, RenderTargetBlend, Surface
from tests.drivers.common.fixed.random_output import (
    LANES,
    colors,
    key_of,
    states,
    texels,
    words_of,
)

CONSTANT = (0.25, 0.5, 0.75, 1.0)


def check(format: Format, state: BlendState) -> bool:
    """Write to a buffer and compare; returns whether the blending was folded."""
    desc = ResourceDesc(Target.TEXTURE_2D, format, LANES, 1)
    resource = create_resource(desc, ResourceLedger())
    there = texels(format)
    resource.storage[0][...] = there.view(np.uint8).reshape(resource.storage[0].shape)
    target = ColorTarget(Surface(resource, format), state, 0, CONSTANT)
    source, second = colors(format), colors(format, 1)
    prepared = target.prepare(list(source), list(second), LANES)
    target.write(np.arange(LANES), prepared, None)
    given = [*source, *second, *(np.asarray(c, np.float32) for c in CONSTANT)]
    wanted = evaluate(stored(key_of(format, state)), [*given, *words_of(there)])
    for one, other in zip(words_of(target.texels), wanted, strict=True):
        assert one.tolist() == np.broadcast_to(other, LANES).tolist(), (format, state)
    return prepared.folded is not None


@pytest.mark.parametrize("seed", range(4))
@np.errstate(all="ignore")
def test_colour_buffers_hold_what_the_algebra_stores(seed: int) -> None:
    """`ColorTarget` packs and merges; whichever it does, the words are those of `stored`."""
    for format, state in states(60, seed):
        check(format, state)


@np.errstate(all="ignore")
def test_folded_blending_is_the_algebra() -> None:
    """Sums of four bytes at a time: every pair of factors that do not read the destination, in one
    order of the bytes or the other.
    """
    factors = [f for f in BlendFactor if "DST" not in f.name and "SATURATE" not in f.name]
    for number, (src, dst) in enumerate(product(factors, factors)):
        other = factors[number % len(factors)]
        target = RenderTargetBlend(
            True,
            rgb_src_factor=src,
            rgb_dst_factor=dst,
            alpha_src_factor=dst,
            alpha_dst_factor=other,
            colormask=0xF if number % 3 else 0x5,
        )
        name = "R8G8B8A8_UNORM" if (number + number // len(factors)) % 2 else "B8G8R8A8_UNORM"
        assert check(FORMATS[name], BlendState((target,)))
