"""Assigns addresses to objects, under the rule about page sizes in directories.

Local memory needs entries of 64 KiB, and the 2 MiB of a directory have entries of one size only. So
an object that may be placed in local memory gets 2 MiB directories of its own: its address is a
multiple of 2 MiB, and no 4 KiB page shares its last directory. That wastes addresses, which are
plentiful, and frees user space from tracking which objects share a directory. With `break_rule`
objects are packed side by side, and the walker shows the resulting faults.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from .objects import BufferObject
from .regions import KIB, GemError, Region, rounded
from .tables import DIRECTORY, LIMIT

_START = DIRECTORY  # address 0 stays unmapped: null pointers should fault


class AddressSpace:
    """The address ranges in use."""

    def __init__(self, break_rule: bool = False) -> None:
        self.break_rule = break_rule
        self._taken: list[tuple[int, int, int]] = []  # start, stop, handle
        self._objects: dict[int, BufferObject] = {}

    def needs(self, thing: BufferObject) -> tuple[int, int]:
        """The alignment of an object's address, and the size of the address range it needs."""
        if Region.LOCAL not in thing.regions:
            return 4 * KIB, thing.size
        if self.break_rule:
            return 64 * KIB, thing.size
        return DIRECTORY, rounded(thing.size, DIRECTORY)

    def place(self, thing: BufferObject) -> int:
        """Reserve the lowest free address that meets an object's alignment."""
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
        """Reserve the address that user space asks for, if it is aligned and free."""
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
        """Ranges in order: start, stop (with the addresses reserved after the object), object."""
        for start, stop, handle in self._taken:
            yield start, stop, self._objects[handle]

    def near(self, address: int) -> str:
        """The objects around an address, for fault reports."""
        for start, stop, thing in self:
            if start <= address < stop:
                return f"it is {address - start:#x} into {thing.name!r}, of {thing.size:#x} bytes"
            if start > address:
                return f"the next object is {thing.name!r} at {start:#x}"
        return "no object lies behind it"

    @property
    def wasted(self) -> int:
        """Bytes of addresses reserved beyond the sizes of objects."""
        return sum(stop - start - thing.size for start, stop, thing in self)
