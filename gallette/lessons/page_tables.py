"""Lesson: page tables whose directories hold pages of one size only."""

from __future__ import annotations

import functools

import numpy as np

from gallette.compare import to_rgb8
from gallette.compiler.errors import GalletteError
from gallette.drivers.common.gem import (
    BufferObject,
    ExecObject,
    Manager,
    MemoryRegions,
    PageFaultError,
    Region,
)
from gallette.drivers.common.gem.picture import address_map, map_picture
from gallette.drivers.common.gem.regions import KIB, MIB
from gallette.lessons.page import Block, Page, Pictures, Table, lesson
from gallette.render import render_scenes
from gallette.scenes.common import Pass

__all__ = ["SIZES", "filled", "wrong_pages", "wrong_pixels"]

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
    """A manager with the frame's objects bound; every 4 KiB of an object has its own number."""
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


@functools.cache
def _right() -> Pass:
    """The last pass of the scene on numpipe."""
    return render_scenes("numpipe", [SCENE]).passes[SCENE][-1]


def wrong_pixels(break_rule: bool) -> tuple[int, np.ndarray]:
    """Pixels of the scene's last pass that differ from numpipe's, and the picture."""
    options = {"mixed_pages": "1"} if break_rule else {}
    rendering = render_scenes("simd", [SCENE], options=options)
    if SCENE in rendering.errors:
        raise GalletteError(rendering.errors[SCENE])
    found = rendering.passes[SCENE][-1]
    return int((found.color != _right().color).any(axis=2).sum()), found.color


@lesson("page_tables", "GPU page tables", chapter="Machines", place=40)
def run(page: Page, driver: str) -> None:
    """Local memory wants pages of 64 KiB, and 2 MiB of addresses hold pages of one size only.

    See the address space, break the rule, read what the walker reads, and count what the rule
    costs.
    """
    page.section(
        "The rule",
        """The device reaches memory through page tables. An entry of a page directory stands for
        2 MiB of addresses, and one bit of it says what the table behind it holds: 512 entries of
        4 KiB, or 32 of 64 KiB. Local memory is handed out in pages of 64 KiB, system memory in
        pages of 4 KiB. So no 2 MiB may have both, and the simplest promise that keeps this true
        without anybody knowing his neighbours is: an object that may lie in local memory begins at
        a multiple of 2 MiB, and nothing else comes into its last directory.""",
    )
    states: list[tuple[str, list[Block]]] = []
    rows: list[tuple[str, ...]] = []
    for break_rule, title in ((False, "with the rule"), (True, "without it")):
        manager, things = filled(break_rule)
        found = address_map(manager)
        caption = f"{title}: {len(found['directories'])} directories"
        states.append((title, [Pictures([(caption, map_picture(manager))])]))
        reads = [wrong_pages(manager, thing) for thing in things]
        rows.append(
            (
                title,
                str(found["tables"]),
                str(found["mixed"]),
                f"{found['wasted'] // KIB:,} KiB",
                str(sum(r[0] for r in reads)),
                str(sum(r[1] for r in reads)),
            )
        )
    page.section(
        "A frame's address space",
        """One row is a directory of 2 MiB, one column 64 KiB. Blue is system memory, orange local
        memory, grey is kept free behind local objects.""",
    )
    page.flip("the rule, on and off", *states)
    columns = ("", "tables", "mixed", "addresses wasted", "pages read wrongly", "page faults")
    page.add(Table(columns, rows))
    page.section(
        "What the walker reads when the rule is broken",
        """Where both sizes meet, the directory's bit says 64 KiB. The walker then takes five bits
        of the address where nine were meant: of a small object it finds the first entries only,
        masks away the bits it takes for an offset, and reads other pages, or none.""",
    )
    manager, things = filled(True)
    details: list[tuple[str, ...]] = []
    for thing in things:
        wrong, faults, first = wrong_pages(manager, thing)
        region = thing.region.value if thing.region is not None else ""
        count = thing.size // (4 * KIB)
        details.append((thing.name, region, str(count), str(wrong), str(faults), first[:60]))
    names = ("object", "region", "pages of 4 KiB", "wrong", "faults", "the first report")
    page.add(Table(names, details))
    _scene(page)
    page.section(
        "What it costs",
        """Addresses: up to 2 MiB per object, of 512 GiB there are. Tables: one per local object
        at least, 4 KiB each. What it saves: user space that chooses addresses itself (soft
        pinning) needs to know its own object's size and regions, and nothing about what others
        have put next to it.""",
    )
    page.ask(
        "Why not check at run time what else lies in a directory, and place objects accordingly?",
        """The kernel could. But where user space chooses addresses, it would have to know what
        others have put there, and change its mind when they do. A rule about one's own object
        only needs no knowledge of neighbours.""",
    )
    page.ask(
        "An object of 8 KiB may lie in local or in system memory. Where does it begin?",
        "At a multiple of 2 MiB: it may come to lie in pages of 64 KiB, so the rule is for it.",
    )
    page.tries(
        (
            f"gallette diff {SCENE} --driver simd --against numpipe --option mixed_pages=1",
            "the scene with the rule broken",
        ),
        ("gallette drivers simd", "the driver whose buffers are managed like this"),
        ("gallette trace shadow_map --driver simd", "a scene whose memory it manages"),
    )


def _scene(page: Page) -> None:
    page.section(
        "A picture drawn with broken tables",
        """The driver simd keeps small buffers in system memory and everything else in local
        memory. With the option `mixed_pages` they come to lie in the same directories, and a draw
        reads its vertices, indices and textures where the walker finds them. A page it does not
        find reads as zeros, as on devices that point such entries to a scratch page.""",
    )
    states: list[tuple[str, list[Block]]] = []
    rows: list[tuple[str, ...]] = []
    for break_rule, title in ((False, "with the rule"), (True, "without it")):
        page.progress(f"rendering the scene {SCENE} {title}")
        wrong, color = wrong_pixels(break_rule)
        picture = np.ascontiguousarray(to_rgb8(color))
        states.append((title, [Pictures([(f"{title}: {wrong} pixels wrong", picture)])]))
        rows.append((title, str(wrong)))
    page.flip(f"the scene {SCENE}", *states)
    page.add(Table(("", "wrong pixels"), rows))
