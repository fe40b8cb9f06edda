"""Variant keys: the shared ones, the binning pass, and half or full precision of colours."""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.variants import keys
from gallette.pipe.keys import lowered_by, steers


@lazy_dataclass(frozen=True)
class VertexKey(keys.VertexKey):
    """The state besides its NIR that a vertex shader's code depends on."""

    binning: bool = lowered_by(
        False, "only what sorts primitives into bins: position and its like", "lower_depth_only"
    )


@lazy_dataclass(frozen=True)
class FragmentKey(keys.FragmentKey):
    """The state besides its NIR that a fragment shader's code depends on."""

    half_colors: bool = steers(
        False, "colours in half precision: no colour buffer has more than 16 bits a channel"
    )


VariantKey = VertexKey | FragmentKey
