"""Random calls of the whole entry-point table through its C pointers: no crash, hang or leak.

    python -m fuzz pointers --count 2000
    python -m fuzz pointers --first 4711 --count 1

A context is made, given a few objects that work, called 5,000 times with sensible and adversarial
arguments (objects are deleted at any moment), and released. What C forbids is left out: pointers
lead to memory as long as any index could reach, and no further. Looked for: a process that dies, a
Python exception behind a pointer, a call of more than two seconds of processor time, bytes written
behind the room that was given, memory kept after contexts are gone.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import mmap
import random
import re
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.calls.arguments import Arguments
from fuzz.gl_programs.shaders import link
from fuzz.harness import Finding, Fuzzer, place_of
from gallette.compiler.errors import GalletteError
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points import abi
from gallette.state_tracker.entry_points.current import set_current
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function, Kind, Param
from gallette.state_tracker.entry_points.memory import dtype_of
from gallette.state_tracker.entry_points.registry import implementations

INPUT = 1 << 38
"""Bytes of address space behind input pointers: the largest index times the largest stride."""
TEXTS_AT = 1 << 20
STORED = (0, 1, 2, 3, 4, 5, 8, 16, 100, 4096, 1 << 20, -1)
OUTPUT = 1 << 32
ROOM = 6 << 30
LONG = 2.0
CONTEXTS = 50
"""of a process, between two looks at its memory"""
KEPT = 200.0
"""KiB that a context may leave behind: what is compiled once is among them"""
BUDGET = 1 << 30
"""Work a draw may do here: an eighth of the usual, so that draws of billions end in time."""
CANARY = 0xA5
SMALL = 4096
"""Sizes of memory that is read are no larger: the memory at a pointer has an end."""
_FLOATS = ("float", "double", "clampf", "clampd")

VERTEX = """#version 150
in vec4 a; in vec3 b; out vec2 t; uniform mat4 m; uniform vec4 u[3];
void main() { t = b.xy + u[1].xy; gl_Position = m * a + u[0]; gl_PointSize = 3.0; }"""
FRAGMENT = """#version 150
in vec2 t; out vec4 c; uniform sampler2D s; uniform block { vec4 k[4]; };
void main() { c = texture(s, t) + k[1]; if (c.x > 9.0) discard; }"""
COMPUTE = """#version 430
layout(local_size_x = 8) in; layout(std430, binding = 0) buffer B { uint w[]; };
void main() { atomicAdd(w[gl_GlobalInvocationID.x], 1u); }"""
TEXTS = [b"", b"a", b"u[1]", b"gl_Position", b"block", b"k[0]", VERTEX.encode(),
         FRAGMENT.encode(), COMPUTE.encode(), b"#version 110\nvoid main() { loop"]  # fmt: skip
_STRIDED = re.compile(r"Pointer|Offset|VertexArrayVertexBuffer|BindVertexBuffer")
_LEFT_OUT = re.compile(r"DebugMessageCallback|ImportSync|EGLImage")
_BOUND = (  # functions whose pointer is an offset while such a buffer is bound
    (re.compile(r"^(?!Clear).*Tex(ture)?(Sub)?Image|DrawPixels|Bitmap|PixelMap|PolygonStipple$"),
     lambda c: c.buffers.bound[GL.PIXEL_UNPACK_BUFFER]),
    (re.compile(r"Pointer"), lambda c: c.buffers.bound[GL.ARRAY_BUFFER]),
    (re.compile(r"DrawElements|DrawRangeElements|MultiDrawElements$"),
     lambda c: c.arrays.current.element_buffer),
    (re.compile(r"Indirect"), lambda c: c.buffers.bound[GL.DRAW_INDIRECT_BUFFER]),
)  # fmt: skip


_OFFSETS = re.compile("indices|indirect|pointer|pixels|data|img|bitmap|bits|values|mask|pattern")


class Memory:
    """What pointers lead to: words to read, names and texts, and room to write with a canary."""

    def __init__(self) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
        self._read = mmap.mmap(-1, INPUT, flags=flags)
        self._written = mmap.mmap(-1, OUTPUT, flags=flags)
        self.input = ctypes.addressof(ctypes.c_char.from_buffer(self._read))
        self.output = ctypes.addressof(ctypes.c_char.from_buffer(self._written))
        rng = np.random.default_rng(1)
        words = np.frombuffer(self._read, np.uint32, 1 << 16)
        words[: 1 << 14] = rng.integers(0, 9, 1 << 14)
        words[1 << 14 : 1 << 15] = rng.choice(np.float32([0, 1, 0.5, 2, 8]), 1 << 14).view("u4")
        words[1 << 15 :] = rng.integers(0, 1 << 30, 1 << 15)
        self.areas = [self.input + at for at in (0, 4, 1, 0x10000, 0x20000, 0x80000)]
        for i, text in enumerate(TEXTS):
            self._read[TEXTS_AT + (i << 12) : TEXTS_AT + (i << 12) + len(text)] = text
        self.texts = [self.input + TEXTS_AT + (i << 12) for i in range(len(TEXTS))]
        texts = (self.texts[i % len(TEXTS)] for i in range(SMALL))
        self._list = (ctypes.c_void_p * SMALL)(*texts)
        self.list = ctypes.addressof(self._list)
        self.tail = np.frombuffer(self._written, np.uint8, 1 << 17)

    def prepare(self, room: int) -> None:
        self.tail[room : room + 4096] = CANARY

    def broken(self, room: int) -> bool:
        return bool((self.tail[room : room + 4096] != CANARY).any())


class Caller:
    """Random calls into one context."""

    def __init__(self, seed: int, memory: Memory, driver: str):
        self.rng = random.Random(seed)
        self.memory = memory
        profile = self.rng.choice(("core", "compat", "compat", "es"))
        version = {"core": (4, 5), "compat": (4, 5), "es": (3, 2)}[profile]
        if profile == "compat" and self.rng.random() < 0.4:
            version = (2, 1)
        self.context = made = Context(
            driver, profile=profile, version=version, size=(16, 16), budget=BUDGET
        )
        self.all = [n for n in sorted(implementations()) if not _LEFT_OUT.search(_c_name(n))]
        self.names = [n for n in self.all if made.has_function(FUNCTIONS.method(n))]
        self.drawing = [n for n in self.names if re.match(r"(multi_)?draw|clear|begin|dispatch", n)]
        self.errors = Counter[str]()
        self.arguments = Arguments(self.rng, lambda kind: str(self.rng.randrange(9)))

    def prelude(self) -> None:
        """Objects that work: a program, buffers, a texture, a framebuffer, arrays."""
        gl = self.context
        if gl.profile != "es":
            program, _ = link(gl, {"vertex": VERTEX, "fragment": FRAGMENT})
            gl.use_program(program)
        data = np.zeros(4096, np.uint8)
        for target in (GL.ARRAY_BUFFER, GL.ELEMENT_ARRAY_BUFFER, GL.UNIFORM_BUFFER):
            (name,) = gl.gen_buffers(1)
            gl.bind_buffer(target, name)
            gl.buffer_data(target, 4096, data, GL.STATIC_DRAW)
        if gl.profile != "compat" or self.rng.random() < 0.5:
            (array,) = gl.gen_vertex_arrays(1)
            gl.bind_vertex_array(array)
        gl.vertex_attrib_pointer(0, 4, GL.FLOAT, GL.FALSE, 16, 0)
        gl.enable_vertex_attrib_array(0)
        (texture,) = gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_image2d(
            GL.TEXTURE_2D, 0, GL.RGBA8, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, np.zeros(256, np.uint8)
        )
        while gl.get_error():
            pass

    def number(self, function: Function, param: Param) -> Any:
        rng = self.rng
        if function.name.startswith("PixelStore") and param.name != "pname":
            return rng.choice(STORED)  # longer rows lead out of the memory
        if param.name == "modestride":  # may be negative, and lead out of the memory
            return rng.choice((0, 4, 8))
        if param.name == "stride" and _STRIDED.search(function.name):
            return rng.choice((0, 4, 8, 12, 16, 32, -1))
        found = self.arguments.number(function, param)
        if param.type in ("sizei", "sizeiptr", "intptr") and abs(found) > SMALL:
            reads = any(p.stars for p in function.params) or "Draw" in function.name
            return rng.choice((0, 1, 4, 16)) if reads else found
        if param.type in _FLOATS:
            return found
        bits = 8 * ctypes.sizeof(param.ctype)
        return max(-(1 << bits - 1), min((1 << bits) - 1, int(found)))

    def pointer(self, function: Function, param: Param) -> Any:
        rng, memory = self.rng, self.memory
        if rng.random() < 0.06 and not _needs_memory(function):
            return None
        if param.kind is Kind.STRING:
            return rng.choice(memory.texts)
        if param.kind.is_output:
            return memory.output + ((1 << 20) if param.kind is Kind.WRITTEN else 0)
        if param.kind is Kind.STRINGS or param.stars > 1:
            return memory.list
        for names, bound in _BOUND:
            offset = _OFFSETS.fullmatch(param.name) and names.search(function.name)
            if offset and bound(self.context) is not None:
                return rng.choice((0, 1, 4, 16, 100, 4095, 4096, 1 << 33))
        if re.search(r"Elements|CallLists|Indirect", function.name) or param.name == "length":
            return memory.areas[rng.randrange(2)]
        return rng.choice(memory.areas)

    def call(self) -> tuple[Function, list[Any]]:
        rng = self.rng
        draw = rng.random() < 0.06
        function = FUNCTIONS.method(rng.choice(self.drawing if draw else self.names))
        if rng.random() < 0.01:
            function = FUNCTIONS.method(rng.choice(self.all))
        values = [
            self.pointer(function, p) if p.stars else self.number(function, p)
            for p in function.params
        ]
        return function, values


def _needs_memory(function: Function) -> bool:
    """Where no pointer is no question but C's own fault: results without a place."""
    return bool(re.match(r"(Get|Gen|Create|Read|Are)", function.name))


def _c_name(method: str) -> str:
    return FUNCTIONS.method(method).name


def room_of(function: Function, values: list[Any]) -> int | None:
    """Bytes behind which nothing may be written, where the table knows."""
    outputs = [p for p in function.params if p.kind.is_output and p.kind is not Kind.WRITTEN]
    if len(outputs) != 1 or outputs[0].kind is Kind.OUT_RAW:
        return None
    param = outputs[0]
    if param.kind is Kind.OUT_SCALAR:
        return int(dtype_of(param.type).itemsize) if param.type != "void" else None
    size = 1 if param.type == "char" else dtype_of(param.type).itemsize
    named = {p.name: v for p, v in zip(function.params, values, strict=True)}
    capacity = next(
        (v for p, v in zip(function.params, values, strict=True) if p.kind is Kind.CAPACITY), None
    )
    length = named.get(param.length, capacity)
    if param.length.isdigit():
        length = int(param.length)
    if not isinstance(length, int) or length > 1000:
        return None
    return max(length, 0) * size


class Pointers(Fuzzer[int]):
    """A context of each number, and its calls."""

    memory = INPUT + OUTPUT + ROOM
    limit = 120.0

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--calls", type=int, default=5000, help="of a context")

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.room = Memory()
        self.place = ""
        self.findings: list[Finding] = []
        self.errors: Counter[str] = Counter()
        self.resident: list[float] = []
        abi.failed = self._failed
        sys.unraisablehook = lambda what: self._found(
            f"{what.exc_type.__name__} came as far as C", str(what.exc_value)
        )

    def _found(self, kind: str, text: str = "") -> None:
        self.findings.append(Finding(kind, f"{self.place}\n{text}"))

    def _failed(self, function: Function, error: BaseException, ours: Any = abi.failed) -> None:
        abi._REPORTED.add(function.name)
        ours(function, error)
        self.errors[f"times {type(error).__name__}"] += 1
        if not isinstance(error, GLError | GalletteError | MemoryError):
            self._found(place_of(error), "".join(traceback.format_exception(error)[-4:]))

    def make(self, number: int) -> int:
        return number

    def attempt(self, given: int) -> Counter[str]:
        self.errors.clear()
        caller = Caller(given, self.room, self.options.driver)
        set_current(caller.context)
        if caller.rng.random() < 0.8:
            caller.prelude()
        for step in range(self.options.calls):
            self._call(caller, step)
            if self.findings:
                break
        set_current(None)
        caller.context.release()
        del caller
        if self.findings:
            found, self.findings = self.findings[0], []
            raise found
        self._look_at_memory()
        return self.errors + Counter({"calls": self.options.calls})

    def _call(self, caller: Caller, step: int) -> None:
        function, values = caller.call()
        self.place = f"call {step}: {function.c_name}{tuple(values)}"
        self.say(self.place)
        room = room_of(function, values)
        if room is not None:
            self.room.prepare(room)
        target = ctypes.CFUNCTYPE(function.restype, *function.argtypes)(
            abi.address(function.c_name)
        )
        before = time.process_time()
        target(*values)
        took = time.process_time() - before
        if took > LONG:
            self._found(f"{function.c_name} takes long", f"{took:.1f} s of processor time")
        if room is not None and self.room.broken(room):
            self._found(f"{function.c_name} writes too much", f"behind {room} bytes")
        if caller.context.immediate.active and caller.rng.random() < 0.3:
            caller.context.end()

    def _look_at_memory(self) -> None:
        """What contexts leave behind, once what all of them share has been made."""
        gc.collect()
        self.resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * 4.0)
        if len(self.resident) >= CONTEXTS:
            kept = (self.resident[-1] - self.resident[CONTEXTS // 2]) / (CONTEXTS // 2)
            self.resident.clear()
            if kept > KEPT:
                raise Finding("memory is kept", f"{kept:.0f} KiB a context")


FUZZER = Pointers
