"""The lesson: page tables whose directories hold pages of one size only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.gem import (
    BufferObject,
    ExecObject,
    Manager,
    MemoryRegions,
    PageFaultError,
    Region,
)
from gallette.drivers.common.gem.regions import KIB, MIB
from gallette.lessons.experiments import compared

SCENE = "deferred"

SIZES: tuple[tuple[str, Region, int], ...] = (
    ("vertices", Region.SYSTEM, 200 * KIB),
    ("texture", Region.LOCAL, 512 * KIB),
    ("constants", Region.SYSTEM, 16 * KIB),
    ("depth", Region.LOCAL, 300 * KIB),
    ("indices", Region.SYSTEM, 60 * KIB),
    ("colour", Region.LOCAL, 3 * MIB),
    ("batch", Region.SYSTEM, 8 * KIB),
)
"""A small frame: what it uses, where that lies, how large it is."""


def filled(break_rule: bool) -> tuple[Manager, list[BufferObject]]:
    """A manager with the frame's objects bound; every 4 KiB of an object have a number of their
    own.
    """
    manager = Manager(break_rule=break_rule)
    things = []
    for name, region, size in SIZES:
        thing = manager.create(size, [MemoryRegions((region,))], name=name)
        pages = np.arange(thing.size // (4 * KIB), dtype=np.uint32) + thing.handle * 10_000
        thing.data()[:] = pages.repeat(KIB).view(np.uint8)
        things.append(thing)
    manager.execute([ExecObject(thing.handle) for thing in things])
    return manager, things


def wrong_pages(manager: Manager, thing: BufferObject) -> tuple[int, int, str]:
    """How many pages the device reads wrongly or not at all, and the first fault's report."""
    wrong = faults = 0
    first = ""
    assert thing.address is not None
    for page in range(thing.size // (4 * KIB)):
        try:
            word = manager.read(thing.address + page * 4 * KIB, 4).view(np.uint32)[0]
        except PageFaultError as error:
            faults += 1
            first = first or str(error)
        else:
            wrong += int(word != thing.handle * 10_000 + page)
    return wrong, faults, first


def wrong_pixels(break_rule: bool) -> tuple[int, npt.NDArray[Any]]:
    """Pixels of the scene's last pass that differ from numpipe's, and the picture."""
    return compared("simd", SCENE, {"mixed_pages": True} if break_rule else {}, -1)
