"""Address spaces, page tables and pools of frames by themselves, at their limits."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.gem import (
    ExecObject,
    GemError,
    Manager,
    MemoryRegions,
    PageFaultError,
    Region,
    Relocation,
)
from gallette.drivers.common.gem.picture import map_picture
from gallette.drivers.common.gem.regions import KIB, MIB, Pool, rounded
from gallette.drivers.common.gem.tables import DIRECTORY, LIMIT, PageTables

LOCAL = MemoryRegions((Region.LOCAL, Region.SYSTEM))
SYSTEM = MemoryRegions((Region.SYSTEM,))


def refused(reason: str) -> pytest.RaisesExc[GemError]:
    return pytest.raises(GemError, match=f"^{reason}$")


def test_what_executions_refuse() -> None:
    manager = Manager()
    first, second = manager.create(64, [SYSTEM], name="first"), manager.create(64, name="second")
    with refused("ENOENT: there is no object 77"):
        manager.execute([ExecObject(77)])
    with refused("ENOENT: there is no object 77"):
        manager.close(77)
    with refused("EINVAL: 'first' is listed twice"):
        manager.execute([ExecObject(first.handle), ExecObject(second.handle),
                         ExecObject(first.handle)])  # fmt: skip
    listed = [ExecObject(first.handle), ExecObject(second.handle)]
    for offset in (1, 2, 3, first.size - 4, first.size, first.size + 4):
        listed[0].relocations = [Relocation(second.handle, offset)]
        with refused(f"EINVAL: a relocation at {offset:#x} of 'first'"):
            manager.execute(listed)
    assert manager.total.relocated == 0
    for offset in (0, 4, first.size - 8):
        listed[0].relocations = [Relocation(second.handle, offset)]
        manager.execute(listed)
    assert manager.total.relocated == 3


def test_addresses_that_may_be_pinned() -> None:
    manager = Manager()
    (local, system) = manager.create(1, [LOCAL]), manager.create(1, [SYSTEM])
    for thing, address, reason in (
        (system, 1, "0x1 is no multiple of 0x1000"),
        (system, 4 * KIB + 8, "0x1008 is no multiple of 0x1000"),
        (local, MIB, "0x100000 is no multiple of 0x200000"),
        (system, LIMIT, f"{LIMIT:#x} is outside the address space"),
        (local, LIMIT, f"{LIMIT:#x} is outside the address space"),
    ):
        with refused(f"EINVAL: address {reason}"):
            manager.execute([ExecObject(thing.handle, pinned=address)])
    manager.execute([ExecObject(system.handle, pinned=LIMIT - 4 * KIB)])
    manager.execute([ExecObject(local.handle, pinned=LIMIT - 2 * DIRECTORY)])
    assert system.address == LIMIT - 4 * KIB and local.address == LIMIT - 2 * DIRECTORY
    manager.write(LIMIT - 1, np.array([9], np.uint8))
    assert manager.read(LIMIT - 1, 1).tolist() == [9]
    # Both neighbours of what is taken are free, and what is pinned may be pinned again.
    others = [manager.create(1, [SYSTEM]) for _ in range(2)]
    manager.execute([ExecObject(system.handle, pinned=64 * KIB)])
    manager.execute([ExecObject(system.handle, pinned=64 * KIB)])
    for other, address in zip(others, (60 * KIB, 68 * KIB), strict=True):
        manager.execute([ExecObject(other.handle, pinned=address)])
        assert other.address == address
    with refused(f"ENOSPC: {60 * KIB:#x} is taken by {others[0].name!r}"):
        manager.execute([ExecObject(system.handle, pinned=60 * KIB)])


def test_an_address_space_that_is_full() -> None:
    manager = Manager()
    last = manager.create(1, [SYSTEM])
    manager.execute([ExecObject(last.handle, pinned=LIMIT - 4 * KIB)])
    space = manager.space
    wide = manager.create(1, [SYSTEM])
    wide.size = LIMIT - DIRECTORY - 4 * KIB
    assert space.place(wide) == DIRECTORY  # to the last byte
    space.release(wide)
    assert wide.address is None
    space.release(wide)  # nothing is left to be released
    wide.size += 4 * KIB
    with refused("ENOSPC: the address space is full"):
        space.place(wide)
    assert [(start, stop) for start, stop, _ in space] == [(LIMIT - 4 * KIB, LIMIT)]
    manager.close(last.handle)
    assert space.place(wide) == DIRECTORY and [stop for _, stop, _ in space] == [LIMIT]
    space.release(wide)
    wide.size += 4 * KIB
    with refused("ENOSPC: the address space is full"):
        space.place(wide)


def test_the_lowest_place_that_suits_is_taken() -> None:
    manager = Manager()
    small = [manager.create(4 * KIB, [SYSTEM]) for _ in range(4)]
    for thing in small:
        manager.execute([ExecObject(thing.handle)])
    assert [t.address for t in small] == [DIRECTORY + 4 * KIB * k for k in range(4)]
    local = manager.create(3 * MIB, [LOCAL])
    manager.execute([ExecObject(local.handle)])
    assert local.address == 2 * DIRECTORY and manager.space.wasted == MIB
    manager.close(small[1].handle)
    double, single = manager.create(8 * KIB, [SYSTEM]), manager.create(4 * KIB, [SYSTEM])
    manager.execute([ExecObject(double.handle), ExecObject(single.handle)])
    assert double.address == DIRECTORY + 16 * KIB
    assert single.address == DIRECTORY + 4 * KIB
    assert manager.space.wasted == MIB


def test_the_objects_around_an_address_are_listed() -> None:
    manager = Manager()
    thing = manager.create(8 * KIB, [SYSTEM], name="thing")
    manager.execute([ExecObject(thing.handle, pinned=MIB)])
    for address, told in (
        (MIB - 1, "the next object is 'thing' at 0x100000"),
        (MIB, "it is 0x0 into 'thing', of 0x2000 bytes"),
        (MIB + 8 * KIB - 1, "it is 0x1fff into 'thing', of 0x2000 bytes"),
        (MIB + 8 * KIB, "no object lies behind it"),
    ):
        assert manager.space.near(address) == told
    with pytest.raises(
        PageFaultError, match=r"^page fault: write of address 0x102000, no table en"
    ):
        manager.write(MIB + 8 * KIB, np.zeros(1, np.uint8))


def test_tables_exist_as_long_as_their_entries() -> None:
    tables = PageTables()
    tables.unmap(MIB, Region.SYSTEM)  # there is none
    tables.map(MIB, 5, Region.SYSTEM)
    tables.map(MIB + 4 * KIB, 6, Region.SYSTEM)
    tables.map(DIRECTORY + 64 * KIB, 7, Region.LOCAL)
    tables.map((1 << 30) + MIB, 8, Region.SYSTEM)
    assert tables.count == 3 and len(tables.root) == 2
    assert tables.walk(MIB + 17) == (Region.SYSTEM, 5 * 4 * KIB + 17)
    assert tables.walk(MIB + 8 * KIB - 1) == (Region.SYSTEM, 7 * 4 * KIB - 1)
    assert tables.walk(DIRECTORY + 128 * KIB - 1) == (Region.LOCAL, 8 * 64 * KIB - 1)
    for address, level in (
        (-1, "root"), (LIMIT, "root"), (3 << 30, "root"), (5 * DIRECTORY, "directory"),
        (MIB + 8 * KIB, "table"), (DIRECTORY, "table"), (DIRECTORY + 128 * KIB, "table"),
    ):  # fmt: skip
        with pytest.raises(PageFaultError) as caught:
            tables.walk(address)
        assert (caught.value.level, caught.value.address) == (level, address)
    tables.unmap(MIB + 4 * KIB, Region.SYSTEM)
    tables.unmap(MIB + 4 * KIB, Region.SYSTEM)
    assert tables.count == 3
    tables.unmap(MIB, Region.SYSTEM)
    tables.unmap(DIRECTORY + 64 * KIB, Region.LOCAL)
    assert tables.count == 1 and list(tables.root) == [1]
    tables.unmap((1 << 30) + MIB, Region.SYSTEM)
    assert tables.count == 0 and not tables.root


def test_frames_are_taken_in_order_and_those_given_back_first() -> None:
    pool = Pool(Region.SYSTEM, 6 * 4 * KIB + 100)
    data = np.arange(3 * 4 * KIB, dtype=np.uint32).astype(np.uint8)
    assert pool.frames == pool.available == 6
    assert pool.take(3, lambda: data) == [0, 1, 2]
    with refused("ENOMEM: system memory has no 4 frames left"):
        pool.take(4, lambda: data)
    assert pool.available == 3
    pool.give_back([0, 1])
    assert pool.available == 5
    assert pool.take(3, lambda: data) == [0, 1, 3]
    assert (pool.available, pool.take(2, lambda: data)) == (2, [4, 5])
    assert pool.available == 0


def test_bytes_of_frames() -> None:
    for region, page in ((Region.SYSTEM, 4 * KIB), (Region.LOCAL, 64 * KIB)):
        assert region.page == page
        pool = Pool(region, 8 * page)
        data = np.zeros(page + 10, np.uint8)
        first, second = pool.take(2, lambda: data)  # noqa: B023 - read in this round alone
        data[page - 3 :] = np.arange(1, 14)
        assert pool.read(first * page + page - 3, 3).tolist() == [1, 2, 3]
        assert pool.read(second * page + 8, 4).tolist() == [12, 13, 0, 0]  # behind its end
        assert pool.read(5 * page, 2).tolist() == [0, 0]  # nobody's
        pool.write(second * page + 8, np.array([7, 8, 9], np.uint8))
        pool.write(5 * page, np.array([7], np.uint8))
        assert data[-2:].tolist() == [7, 8]


def test_sizes_are_rounded_up() -> None:
    assert [rounded(n, 8) for n in (0, 1, 7, 8, 9, 16, 17)] == [0, 8, 8, 8, 16, 16, 24]


def test_reads_and_writes_go_on_in_the_next_page() -> None:
    for regions in (SYSTEM, LOCAL):
        manager = Manager()
        thing = manager.create(300 * KIB, [regions])
        manager.execute([ExecObject(thing.handle)])
        assert thing.address is not None
        values = np.arange(200 * KIB, dtype=np.uint32).astype(np.uint8)
        manager.write(thing.address + 60 * KIB + 5, values)
        wanted = np.zeros(thing.size, np.uint8)
        wanted[60 * KIB + 5 : 260 * KIB + 5] = values
        assert np.array_equal(thing.data(), wanted)
        assert np.array_equal(manager.read(thing.address + 60 * KIB + 1, values.size),
                              wanted[60 * KIB + 1 : 260 * KIB + 1])  # fmt: skip
        assert np.array_equal(manager.device_bytes(thing), wanted)
        assert manager.read(thing.address, 0).size == 0


def test_the_picture_ends_with_its_rows() -> None:
    manager = Manager()
    things = [manager.create(3 * MIB, [LOCAL]) for _ in range(12)]
    manager.execute([ExecObject(thing.handle) for thing in things])
    assert map_picture(manager).ndim == 3


def test_touching_binds_what_is_not_there_and_counts_it() -> None:
    manager = Manager(local=MIB)
    first, second = (manager.create(768 * KIB, [LOCAL]) for _ in range(2))
    manager.touch([first.handle])
    assert (manager.executions, manager.total.bound, first.region) == (1, 1, Region.LOCAL)
    manager.touch([first.handle])
    assert (manager.executions, manager.total.bound) == (2, 1)
    manager.touch([second.handle])
    assert (manager.total.bound, second.region) == (2, Region.SYSTEM)
    assert (first.used, second.used) == (2, 3)
