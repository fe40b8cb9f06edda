"""The file format of captures: a magic line, then chunks with their kind and length.

A chunk is a letter, four bytes of length, and the payload, compressed with zlib:

    H   the header: JSON, what was recorded on what
    C   a batch of records, one JSON array per line (see `recorder`)
    B   a resource: twelve bytes of content hash, then its bytes; equal content is kept once
    E   the end

Chunks are appended while the program runs, so a program that dies leaves a capture that ends where
it died; only the chunk being written is lost.
"""

from __future__ import annotations

import json
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import OutputStream

MAGIC = b"GALLETTE CAPTURE 1\n"
HASH_BYTES = 12
LEVEL = 1  # zlib's: a capture must not slow its program down
BATCH = 1 << 18  # characters of records that make a chunk
WAIT = 1.0  # seconds after which fewer make one: a program may be killed while a frame takes long
MOST = 1 << 30  # bytes a chunk may hold: a broken file must not eat the memory
MOST_RECORDS = 1 << 28  # and one of records, each of which becomes many objects


class CaptureError(GalletteError):
    """The file is not a capture, or cannot be replayed here."""


def content_hash(data: Any) -> str:
    """The name of a resource, made from its bytes."""
    return blake2b(data, digest_size=HASH_BYTES).hexdigest()


def is_capture(path: str | Path) -> bool:
    """Whether the file begins like a capture."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _plain(value: Any) -> Any:
    """Convert NumPy's numbers, which Python callers may pass."""
    item = getattr(value, "item", None)
    if item is None:
        return repr(value)
    return item()


class CaptureWriter:
    """Appends records and resources to a file."""

    def __init__(self, path: str | Path, header: dict[str, Any]):
        self.path = Path(path)
        try:
            self._file = OutputStream(self.path)
        except OSError as error:
            raise CaptureError(f"{path}: cannot write: {error.strerror}") from None
        self._known: set[str] = set()
        self._lines: list[str] = []
        self._size = 0
        self._lock = threading.RLock()
        self._file.write(MAGIC)
        self._chunk(b"H", json.dumps(header).encode())
        self._file.flush()
        self._flushed = time.monotonic()

    def _chunk(self, kind: bytes, payload: bytes, prefix: bytes = b"") -> None:
        packed = zlib.compress(payload, LEVEL)
        self._file.write(kind + struct.pack("<I", len(prefix) + len(packed)) + prefix + packed)

    def blob(self, data: Any) -> str:
        """Store bytes; returns their name."""
        name = content_hash(data)
        if name not in self._known:
            with self._lock:
                self._known.add(name)
                self._chunk(b"B", bytes(data), bytes.fromhex(name))
        return name

    def record(self, parts: list[Any]) -> None:
        """Append one record, which is written with the next batch."""
        line = json.dumps(parts, default=_plain, separators=(",", ":"))
        with self._lock:
            self._lines.append(line)
            self._size += len(line)
            if self._size > BATCH or time.monotonic() - self._flushed > WAIT:
                self.flush()

    def flush(self) -> None:
        """Write everything recorded so far to the file."""
        with self._lock:
            if self._lines and not self._file.closed:
                self._chunk(b"C", "\n".join(self._lines).encode())
                self._lines, self._size = [], 0
                self._file.flush()
                self._flushed = time.monotonic()

    def close(self) -> None:
        """Write the end of the capture."""
        with self._lock:
            if self._file.closed:
                return
            self.flush()
            self._chunk(b"E", b"")
            self._file.close()

    @property
    def is_whole(self) -> bool:
        """Whether the capture was written to its end."""
        return not self._file.error


class CaptureReader:
    """The chunks of a file: header and records at once, resources on request."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.header: dict[str, Any] = {}
        self.complete = False
        self._places: dict[str, tuple[int, int]] = {}
        self._checked: set[str] = set()
        self._batches: list[tuple[int, int]] = []
        try:
            self._file: BinaryIO = self.path.open("rb")
        except OSError as error:
            raise CaptureError(f"{path}: cannot read: {error.strerror}") from None
        if self._file.read(len(MAGIC)) != MAGIC:
            self._file.close()
            raise CaptureError(f"{path}: not a capture of gallette")
        self._index()

    def _index(self) -> None:
        size = self.path.stat().st_size
        at = len(MAGIC)
        while at + 5 <= size:
            self._file.seek(at)
            kind, length = struct.unpack("<cI", self._file.read(5))
            if at + 5 + length > size:
                break  # the program died here
            if kind == b"H":
                self.header = self._header(at + 5, length)
            elif kind == b"C":
                self._batches.append((at + 5, length))
            elif kind == b"B":
                if length < HASH_BYTES:
                    raise CaptureError(f"{self.path}: broken at byte {at}: a resource has no name")
                name = self._file.read(HASH_BYTES).hex()
                self._places[name] = (at + 5 + HASH_BYTES, length - HASH_BYTES)
            elif kind == b"E":
                self.complete = True
            else:
                raise CaptureError(f"{self.path}: broken at byte {at}: no chunk is called {kind!r}")
            at += 5 + length

    def _header(self, at: int, length: int) -> dict[str, Any]:
        header = self._json(self._read(at, length, MOST_RECORDS))
        if not isinstance(header, dict):
            raise CaptureError(f"{self.path}: the header is not a JSON object")
        return header

    def _read(self, at: int, length: int, most: int = MOST) -> bytes:
        self._file.seek(at)
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(self._file.read(length), most)
        except zlib.error as error:
            raise CaptureError(f"{self.path}: broken at byte {at}: {error}") from None
        if not unpacker.eof:
            size = f"more than {most} bytes" if len(data) == most else "half of it is missing"
            raise CaptureError(f"{self.path}: broken at byte {at}: {size}")
        return data

    def _json(self, text: bytes) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CaptureError(f"{self.path}: broken records: {error}") from None

    def records(self) -> Iterator[list[Any]]:
        """The records in order."""
        for at, length in self._batches:
            for line in self._read(at, length, MOST_RECORDS).splitlines():
                record = self._json(line)
                if not isinstance(record, list):
                    raise CaptureError(f"{self.path}: broken records: {line[:40]!r} is not a list")
                yield record

    def blob(self, name: str) -> bytes:
        """The bytes of that name."""
        if name not in self._places:
            raise CaptureError(f"{self.path}: resource {name} is missing")
        data = self._read(*self._places[name])
        if name not in self._checked:
            if content_hash(data) != name:
                raise CaptureError(f"{self.path}: resource {name} is damaged")
            self._checked.add(name)
        return data

    @property
    def resources(self) -> int:
        """The number of different resources."""
        return len(self._places)

    def close(self) -> None:
        self._file.close()
