"""Made things kept between processes: named by what they depend on, safe to share, bounded.

A file's name is the hash of everything its content depends on, so a file is only ever made and
removed, never changed. Writers make it under another name and rename it; readers check a sum, so
half a file (a full disk, a crash) is a miss. Whatever goes wrong with the disk is a miss, too.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gallette.compiler.cache_home import cache_home

__all__ = ["DiskCache", "code_version", "shared_cache"]

_MOST_BYTES = 512 << 20
_DIGEST = 16


class DiskCache:
    """A folder of files named by key, spread over 256 folders."""

    def __init__(self, folder: Path, most_bytes: int = _MOST_BYTES) -> None:
        self.folder, self.most_bytes = folder, most_bytes
        self.hits = self.misses = 0
        self._written = 0

    def get(self, key: str) -> bytes | None:
        """What was kept under this key, if it is there and whole."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            self.misses += 1
            return None
        body = data[_DIGEST:]
        if _sum(body) != data[:_DIGEST]:
            self.misses += 1
            return None
        self.hits += 1
        with contextlib.suppress(OSError):
            os.utime(path)  # what was used longest ago goes first when there is too much
        return body

    def put(self, key: str, body: bytes) -> None:
        """Keep something; readers see all of it or nothing."""
        path = self._path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_sum(body) + body)
                os.replace(temporary, path)
            except OSError:
                os.unlink(temporary)
                return
            self._written += len(body)
            if self._written > self.most_bytes // 16:
                self._written = 0
                self.trim()

    def trim(self) -> None:
        """Remove what was used longest ago, until three quarters of the bound are left."""
        files = sorted(self._files(), reverse=True)
        if sum(size for _, size, _ in files) <= self.most_bytes:
            return
        total = 0
        for _, size, path in files:
            total += size
            if total > self.most_bytes * 3 // 4:
                with contextlib.suppress(OSError):
                    os.unlink(path)

    def _files(self) -> Iterator[tuple[float, int, str]]:
        with contextlib.suppress(OSError):
            for folder in os.scandir(self.folder):
                if folder.is_dir():
                    for entry in os.scandir(folder):
                        with contextlib.suppress(OSError):
                            stat = entry.stat()
                            yield stat.st_mtime, stat.st_size, entry.path

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]


def _sum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()


def shared_cache(name: str, most_bytes: int = _MOST_BYTES) -> DiskCache | None:
    """The user's cache of one kind of thing; None where nothing may be kept."""
    home = cache_home()
    return _opened(home / name, most_bytes) if home is not None else None


@functools.cache
def _opened(folder: Path, most_bytes: int) -> DiskCache:
    return DiskCache(folder, most_bytes)


@functools.cache
def code_version(*packages: str) -> str:
    """Changes whenever a source file of these packages does: by name, size and time."""
    return "-".join(map(_version_of, packages))


@functools.cache
def _version_of(package: str) -> str:
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    found = hashlib.blake2b(digest_size=16)
    for where, size, time in sorted(_sources(os.path.join(root, package), package)):
        found.update(f"{where}:{size}:{time}\n".encode())
    return found.hexdigest()


def _sources(folder: str, where: str) -> Iterator[tuple[str, int, int]]:
    """The source files below a folder. (Hundreds, before the first picture: no `Path` each.)"""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                stat = entry.stat()
                yield f"{where}/{entry.name}", stat.st_size, stat.st_mtime_ns
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path, f"{where}/{entry.name}")
