"""The buffer manager: sizes, places, addresses, executions, and what the walker reads."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from gallette.drivers.common.gem import (
    ExecObject,
    GemError,
    Manager,
    MemoryRegions,
    PageFaultError,
    Protected,
    Region,
    Relocation,
    SetPat,
)
from gallette.drivers.common.gem.picture import address_map, map_picture
from gallette.drivers.common.gem.regions import KIB, MIB
from gallette.drivers.common.gem.tables import DIRECTORY
from gallette.drivers.machines.simd.screen import ScreenOptions

LOCAL = MemoryRegions((Region.LOCAL, Region.SYSTEM))
ONLY_LOCAL = MemoryRegions((Region.LOCAL,))
SYSTEM = MemoryRegions((Region.SYSTEM,))


def used(manager: Manager, *handles: int) -> None:
    manager.execute([ExecObject(handle) for handle in handles])


@pytest.mark.parametrize(
    ("region", "asked", "reported"),
    [
        (SYSTEM, 1, 4 * KIB),
        (SYSTEM, 4097, 8 * KIB),
        (LOCAL, 1, 64 * KIB),
        (LOCAL, MIB + 1, 1088 * KIB),
    ],
)
def test_sizes_are_rounded_up_and_reported(
    region: MemoryRegions, asked: int, reported: int
) -> None:
    assert Manager().create(asked, [region]).size == reported


@pytest.mark.parametrize(
    ("size", "extensions", "code"),
    [
        (0, [], "EINVAL"),
        (1, [SYSTEM, SYSTEM], "EINVAL"),
        (1, [MemoryRegions(())], "EINVAL"),
        (1, [SetPat(9)], "EINVAL"),
    ],
)
def test_bad_creations_are_refused(size: int, extensions: list[MemoryRegions], code: str) -> None:
    with pytest.raises(GemError) as error:
        Manager().create(size, extensions)
    assert error.value.code == code


def test_there_is_as_much_memory_as_the_driver_simd_says() -> None:
    pools = Manager().pools
    assert {kind: pool.available * kind.page for kind, pool in pools.items()} == {
        Region.LOCAL: ScreenOptions().local_memory * MIB,
        Region.SYSTEM: 16 << 30,
    }
    assert Manager(2 * MIB, 4 * MIB).pools[Region.LOCAL].available == 32


def test_protected_objects_are_for_protected_contexts() -> None:
    manager = Manager()
    secret = manager.create(1, [Protected(), SetPat(2)])
    assert secret.pat == 2
    with pytest.raises(GemError, match="EACCES"):
        used(manager, secret.handle)
    manager.execute([ExecObject(secret.handle)], protected=True)


def test_local_objects_have_directories_of_their_own() -> None:
    manager = Manager()
    things = [
        manager.create(size, [region])
        for size, region in ((64 * KIB, LOCAL), (4 * KIB, SYSTEM), (3 * MIB, LOCAL), (9, SYSTEM))
    ]
    used(manager, *(thing.handle for thing in things))
    for thing in things:
        assert thing.address is not None
        assert not thing.address % (DIRECTORY if thing.regions[0] is Region.LOCAL else 4 * KIB)
    found = address_map(manager)
    assert found["mixed"] == 0
    assert found["wasted"] == (DIRECTORY - 64 * KIB) + (4 * MIB - 3 * MIB)
    json.dumps(found)
    assert map_picture(manager).shape[2] == 3


def test_the_walker_reads_what_was_written() -> None:
    manager = Manager()
    rng = np.random.default_rng(1)
    things = [manager.create(200 * KIB, [region]) for region in (LOCAL, SYSTEM, LOCAL)]
    used(manager, *(thing.handle for thing in things))
    for thing in things:
        values = rng.integers(0, 256, thing.size, dtype=np.uint8)
        thing.data()[:] = values
        assert thing.address is not None
        assert np.array_equal(manager.read(thing.address, thing.size), values)
        manager.write(thing.address + 70_000, np.full(9000, 7, np.uint8))
        assert (thing.data()[70_000:79_000] == 7).all()


def test_breaking_the_rule_makes_the_walker_read_other_memory() -> None:
    manager = Manager(break_rule=True)
    small = manager.create(256 * KIB, [SYSTEM])
    large = manager.create(256 * KIB, [LOCAL])
    small.data()[:] = np.arange(small.size) // (4 * KIB)
    used(manager, small.handle)
    assert small.address is not None
    assert np.array_equal(manager.read(small.address, small.size), small.data())
    used(manager, small.handle, large.handle)
    assert address_map(manager)["mixed"] == 1
    wrong = 0
    for at in range(0, small.size, 4 * KIB):
        try:
            found = manager.read(small.address + at, 4 * KIB)
            wrong += int((found != at // (4 * KIB)).any())
        except PageFaultError:
            wrong += 1
    assert wrong > 32, "entries of both sizes in one table, and nobody noticed"


def test_what_is_not_mapped_faults_with_a_report() -> None:
    manager = Manager()
    thing = manager.create(4 * KIB, [SYSTEM], name="vertices")
    used(manager, thing.handle)
    assert thing.address is not None
    with pytest.raises(PageFaultError, match="no table entry; no object lies behind it"):
        manager.read(thing.address + 4 * KIB, 1)
    with pytest.raises(PageFaultError, match="no root entry"):
        manager.read(1 << 35, 1)
    with pytest.raises(PageFaultError, match=r"write of address 0x0.*next object is 'vertices'"):
        manager.write(0, np.zeros(1, np.uint8))


def test_what_is_used_least_makes_room() -> None:
    manager = Manager(local=256 * KIB)
    things = [manager.create(128 * KIB, [LOCAL], name=name) for name in "ab"]
    things.append(manager.create(128 * KIB, [ONLY_LOCAL], name="c"))
    things[0].data()[:] = 42
    used(manager, things[0].handle)
    used(manager, things[1].handle)
    address = things[0].address
    report = manager.execute([ExecObject(things[2].handle)])
    assert (report.evicted, report.moved) == (["a"], 128 * KIB)
    assert things[0].region is Region.SYSTEM and things[0].address == address
    assert address is not None and (manager.read(address, 128 * KIB) == 42).all()


class Ledger:
    """Which objects are in a local memory of some pages, and since when they are not used."""

    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.held: dict[int, tuple[int, int, bool]] = {}  # last use, pages, may it leave?

    def use(self, now: int, old: list[int], new: dict[int, tuple[int, bool]]) -> list[int] | None:
        """Who leaves when those that are there and those that come are used; None: no room."""
        held = dict(self.held)
        held.update({handle: (now, *held[handle][1:]) for handle in old})
        left = []
        for handle, (size, may) in new.items():
            room = self.pages - sum(pages for _, pages, _ in held.values())
            if room < size and may:
                continue  # there is room in the system's memory
            for at, other in sorted((at, h) for h, (at, _, may) in held.items() if may):
                if room < size and at < now:
                    room += held.pop(other)[1]
                    left.append(other)
            if room < size:
                return None
            held[handle] = (now, size, may)
        self.held = held
        return left


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("by", ["execute", "touch"])
def test_the_least_recently_used_objects_are_evicted_oldest_first(by: str, seed: int) -> None:
    rng = random.Random(f"ledger {seed}")
    ledger = Ledger(16)
    manager = Manager(local=ledger.pages * 64 * KIB)
    departures = 0
    for now in range(1, 100):
        for handle in [h for h in ledger.held if rng.random() < 0.15]:
            manager.close(handle)
            del ledger.held[handle]
        new: dict[int, tuple[int, bool]] = {}
        for size in rng.choices([1, 2, 3], k=rng.randrange(1, 4)):
            may = rng.random() < 0.6
            made = manager.create(size * 64 * KIB, [LOCAL if may else ONLY_LOCAL])
            new[made.handle] = size, may
        old = [handle for handle in ledger.held if rng.random() < 0.2]
        wanted = ledger.use(now, old, new)
        if wanted is None:
            for handle in new:
                manager.close(handle)
            continue
        names = [manager.objects[handle].name for handle in wanted]
        before = len(manager.total.evicted)
        if by == "touch":
            manager.touch([*old, *new])
        else:
            report = manager.execute([ExecObject(handle) for handle in (*old, *new)])
            assert report.evicted == names
        assert manager.total.evicted[before:] == names
        local = {h for h, o in manager.objects.items() if o.region is Region.LOCAL}
        assert local == set(ledger.held)
        departures += len(names)
    assert departures > 10


@pytest.mark.parametrize("by", ["execute", "touch"])
def test_what_is_used_now_does_not_leave_for_what_is_used_now(by: str) -> None:
    manager = Manager(local=192 * KIB)
    idle, busy = (manager.create(64 * KIB, [LOCAL], name=name) for name in ("idle", "busy"))
    used(manager, idle.handle, busy.handle)
    big = manager.create(192 * KIB, [ONLY_LOCAL])
    with pytest.raises(GemError, match="ENOMEM"):
        if by == "touch":
            manager.touch([busy.handle, big.handle])
        else:
            used(manager, busy.handle, big.handle)
    assert busy.region is Region.LOCAL and big.region is None


def test_objects_that_must_be_local_fail_when_there_is_no_room() -> None:
    manager = Manager(local=128 * KIB)
    used(manager, manager.create(128 * KIB, [ONLY_LOCAL]).handle)
    with pytest.raises(GemError, match="ENOMEM"):
        used(manager, manager.create(64 * KIB, [ONLY_LOCAL]).handle)


def test_pinned_objects_are_where_they_say() -> None:
    manager = Manager()
    first, second = (manager.create(64 * KIB, [LOCAL]) for _ in range(2))
    manager.execute([ExecObject(first.handle, pinned=16 * MIB)])
    assert first.address == 16 * MIB and first.pinned
    with pytest.raises(GemError, match="ENOSPC"):
        manager.execute([ExecObject(second.handle, pinned=16 * MIB)])
    with pytest.raises(GemError, match="EINVAL"):
        manager.execute([ExecObject(second.handle, pinned=16 * MIB + 64 * KIB)])


def test_relocations_are_skipped_when_presumed_right() -> None:
    manager = Manager()
    batch, target = manager.create(4096), manager.create(64 * KIB, [LOCAL])
    word = Relocation(target.handle, 16, delta=4)
    listed = [ExecObject(target.handle), ExecObject(batch.handle, relocations=[word])]
    first = manager.execute(listed)
    second = manager.execute(listed)
    assert (first.relocated, first.skipped) == (1, 0)
    assert (second.relocated, second.skipped) == (0, 1)
    assert target.address is not None
    assert int(batch.data()[16:24].view("<u8")[0]) == target.address + 4
    with pytest.raises(GemError, match="not listed"):
        manager.execute([ExecObject(batch.handle, relocations=[word])])


def test_closing_gives_everything_back() -> None:
    manager = Manager()
    before = {region: pool.available for region, pool in manager.pools.items()}
    things = [manager.create(5 * MIB, [LOCAL if k % 2 else SYSTEM]) for k in range(6)]
    used(manager, *(thing.handle for thing in things))
    for thing in things:
        manager.close(thing.handle)
    assert {region: pool.available for region, pool in manager.pools.items()} == before
    assert manager.tables.count == 0 and not list(manager.space)


def test_random_lives_never_mix_directories_and_always_read_right() -> None:
    rng = np.random.default_rng(5)
    manager = Manager(local=8 * MIB)
    alive: dict[int, int] = {}
    for step in range(300):
        if alive and rng.random() < 0.35:
            handle = int(rng.choice(list(alive)))
            manager.close(handle)
            del alive[handle]
            continue
        region = LOCAL if rng.random() < 0.5 else SYSTEM
        thing = manager.create(int(rng.integers(1, MIB)), [region])
        thing.data()[:] = step % 251
        alive[thing.handle] = step % 251
        chosen = {thing.handle, *(h for h in alive if rng.random() < 0.2)}
        if sum(manager.objects[h].size for h in chosen) > 7 * MIB:
            chosen = {thing.handle}
        used(manager, *chosen)
        assert address_map(manager)["mixed"] == 0
        for handle in chosen:
            found = manager.objects[handle]
            assert found.address is not None
            last = manager.read(found.address + found.size - 1, 1)
            assert last[0] == alive[handle]
