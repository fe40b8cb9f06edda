"""Folders from which code is loaded, which no other user can write to or replace.

Caches contain machine code and shared libraries. Another user with access to such a folder could
run code in the processes that load from it, so it must belong to the user (or to root), be closed
to others, and be inside folders in which others cannot replace it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from gallette.compiler.errors import GalletteError


def filled_folder(home: Path | None, name: str, fill: Callable[[Path], None], what: str) -> Path:
    """The first private folder `name` to which `fill` can write its files.

    It is in `home` (which is made private, too) or in a temporary folder. The error, if there is
    none, says what could not be written, and the first reason.
    """
    reasons = []
    for place in _homes(home):
        try:
            folder = private_folder(private_folder(place) / name)
            fill(folder)
        except OSError as error:
            reasons.append(str(error))
        else:
            return folder
    raise GalletteError(f"gallette finds no folder to write its {what} to: {reasons[0]}")


def _homes(home: Path | None) -> Iterator[Path]:
    """`home`, then the user's temporary folder, then one for this process only, which is empty at
    first and removed at its end.
    """
    if home is not None:
        yield home
    owner = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    yield Path(tempfile.gettempdir(), f"gallette-{owner}")
    with contextlib.suppress(OSError):
        made = tempfile.mkdtemp(prefix="gallette-")
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        yield Path(made)


def private_folder(path: Path) -> Path:
    """The folder, created if necessary; an `OSError` says why it cannot be trusted."""
    missing = []
    place = path
    while not os.path.lexists(place):
        missing.append(place)
        place = place.parent
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)  # another process may create it at the same time
    if hasattr(os, "getuid"):  # on Windows, others cannot write to a user's folders
        _check(path)
    return path


def _check(path: Path) -> None:
    for folder in _above(path):
        found = os.stat(folder)
        if found.st_uid not in (0, os.getuid()):
            raise PermissionError(f"{path}: {folder} belongs to another user")
        others = stat.S_IWOTH if found.st_gid == os.getgid() else stat.S_IWOTH | stat.S_IWGRP
        if found.st_mode & others and not found.st_mode & stat.S_ISVTX:
            raise PermissionError(f"{path}: others may write in {folder}")
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise PermissionError(f"{path} is no folder")
    if found.st_uid not in (0, os.getuid()):
        raise PermissionError(f"{path} belongs to another user")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"others may write in {path}")
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO) and found.st_uid == os.getuid():
        path.chmod(0o700)


def _above(path: Path) -> Iterator[str]:
    """The folders on the path, with links resolved."""
    here = os.path.realpath(path.parent)
    while True:
        yield here
        above = os.path.dirname(here)
        if above == here:
            return
        here = above
