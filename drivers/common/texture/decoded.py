"""All texels of a texture decoded once, channel by channel, for whoever looks at many of them.

Filters that work in floating point gather four texels or more per lane, so that a texel is decoded
again and again: of half floats that takes longer than all the rest. Whole channels kept as arrays
turn it into one gather per channel. They are worth making once more lanes have looked at a texture
than it has texels, and are made anew when it was written and that is so again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.resource import HostResource

__all__ = ["Decoded"]

Array = npt.NDArray[Any]
Channels = list[Array]

_MOST = 1 << 22
"""Texels: they take 16 bytes each."""


class Decoded:
    """The channels of a run of texels, once they pay."""

    __slots__ = ("_decode", "_key", "_looked", "_resource", "_texels", "_writes")

    def __init__(
        self,
        resource: HostResource,
        key: Any,
        texels: Callable[[], Array],
        decode: Callable[[Array], Channels],
    ) -> None:
        """`decode` makes channels of raw texels; `key` names what it makes of the resource."""
        self._resource = resource
        self._key = ("decoded", key)
        self._texels = texels
        self._decode = decode
        self._writes = -1
        self._looked = 0

    def channels(self, lanes: int) -> Channels | None:
        """The channels (constant ones are 0-d), if they are there or worth it for so many more."""
        if self._writes != self._resource.writes:
            self._writes, self._looked = self._resource.writes, 0
        self._looked += lanes
        size = len(self._texels())
        if self._looked < size or size > _MOST:
            return None
        found: Channels = self._resource.derive(self._key, self._made)
        return found

    def _made(self) -> Channels:
        channels = self._decode(self._texels())
        return [c if not c.ndim else np.ascontiguousarray(c) for c in channels]
