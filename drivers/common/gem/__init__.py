"""A buffer manager like those in the kernel: objects in memory regions, mapped into the device's
address space by page tables.

`regions` are the memories and their frames, `tables` the page tables and the walker, `objects` the
buffer objects, `space` assigns addresses, `manager` is the interface for drivers, `picture` shows
the address space as an image and as JSON.
"""

from __future__ import annotations

from .manager import ExecObject, ExecReport, Manager, Relocation
from .objects import BufferObject, CreateExtension, MemoryRegions, Protected, SetPat
from .regions import GemError, Region
from .tables import PageFaultError

__all__ = [
    "BufferObject",
    "CreateExtension",
    "ExecObject",
    "ExecReport",
    "GemError",
    "Manager",
    "MemoryRegions",
    "PageFaultError",
    "Protected",
    "Region",
    "Relocation",
    "SetPat",
]
