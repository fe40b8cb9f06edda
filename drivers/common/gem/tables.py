"""Page tables, and the walker that translates addresses as the device does.

Three levels: a root of 512 entries of 1 GiB, directories of 512 entries of 2 MiB, and tables. *An
entry of a directory says for all of its 2 MiB whether its table has 512 entries of 4 KiB or 32
entries of 64 KiB.* Mapping pages of both sizes into one table is not refused here, as hardware does
not refuse it either; the walker then misreads the entries:

    address   | 47..39 unused | 38..30 root | 29..21 directory | 20..12 or 20..16 table | offset
"""

from __future__ import annotations

from gallette.compiler.errors import ResetError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass

from .regions import KIB, MIB, Region

DIRECTORY = 2 * MIB
"""Bytes that one entry of a directory maps."""

LIMIT = 1 << 39
_PRESENT, _LOCAL = 1, 2


class PageFaultError(ResetError):
    """The device accessed an address that is not mapped, so the context is lost."""

    def __init__(self, address: int, level: str, access: str, near: str = "") -> None:
        super().__init__(
            f"page fault: {access} of address {address:#x}, no {level} entry"
            + (f"; {near}" if near else "")
        )
        self.address = address
        self.level = level


@lazy_dataclass()
class Table:
    """A page table, with the page-size bit of its directory entry."""

    large: bool = False  # entries are 64 KiB
    entries: dict[int, int] = field(default_factory=dict)


class PageTables:
    """The tables of one address space."""

    def __init__(self) -> None:
        self.root: dict[int, dict[int, Table]] = {}

    def table_at(self, address: int) -> Table | None:
        """The table that covers an address, or None."""
        return self.root.get(address >> 30, {}).get(address >> 21 & 511)

    def map(self, address: int, frame: int, region: Region) -> None:
        """Write one entry. The directory's bit says 64 KiB as soon as one page of that size is
        mapped.
        """
        table = self.root.setdefault(address >> 30, {}).setdefault(address >> 21 & 511, Table())
        entry = frame * region.page | _PRESENT | (_LOCAL if region is Region.LOCAL else 0)
        if region is Region.LOCAL:
            table.large = True
            table.entries[address >> 16 & 31] = entry
        else:
            table.entries[address >> 12 & 511] = entry

    def unmap(self, address: int, region: Region) -> None:
        table = self.table_at(address)
        if table is None:
            return
        table.entries.pop(address >> 16 & 31 if region is Region.LOCAL else address >> 12 & 511, 0)
        if not table.entries:
            del self.root[address >> 30][address >> 21 & 511]
            if not self.root[address >> 30]:
                del self.root[address >> 30]

    def walk(self, address: int, access: str = "read") -> tuple[Region, int]:
        """Translate a virtual address to a region and a physical address, as the device does."""
        if not 0 <= address < LIMIT or address >> 30 not in self.root:
            raise PageFaultError(address, "root", access)
        table = self.table_at(address)
        if table is None:
            raise PageFaultError(address, "directory", access)
        size, index = (
            (64 * KIB, address >> 16 & 31) if table.large else (4 * KIB, address >> 12 & 511)
        )
        entry = table.entries.get(index)
        if entry is None:
            raise PageFaultError(address, "table", access)
        region = Region.LOCAL if entry & _LOCAL else Region.SYSTEM
        return region, (entry & ~(size - 1)) | address & size - 1

    @property
    def count(self) -> int:
        """The number of tables."""
        return sum(len(directory) for directory in self.root.values())
