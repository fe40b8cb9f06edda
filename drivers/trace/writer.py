"""How calls become JSON lines: naming objects, writing state, hashing bulk data."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum, Flag
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import InputError
from gallette.compiler.output_files import OutputStream
from gallette.pipe.formats import Format
from gallette.pipe.resource import Resource, Transfer

_INLINE = 16  # bulk data up to this many bytes is also written in hexadecimal


def _flag_names(flags: Flag) -> str:
    """The names of all bits that are set, as in `COLOR0|DEPTH`."""
    bits = int(flags.value)
    single = [m for m in type(flags) if m.value and not m.value & (m.value - 1)]
    return "|".join(m.name for m in single if m.name and m.value & bits) or str(bits)


class TraceWriter:
    """Turns calls into lines for a sink: a path, or a function that takes each record."""

    def __init__(self, sink: str | Path | Callable[[dict[str, Any]], None]) -> None:
        self.count = 0
        self.stamp: Callable[[], dict[str, Any]] = dict
        """What an observer adds to each record."""
        self._names: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._path = None if callable(sink) else Path(sink)
        self._sink = sink if callable(sink) else self._write_line
        self._file: OutputStream | None = None
        self._early: list[str] = []

    def _write_line(self, record: dict[str, Any]) -> None:
        """Write to the file, which is created with the first context, so that only querying a
        driver's caps leaves no file behind.
        """
        line = json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n"
        if self._file is None:
            self._early.append(line)
            if record["call"] != "context_create" or self._path is None:
                return
            try:
                self._file = OutputStream(self._path)
            except OSError as error:
                raise InputError(f"{self._path}: cannot write: {error.strerror}") from None
            line = "".join(self._early)
        self._file.write(line.encode())
        self._file.flush()

    def close(self) -> None:
        """Flush and close the file, if there is one."""
        if self._file is not None:
            self._file.close()

    # -- names ---------------------------------------------------------------------------------

    def name_new(self, kind: str, thing: Any) -> str:
        """A new name for an object that has just been created."""
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        name = self._names[id(thing)] = f"{kind}#{number}"
        with contextlib.suppress(TypeError):  # it may not allow weak references
            weakref.finalize(thing, self._names.pop, id(thing), None).atexit = False
        return name

    def name_of(self, kind: str, thing: Any) -> str:
        """The name of an object; objects without one get a name now."""
        return self._names.get(id(thing)) or self.name_new(kind, thing)

    def forget(self, thing: Any) -> None:
        """Forget an object that was destroyed, since its identity may be reused."""
        self._names.pop(id(thing), None)

    # -- records -------------------------------------------------------------------------------

    def record(self, on: str, call: str, **parts: Any) -> None:
        """Write one call."""
        self._sink({"n": self.count, "on": on, "call": call, **parts, **self.stamp()})
        self.count += 1

    def plain(self, value: Any) -> Any:
        """A value as JSON can represent it."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, Flag):
            return _flag_names(value)
        if isinstance(value, Enum | Format):
            return value.name
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            number = float(value)
            return number if math.isfinite(number) else str(number)
        if isinstance(value, bytes | bytearray | memoryview | np.ndarray):
            return self._bulk(value)
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if id(value) in self._names:
            return self._names[id(value)]
        if isinstance(value, Resource):
            return self.name_of("resource", value)
        if isinstance(value, Transfer):
            return self.name_of("transfer", value)
        if is_dataclass(value) and not isinstance(value, type):
            return self._state(value)
        if isinstance(value, Mapping):
            return {str(self.plain(k)): self.plain(v) for k, v in value.items()}
        if isinstance(value, Sequence | set | frozenset):
            return [self.plain(item) for item in value]
        name = self.name_of(type(value).__name__.lower(), value)
        if hasattr(value, "stage"):  # a shader seen for the first time
            return {"id": name, "name": value.name, "stage": self.plain(value.stage)}
        return name

    def _state(self, value: Any) -> dict[str, Any]:
        """A dataclass as its type and the fields that differ from their defaults."""
        shown: dict[str, Any] = {"type": type(value).__name__}
        for f in fields(value):
            current = getattr(value, f.name)
            if f.default is MISSING or (current is not f.default and current != f.default):
                shown[f.name] = self.plain(current)
        return shown

    def _bulk(self, value: Any) -> dict[str, Any]:
        data = value.tobytes() if isinstance(value, np.ndarray) else bytes(value)
        shown: dict[str, Any] = {"bytes": len(data), "sha1": hashlib.sha1(data).hexdigest()[:16]}
        if len(data) <= _INLINE:
            shown["hex"] = data.hex()
        return shown
