"""Replays the calls of a capture, on any driver or on the machine's own GL.

Values that differ between implementations are translated: generated names, locations of uniforms
and numbers of blocks (a capture has them by name), addresses of memory. Locations of attributes and
outputs are set before a program is linked, and other drivers link the GLSL in a program's binary.
The machine's own GL may be older, and gets shaders for an older GLSL. Everything else is passed on
unchanged.

The file is not trusted: `records` has checked types and numbers, `memory` refuses addresses, and
the existing contexts, windows and mapped buffers are queried from OpenGL, not taken from the file.
The machine's own GL reads memory without asking, and how much of it depends on its state.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gallette.capture.arguments import keeps_pointer, object_kind
from gallette.capture.container import CaptureError, content_hash
from gallette.capture.memory import Arena
from gallette.capture.records import as_passed
from gallette.capture.story import Call, Capture, Event, Step, open_capture
from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.pipe.loader import create_screen
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import Kind, Param
from gallette.state_tracker.entry_points.memory import dtype_of
from gallette.state_tracker.shading.program_binaries import Binary
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS

# A replay skips these: their results are in the capture.
_SKIPPED = ("DebugMessageCallback", "GetDebugMessageLog", "GetProgramBinary", "ObjectPtrLabel")
_QUERIES = ("Get", "Is", "CheckFramebufferStatus", "ValidateProgram")
_UNSHARED = ("framebuffer", "vertex array", "pipeline", "transform feedback", "query")
_VERSION = re.compile(r"^(\s*#\s*version\s+)(\d+)\b(?!\s*es)", re.MULTILINE)
_LEAST = {"core": (3, 2), "compat": (1, 0)}

MOST_CONTEXTS = 64  # alive at a time; and as many windows
MOST_WINDOW = 1 << 27  # samples of a window
MOST_REPORT = 1 << 24  # words that feedback or selection can write
_READS = ("ReadPixels", "ReadnPixels", "GetTexImage", "GetTextureImage", "GetnTexImage",
          "GetTextureSubImage", "GetBufferSubData", "GetNamedBufferSubData")  # fmt: skip


@lazy_dataclass()
class Replayed:
    """The result of a replay: images that were read again, and whether they have the same bits."""

    driver: str
    calls: int = 0
    images: int = 0
    different: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def identical(self) -> bool:
        return not self.different and not self.errors


@lazy_dataclass()
class _Program:
    """A capture's record of a linked program, and its locations in this GL."""

    uniforms: dict[int, int] = field(default_factory=dict)
    blocks: dict[int, int] = field(default_factory=dict)
    storage: dict[int, int] = field(default_factory=dict)


class Replayer:
    """Makes a capture's calls on contexts of `driver`."""

    def __init__(self, capture: Capture, driver: str = "", after_create: Any = None):
        self.capture = capture
        self.driver = driver or capture.driver
        self.native = self.driver.partition(":")[0] == "native"
        self._by_address = self.native  # whether calls get the addresses of memory, unchecked
        self.result = Replayed(self.driver)
        self._draws = 0  # made so far
        self.contexts: dict[int, Any] = {}
        self.gl: Any = None
        self.edits: dict[int, str] = {}  # glShaderSource by call number: another text
        self._after_create = after_create
        self._groups: dict[int, int] = {}  # a context: the first of those it shares objects with
        self.names: dict[tuple[int, str, int], int] = {}
        self._programs: dict[tuple[int, str, int], _Program] = {}
        self._using: dict[int, int] = {}
        self._current = 0
        self._lost: set[int] = set()
        self._windows: dict[int, Any] = {}
        self._screen: Any = None
        self._several = sum(1 for _ in capture.events("context")) > 1
        self._has_windows = any(True for _ in capture.events("window"))
        self._reports: list[tuple[str, Any]] = []  # where feedback and selection are written
        self._arena = Arena(capture)
        self._links = {e.before - 1: e for e in capture.events("link")}

    def run(
        self,
        until: int | None = None,
        after: Callable[[Call, Any], None] | None = None,
        before: Callable[[Call, Any], None] | None = None,
        release: bool = True,
    ) -> Replayed:
        """Make the calls up to number `until` (by default all). `before` and `after` are called
        with each call and its GL.
        """
        steps: Iterable[Step] = self.capture.steps
        if until is not None:
            steps = itertools.takewhile(
                lambda step: isinstance(step, Event) or step.number <= until, steps
            )
        try:
            self.play(steps, after, before)
        finally:
            if release:
                self.release()
        return self.result

    def play(
        self,
        steps: Iterable[Step],
        after: Callable[[Call, Any], None] | None = None,
        before: Callable[[Call, Any], None] | None = None,
    ) -> None:
        """Replay these steps, starting from the state that earlier ones left."""
        with self._arena.guarding():
            self._play(steps, after, before)

    def _play(
        self,
        steps: Iterable[Step],
        after: Callable[[Call, Any], None] | None,
        before: Callable[[Call, Any], None] | None,
    ) -> None:
        for step in steps:
            if isinstance(step, Event):
                self._event(step)
                continue
            if self.gl is None:
                raise self._wrong(f"call {step.number} has no context")
            if before is not None:
                before(step, self.gl)
            self._call(step)
            if after is not None:
                after(step, self.gl)
            self._record_loss(step)

    def _record_loss(self, call: Call) -> None:
        """Record that a context was lost to a runaway shader, so that its later calls draw
        nothing.
        """
        reason = "" if self.native else self.gl.lost
        if reason and self._current not in self._lost:
            self._lost.add(self._current)
            self.result.errors.append(f"call {call.number}, {call}: the context is lost: {reason}")

    def _wrong(self, what: str) -> CaptureError:
        return CaptureError(f"{self.capture.path}: {what}")

    def release(self) -> None:
        """Release every context and window."""
        if self._windows:
            for gl in self.contexts.values():
                gl.make_current()
                gl.bind_drawables(None, None)
            for window in self._windows.values():
                window.release()
            self._windows.clear()
        for gl in reversed(self.contexts.values()):
            try:
                gl.make_current()
                gl.release()
            except GalletteError as error:
                self.result.errors.append(str(error))
        self.contexts.clear()
        if self._screen is not None:
            self._screen.destroy()
            self._screen = None

    # -- what is no call -------------------------------------------------------------------------

    def _event(self, event: Event) -> None:
        kind, parts = event.kind, event.parts
        if kind == "context":
            self._create(parts[0], parts[1])
        elif kind == "current":
            if parts[0] not in self.contexts:
                raise self._wrong(f"context {parts[0]} becomes current, but there is none")
            self._current = parts[0]
            self.gl = self.contexts[parts[0]]
            self.gl.make_current()
        elif kind == "release" and parts[0] in self.contexts and len(self.contexts) > 1:
            released = self.contexts.pop(parts[0])
            released.release()
            if released is self.gl:
                self.gl = None
        elif kind in ("window", "link", "write") and self.gl is None:
            raise self._wrong(f"a record @{kind} has no context")
        elif kind == "window":
            self.gl.bind_drawables(*(self._window(w) for w in parts))
        elif kind == "link":
            self._linked(parts[0], parts[1])
        elif kind == "write":
            self._write(*parts)

    def _write(self, recorded: int, offset: int, name: str) -> None:
        """Store the recorded data in a buffer that is mapped for writing."""
        data = self.capture.blob(name)
        buffer = self.name("buffer", recorded)
        found = _mapped_natively(self.gl, buffer) if self.native else _mapped(self.gl, buffer)
        if found is None:  # this GL refused to map it
            return
        address, start, length = found
        if offset < start or offset + len(data) > start + length:
            raise self._wrong(
                f"bytes {offset}+{len(data)} of buffer {recorded} are written, but {start}+{length}"
                " are mapped"
            )
        ctypes.memmove(address + offset - start, data, len(data))

    def _create(self, number: int, facts: dict[str, Any]) -> None:
        if number in self.contexts or len(self.contexts) >= MOST_CONTEXTS:
            raise self._wrong(f"context {number} is one too many")
        before = self.gl
        version = facts["version"][0], facts["version"][1]
        size = tuple(facts["size"]) if facts["size"] else None
        self._check_size(size or (1, 1), facts["samples"] or 0)
        profile = "es" if facts["profile"] == "es1" else facts["profile"]  # asked for as 1.1
        options: dict[str, Any] = {"profile": profile, "version": version}
        if facts["debug"]:
            options["debug"] = True
        share = self.contexts.get(facts["share"])
        if self.native:
            from gallette.state_tracker.native.context import NativeContext

            driver, samples = self.driver.partition(":")[2], facts["samples"] or 0
            options["windows"] = size is None or self._has_windows
            made = functools.partial(NativeContext, driver, size=size, samples=samples, share=share)
            try:
                self.gl = made(**options)
            except GalletteError:  # a request for an old version gets the latest one there is
                options["version"] = _LEAST.get(profile, version)
                self.gl = made(**options)
        else:
            from gallette.state_tracker.context import Context

            if facts["size"]:
                options["size"] = size
                options["samples"] = facts["samples"] or 0
            if share is None and self._several:  # contexts of one display, and its windows
                if self._screen is None:
                    self._screen = create_screen(self.driver)
                options["screen"] = self._screen
            self.gl = Context(self.driver, share=share, **options)
        # (Its window is bound before its first call, and makes calls of the pipe.)
        self.gl.call_number = self.gl.draw_number = 0
        self.contexts[number] = self.gl
        self._groups[number] = self._groups.get(facts["share"], number)
        if self._after_create is not None:
            self._after_create(self.gl)
        if before is None:
            self._current = number
        else:  # the program has not made the new one current yet
            self.gl = before
            before.make_current()

    def _window(self, facts: list[Any] | None) -> Any:
        if facts is None:
            return None
        from gallette.state_tracker.targets.window import Drawable

        number, size, samples, color, depth = facts
        self._check_size(size, samples)
        if not {color, depth} <= {GL.NONE, *INTERNAL_FORMATS}:
            raise self._wrong(f"windows have no formats {color:#x} and {depth:#x}")
        window = self._windows.get(number)
        if window is not None and self.native and window.size != tuple(size):
            window.release()  # what a window holds is undefined once its size has changed
            window = None
        if window is None:
            if number not in self._windows and len(self._windows) >= MOST_CONTEXTS:
                raise self._wrong(f"window {number} is one too many")
            if self.native:
                has_alpha = INTERNAL_FORMATS[color].base == "RGBA"
                window = self.gl.window(tuple(size), samples, has_alpha, depth != GL.NONE)
            else:
                window = Drawable(self.gl.screen, tuple(size), samples, color, depth)
            self._windows[number] = window
        elif window.size != tuple(size):
            window.resize(tuple(size))
        return window

    def _check_size(self, size: Any, samples: int) -> None:
        if size[0] * size[1] * max(samples, 1) > MOST_WINDOW:
            raise self._wrong(f"a window of {size[0]} x {size[1]} pixels is too large")

    # -- calls -----------------------------------------------------------------------------------

    def _call(self, call: Call) -> None:
        name = call.name
        if not self.makes(call):
            return
        self.result.calls += 1
        self._draws += call.draws
        self.gl.call_number, self.gl.draw_number = call.number, self._draws
        if name.startswith("LinkProgram") and self.native:
            self._bind_locations(call)
        if name == "ProgramBinary" and self.driver != self.capture.driver and self._relink(call):
            return
        args = self.arguments(call)
        if call.number in self.edits:
            args = [args[0], 1, self.edits[call.number], None]
        method = getattr(self.gl, call.function.method)
        try:
            result = method(*args)
        except GalletteError as error:
            self.result.errors.append(f"call {call.number}, {call}: {error}")
            return
        finally:
            self._arena.call_done()
        self._read_result(call, result)

    def makes(self, call: Call) -> bool:
        """Whether a replay makes this call; not queries whose results nothing depends on."""
        name = call.name
        if name.startswith(_SKIPPED):
            return False
        if not name.startswith(_QUERIES):
            return True
        return name.startswith(_READS) or "w" in call.more or "Location" in name

    def _read_result(self, call: Call, result: Any) -> None:
        more, name = call.more, call.name
        if "o" in more and call.function.outputs and isinstance(result, list | tuple):
            kind = self._kind(call)
            for recorded, here in zip(more["o"], result, strict=False):
                self.names[self.key(kind, recorded)] = here
        elif (
            "r" in more
            and name.startswith(("Create", "FenceSync", "GenLists"))
            and isinstance(result, int)
        ):
            kind = "sync" if name == "FenceSync" else "list" if name == "GenLists" else "program"
            self.names[self.key(kind, more["r"])] = result
        elif name == "UseProgram":
            self.uses(call.args[0])
        if "w" in more:
            self.result.images += 1
            if not isinstance(result, bytes | np.ndarray) or content_hash(result) != more["w"]:
                self.result.different.append(call.number)

    def uses(self, recorded: int) -> None:
        """Record the program in use."""
        self._using[self._current] = recorded

    def load(self, call: Call) -> None:
        """Store the client arrays that a call is about to read."""
        self._arena.load(call)

    @contextmanager
    def passing_addresses(self) -> Iterator[list[Any]]:
        """A block in which `arguments` answers with addresses, as a C pointer takes them; the
        memory that they point to is in the list then.
        """
        memory: list[Any] = []
        before, self._by_address = self._by_address, True
        try:
            yield memory
        finally:
            self._by_address = before
            memory += self._arena.call_done()

    def key(self, kind: str, recorded: int) -> tuple[int, str, int]:
        """An object of the capture. Contexts may give one name to several, unless they share it."""
        owner = self._current if kind in _UNSHARED else self._groups[self._current]
        return owner, kind, recorded

    def name(self, kind: str, recorded: int) -> int:
        """This GL's name of an object of the current context."""
        return self.names.get(self.key(kind, recorded), recorded)

    def _kind(self, call: Call) -> str:
        out = call.function.outputs[0]
        if out.name == "ids":
            return "query" if "Quer" in call.name else "transform feedback"
        return object_kind(call.name, out.name, out.type)

    def arguments(self, call: Call) -> list[Any]:
        """The arguments of a call as this GL takes them."""
        self._arena.load(call)
        function, args = call.function, []
        required = function.required
        for i, (param, value) in enumerate(zip(function.params, call.args, strict=False)):
            if param.kind is Kind.OUT_RAW:
                given = self._room(call, value)
                if given is None:
                    break
                args.append(given)
                continue
            if i >= required:
                break
            if param.kind in (Kind.VALUE, Kind.CAPACITY):
                value = as_passed(param.type, value)
            kind = object_kind(call.name, param.name, param.type)
            if call.name.startswith(("CopyImageSubData", "ObjectLabel")):
                kind = kind or self._named_kind(call, param.name)
            if kind and isinstance(value, int):
                args.append(self.name(kind, value))
            elif isinstance(value, list):
                args.append(self._list(param, kind, value))
            elif isinstance(value, dict):
                args.append(self._memory(call, param, value))
            elif isinstance(value, str) and i and function.params[i - 1].name == "length":
                if args[-1] > 0:
                    args[-1] = len(value.encode())  # what of it GL may look at
                args.append(value)
            elif param.name == "location" and isinstance(value, int):
                args.append(self._location(call, value))
            elif param.name in ("uniformBlockIndex", "storageBlockIndex"):
                args.append(self._block(call, param.name, value))
            else:
                args.append(value)
        if function.name.startswith("ShaderSource"):
            args = [*args[:3], None]
            if self.native and args[2]:
                args[2] = [_VERSION.sub(self._known_version, text) for text in args[2]]
        return args

    def _known_version(self, found: re.Match[str]) -> str:
        """A shader's #version, or the latest one that the machine's own GL has: programs that
        found GLSL 4.60 when they were recorded write #version 460.
        """
        latest = re.search(r"(\d)\.(\d\d)", self.gl.get_string(GL.SHADING_LANGUAGE_VERSION))
        most = int(latest[1] + latest[2]) if latest else 460
        return f"{found[1]}{min(int(found[2]), most)}"

    def _room(self, call: Call, value: Any) -> Any:
        """The argument for a raw output: an offset of a bound buffer, or the address of new
        memory.
        """
        if call.name in ("FeedbackBuffer", "SelectBuffer") and isinstance(value, dict):
            if call.args[0] > MOST_REPORT:
                raise self._wrong(f"call {call.number} wants {call.args[0]} words of memory")
            room = np.zeros(max(call.args[0], 0), "u4")
            self._reports.append((call.name, room))
            return room
        if isinstance(value, dict) and "w" not in call.more:
            return self._offset(GL.PIXEL_PACK_BUFFER_BINDING, value["@"])
        return None

    def _list(self, param: Param, kind: str, value: list[Any]) -> Any:
        """Texts unchanged, or these numbers in memory of this process."""
        if param.kind is Kind.STRINGS:
            return value
        if kind:
            value = [self.name(kind, v) for v in value]
        if param.stars > 1:
            value = [self._arena.address(v) for v in value]
        dtype = np.dtype("i8") if param.stars > 1 else dtype_of(param.type)
        if dtype.kind == "f":
            return self._lent(np.array(value, dtype))
        mask = (1 << 8 * dtype.itemsize) - 1
        return self._lent(np.array([v & mask for v in value], f"u{dtype.itemsize}"))

    def _lent(self, data: Any) -> Any:
        """Memory that a call reads: its address, or for a Python method of ours the object, which
        has a length.
        """
        return self._arena.lend(data) if self._by_address else data

    def _memory(self, call: Call, param: Param, value: dict[str, Any]) -> Any:
        if "b" in value:
            return self._lent(self.capture.blob(value["b"]))
        found = self._arena.find(value["@"])
        return found if found is not None else self._offset(_binding(call, param), value["@"])

    def _offset(self, binding: int, offset: int) -> int:
        """An offset into a bound buffer, or an address that the program's GL did not follow.

        Our contexts ask `Arena` before they follow an address. Where no buffer is bound, the
        machine's own GL would follow it, and so would a C pointer: these get a null pointer.
        """
        if self._by_address and not (binding and self.gl.get_integerv(binding)[0]):
            return 0
        return offset

    def _named_kind(self, call: Call, param: str) -> str:
        if param not in ("srcName", "dstName", "name"):
            return ""
        named = call.named()
        what = named.get({"srcName": "srcTarget", "dstName": "dstTarget"}.get(param, "identifier"))
        by_target: dict[Any, str] = {
            GL.RENDERBUFFER: "renderbuffer",
            GL.BUFFER: "buffer",
            GL.SHADER: "program",
            GL.PROGRAM: "program",
            GL.VERTEX_ARRAY: "vertex array",
            GL.QUERY: "query",
            GL.SAMPLER: "sampler",
            GL.FRAMEBUFFER: "framebuffer",
            GL.PROGRAM_PIPELINE: "pipeline",
            GL.TRANSFORM_FEEDBACK: "transform feedback",
            GL.DISPLAY_LIST: "list",
        }
        return by_target.get(what, "texture")

    # -- programs ----------------------------------------------------------------------------------

    def _bind_locations(self, call: Call) -> None:
        """Set the locations of attributes and outputs that the capture has."""
        link = self._links.get(call.number)
        if link is None:
            return
        program = self.name("program", call.args[0])
        for name, location in link.parts[1]["attributes"].items():
            if not name.startswith("gl_"):
                self.gl.bind_attrib_location(program, location, name)
        for name, (location, index) in link.parts[1]["outputs"].items():
            if location >= 0 and index == 0 and not name.startswith("gl_"):
                self.gl.bind_frag_data_location(program, location, name.removesuffix("[0]"))
        while self.gl.get_error():
            pass

    def _relink(self, call: Call) -> bool:
        """Link a program from the GLSL in its recorded binary, which other drivers would refuse."""
        data = call.args[2]
        blob = self.capture.blob(data["b"]) if isinstance(data, dict) and "b" in data else b""
        binary = Binary.read(bytes(blob))
        if binary is None or any(s.code or s.included for s in binary.shaders):
            return False
        gl, program = self.gl, self.name("program", call.args[0])
        attached = gl.get_attached_shaders(program)  # which a binary does not look at
        for shader in attached:
            gl.detach_shader(program, shader)
        shaders = [gl.create_shader(source.type) for source in binary.shaders]
        for shader, source in zip(shaders, binary.shaders, strict=True):
            gl.shader_source(shader, source.source)
            gl.compile_shader(shader)
            gl.attach_shader(program, shader)
        if binary.separable:
            gl.program_parameteri(program, GL.PROGRAM_SEPARABLE, True)
        if binary.varyings:
            gl.transform_feedback_varyings(program, binary.varyings, binary.mode)
        self._bind_locations(call)
        gl.link_program(program)
        for shader in shaders:
            gl.detach_shader(program, shader)
            gl.delete_shader(shader)
        for shader in attached:
            gl.attach_shader(program, shader)
        return True

    def _linked(self, recorded: int, facts: dict[str, Any]) -> None:
        """Record this GL's locations of the uniforms that the capture has by name."""
        key = self.key("program", recorded)
        if not self.native:
            self._programs.pop(key, None)
            if not self.edits:
                return
        program = self.name("program", recorded)
        found = self._programs[key] = _Program()
        for name, (location, size) in facts["uniforms"].items():
            for element in range(size):
                stem = name.removesuffix("[0]")
                full = f"{stem}[{element}]" if size > 1 or name.endswith("]") else name
                here = self.gl.get_uniform_location(program, full)
                found.uniforms[location + element] = here
        for table, names, ask in (
            (found.blocks, facts["blocks"], self.gl.get_uniform_block_index),
            (
                found.storage,
                facts["storage"],
                lambda p, n: self.gl.get_program_resource_index(p, GL.SHADER_STORAGE_BLOCK, n),
            ),
        ):
            for index, name in enumerate(names):
                table[index] = ask(program, name)

    def _location(self, call: Call, location: int) -> int:
        named = call.named()
        using = named.get("program", self._using.get(self._current, 0))
        program = self._programs.get(self.key("program", using))
        return location if program is None else program.uniforms.get(location, location)

    def _block(self, call: Call, param: str, index: int) -> int:
        program = self._programs.get(self.key("program", call.args[0]))
        if program is None:
            return index
        return (program.blocks if param == "uniformBlockIndex" else program.storage).get(
            index, index
        )


def _binding(call: Call, param: Param) -> int:
    """The binding to whose buffer a pointer argument may be an offset; 0 if there is none."""
    if keeps_pointer(call.function):
        return GL.ARRAY_BUFFER_BINDING
    if param.name == "indirect":
        return GL.DRAW_INDIRECT_BUFFER_BINDING
    if param.name == "indices" and "Elements" in call.name:
        return GL.ELEMENT_ARRAY_BUFFER_BINDING
    return 0 if "Buffer" in call.name else GL.PIXEL_UNPACK_BUFFER_BINDING


def _mapped(gl: Any, name: int) -> tuple[int, int, int] | None:
    """Address, offset and length of a buffer's range that is mapped for writing."""
    buffer = gl.buffers.names.get(name)
    mapping = buffer.mapping if buffer is not None else None
    if mapping is None or not mapping.access & GL.MAP_WRITE_BIT:
        return None
    return mapping.address, mapping.offset, mapping.length


def _mapped_natively(gl: Any, name: int) -> tuple[int, int, int] | None:
    """Address, offset and length of a buffer's mapped range in the machine's own GL."""
    if not gl.is_buffer(name):
        return None
    target, before = GL.ARRAY_BUFFER, gl.get_integerv(GL.ARRAY_BUFFER_BINDING)[0]
    gl.bind_buffer(target, name)
    try:
        access = gl.get_buffer_parameteriv(target, GL.BUFFER_ACCESS_FLAGS)[0]
        if not access & GL.MAP_WRITE_BIT:
            return None
        where = gl.get_buffer_pointerv(target, GL.BUFFER_MAP_POINTER)[0]
        start = gl.get_buffer_parameteriv(target, GL.BUFFER_MAP_OFFSET)[0]
        length = gl.get_buffer_parameteriv(target, GL.BUFFER_MAP_LENGTH)[0]
    finally:
        gl.bind_buffer(target, before)
    return (where, start, length) if where else None


def replay(path: str | Path | Capture, driver: str = "", until: int | None = None) -> Replayed:
    """Replay a capture; on the driver it was recorded on, every image is the same to the bit.

    >>> replay("frame.gcap").identical
    True
    """
    capture = path if isinstance(path, Capture) else open_capture(path)
    with np.errstate(all="ignore"):
        return Replayer(capture, driver).run(until)
