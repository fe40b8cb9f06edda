"""All texels of a texture decoded once, channel by channel, for samplers that read many of them.

Floating-point filters gather four texels or more per lane, so that each texel is decoded again and
again, which for half floats takes longer than everything else. Whole channels kept as arrays turn
it into one gather per channel. They are decoded once more lanes have sampled a texture than it has
texels, and again under the same condition after it was written.
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
"""The largest number of texels; each takes 16 bytes."""


class Decoded:
    """The decoded channels of a run of texels, once that pays."""

    __slots__ = ("_decode", "_key", "_looked", "_resource", "_texels", "_writes")

    def __init__(
        self,
        resource: HostResource,
        key: Any,
        texels: Callable[[], Array],
        decode: Callable[[Array], Channels],
    ) -> None:
        """`decode` makes channels from raw texels; `key` names the result in the
        resource's cache.
        """
        self._resource = resource
        self._key = ("decoded", key)
        self._texels = texels
        self._decode = decode
        self._writes = -1
        self._looked = 0

    def channels(self, lanes: int) -> Channels | None:
        """The channels (constant ones are 0-d), if they exist or decoding pays for `lanes` more."""
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
