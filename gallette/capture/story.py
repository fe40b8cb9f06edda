"""Reading a capture: its calls by name, which of them draw, and the frames and groups they are in.

>>> capture = open_capture("frame.gcap")
>>> str(capture.calls[3])
'glBindBuffer(target=GL_ARRAY_BUFFER, buffer=1)'
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gallette.capture.container import CaptureError, CaptureReader
from gallette.capture.records import Misfit, check_call, check_event
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function, Kind

_DRAWING = (
    "DrawArrays", "DrawElements", "DrawRangeElements", "DrawTransformFeedback", "DrawPixels",
    "DrawTex", "DrawMesh", "MultiDraw", "MultiMode", "Clear", "BlitFramebuffer",
    "BlitNamedFramebuffer", "Bitmap", "CopyPixels", "End", "CallList", "Rect", "Accum",
    "DispatchCompute", "EvalMesh",
)  # fmt: skip
_NOT = (
    "ClearColor", "ClearDepth", "ClearStencil", "ClearIndex", "ClearAccum", "ClearBufferData",
    "ClearBufferSubData", "ClearNamedBuffer", "ClearTex", "EndQuery", "EndList", "EndConditional",
    "EndTransformFeedback", "EndFragmentShader",
)  # fmt: skip


MOST_GROUPS = 64  # debug groups inside each other, as many as OpenGL's own stack must have


@functools.cache
def draws(name: str) -> bool:
    """Whether the GL function of that name (without `gl`) can change the bound framebuffer."""
    return name.startswith(_DRAWING) and not name.startswith(_NOT)


@lazy_dataclass(frozen=True)
class Target:
    """The framebuffer that a call drew to: its size and the formats of its attachments."""

    width: int
    height: int
    samples: int
    colors: tuple[str | None, ...]
    depth: str | None


@lazy_dataclass()
class Call:
    """One GL call; `number` counts calls from 1."""

    number: int
    name: str
    args: list[Any]
    more: dict[str, Any]
    context: int
    frame: int
    target: Target | None = None
    listed: bool = False  # it went into a display list and was not made

    @property
    def function(self) -> Function:
        return FUNCTIONS[self.name]

    @property
    def draws(self) -> bool:
        return draws(self.name) and not self.listed

    @property
    def microseconds(self) -> int:
        return int(self.more.get("us", 0))

    def named(self) -> dict[str, Any]:
        """The arguments by the names of their parameters."""
        return {p.name: a for p, a in zip(self.function.params, self.args, strict=False)}

    def words(self) -> dict[str, str]:
        """The arguments by name, as readable text."""
        primitive = "Draw" in self.name or self.name == "Begin"
        shown = {}
        for param, value in zip(self.function.params, self.args, strict=False):
            if param.kind.is_output or param.kind is Kind.CAPACITY:
                continue
            shown[param.name] = _word(param.type, param.name, value, primitive, param.stars)
        return shown

    def __str__(self) -> str:
        inner = ", ".join(f"{k}={v}" for k, v in self.words().items())
        result = self.more.get("r", self.more.get("o"))
        return f"gl{self.name}({inner})" + (f" -> {result}" if result is not None else "")


def _word(type: str, name: str, value: Any, primitive: bool, stars: int) -> str:
    if isinstance(value, dict):
        if "b" in value:
            return f"#{value['b'][:8]}"
        return f"{value['@']:#x}" if value["@"] > 4096 else str(value["@"])
    if value is None:
        return "null"
    if type == "enum" and isinstance(value, int):
        return GL.name_of(value, "primitive" if primitive and name == "mode" else None)
    if type == "enum" and isinstance(value, list):
        return "[" + ", ".join(GL.name_of(v) for v in value) + "]"
    if isinstance(value, str | list):
        text = repr(value)
        return text if len(text) < 72 else text[:69] + "..."
    if isinstance(value, float):
        return f"{value:.7g}"
    if type == "bitfield" and isinstance(value, int):
        return f"0x{value:x}"
    return str(value)


@lazy_dataclass()
class Event:
    """A record that is not a call: `kind` without its `@`, and the call that follows it."""

    kind: str
    parts: list[Any]
    before: int


Step = Call | Event


@lazy_dataclass()
class Capture:
    """A whole capture."""

    path: Path
    reader: CaptureReader
    steps: list[Step] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    groups: dict[int, tuple[str, ...]] = field(default_factory=dict)
    frames: int = 0

    @property
    def header(self) -> dict[str, Any]:
        return self.reader.header

    @property
    def driver(self) -> str:
        """The driver that it was recorded on."""
        first = next(self.events("context"), None)
        if first is None:
            return ""
        name: str = first.parts[1]["driver"]
        while name.startswith("trace:"):  # a replay writes no trace that the user did not ask for
            name = name.removeprefix("trace:")
        return name

    def events(self, kind: str) -> Iterator[Event]:
        return (s for s in self.steps if isinstance(s, Event) and s.kind == kind)

    def draws(self, frame: int | None = None) -> list[Call]:
        """The calls that draw, clear, copy or compute, of one frame or all."""
        return [c for c in self.calls if c.draws and (frame is None or c.frame == frame)]

    def blob(self, name: str) -> bytes:
        return self.reader.blob(name)

    def call(self, number: int) -> Call:
        if not 1 <= number <= len(self.calls):
            raise CaptureError(f"{self.path}: calls are 1 to {len(self.calls)}, not {number}")
        return self.calls[number - 1]


def _checked(reader: CaptureReader) -> Iterator[list[Any]]:
    """The valid records; raises an error at the first one that no program could have caused."""
    for number, record in enumerate(reader.records(), 1):
        try:
            if not record or not isinstance(record[0], str):
                raise Misfit("it has no name")
            if record[0].startswith("@"):
                check_event(record[0][1:], record[1:])
            elif 2 <= len(record) <= 3:
                check_call(record[0], record[1], record[2] if len(record) > 2 else {})
            else:
                raise Misfit("a call is a name, arguments and results")
        except Misfit as error:
            raise CaptureError(f"{reader.path}: record {number}: {error}") from None
        yield record


def open_capture(path: str | Path) -> Capture:
    """Read a capture; resources stay in the file until they are requested."""
    reader = CaptureReader(path)
    capture = Capture(Path(path), reader)
    frame, context, marked = 1, 0, 0
    open_groups: list[str] = []
    listing = False
    target: Target | None = None
    for record in _checked(reader):
        name = record[0]
        if name.startswith("@"):
            if name == "@current":
                context = record[1]
            elif name == "@marker":  # the end of a scene's pass: what came before was it
                for done in capture.calls[marked:]:
                    capture.groups[done.number] = (record[1], *capture.groups.get(done.number, ()))
                marked = len(capture.calls)
            elif name == "@frame":
                frame = record[1] + 1
            elif name == "@framebuffer":
                width, height, samples, colors, depth = record[1:]
                target = Target(width, height, samples, tuple(colors), depth)
            capture.steps.append(Event(name[1:], record[1:], len(capture.calls) + 1))
            continue
        more = record[2] if len(record) > 2 else {}
        call = Call(len(capture.calls) + 1, name, record[1], more, context, frame, target)
        if name == "NewList":
            listing = call.args[1] == GL.COMPILE
        elif name == "EndList":
            listing = False
        call.listed = listing
        if name.startswith(("PushDebugGroup", "PushGroupMarker")):
            open_groups.append(str(call.args[-1]))
        elif name.startswith(("PopDebugGroup", "PopGroupMarker")) and open_groups:
            open_groups.pop()
        if open_groups:
            capture.groups[call.number] = tuple(open_groups[:MOST_GROUPS])
        capture.calls.append(call)
        capture.steps.append(call)
    capture.frames = max((c.frame for c in capture.calls), default=0)
    return capture
