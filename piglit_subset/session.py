"""The state of a running shader_test, from command to command.

A session owns a fresh context's objects: the framebuffer that stands in for the window, the
program, the vertices, the buffers of blocks. Commands (in `piglit_subset.commands`) read and change
it, and report wrong pixels with `wrong`, which does not stop the test, as in piglit, because the
second mismatch often explains the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.piglit_subset.requirements import ContextNeeds
from gallette.piglit_subset.shader_test import ShaderTest
from gallette.piglit_subset.text import Line, Words
from gallette.piglit_subset.tolerance import Mismatch, Tolerance
from gallette.state_tracker.entry_points.enums import GL

Image = npt.NDArray[Any]


# The headers stop at six clip planes; shaders with clip distances have eight.
_ALIASES = {f"GL_CLIP_PLANE{i}": f"GL_CLIP_DISTANCE{i}" for i in range(8)}


class Failure(Exception):
    """The test failed and cannot continue."""


def enum(line: Line, name: str) -> int:
    """The value of an enum written as in C, `GL_LESS` (the prefix may be missing)."""
    try:
        return int(GL.value_of(_ALIASES.get(name, name)))
    except KeyError:
        at = max(line.text.find(name), 0)
        raise line.error(f"unknown GL enum {name!r}", at, at + len(name)) from None


def value_of(line: Line, text: str) -> int:
    """A number or an enum."""
    return int(text, 0) if text.lstrip("-")[:1].isdigit() else enum(line, text)


@dataclass(slots=True)
class BlockState:
    """The settings of `block ...` and `ubo array index` commands for the next uniforms."""

    array_index: int = 0
    binding: int = -1
    offset: int = -1
    row_major: int = -1
    matrix_stride: int = -1
    array_stride: int = -1


@dataclass(slots=True)
class Session:
    """The state between `[test]` and the result."""

    gl: Any
    test: ShaderTest
    needs: ContextNeeds
    # The current command: its line, and the words by which it was found.
    line: Line = field(default_factory=lambda: Line(0, "", ""))
    head: list[str] = field(default_factory=list)
    # Of the framebuffers to draw to and to read from; `needs.size` is the window's.
    draw_size: tuple[int, int] = (250, 250)
    read_size: tuple[int, int] = (250, 250)
    program: int = 0
    link_log: str = ""
    # Stages that must not compile, and the logs of those that did not.
    wanted_errors: set[str] = field(default_factory=set)
    compile_logs: dict[str, str] = field(default_factory=dict)
    link_ok: bool | None = None
    pipeline: int = 0
    stage_programs: dict[str, int] = field(default_factory=dict)
    # The window's format has eight bits per channel.
    tolerance: Tolerance = field(default_factory=lambda: Tolerance([3 / 256] * 4))
    result: str = "pass"
    messages: list[str] = field(default_factory=list)
    images: dict[str, Image] = field(default_factory=dict)
    window: int = 0
    read_framebuffer: int = 0
    draw_framebuffer: int = 0
    spirv: bool = False
    vertex_array: int = 0
    vertex_count: int = 0
    rectangle_array: int = 0
    rectangle_buffer: int = 0
    textures: dict[int, int] = field(default_factory=dict)
    texture_sizes: dict[int, tuple[int, int]] = field(default_factory=dict)
    handles: dict[int, int] = field(default_factory=dict)
    buffers: dict[tuple[str, int], int] = field(default_factory=dict)
    uniform_cache: dict[str, Any] = field(default_factory=dict)
    binary: tuple[int, Any] | None = None  # format and bytes saved by "program binary save"
    block: BlockState = field(default_factory=BlockState)
    clear_bits: int = 0
    queries: dict[str, int] = field(default_factory=dict)
    active_program: int = 0
    display_list: int = 0

    @property
    def is_core(self) -> bool:
        return self.needs.profile == "core"

    @property
    def is_es(self) -> bool:
        return self.needs.profile == "es"

    @property
    def is_compat(self) -> bool:
        return self.needs.profile == "compat"

    def begin(self, words: Words) -> None:
        """Begin a command whose own words have been read."""
        self.line, self.head = words.line, words.texts[: words.at]

    def wrong(self, message: str, result: str = "fail") -> None:
        """Record a failure of the current command; the test goes on."""
        line = self.line
        if self.result != "fail":
            self.result = result
        if len(self.messages) < 40:
            self.messages.append(f"{line.file}:{line.number}: {line.text.strip()}: {message}")

    def expect(self, seen: Any, expected: Any) -> None:
        if seen != expected:
            self.wrong(f"observed {seen}")

    def texture(self, unit: int) -> int:
        """The texture that the test made on a unit."""
        if unit not in self.textures:
            raise self.line.error(f"no texture was made on unit {unit}")
        return self.textures[unit]

    def judge(
        self,
        mismatch: Mismatch | None,
        result: str = "fail",
        box: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        """Record the result of a probe; the first mismatch gets pictures."""
        if mismatch is None:
            return
        if not self.images:
            self.images["observed"] = self.screenshot()
            self.images["expected"] = self._as_expected(mismatch.expected, box)
        self.wrong(str(mismatch), result)

    def open_window(self) -> None:
        """Make the RGBA8 + depth24 stencil8 framebuffer that stands in for a window."""
        gl = self.gl
        width, height = self.draw_size = self.read_size = self.needs.size
        self.window = gl.gen_framebuffers(1)[0]
        color, depth = gl.gen_renderbuffers(2)
        gl.bind_renderbuffer(GL.RENDERBUFFER, color)
        gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, width, height)
        gl.bind_renderbuffer(GL.RENDERBUFFER, depth)
        gl.renderbuffer_storage(GL.RENDERBUFFER, GL.DEPTH24_STENCIL8, width, height)
        self.bind_framebuffers(self.window, self.window)
        for attachment, buffer in (
            (GL.COLOR_ATTACHMENT0, color),
            (GL.DEPTH_ATTACHMENT, depth),
            (GL.STENCIL_ATTACHMENT, depth),
        ):
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, attachment, GL.RENDERBUFFER, buffer)
        status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
        if status != GL.FRAMEBUFFER_COMPLETE:
            raise Failure(f"cannot make the test window's framebuffer: status 0x{status:04x}")
        gl.viewport(0, 0, width, height)

    def bind_framebuffers(self, draw: int, read: int) -> None:
        if draw == read:
            self.gl.bind_framebuffer(GL.FRAMEBUFFER, draw)
        else:
            self.gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, draw)
            self.gl.bind_framebuffer(GL.READ_FRAMEBUFFER, read)
        self.draw_framebuffer, self.read_framebuffer = draw, read

    def read_pixels(self, x: int, y: int, width: int, height: int, kind: str = "float") -> Image:
        """Read RGBA pixels of the read framebuffer as float, int or uint, rows bottom up."""
        if kind == "float" and self.reads_bytes:
            return self.read_bytes(x, y, width, height).astype(np.float32) / np.float32(255)
        kinds: dict[str, tuple[int, int, Any]] = {
            "float": (GL.RGBA, GL.FLOAT, np.float32),
            "int": (GL.RGBA_INTEGER, GL.INT, np.int32),
            "uint": (GL.RGBA_INTEGER, GL.UNSIGNED_INT, np.uint32),
        }
        form, data_type, dtype = kinds[kind]
        image: Image = np.zeros((height, width, 4), dtype)
        self.gl.read_pixels(x, y, width, height, form, data_type, image)
        return image

    @property
    def reads_bytes(self) -> bool:
        """Whether the read framebuffer has byte colours, so that reading them as anything else only
        costs time.

        OpenGL ES allows reading floats from float framebuffers only.
        """
        return self.is_es or self.read_framebuffer == self.window

    def read_bytes(self, x: int, y: int, width: int, height: int) -> Image:
        out = np.zeros((height, width, 4), np.uint8)
        self.gl.read_pixels(x, y, width, height, GL.RGBA, GL.UNSIGNED_BYTE, out)
        return out

    def compare(
        self, x: int, y: int, width: int, height: int, expected: list[float], kind: str
    ) -> Mismatch | None:
        """Read a rectangle and compare every pixel with one colour."""
        if kind != "float" or not self.reads_bytes:
            image = self.read_pixels(x, y, width, height, kind)
            return self.tolerance.compare(image, expected, x, y)
        image = self.read_bytes(x, y, width, height)
        words = image.view(np.uint32)
        if (words == words[0, 0]).all():
            # Usually the rectangle has one colour, which takes one comparison.
            pixel = image[:1, :1].astype(np.float32) / np.float32(255)
            if self.tolerance.compare(pixel, expected, x, y) is None:
                return None
        return self.tolerance.compare(image.astype(np.float32) / np.float32(255), expected, x, y)

    def read_depth(self, x: int, y: int) -> float:
        out = np.zeros(1, np.float32)
        self.gl.read_pixels(x, y, 1, 1, GL.DEPTH_COMPONENT, GL.FLOAT, out)
        return float(out[0])

    def screenshot(self) -> Image:
        """The read framebuffer as 8-bit RGBA, top row first, for the report."""
        with np.errstate(all="ignore"):
            pixels = np.nan_to_num(self.read_pixels(0, 0, *self.read_size))
            out: Image = (np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8)
        return out[::-1]

    def _as_expected(
        self, color: tuple[float, ...], box: tuple[int, int, int, int]
    ) -> npt.NDArray[np.uint8]:
        """The read pixels with the colour a probe expected in its box, top row first."""
        image = self.images["observed"].copy()
        x, y, width, height = box
        right_way_up = image[::-1]
        with np.errstate(all="ignore"):
            wanted = np.nan_to_num(np.clip(np.array(color), 0, 1) * 255 + 0.5).astype(np.uint8)
        right_way_up[max(y, 0) : y + height, max(x, 0) : x + width, : len(color)] = wanted
        return image

    def need_program(self) -> None:
        """Fail unless a linked program is in use, as every drawing command needs."""
        if self.link_ok is False:
            log = self.link_log.strip() or "(empty info log)"
            where = f"{self.line.file}:{self.line.number}"
            raise Failure(f"{where}: the program did not link:\n{log}")
