"""Buffer objects, and the extensions of their creation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

from .regions import GemError, Region, rounded

Bytes = npt.NDArray[np.uint8]
PAT_ENTRIES = 4


@lazy_dataclass(frozen=True)
class MemoryRegions:
    """The regions an object may be placed in, in order of preference."""

    regions: tuple[Region, ...]


@lazy_dataclass(frozen=True)
class Protected:
    """Marks an object that only protected contexts may use."""


@lazy_dataclass(frozen=True)
class SetPat:
    """How the device caches the object: an index into the page attribute table."""

    index: int


CreateExtension: TypeAlias = MemoryRegions | Protected | SetPat


@lazy_dataclass()
class BufferObject:
    """One object; `size` is the requested size rounded up to whole pages."""

    handle: int
    name: str
    asked: int
    size: int
    regions: tuple[Region, ...]
    data: Callable[[], Bytes]
    protected: bool = False
    pat: int = 0
    region: Region | None = None  # where it is placed; None before its first use
    frames: list[int] = field(default_factory=list)
    address: int | None = None
    pinned: bool = False
    used: int = 0  # number of the last execution that listed it

    @property
    def page(self) -> int:
        """The page size of its page-table entries, in its region or the one it will be
        placed in.
        """
        return (self.region or self.regions[0]).page


def described(
    handle: int,
    name: str,
    size: int,
    extensions: Sequence[CreateExtension],
    data: Callable[[], Bytes] | None,
) -> BufferObject:
    """The object that a list of creation extensions describes, its size rounded up to the largest
    page.
    """
    if size <= 0:
        raise GemError("EINVAL", f"an object of {size} bytes")
    regions: tuple[Region, ...] = (Region.SYSTEM,)
    protected, pat = False, 0
    seen: set[type] = set()
    for extension in extensions:
        if type(extension) in seen:
            raise GemError("EINVAL", f"the extension {type(extension).__name__} comes twice")
        seen.add(type(extension))
        if isinstance(extension, MemoryRegions):
            regions = extension.regions
            if not regions or len(set(regions)) != len(regions):
                raise GemError("EINVAL", "a list of regions names each once, and at least one")
        elif isinstance(extension, Protected):
            protected = True
        else:
            pat = extension.index
            if not 0 <= pat < PAT_ENTRIES:
                raise GemError("EINVAL", f"there is no page attribute {pat}")
    whole = rounded(size, max(region.page for region in regions))
    if data is None:
        memory = np.zeros(whole, np.uint8)

        def own() -> Bytes:
            return memory

        data = own
    return BufferObject(handle, name, size, whole, regions, data, protected, pat)
