"""The records of a debugging session: a shader, and every instruction that an invocation
executed.

The records are plain data: the terminal and the web page show the same records.
"""

from __future__ import annotations

import struct
from dataclasses import asdict, replace
from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

_FORMATS = {("f", 32): ("<I", "<f"), ("f", 64): ("<Q", "<d"), ("f", 16): ("<H", "<e"),
            ("i", 32): ("<I", "<i"), ("i", 64): ("<Q", "<q"), ("i", 16): ("<H", "<h"),
            ("i", 8): ("<B", "<b")}  # fmt: skip


def number(raw: int, kind: str, bits: int) -> float | int | bool:
    """The number that raw bits represent: `kind` is f, i, u or b."""
    if kind == "b" or bits == 1:
        return bool(raw)
    formats = _FORMATS.get((kind, bits))
    if formats is None:
        return raw
    found: float | int = struct.unpack(formats[1], struct.pack(formats[0], raw))[0]
    return found


@lazy_dataclass()
class Line:
    """One instruction: its text, its source line, and the name of its result. After the shader the
    line is -1, and `section` names the operation that the instruction is part of.
    """

    text: str
    source: int
    kind: str = "f"
    bits: int = 32
    names: tuple[tuple[str, tuple[int, ...], int], ...] = ()
    section: str = ""


@lazy_dataclass()
class Step:
    """One executed instruction: its number, its result (raw bits per lane), and the lanes that
    ran.
    """

    line: int
    values: list[list[int]] | None  # [lane][component]
    active: list[bool]


# Routines, and their arguments for all lanes.
Lookup = list[tuple[Any, list[Any]]]


@lazy_dataclass()
class Watched:
    """A variable at a step: a value per component, None where the value is unknown."""

    name: str
    values: list[float | int | bool | None]
    assigned: int  # source line, 0 where ways joined


@lazy_dataclass()
class Session:
    """The execution of one invocation: step through `steps`."""

    title: str
    stage: str
    source: list[str]
    code: list[Line] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    lane: int = 0
    lanes: list[str] = field(default_factory=list)
    outputs: dict[str, list[float]] = field(default_factory=dict)
    driver_outputs: dict[str, list[float]] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)  # as the source declares them
    note: str = ""
    stores: list[str] = field(default_factory=list)  # to images, buffers and counters
    lookups: dict[int, Lookup] = field(default_factory=dict, repr=False)
    """By step, the routines that a texture lookup evaluated (see `lookup`)."""

    def __repr__(self) -> str:
        return f"<Session of {self.title} ({self.stage}): {len(self.steps)} steps>"

    def _repr_html_(self) -> str:
        from gallette.reports import cells

        return cells.session(self)

    def value(self, step: int, lane: int | None = None) -> list[float | int | bool] | None:
        """The result of a step, as numbers."""
        at = self.steps[step]
        if at.values is None:
            return None
        line = self.code[at.line]
        raw = at.values[self.lane if lane is None else lane]
        if not raw:
            return None
        return [number(r, line.kind, line.bits) for r in raw]

    def source_line(self, step: int) -> int:
        """The source line of a step: its own, or that of the last step that has one."""
        for at in range(step, -1, -1):
            if self.code[self.steps[at].line].source:
                return self.code[self.steps[at].line].source
        return 0

    def find_line(self, line: int, after: int = -1) -> int | None:
        """The next step at which execution enters a source line from another line."""
        for at in range(after + 1, len(self.steps)):
            if self.code[self.steps[at].line].source == line and (
                at == 0 or self.code[self.steps[at - 1].line].source != line
            ):
                return at
        return None

    def find_nan(self, after: int = -1) -> int | None:
        """The next step whose result is NaN (or infinite)."""
        for at in range(after + 1, len(self.steps)):
            line = self.code[self.steps[at].line]
            if line.kind != "f" or not self.steps[at].active[self.lane]:
                continue
            found = self.value(at)
            if found and any(v != v or v in (float("inf"), float("-inf")) for v in found):
                return at
        return None

    def watch(self, step: int) -> dict[str, Watched]:
        """The variables after a step, by name, with the values assigned so far."""
        visited = {self.code[s.line].source for s in self.steps}
        pending: list[tuple[str, int, int, int, int, int]] = []
        found: dict[str, Watched] = {}
        for at in range(step + 1):
            now = self.steps[at]
            line = self.code[now.line]
            if now.values is not None and now.active[self.lane]:
                for name, components, assigned in line.names:
                    for mine, theirs in enumerate(components):
                        if theirs >= 0:
                            pending.append((name, theirs, at, mine, assigned, now.line))
            waiting = []
            for entry in pending:
                assigned = entry[4]
                here = line.source
                due = not assigned or here == assigned
                due = due or (assigned not in visited and here > assigned)
                if due:
                    self._assign(found, entry)
                else:
                    waiting.append(entry)
            pending = waiting
        return found

    def _assign(
        self, found: dict[str, Watched], entry: tuple[str, int, int, int, int, int]
    ) -> None:
        name, component, at, mine, assigned, code = entry
        watched = found.setdefault(name, Watched(name, [], assigned))
        while len(watched.values) <= component:
            watched.values.append(None)
        values = self.steps[at].values
        assert values is not None
        line = self.code[code]
        watched.values[component] = number(values[self.lane][mine], line.kind, line.bits)
        watched.assigned = assigned or watched.assigned

    def plain(self) -> dict[str, Any]:
        """The session in a form that JSON can represent."""
        return asdict(replace(self, lookups={}))
