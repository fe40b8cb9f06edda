"""The buffer manager: create objects, pin them, execute batches, read memory as the device does.

An execution lists every object it uses. The manager makes each resident (in the first of its
regions with room, evicting the least recently used objects that are not listed), binds it to an
address and relocates it: where a batch contains another object's address, the manager writes the
right one, unless user space presumed it correctly, which is what makes relocations cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

from .objects import BufferObject, CreateExtension, described
from .regions import KIB, MIB, GemError, Pool, Region
from .space import AddressSpace
from .tables import PageFaultError, PageTables

Bytes = npt.NDArray[np.uint8]


@lazy_dataclass()
class Relocation:
    """The address of `target` plus `delta` is stored at `offset` of the listed object, in 64 bits.

    `presumed` is the address that user space wrote there; the manager updates it.
    """

    target: int
    offset: int
    delta: int = 0
    presumed: int = -1


@lazy_dataclass()
class ExecObject:
    """An object used by an execution; a pinned object gives its address."""

    handle: int
    pinned: int | None = None
    relocations: list[Relocation] = field(default_factory=list)


@lazy_dataclass()
class ExecReport:
    """The work that an execution required."""

    bound: int = 0
    moved: int = 0  # bytes moved between regions
    evicted: list[str] = field(default_factory=list)
    relocated: int = 0
    skipped: int = 0  # relocations whose presumed address was right


class Manager:
    """The objects, the memory regions and one address space."""

    def __init__(
        self, local: int = 256 * MIB, system: int = 1 << 34, break_rule: bool = False
    ) -> None:
        self.pools = {
            Region.SYSTEM: Pool(Region.SYSTEM, system),
            Region.LOCAL: Pool(Region.LOCAL, local),
        }
        self.space = AddressSpace(break_rule)
        self.tables = PageTables()
        self.objects: dict[int, BufferObject] = {}
        self.executions = 0
        self.total = ExecReport()
        self._next = 1

    # -- objects -----------------------------------------------------------------------------------

    def create(
        self,
        size: int,
        extensions: Sequence[CreateExtension] = (),
        *,
        name: str = "",
        data: Callable[[], Bytes] | None = None,
    ) -> BufferObject:
        """Create an object initialised with `data`; its `size` is the size after rounding up."""
        handle = self._next
        made = described(handle, name or f"object {handle}", size, extensions, data)
        self._next += 1
        self.objects[handle] = made
        return made

    def close(self, handle: int) -> None:
        """Destroy an object and free its addresses and frames."""
        thing = self._object(handle)
        self._unbind(thing)
        self._vacate(thing)
        del self.objects[handle]

    def _object(self, handle: int) -> BufferObject:
        found = self.objects.get(handle)
        if found is None:
            raise GemError("ENOENT", f"there is no object {handle}")
        return found

    # -- execution ---------------------------------------------------------------------------------

    def execute(self, listed: Iterable[ExecObject], protected: bool = False) -> ExecReport:
        """Make all listed objects resident, bind them to addresses, and relocate."""
        entries = list(listed)
        report = ExecReport()
        self.executions += 1
        things: list[BufferObject] = []
        for entry in entries:
            thing = self._object(entry.handle)
            if thing in things:
                raise GemError("EINVAL", f"{thing.name!r} is listed twice")
            if thing.protected and not protected:
                raise GemError("EACCES", f"{thing.name!r} is protected, the context is not")
            thing.used = self.executions
            things.append(thing)
        for entry, thing in zip(entries, things, strict=True):
            if thing.region is None:
                self._make_resident(thing, report)
            self._bind(thing, entry.pinned, report)
        for entry, thing in zip(entries, things, strict=True):
            for relocation in entry.relocations:
                self._relocate(thing, relocation, things, report)
        self._account(report)
        return report

    def touch(self, handles: Iterable[int]) -> None:
        """Execute with objects that need no relocations, as a draw does."""
        missing = []
        self.executions += 1
        for handle in handles:
            thing = self.objects[handle]
            thing.used = self.executions
            if thing.address is None or thing.region is None:
                missing.append(thing)
        if missing:
            report = ExecReport()
            for thing in missing:
                if thing.region is None:
                    self._make_resident(thing, report)
                self._bind(thing, None, report)
            self._account(report)

    def _account(self, report: ExecReport) -> None:
        total = self.total
        total.bound += report.bound
        total.moved += report.moved
        total.evicted += report.evicted
        total.relocated += report.relocated
        total.skipped += report.skipped

    def _make_resident(self, thing: BufferObject, report: ExecReport) -> None:
        """Place an object in the first of its regions with room, evicting others from the first if
        none has.
        """
        for region in thing.regions:
            if self.pools[region].available >= -(-thing.size // region.page):
                self._occupy(thing, region)
                return
        first = thing.regions[0]
        wanted = -(-thing.size // first.page)
        victims = sorted(
            (
                o
                for o in self.objects.values()
                if o.region is first and o.used < self.executions and Region.SYSTEM in o.regions
            ),
            key=lambda o: o.used,  # of objects with equal use the one created first
        )
        for victim in victims:
            if self.pools[first].available >= wanted:
                break
            self._move(victim, Region.SYSTEM, report)
            report.evicted.append(victim.name)
        if self.pools[first].available < wanted:
            raise GemError(
                "ENOMEM", f"{thing.name!r} ({thing.size:#x} bytes) has no room in {first.value}"
            )
        self._occupy(thing, first)

    def _move(self, thing: BufferObject, region: Region, report: ExecReport) -> None:
        """Move an object to another region; its address stays."""
        address, pinned = thing.address, thing.pinned
        self._unbind(thing)
        self._vacate(thing)
        self._occupy(thing, region)
        report.moved += thing.size
        if address is not None:
            self.space.take(thing, address)
            thing.pinned = pinned
            self._map(thing)

    def _occupy(self, thing: BufferObject, region: Region) -> None:
        thing.frames = self.pools[region].take(-(-thing.size // region.page), thing.data)
        thing.region = region

    def _vacate(self, thing: BufferObject) -> None:
        if thing.region is not None:
            self.pools[thing.region].give_back(thing.frames)
            thing.frames, thing.region = [], None

    def _bind(self, thing: BufferObject, pinned: int | None, report: ExecReport) -> None:
        if pinned is not None and thing.address != pinned:
            self._unbind(thing)
            self.space.pin(thing, pinned)
            thing.pinned = True
        elif thing.address is None:
            self.space.place(thing)
        else:
            return
        self._map(thing)
        report.bound += 1

    def _map(self, thing: BufferObject) -> None:
        assert thing.address is not None and thing.region is not None
        for number, frame in enumerate(thing.frames):
            self.tables.map(thing.address + number * thing.region.page, frame, thing.region)

    def _unbind(self, thing: BufferObject) -> None:
        if thing.address is None or thing.region is None:
            return
        for number in range(len(thing.frames)):
            self.tables.unmap(thing.address + number * thing.region.page, thing.region)
        self.space.release(thing)
        thing.pinned = False

    def _relocate(
        self,
        thing: BufferObject,
        relocation: Relocation,
        listed: list[BufferObject],
        report: ExecReport,
    ) -> None:
        target = self._object(relocation.target)
        if target not in listed or target.address is None:
            raise GemError(
                "EINVAL", f"{thing.name!r} points to {target.name!r}, which is not listed"
            )
        if relocation.offset % 4 or relocation.offset + 8 > thing.size:
            raise GemError("EINVAL", f"a relocation at {relocation.offset:#x} of {thing.name!r}")
        if relocation.presumed == target.address:
            report.skipped += 1
            return
        value = np.array([target.address + relocation.delta], "<u8").view(np.uint8)
        thing.data()[relocation.offset : relocation.offset + 8] = value
        relocation.presumed = target.address
        report.relocated += 1

    # -- the device's view -------------------------------------------------------------------------

    def read(self, address: int, size: int) -> Bytes:
        """Read bytes at a virtual address through the page tables; an unmapped page
        raises a fault.
        """
        parts = []
        while size > 0:
            region, physical = self._walk(address, "read")
            step = min(size, region.page - physical % region.page, 4096 - address % 4096)
            parts.append(self.pools[region].read(physical, step))
            address += step
            size -= step
        return np.concatenate(parts) if parts else np.zeros(0, np.uint8)

    def device_bytes(self, thing: BufferObject) -> Bytes:
        """An object's bytes as the device reads them, page by page; unmapped pages read as
        zeros.
        """
        assert thing.address is not None
        parts = []
        for at in range(0, thing.size, 4 * KIB):
            try:
                parts.append(self.read(thing.address + at, 4 * KIB))
            except PageFaultError:
                parts.append(np.zeros(4 * KIB, np.uint8))
        return np.concatenate(parts)

    def write(self, address: int, values: Bytes) -> None:
        """Write bytes at a virtual address through the page tables; an unmapped page raises a
        fault.
        """
        done = 0
        while done < values.size:
            region, physical = self._walk(address + done, "write")
            step = min(values.size - done, 4096 - (address + done) % 4096)
            self.pools[region].write(physical, values[done : done + step])
            done += step

    def _walk(self, address: int, access: str) -> tuple[Region, int]:
        try:
            return self.tables.walk(address, access)
        except PageFaultError as error:
            raise PageFaultError(
                error.address, error.level, access, self.space.near(address)
            ) from None
