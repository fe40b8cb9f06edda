"""Programs for OpenGL ES: those for a core profile, without what ES does not have.

Functions that are missing go from the line they stand on, and functions of another name take their
place; enumerators stay, since both sides are to refuse the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gallette.state_tracker.entry_points.functions import FUNCTIONS

VERSION = (3, 2)
HEADER = """#version 320 es
precision highp float; precision highp int;
precision highp sampler2DArray; precision highp sampler2DShadow;
"""
_RENAMED = {"clear_depth": "clear_depthf", "depth_range": "depth_rangef"}
_CALL = re.compile(r"\bgl\.([a-z]\w*)\(")


def in_es(lines: Iterable[str]) -> list[str]:
    """The lines that an ES context understands."""
    found = (_line(line) for line in lines)
    return [line for line in found if line]


def _line(line: str) -> str:
    line = _CALL.sub(lambda m: f"gl.{_RENAMED.get(m[1], m[1])}(", line)
    whole = line.startswith("with ") or "lambda" in line
    parts = [line] if whole else re.split("; ?", line)
    return "; ".join(part for part in parts if all(map(_known, _CALL.findall(part))))


def _known(name: str) -> bool:
    return FUNCTIONS.method(name).in_es(VERSION)
