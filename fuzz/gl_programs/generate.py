"""Writing random programs: a walk over the state space that keeps to what is defined."""

from __future__ import annotations

import random

from fuzz.gl_programs.common import MARKS
from fuzz.gl_programs.es import in_es
from fuzz.gl_programs.fixed import generate_fixed
from fuzz.gl_programs.modern import generate_modern
from fuzz.gl_programs.shared import generate_shared
from fuzz.gl_programs.steps import generate_plain
from fuzz.gl_programs.writer import Writer

__all__ = ["FAMILY", "generate"]

FAMILY = 4
"""programs that have their states in common and differ in numbers, vertices and texels: llvmpipe
compiles machine code for every state, which costs more than all the rest"""
_WRITTEN = {"fixed": generate_fixed, "modern": generate_modern, "shared": generate_shared}
"""programs that are written in another way"""
_PAIRS = {"beside": ("beside",), "threads": ("while", "while sharing")}
"""what stands between the profiles of two programs (`run`)"""
_OF_PAIRS = "", "", "es", "fixed", "modern"
"""programs that may run at the same time"""
MOST_AT_ONCE = 6
"""lines of one program before the other has its turn"""

Program = tuple[list[str], str]


def generate(seed: int, steps: int = 20, kind: str = "") -> Program:
    """A program of a seed, and what it is for: at least `steps` steps and ten draws."""
    if kind in _PAIRS:
        return _pair(seed, steps, random.Random(seed).choice(_PAIRS[kind]))
    r, data = random.Random(seed // FAMILY), random.Random(seed)
    if kind in _WRITTEN:
        w = Writer(r, data, kind != "fixed")
        _WRITTEN[kind](w, steps)
        return w.lines, kind
    es = kind == "es"
    core = r.random() < 0.4 or es
    unfilled, floats = r.random() < 0.25, r.random() < 0.25
    w = Writer(r, data, core, es, unfilled=unfilled and not es, floats=floats)
    generate_plain(w, steps)
    return (in_es(w.lines), "es") if es else (w.lines, "core" if core else "compat")


def _pair(seed: int, steps: int, between: str) -> Program:
    """Two programs, whose lines alternate (which means nothing where they run in threads)."""
    r = random.Random(seed)
    (one, profile), (two, other) = (
        generate(r.randrange(1 << 20), steps, r.choice(_OF_PAIRS)) for _ in MARKS
    )
    waiting = [[MARKS[0] + line for line in one], [MARKS[1] + line for line in two]]
    lines: list[str] = []
    turn = 0
    while any(waiting):
        count = r.randrange(1, MOST_AT_ONCE)
        lines += waiting[turn][:count]
        del waiting[turn][:count]
        turn = 1 - turn
    return lines, f"{profile} {between} {other}"
