"""Generated tests as files, so that reports can name them and every tool can read them.

The first run writes them to the user's cache, in a folder named by a hash of everything that
determines their texts: the generators, the table of OpenGL functions, and the versions of Python
and NumPy, which compute the expected values. So a folder is never out of date, and concurrent
processes write the same bytes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np

from gallette.compiler.cache_home import cache_home
from gallette.compiler.output_files import atomic_write
from gallette.compiler.private_folder import filled_folder

_HERE = Path(__file__).resolve().parent
_ENTRY_POINTS = _HERE.parent / "state_tracker" / "entry_points"
SOURCES = (
    _HERE / "generators",
    _HERE / "requirements.py",
    _HERE.parent / "compiler" / "text_tables.py",
    _ENTRY_POINTS / "functions.py",
    _ENTRY_POINTS / "data",
)
_INDEX = "index"  # written last: a line `SIZE PLACE` for each test
_UNUSED_SECONDS = 30 * 24 * 3600.0


@functools.cache
def generated_tests() -> dict[str, Path]:
    """Place below `spec` -> file, of every generated test."""
    home = cache_home()
    name = f"tests-{_hash()}"
    folder = filled_folder(home / "generated" if home else None, name, _fill, "generated tests")
    places = _read_index(folder)
    return {place: folder / "spec" / place for place in places}


def _hash() -> str:
    """A hash of everything that generated texts depend on."""
    found = hashlib.blake2b(f"{sys.version} {np.__version__}\n".encode(), digest_size=8)
    for source in SOURCES:
        files = [source] if source.is_file() else sorted(source.rglob("*"))
        for path in files:
            if path.suffix in (".py", ".txt", ".jinja"):
                data = path.read_bytes()
                found.update(f"{path.name} {len(data)}\n".encode() + data)
    return found.hexdigest()


def _fill(folder: Path) -> None:
    """Write the tests, unless all of them exist."""
    if _read_index(folder):
        os.utime(folder / _INDEX)
        return
    from gallette.piglit_subset.generators import all_tests

    lines = []
    for test in all_tests():
        path, data = folder / "spec" / test.place, test.text.encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(data)
        lines.append(f"{len(data)} {test.place}\n")
    with atomic_write(folder / _INDEX) as file:
        file.write("".join(lines).encode())
    _remove_unused(folder.parent)


def _read_index(folder: Path) -> list[str]:
    """The places of all tests; empty if a file is missing or has another size."""
    places = []
    try:
        for line in (folder / _INDEX).read_text(encoding="utf-8").splitlines():
            size, place = line.split(" ", 1)
            if os.stat(f"{folder}/spec/{place}").st_size != int(size):
                return []
            places.append(place)
    except (OSError, ValueError):
        return []
    return places


def _remove_unused(home: Path) -> None:
    """Remove folders of other versions that have not been used for a long time."""
    for index in home.glob(f"tests-*/{_INDEX}"):
        with contextlib.suppress(OSError):
            if time.time() - index.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(index.parent)
