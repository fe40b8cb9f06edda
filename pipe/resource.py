"""Resources, transfers, and the ledger of live resources.

A resource is created with one reference. Code that stores it beyond a call takes another with
`ref()` and releases it with `unref()`; at zero the screen frees the storage. The ledger lists live
resources so that a destroyed context can name those it leaked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass

from .enums import Bind, MapFlags, Target, Usage
from .formats import Format
from .state import Box


class LeakError(GalletteError):
    """A context was destroyed while shaders or resources made through it were still alive."""


@lazy_dataclass(frozen=True)
class ResourceDesc:
    """The description of a resource. Of a buffer only `width` (bytes) counts; `array_size` counts
    cube faces.
    """

    target: Target
    format: Format
    width: int
    height: int = 1
    depth: int = 1
    array_size: int = 1
    last_level: int = 0
    samples: int = 0
    bind: Bind = Bind.NONE
    usage: Usage = Usage.DEFAULT
    label: str = ""
    memory: int = 0
    """For a buffer: the address of the application's memory to use, where caps allow it."""


class ResourceLedger:
    """The live resources of one screen, in order of creation."""

    def __init__(self) -> None:
        self._live: dict[int, Resource] = {}
        self.created = 0

    def add(self, resource: Resource) -> None:
        self.created += 1
        self._live[id(resource)] = resource

    def remove(self, resource: Resource) -> None:
        self._live.pop(id(resource), None)

    @property
    def live(self) -> list[Resource]:
        return list(self._live.values())


class Resource:
    """A buffer or a texture. Drivers subclass it (or fill `storage`) to keep the bytes."""

    __slots__ = ("_destroy", "desc", "label", "refcount", "storage")

    def __init__(
        self, desc: ResourceDesc, destroy: Callable[[Resource], None], storage: Any = None
    ):
        self.desc = desc
        self.storage = storage
        self.refcount = 1
        self.label = desc.label
        self._destroy = destroy

    def ref(self) -> Resource:
        """Take one more reference."""
        assert self.refcount > 0, f"reference to a dead resource: {self!r}"
        self.refcount += 1
        return self

    def unref(self) -> None:
        """Release one reference; at zero the storage is freed."""
        assert self.refcount > 0, f"one unref too many: {self!r}"
        self.refcount -= 1
        if self.refcount == 0:
            self._destroy(self)

    def __repr__(self) -> str:
        d = self.desc
        if d.target is Target.BUFFER:
            shape = f"{d.width} bytes"
        else:
            shape = (
                f"{d.width}x{d.height}x{d.depth} layers={d.array_size} levels={d.last_level + 1}"
            )
        name = f" {self.label!r}" if self.label else ""
        return f"<Resource{name} {d.target.value} {d.format.name} {shape} refs={self.refcount}>"


def level_extent(desc: ResourceDesc, level: int) -> tuple[int, int, int]:
    """Width, height and depth-or-layers of one mipmap level."""
    width = max(1, desc.width >> level)
    if desc.target in (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY, Target.BUFFER):
        height = 1
    else:
        height = max(1, desc.height >> level)
    if desc.target is Target.TEXTURE_3D:
        return width, height, max(1, desc.depth >> level)
    return width, height, desc.array_size


@lazy_dataclass(eq=False)
class Transfer:
    """A mapped region: `data[z, row, byte]` (uint8; rows of blocks), `data[0, 0]` for buffers.

    `data` may be the storage itself or a copy; writes take effect when the transfer is unmapped.
    """

    resource: Resource
    level: int
    box: Box
    flags: MapFlags
    data: npt.NDArray[np.uint8]
