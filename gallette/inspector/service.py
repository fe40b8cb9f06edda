"""The requests of the page, answered with plain data, computed by running the target again.

This module is independent of HTTP. It processes one request at a time, because GL contexts are
current per thread and a run uses them all.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gallette.capture.story import open_capture
from gallette.compiler.errors import GalletteError
from gallette.debugger import debug_fragment, debug_vertex
from gallette.history import History, pixel_history
from gallette.inspector.frames import Frame, Picture
from gallette.inspector.observe import SWITCHES, replay_edited, source_calls
from gallette.inspector.programs import way_of


def packed(picture: Picture) -> bytes:
    """A picture as bytes: width, height, channels, and whether they are floats; then the numbers,
    bottom row first.
    """
    height, width, channels = picture.shape
    floats = picture.dtype != np.uint8
    data = picture.astype("<f4") if floats else picture
    return struct.pack("<4I", width, height, channels, int(floats)) + data.tobytes()


def _clean(value: Any) -> Any:
    """Data that JSON can represent: bytes in hexadecimal, NaN and infinities as text."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return str(value)
    if isinstance(value, dict):
        return {str(k): _clean(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(v) for v in value]
    return value


class Questions:
    """Answers one request at a time, and stores its pictures by name."""

    def __init__(self, frame: Frame):
        self.frame = frame
        self.questions: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self._lock = threading.Lock()

    def answer(self, question: str, parameters: dict[str, Any]) -> Any:
        """The result of a request, or {"error": text}."""
        with self._lock:
            try:
                return _clean(self.questions[question](parameters))
            except GalletteError as error:
                return {"error": str(error)}
            except (MemoryError, RecursionError) as error:
                return {"error": f"this asks for too much: {type(error).__name__} {error}".strip()}
            except (KeyError, ValueError, TypeError) as error:
                return {"error": f"invalid request: {error}"}

    def picture(self, name: str) -> bytes | None:
        found = self.frame.pictures.get(name)
        return None if found is None else packed(found)


class Service(Questions):
    """The page's requests about one run."""

    def __init__(self, frame: Frame, path: Path):
        super().__init__(frame)
        self.path = path
        self._ways: dict[str, Any] = {}
        self.questions = {
            "frame": lambda q: self.frame.plain(),
            "mesh": self._mesh,
            "pixel": self._pixel,
            "debug": self._debug,
            "program": self._program,
            "edit": self._edit,
        }

    def _mesh(self, q: dict[str, Any]) -> Any:
        mesh = self.frame.meshes.get(int(q["n"]))
        return {} if mesh is None else asdict(mesh)

    def _history(self, x: int, y: int) -> History:
        return pixel_history(str(self.path), x, y, self.frame.driver)

    def _pixel(self, q: dict[str, Any]) -> Any:
        """The history of a pixel of one resource: the one that the draw had at that attachment."""
        x, y = int(q["x"]), int(q["y"])
        history = self._history(x, y)
        target = self._target(history, int(q.get("n", 0)), str(q.get("attachment", "")))
        about = history.about(target) if target else history.events
        events = [{**asdict(e), "place": e.place} for e in about if e.touched]
        return {"x": x, "y": y, "target": target, "events": events}

    @staticmethod
    def _target(history: History, number: int, attachment: str) -> str:
        """The resource at an attachment during a call, or at the last before it that had one."""
        name = "depth" if attachment == "stencil" else attachment
        had = [e.attachments[name] for e in history.events
               if name in e.attachments and e.number <= number]  # fmt: skip
        return had[-1] if had else ""

    def _debug(self, q: dict[str, Any]) -> Any:
        if "vertex" in q:
            draw = [d.number for d in self.frame.draws].index(int(q["n"])) + 1
            session = debug_vertex(str(self.path), int(q["vertex"]), self.frame.driver, draw)
        else:
            call = int(q.get("call", 0))
            session, _, _ = debug_fragment(
                str(self.path), int(q["x"]), int(q["y"]), self.frame.driver, call=call
            )
        plain = session.plain()
        plain["numbers"] = [session.value(i) for i in range(len(session.steps))]
        plain["all"] = [
            None if s.values is None else [session.value(i, lane) for lane in range(len(s.values))]
            for i, s in enumerate(session.steps)
        ] if len(session.lanes) <= 4 else []  # fmt: skip
        lines = range(len(session.steps))
        plain["at"] = [session.source_line(i) for i in lines]
        plain["nan"] = session.find_nan()
        del plain["steps"]
        plain["steps"] = [{"line": s.line, "active": s.active[session.lane]} for s in session.steps]
        return plain

    def _program(self, q: dict[str, Any]) -> Any:
        key = str(q["key"])
        if key not in self._ways:
            sources = self.frame.programs[key]
            ways, log = way_of(sources, self.frame.driver, self.frame.profiles.get(key, "core"))
            self._ways[key] = {"stages": [asdict(w) for w in ways], "log": log}
        return self._ways[key]

    def _edit(self, q: dict[str, Any]) -> Any:
        """The picture of a draw with an edited shader or switched state."""
        number = int(q["n"])
        switches = {k: bool(v) for k, v in dict(q.get("switches", {})).items() if k in SWITCHES}
        edits: dict[int, str] = {}
        if q.get("stage"):
            capture = open_capture(self.path)
            original = self.frame.programs[str(q["key"])][str(q["stage"])]
            for call in source_calls(capture, original, number):
                edits[call] = str(q["text"])
            if not edits:
                raise GalletteError("this shader was not made by glShaderSource")
        pictures, log = replay_edited(self.frame, self.path, number, edits, switches)
        return {"attachments": pictures, "log": log}
