"""Programmable sample locations (ARB_sample_locations).

A framebuffer has a table of locations, one for each sample (the pixel grid is 1x1), and an enable.
The initial value of an entry is the pixel's centre.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.errors import invalid_value
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register_for
from gallette.state_tracker.getters import gets
from gallette.state_tracker.targets.framebuffer_objects import bound_framebuffer, by_name
from gallette.state_tracker.targets.framebuffers import Framebuffer

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

SUBPIXEL_BITS = 8


def _set(ctx: Context, framebuffer: Framebuffer, start: int, count: int, v: Pointer) -> None:
    if count < 0 or start + count > ctx.caps.max_samples:
        raise invalid_value(f"there are {ctx.caps.max_samples} sample locations")
    pairs = read_array(v, "float", 2 * count).reshape(-1, 2).tolist()
    for number, (x, y) in enumerate(pairs, start):
        framebuffer.sample_locations[number] = (min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0))
    ctx.dirty |= Dirty.SAMPLE_MASK


register_for(bound_framebuffer, {"framebuffer_sample_locationsfv_arb": _set})
register_for(by_name, {"named_framebuffer_sample_locationsfv_arb": _set})


@entry
def evaluate_depth_values_arb(ctx: Context) -> None:
    """Do nothing: every sample's depth is stored as a value."""


gets(
    {
        "SAMPLE_LOCATION_SUBPIXEL_BITS_ARB": lambda c: SUBPIXEL_BITS,
    },
    profiles="desktop",
)
