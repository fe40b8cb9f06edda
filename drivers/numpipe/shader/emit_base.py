"""The base of all emitters: lines and indentation, names, and reading a value as an expression.

The text is executed, so it contains nothing from an application: names in a shader (any text, see
SPIR-V's `OpName`) are replaced by numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .lane_ir import LaneArray, LaneProgram, LaneValue, LoopOp, Region
from .scopes import Register, RegisterFile, Scope

KINDS: dict[str, Any] = {
    "b1": np.bool_,
    **{f"f{n}": np.dtype(f"f{n}").type for n in (2, 4, 8)},
    **{f"{s}{n}": np.dtype(f"{s}{n}").type for s in "iu" for n in (1, 2, 4, 8)},
}


OPERATION = "nir_"
"""Prefix of the global name of a function that implements an opcode."""


class BaseEmitter:
    """State of one emission."""

    def __init__(self, program: LaneProgram):
        self.program = program
        self.lines: list[str] = []
        self.sources: list[int] = []  # by line of `lines`: the line of the shader's source
        self.source = 0
        self.depth = 1
        self.current: Region = program.root
        self.scope = Scope(program.root, None, "count")
        self.file = RegisterFile()
        self.keeps = False  # what lookups need of shared coordinates
        self.tags = 0
        self.constants: dict[tuple[str, int, bool], str] = {}
        self.globals: dict[str, Any] = {}
        self.comments: list[str] = []
        self.assigned: dict[int, Register] = {}
        self.loops: list[tuple[LoopOp, Scope]] = []
        self.exit_registers: dict[LoopOp, list[Register]] = {}
        self.shrinking: dict[LoopOp, list[str]] = {}
        self.views: dict[tuple[int, str], int] = {}  # (block, kind) -> least number of elements
        self.outputs: dict[tuple[int, int, int], str] = {}
        self.arrays: dict[int, str] = {}
        self.array_lines: list[str] = []

    # -- text ----------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)
        self.sources.append(self.source)

    @contextmanager
    def indented(self, by: int = 1) -> Iterator[None]:
        self.depth += by
        yield
        self.depth -= by

    def tag(self) -> int:
        """A number that makes related names unique."""
        self.tags += 1
        return self.tags

    # -- values --------------------------------------------------------------------------------

    def constant(self, kind: str, bits: int, lanes: bool) -> str:
        """A global holding the constant: a 0-d array next to lanes, a scalar among scalars."""
        key = (kind, bits, lanes)
        name = self.constants.get(key)
        if name is None:
            twin = self.constants.get((kind, bits, not lanes))
            number = twin[1:] if twin else str(len(self.constants))
            name = f"{'K' if lanes else 'k'}{number}"
            self.constants[key] = name
            raw = np.array(bits, f"u{KINDS[kind]().itemsize}")
            value = raw.astype(np.bool_) if kind == "b1" else raw.view(kind)
            value.flags.writeable = False
            self.globals[name] = value if lanes else value[()]
            self.comments.append(f"# {name} = {value[()]!s} ({kind})")
        return name

    def uniform_name(self, value: LaneValue) -> str:
        return f"s{value.id}"

    def read(self, value: LaneValue, kind: str = "", lanes: bool = True) -> str:
        """An expression for `value` as `kind` in the current scope."""
        kind = kind or value.kind
        if value.const is not None:
            return self.constant(kind or f"u{max(1, value.bits // 8)}", value.const, lanes)
        if not value.varying:
            name, have = self.uniform_name(value), value.kind
        else:
            register = self.scope.find(value)
            name, have = register.name, register.kind
        return name if have == kind else f"{name}.view({kind})"

    def array_name(self, array: LaneArray) -> str:
        """The name of a row array, made at the start of the function."""
        name = self.arrays.get(id(array))
        if name is None:
            name = f"rows{len(self.arrays)}"
            self.arrays[id(array)] = name
            shape = f"({array.rows}, count)" if array.varying else str(array.rows)
            self.array_lines.append(f"{name} = zeros({shape}, {array.kind})")
        return name

    # -- function framing --------------------------------------------------------------------------

    def header(self) -> list[str]:
        """The lines before the code; call it when the code is complete."""
        head = list(self.comments)
        if self.views:
            names = ", ".join(view_name(*key) for key in self.views)
            head.append(f"{names}, = views")
        if self.keeps:
            head.append("kept = {}")
        if self.program.uses_discard:
            head.append("alive = None")
        if self.program.stage == "geometry":
            head.append("events = []")
        return head + self.array_lines

    def footer(self) -> list[str]:
        """The lines after the code."""
        if self.program.stage == "geometry":
            return ["return events"]
        tables: dict[int, dict[int, list[str]]] = {0: {}, 1: {}}
        for (slot, component, dual), text in self.outputs.items():
            if dual and self.program.stage == "tess_ctrl":
                text = f"{text}[: count // {self.program.patch_size}]"
            row = tables[dual].setdefault(slot, ["None"] * 4)
            row[component] = text
        texts = []
        for table in (tables[0], tables[1]):
            rows = (f"{slot}: [{', '.join(row)}]" for slot, row in sorted(table.items()))
            texts.append("{" + ", ".join(rows) + "}")
        zero = np.zeros((), np.float32)
        self.globals["nothing"] = {
            slot: [None if text == "None" else zero for text in row]
            for slot, row in tables[0].items()
        }
        alive = "alive" if self.program.uses_discard else "None"
        return [f"return {texts[0]}, {alive}, {texts[1]}"]


def view_name(block: int, kind: str) -> str:
    """The name of a uniform block viewed with one dtype; block -1: all blocks."""
    return f"blocks_{kind}" if block < 0 else f"block{block}_{kind}"
