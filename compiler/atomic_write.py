"""Writing a file so that all of it appears at once: it is written beside its place, then renamed.

A full disk, a crash or an interrupt leaves what was there before, and no other file.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_write"]


@contextlib.contextmanager
def atomic_write(path: str | Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write to, which is at `path` when the block ends without an error.

    What is no regular file (`/dev/stdout`, a pipe) is written to directly. The permissions are
    `mode` less the process's umask.
    """
    if _is_direct(os.fspath(path)):
        with open(path, "wb") as file:
            yield file
        return
    place = os.path.realpath(path)
    folder, name = os.path.split(place)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
    try:
        with open(handle, "wb") as file:
            yield file
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _is_direct(path: str) -> bool:
    """Is there something that has to stay, a device or what a process has opened?"""
    if path.startswith(("/dev/", "/proc/")):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


_BINARY = getattr(os, "O_BINARY", 0)  # of Windows
