"""Textures: addressing, texels by index, and sampling with NumPy (`unit`).

`texture_unit(view, sampler)` joins a sampler view with a sampler state into the unit that shaders
call. Units are cached on the resource they read, so they live exactly as long as it does.
"""

from __future__ import annotations

from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.state import SamplerState, SamplerView

from .unit import Unit

__all__ = ["Unit", "texture_unit"]

_DEFAULT_SAMPLER = SamplerState()


def texture_unit(view: SamplerView, sampler: SamplerState | None = None) -> Unit:
    """The unit that samples `view` through `sampler` (fetches need no sampler)."""
    resource = view.resource
    assert isinstance(resource, HostResource)
    key = (view, sampler)
    unit = resource.units.get(key)
    if unit is None:
        resource.make_room_for_unit()
        unit = resource.units[key] = Unit(view, sampler or _DEFAULT_SAMPLER)
    return unit
