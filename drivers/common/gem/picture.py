"""The address space as an image of its directories, and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .manager import Manager
from .regions import KIB, Region
from .tables import DIRECTORY

_COLORS = {Region.SYSTEM: (86, 150, 214), Region.LOCAL: (226, 146, 66)}
_RESERVED, _FREE = (222, 214, 200), (255, 255, 255)


def address_map(manager: Manager) -> dict[str, Any]:
    """Every range with its object, every directory with its page size; ready for JSON."""
    ranges = []
    directories: dict[int, dict[str, Any]] = {}
    for start, stop, thing in manager.space:
        region = thing.region or thing.regions[0]
        ranges.append(
            {
                "start": start,
                "stop": stop,
                "size": thing.size,
                "asked": thing.asked,
                "name": thing.name,
                "region": region.value,
                "page": region.page,
                "pinned": thing.pinned,
            }
        )
        for at in range(start // DIRECTORY, -(-(start + thing.size) // DIRECTORY)):
            entry = directories.setdefault(
                at, {"start": at * DIRECTORY, "pages": [], "objects": []}
            )
            if region.page not in entry["pages"]:
                entry["pages"].append(region.page)
            entry["objects"].append(thing.name)
    return {
        "ranges": ranges,
        "directories": [directories[at] for at in sorted(directories)],
        "tables": manager.tables.count,
        "wasted": manager.space.wasted,
        "mixed": sum(len(d["pages"]) > 1 for d in directories.values()),
        "relocated": manager.total.relocated,
        "skipped": manager.total.skipped,
    }


def map_picture(manager: Manager, rows: int = 24, scale: int = 8) -> npt.NDArray[np.uint8]:
    """A row per directory of 2 MiB, a column per 64 KiB; pale where addresses are only reserved.

    The image has at most `rows` rows, beginning with the first directory in use.
    """
    first = min((start for start, _, _ in manager.space), default=0) // DIRECTORY
    last = max((stop - 1 for _, stop, _ in manager.space), default=0) // DIRECTORY
    rows = min(rows, last - first + 1)
    cells = np.full((rows, 32, 3), _FREE, np.uint8)
    for start, stop, thing in manager.space:
        region = thing.region or thing.regions[0]
        for at in range(start // (64 * KIB), -(-stop // (64 * KIB))):
            row, column = at // 32 - first, at % 32
            if row >= rows:
                break
            filled = at * 64 * KIB < start + thing.size
            cells[row, column] = _COLORS[region] if filled else _RESERVED
    picture = cells.repeat(scale, axis=0).repeat(scale, axis=1)
    picture[::scale] = picture[::scale] // 8 * 7
    picture[:, ::scale] = picture[:, ::scale] // 16 * 15
    return np.ascontiguousarray(picture)
