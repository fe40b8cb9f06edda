"""A kernel-like buffer manager: objects in memory regions, seen by the device through page tables.

`regions` are the memories and their frames, `tables` the page tables and their walker, `objects`
what is created, `space` who gets which addresses, `manager` the interface a driver calls, `picture`
the address space as a picture and as JSON.
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
