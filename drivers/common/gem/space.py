"""Who gets which addresses: the rule about directories, and what it costs.

Local memory needs entries of 64 KiB, and a directory's 2 MiB hold entries of one size only. So an
object that may lie in local memory gets 2 MiB directories of its own: its address is a multiple of
2 MiB and nothing of 4 KiB comes into its last directory. That wastes addresses, of which there are
plenty, and spares user space from knowing which object shares a directory with which. With
`break_rule` objects lie side by side, and the walker shows what follows.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from .objects import BufferObject
from .regions import KIB, GemError, Region, rounded
from .tables import DIRECTORY, LIMIT

__all__ = ["AddressSpace"]

_START = DIRECTORY  # address 0 stays free: null pointers should fault


class AddressSpace:
    """The ranges of an address space that are taken."""

    def __init__(self, break_rule: bool = False) -> None:
        self.break_rule = break_rule
        self._taken: list[tuple[int, int, int]] = []  # start, stop, handle
        self._objects: dict[int, BufferObject] = {}

    def needs(self, thing: BufferObject) -> tuple[int, int]:
        """(alignment, bytes of addresses) of an object."""
        if Region.LOCAL not in thing.regions:
            return 4 * KIB, thing.size
        if self.break_rule:
            return 64 * KIB, thing.size
        return DIRECTORY, rounded(thing.size, DIRECTORY)

    def place(self, thing: BufferObject) -> int:
        """The lowest free address that suits the object."""
        step, size = self.needs(thing)
        at = rounded(_START, step)
        for start, stop, _ in self._taken:
            if at + size <= start:
                break
            at = max(at, rounded(stop, step))
        if at + size > LIMIT:
            raise GemError("ENOSPC", "the address space is full")
        self.take(thing, at)
        return at

    def pin(self, thing: BufferObject, address: int) -> None:
        """The address user space wants, if the rules allow it and nobody is there."""
        step, size = self.needs(thing)
        if address % step:
            raise GemError("EINVAL", f"address {address:#x} is no multiple of {step:#x}")
        if address + size > LIMIT:
            raise GemError("EINVAL", f"address {address:#x} is outside the address space")
        for start, stop, handle in self._taken:
            if start < address + size and address < stop:
                other = self._objects[handle].name
                raise GemError("ENOSPC", f"{address:#x} is taken by {other!r}")
        self.take(thing, address)

    def take(self, thing: BufferObject, address: int) -> None:
        _, size = self.needs(thing)
        insort(self._taken, (address, address + size, thing.handle))
        self._objects[thing.handle] = thing
        thing.address = address

    def release(self, thing: BufferObject) -> None:
        if thing.address is None:
            return
        at = bisect_left(self._taken, (thing.address, 0, 0))
        del self._taken[at]
        del self._objects[thing.handle]
        thing.address = None

    def __iter__(self) -> Iterator[tuple[int, int, BufferObject]]:
        """Ranges in order: start, stop (with what is reserved behind), object."""
        for start, stop, handle in self._taken:
            yield start, stop, self._objects[handle]

    def near(self, address: int) -> str:
        """What lies around an address, for fault reports."""
        for start, stop, thing in self:
            if start <= address < stop:
                return f"it is {address - start:#x} into {thing.name!r}, of {thing.size:#x} bytes"
            if start > address:
                return f"the next object is {thing.name!r} at {start:#x}"
        return "no object lies behind it"

    @property
    def wasted(self) -> int:
        """Bytes of addresses reserved beyond the objects' sizes."""
        return sum(stop - start - thing.size for start, stop, thing in self)
