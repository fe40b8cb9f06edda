"""A bounded cache of files, named by what they depend on and shared between processes.

A file's name is the hash of everything its content depends on, so files are created and removed,
but never changed. A thread creates them under another name and renames them, since creating a file
may take as long as compiling a small shader. Any error of the disk is a cache miss.

The cache contains code: machine code, and pickles. So the folder must be one that only the user can
write to (`private_folder`), and a file must be signed by the user: its first bytes are a keyed hash
of its name and content, under a key in the user's cache folder. A file that is damaged, renamed or
written by another user is a miss before its content is used.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import pickle
import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gallette.compiler.cache_home import HOME_VARIABLES, cache_home, usual_cache_home
from gallette.compiler.errors import print_message
from gallette.compiler.output_files import atomic_write
from gallette.compiler.private_folder import private_folder

_MOST_BYTES = 512 << 20
_DIGEST = 32
_KEY = 32


class DiskCache:
    """A folder of files named by key."""

    def __init__(self, folder: Path, most_bytes: int = _MOST_BYTES) -> None:
        self.folder, self.most_bytes = folder, most_bytes
        self._root = os.path.join(folder, "")
        self.hits = self.misses = 0
        self._written = 0
        self._usable: bool | None = None  # not checked yet

    def get(self, key: str) -> bytes | None:
        """The body that this user stored under a key, or None if it is missing or damaged."""
        unwritten = _writer.bodies.get((self, key))
        if unwritten is not None:
            self.hits += 1
            return unwritten
        path = self._path(key)
        data = b""
        with contextlib.suppress(OSError):
            if self._is_usable():
                with open(path, "rb", 0) as file:
                    data = file.read()
        body = data[_DIGEST:]
        if not hmac.compare_digest(self._signature(key, body), data[:_DIGEST]):
            self.misses += 1
            return None
        self.hits += 1
        with contextlib.suppress(OSError):
            os.utime(path)  # the least recently used files are removed first
        return body

    def put(self, key: str, body: bytes) -> None:
        """Store a body; its file is there after `flush`, or when the process has ended."""
        if self._is_usable():
            _writer.put(self, key, body)

    @staticmethod
    def flush() -> None:
        """Wait until the files of all bodies are written."""
        _writer.wait()

    def write(self, key: str, body: bytes) -> None:
        """Create the file of a body."""
        with contextlib.suppress(OSError):
            with atomic_write(self._path(key), 0o600) as file:
                file.write(self._signature(key, body) + body)
            self._written += len(body)
            if self._written > self.most_bytes // 16:
                self._written = 0
                self.trim()

    def load(self, key: str) -> Any:
        """The object that `keep` stored under this key, or None."""
        body = self.get(key)
        return None if body is None else pickle.loads(body)

    def keep(self, key: str, value: Any) -> None:
        """Store an object that pickles, for processes with the same code."""
        self.put(key, pickle.dumps(value, pickle.HIGHEST_PROTOCOL))

    def _is_usable(self) -> bool:
        """Whether only this user can write to the folder."""
        if self._usable is None:
            try:
                private_folder(self.folder)
            except OSError as error:
                self._usable = False
                if usual_cache_home() not in self.folder.parents:  # the user has chosen it
                    print_message(f"gallette: nothing is kept: {error}")
            else:
                self._usable = True
        return self._usable

    def _signature(self, key: str, body: bytes) -> bytes:
        found = hashlib.blake2b(key=_key(), digest_size=_DIGEST)
        found.update(f"{self.folder.name} {key}\0".encode())
        found.update(body)
        return found.digest()

    def trim(self) -> None:
        """Remove the least recently used files until three quarters of the bound are left."""
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
        for folder, _, names in os.walk(self.folder):  # older versions made folders in it
            for path in (os.path.join(folder, name) for name in names):
                with contextlib.suppress(OSError):
                    stat = os.stat(path)
                    yield stat.st_mtime, stat.st_size, path

    def _path(self, key: str) -> str:
        return f"{self._root}{key}"


_PAUSES, _PAUSE = 10, 0.01
"""Before it writes, the thread sleeps this often for this many seconds: programs draw with the code
that they have compiled, and need the processor for it.
"""


class _Writer:
    """Bodies that wait for their files, and the thread that creates these.

    The thread ends when nothing waits. It is no daemon, even if one starts it (the thread that
    compiles), so Python waits for it at exit.
    """

    def __init__(self) -> None:
        self.bodies: dict[tuple[DiskCache, str], bytes] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, cache: DiskCache, key: str, body: bytes) -> None:
        with self._lock:
            self.bodies[cache, key] = body
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, name="gallette-cache", daemon=False
                )
                try:
                    self._thread.start()
                except RuntimeError:  # no more threads, or Python is about to end
                    self._thread = None
                    del self.bodies[cache, key]

    def wait(self) -> None:
        thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        for _ in range(_PAUSES):
            if threading.main_thread().is_alive():  # else Python waits for this thread
                time.sleep(_PAUSE)
        while True:
            with self._lock:
                first = next(iter(self.bodies.items()), None)
                if first is None:
                    self._thread = None
                    return
            (cache, key), body = first
            cache.write(key, body)
            del self.bodies[cache, key]


_writer = _Writer()


def _after_fork() -> None:
    """A forked child has no such thread; its parent writes the files."""
    global _writer
    _writer = _Writer()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@functools.cache
def _key() -> bytes:
    """The user's key; if it cannot be stored, a random one, so that files of other processes are
    misses.
    """
    home = usual_cache_home()
    if home is not None:
        with contextlib.suppress(OSError):
            return _kept_key(private_folder(home) / "key")
    return secrets.token_bytes(_KEY)


def _kept_key(path: Path) -> bytes:
    if not path.exists():
        with atomic_write(path, 0o600) as file:
            file.write(secrets.token_bytes(_KEY))
    found = path.read_bytes()  # another process may have written it first
    if len(found) != _KEY or (os.name == "posix" and path.stat().st_mode & 0o077):
        path.unlink()
        return _kept_key(path)
    return found


def shared_cache(name: str, most_bytes: int = _MOST_BYTES) -> DiskCache | None:
    """The user's cache of one kind of data; None if caching is disabled."""
    return _opened(name, most_bytes, *map(os.environ.get, HOME_VARIABLES))


@functools.cache
def _opened(name: str, most_bytes: int, *environment: str | None) -> DiskCache | None:
    home = cache_home()
    return None if home is None else DiskCache(home / name, most_bytes)


@functools.cache
def code_version(*packages: str) -> str:
    """A hash of the source files and tables of these packages, by name, size and time."""
    return "-".join(map(_version_of, packages))


@functools.cache
def _version_of(package: str) -> str:
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    found = hashlib.blake2b(digest_size=16)
    for where, size, changed in sorted(_sources(os.path.join(root, package), package)):
        found.update(f"{where}:{size}:{changed}\n".encode())
    return found.hexdigest()


def _sources(folder: str, where: str) -> Iterator[tuple[str, int, int]]:
    """The source files below a folder. (There are hundreds, so it avoids a `Path` for each.)"""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".txt")):  # tables are code, too
                stat = entry.stat()
                yield f"{where}/{entry.name}", stat.st_size, stat.st_mtime_ns
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path, f"{where}/{entry.name}")
