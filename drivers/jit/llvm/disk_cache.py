"""Object files kept between processes: atomic to write, safe to share, bounded in size.

A file is named by the hash of everything its content depends on, so it is never changed, only
made and removed; whoever reads half of one (a full disk, a crash) sees it by its checksum.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["DiskCache", "default_folder"]

_MOST_BYTES = 64 << 20
_DIGEST = 32


def default_folder() -> Path:
    """Where compiled code is kept: `$XDG_CACHE_HOME/gallette/jit`, by default in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "gallette" / "jit"


class DiskCache:
    """A folder of files named by key. What goes wrong with the disk is never an error."""

    def __init__(self, folder: Path, most_bytes: int = _MOST_BYTES) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self._written = 0

    def get(self, key: str) -> bytes | None:
        """What was kept under this key, if it is there and whole."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        digest, image = data[:_DIGEST], data[_DIGEST:]
        if hashlib.sha256(image).digest() != digest:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the oldest use goes first when there is too much
        return image

    def put(self, key: str, image: bytes) -> None:
        """Keep something; readers see all of it or nothing."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(image).digest() + image)
                os.replace(temporary, self._path(key))
            except OSError:
                os.unlink(temporary)
                return
        except OSError:
            return
        self._written += len(image)
        if self._written > self.most_bytes // 16:
            self._written = 0
            self.trim()

    def trim(self) -> None:
        """Remove what has not been used for longest until the folder is within its bound."""
        files = sorted(self._files(), reverse=True)
        total = 0
        for _, size, path in files:
            total += size
            if total > self.most_bytes:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        try:
            for entry in os.scandir(self.folder):
                if entry.name.endswith(".o"):
                    stat = entry.stat()
                    yield stat.st_mtime, stat.st_size, Path(entry.path)
        except OSError:
            return

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.o"
