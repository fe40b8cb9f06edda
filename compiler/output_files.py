"""Output files of programs and commands: written atomically, or as a stream.

`atomic_write` writes to a temporary file and renames it, so that a full disk, a crash or an
interrupt leaves the old content, and no other file. `write_whole` does that for files that users
request. `OutputStream` is for files that must be readable while they grow and after a crash.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gallette.compiler.errors import InputError, print_message


@contextlib.contextmanager
def atomic_write(path: str | Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write to, which replaces `path` when the block ends without an error.

    Anything but a regular file (`/dev/stdout`, a pipe) is written to directly. The permissions are
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
    """Whether the path must not be replaced: a device, or a file descriptor of a process."""
    if path.startswith(("/dev/", "/proc/")):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


_BINARY = getattr(os, "O_BINARY", 0)  # of Windows


def write_whole(path: str | Path, data: bytes | str, folder: bool = False) -> None:
    """Write a file that a user requested, and create its folder if `folder` is set.

    Surrogates, which file names may contain, become escapes in a text.
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
    """A file that grows while a program runs.

    The first error ends the file, not the program: what was written before remains, and `error`
    describes the problem, which is also printed on standard error, once.
    """

    def __init__(self, path: str | Path) -> None:
        """Raises OSError if the file cannot be created."""
        self.path = path
        self.error = ""
        self._file: BinaryIO | None = open(path, "wb")  # noqa: SIM115 - closed in `close`
        self._process = os.getpid()

    def _open(self) -> BinaryIO | None:
        """The file, if it can be written. A forked child leaves it to its parent, with what the
        buffer has: written by both it would be there twice.
        """
        if self._file is not None and os.getpid() != self._process:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self._file.fileno())
            self._file.close()
            self._file = None
        return self._file

    @property
    def closed(self) -> bool:
        return self._open() is None

    def write(self, data: bytes) -> None:
        file = self._open()
        if file is not None:
            with self._noting():
                file.write(data)

    def flush(self) -> None:
        file = self._open()
        if file is not None:
            with self._noting():
                file.flush()

    def close(self) -> None:
        file = self._open()
        if file is not None:
            with self._noting():
                file.close()
            self._file = None

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = f"{_cannot_write(self.path, error)}; it ends here"
            print_message(self.error)
            file, self._file = self._file, None
            assert file is not None
            with contextlib.suppress(OSError):  # its buffer cannot be written, either
                file.close()
