"""Records all OpenGL calls of a process.

One `Recorder` watches all contexts. A call becomes one record, `[name, arguments]` or `[name,
arguments, more]`:

* numbers and texts are written as they are; the memory a pointer refers to is `{"b": hash}`, a few
bytes of numbers are a list, a pointer that was only stored (an offset, a client array) is `{"@":
address}`, a null pointer is `null`; * `more` has the results: `r` the result, `o` the names that
were generated, `w` the hash of an image that was read, `m` client memory a draw read (`[address,
hash]`), `us` microseconds.

The sizes of memory reads are not declared again here: the recorder listens to
`entry_points.memory`, through which every implementation reads its caller's memory.

Records that are no calls begin with `@`: `@context`, `@current`, `@window`, `@frame`, `@marker`,
`@link` (a program's locations by name), `@framebuffer` (where the call after it drew), `@map` and
`@write` (memory the program wrote through a mapped buffer), `@release`.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
import time
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gallette.capture.arguments import Encoder, encoder
from gallette.capture.container import CaptureError, CaptureWriter, content_hash
from gallette.capture.story import draws
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import Function
from gallette.state_tracker.entry_points.memory import LISTENERS
from gallette.state_tracker.entry_points.watchers import WATCHERS
from gallette.state_tracker.vertices.buffers import bound

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.targets.window import Drawable
    from gallette.state_tracker.vertices.buffers import BufferObject

_LINKS = ("LinkProgram", "ProgramBinary", "CreateShaderProgram")
_WORKS = ("Draw", "MultiDraw", "Dispatch", "Flush", "Finish", "CopyBuffer", "MemoryBarrier")


class _Heard:
    """The memory of its caller that one call has read and written."""

    __slots__ = ("reads", "written")

    def __init__(self) -> None:
        self.reads: list[tuple[int, bytes]] = []
        self.written: Any = None


class Recorder:
    """Watches every context made while it is installed."""

    def __init__(self, path: str | Path, header: dict[str, Any]):
        self.writer = CaptureWriter(path, header)
        self.hidden = 0
        self.frames = 0
        self._inside: dict[int, _Heard] = {}
        self._lock = threading.RLock()
        self._numbers: dict[int, int] = {}  # contexts and windows, by identity
        self._kept: list[Any] = []  # identities must not come back
        self._current = 0
        self._framebuffer: Any = None
        self._mapped: dict[tuple[int, int], tuple[BufferObject, bytes]] = {}

    # -- being installed -----------------------------------------------------------------------

    def install(self) -> None:
        WATCHERS.append(self)
        LISTENERS.append(self)

    def remove(self) -> None:
        WATCHERS.remove(self)
        LISTENERS.remove(self)
        self.writer.close()

    # -- memory --------------------------------------------------------------------------------

    def touched(self, address: int, size: int, lasting: bool) -> None:
        """Do nothing: a recorder stops no access."""

    def read(self, address: int, data: bytes) -> None:
        heard = self._inside.get(get_ident())
        if heard is not None:
            heard.reads.append((address, data))

    def wrote(self, pointer: Any, data: Any) -> None:
        heard = self._inside.get(get_ident())
        if heard is not None:
            heard.written = data

    # -- contexts ------------------------------------------------------------------------------

    def born(self, gl: Context, share: Context | None) -> None:
        number = self._number(gl)
        facts = {
            "driver": gl.driver,
            "profile": gl.profile,
            "version": list(gl.requested_version),
            "debug": gl.debug_context,
            "share": self._numbers.get(id(share), 0) if share is not None else 0,
            "size": list(gl.first_size) if gl.first_size is not None else None,
            "samples": gl.first_samples,
        }
        self.writer.record(["@context", number, facts])

    def _number(self, thing: Any) -> int:
        known = self._numbers.get(id(thing))
        if known is None:
            known = self._numbers[id(thing)] = len(self._numbers) + 1
            self._kept.append(thing)
        return known

    def window(self, gl: Context, draw: Drawable | None, read: Drawable | None) -> None:
        parts: list[Any] = []
        for drawable in (draw, read):
            if drawable is None:
                parts.append(None)
                continue
            color, depth = drawable._color, drawable._depth_stencil
            size = list(drawable.size)
            parts.append([self._number(drawable), size, drawable.samples, color, depth])
        with self._lock:
            self._switch(gl)
            self.writer.record(["@window", *parts])
        if draw is None:  # nothing is current any more: the program may be about to end
            self.writer.flush()

    def frame(self) -> None:
        self.frames += 1
        self.writer.record(["@frame", self.frames])
        self.writer.flush()

    def died(self, gl: Context) -> None:
        self.writer.record(["@release", self._number(gl)])
        self.writer.flush()

    def marker(self, text: str) -> None:
        """Record a marker, by which the driver of the program finds a place again: the end of a
        scene's pass.
        """
        self.writer.record(["@marker", text])

    def _switch(self, gl: Context) -> None:
        number = self._number(gl)
        if number != self._current:
            self._current = number
            self.writer.record(["@current", number])

    # -- calls ---------------------------------------------------------------------------------

    def wrap(
        self, gl: Context, function: Function, method: Callable[..., Any]
    ) -> Callable[..., Any]:
        """A method that is recorded when the program calls it (and not when GL itself does)."""
        encode = encoder(function)
        name = function.name
        before = self._before(name)
        links = name.startswith(_LINKS)
        maps = name.startswith("Map") and "Buffer" in name
        paints = draws(name)
        inside, clock = self._inside, time.perf_counter_ns

        def call(*args: Any) -> Any:
            thread = get_ident()
            if thread in inside or self.hidden:
                return method(*args)
            if before is not None:
                with self._lock:
                    self._switch(gl)
                    before(gl, args)
            heard = inside[thread] = _Heard()
            start = clock()
            try:
                result = method(*args)
            finally:
                del inside[thread]
            more: dict[str, Any] = {}
            with self._lock:  # one thread at a time: a call must follow the record of its context
                self._switch(gl)
                if paints:
                    more["us"] = (clock() - start) // 1000
                    self._painted(gl)
                self._write(encode, args, result, heard, more)
                if links:
                    self._linked(gl, function, args, result)
                if maps and result:
                    self._map(gl, name, args)
            return result

        return call

    def _write(
        self, encode: Encoder, args: tuple[Any, ...], result: Any, heard: _Heard, more: Any
    ) -> None:
        plain, left = encode(args, heard.reads, self.writer, more, result, heard.written)
        if left and encode.reads_arrays:
            more["m"] = [[address, self.writer.blob(data)] for address, data in left]
        if encode.raw_output and heard.written is not None:
            more["w"] = content_hash(heard.written.tobytes())
        elif encode.raw_output and isinstance(result, bytes) and result:
            more["w"] = content_hash(result)
        parts = [encode.function.name, plain]
        self.writer.record([*parts, more] if more else parts)

    def _painted(self, gl: Context) -> None:
        """Record the framebuffer that the call draws to, if it differs from that of the call
        before.
        """
        state = gl.pipe_framebuffer
        if state is self._framebuffer:
            return
        self._framebuffer = state
        surfaces = [c.format.name if c is not None else None for c in state.cbufs]
        depth = state.zsbuf.format.name if state.zsbuf is not None else None
        samples = max(
            (c.resource.desc.samples for c in (*state.cbufs, state.zsbuf) if c), default=0
        )
        self.writer.record(["@framebuffer", state.width, state.height, samples, surfaces, depth])

    # -- programs and mapped memory ------------------------------------------------------------

    def _linked(self, gl: Context, function: Function, args: tuple[Any, ...], result: Any) -> None:
        name = result if function.name.startswith("CreateShader") else args[0]
        program = gl.programs.names.get(int(name or 0))
        executable = getattr(program, "executable", None)
        if executable is None:
            return
        linked = executable.linked
        self.writer.record(
            [
                "@link",
                int(name),
                {
                    "uniforms": {
                        u.name: [u.location, max(u.array_size, 1)]
                        for u in linked.uniforms
                        if u.location >= 0
                    },
                    "blocks": [b.name for b in linked.uniform_blocks],
                    "storage": [b.name for b in linked.storage_blocks],
                    "attributes": {
                        a.name: a.location for a in linked.attributes if a.location >= 0
                    },
                    "outputs": {o.name: [o.location, o.index] for o in linked.frag_outputs},
                },
            ]
        )

    def _before(self, name: str) -> Callable[[Any, tuple[Any, ...]], None] | None:
        """The function that records changes before a call of that name, or None if none is
        needed.
        """
        if name.startswith(("UnmapBuffer", "UnmapNamedBuffer", "FlushMapped")):
            return lambda gl, args: self._written_memory(everything=True)
        if name.startswith(_WORKS) or name.startswith(("End", "Begin", "Clear", "Blit")):
            return lambda gl, args: self._written_memory(everything=False)
        return None

    def _map(self, gl: Context, name: str, args: tuple[Any, ...]) -> None:
        buffer = gl.buffers.names.get(int(args[0])) if "Named" in name else bound(gl, args[0])
        assert buffer is not None
        mapping = buffer.mapping
        assert mapping is not None
        where = [buffer.name, mapping.offset, mapping.length]
        self.writer.record(["@map", *where, int(mapping.access)])
        key = (id(gl.group), buffer.name)
        self._mapped.pop(key, None)
        if mapping.access & GL.MAP_WRITE_BIT:
            self._mapped[key] = (buffer, mapping.transfer.data.tobytes())

    def _written_memory(self, everything: bool) -> None:
        """Record the data that the program has stored in mapped buffers since the last check."""
        for key, (buffer, seen) in list(self._mapped.items()):
            mapping = buffer.mapping
            if mapping is None:
                del self._mapped[key]
                continue
            if not everything and not mapping.access & GL.MAP_PERSISTENT_BIT:
                continue
            now = mapping.transfer.data.tobytes()
            if now != seen:
                self._mapped[key] = (buffer, now)
                self.writer.record(["@write", buffer.name, mapping.offset, self.writer.blob(now)])


@contextmanager
def recording(path: str | Path, **header: Any) -> Iterator[Recorder]:
    """Record every context made inside the block.

    >>> with recording("frame.gcap", program="my test"):
    ...     gl = gallette.create_context(size=(64, 64))
    """
    recorder = Recorder(path, header)
    recorder.install()
    try:
        yield recorder
    finally:
        recorder.remove()
    if not recorder.writer.is_whole:
        raise CaptureError(f"{path}: the capture is incomplete")


def from_environment() -> None:
    """Record this whole process if `GALLETTE_CAPTURE` names a file."""
    path = os.environ.pop("GALLETTE_CAPTURE", "")
    if not path:
        return
    program = " ".join(sys.argv) if sys.argv and sys.argv[0] else Path(sys.executable).name
    recorder = Recorder(path, {"program": program})
    recorder.install()
    atexit.register(recorder.remove)
    executable = Path("/proc/self/exe")
    if executable.exists() and not executable.resolve().name.startswith("python"):
        _at_exit(recorder.writer.close)


def _at_exit(close: Callable[[], None]) -> None:
    """Register a handler with libc, because a host that is not a Python program ends without
    finalizing Python.
    """
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)
    _KEPT.append(kind(lambda status, argument: close()))
    on_exit = getattr(ctypes.CDLL(None), "on_exit", None)
    if on_exit is not None:
        on_exit(_KEPT[-1], None)


_KEPT: list[Any] = []
