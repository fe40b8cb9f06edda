"""Files that programs and commands write: whole or not at all, or as far as they got.

`atomic_write` writes beside the file's place and renames, so that a full disk, a crash or an
interrupt leaves the old content, and no other file. `write_whole` does that for what a user
asked for. `OutputStream` is for what must be readable while it grows and after a crash.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gallette.compiler.errors import InputError, tell

__all__ = ["OutputStream", "atomic_write", "write_whole"]


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
    temporary = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(4)}.new")
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


def write_whole(path: str | Path, data: bytes | str, folder: bool = False) -> None:
    """Write a file that a user asked for, and make its folder if that is wanted, too.

    Halves of characters, which file names may have, become escapes in a text.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "backslashreplace")
    try:
        if folder:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(data)
    except OSError as error:
        raise InputError(_cannot_write(path, error)) from None


def _cannot_write(path: str | Path, error: OSError) -> str:
    return f"{path}: cannot write: {error.strerror or error}"


class OutputStream:
    """A file that grows while a program runs. The first error ends it, not the program: what was
    written by then stays, and `error` says what happened (and so does standard error, once)."""

    def __init__(self, path: str | Path) -> None:
        """Raises OSError if the file cannot be made."""
        self.path = path
        self.error = ""
        self._file: BinaryIO | None = open(path, "wb")  # noqa: SIM115 - closed in `close`

    @property
    def closed(self) -> bool:
        return self._file is None

    def write(self, data: bytes) -> None:
        if self._file is not None:
            with self._noting():
                self._file.write(data)

    def flush(self) -> None:
        if self._file is not None:
            with self._noting():
                self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            with self._noting():
                self._file.close()
            self._file = None

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = f"{_cannot_write(self.path, error)}; it ends here"
            tell(self.error)
            file, self._file = self._file, None
            assert file is not None
            with contextlib.suppress(OSError):  # what it still holds cannot be written, either
                file.close()
