"""Writing random programs: a walk over the state space that keeps to what is defined."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from fuzz.gl_programs.common import FEWEST_DRAWS, MARKS
from fuzz.gl_programs.es import in_es
from fuzz.gl_programs.settings import rules
from fuzz.gl_programs.writer import Writer
from fuzz.grammar import Grammar
from fuzz.programs import LINE, lines_of

FAMILY = 4
"""programs that have their states in common and differ in numbers, vertices and texels: llvmpipe
compiles machine code for every state, which costs more than all the rest"""
_PROFILES = {
    "plain": ("core", "compat", "es"),
    "fixed": ("fixed",),
    "modern": ("modern",),
    "shared": ("shared",),
}
"""of the programs that a grammar writes"""
_PAIRS = {"beside": ("beside",), "threads": ("while", "while sharing")}
"""what stands between the profiles of two programs (`run`)"""
_OF_PAIRS = "", "", "es", "fixed", "modern"
"""programs that may run at the same time"""
MOST_AT_ONCE = 6
"""lines of one program before the other has its turn"""

Program = tuple[list[str], str]


@cache
def grammar(name: str) -> Grammar:
    """The rules of one kind of programs, and its settings."""
    text = Path(__file__).with_name(f"{name}.txt").read_text()
    return Grammar(text + rules(_PROFILES[name]), LINE)


def write(w: Writer, steps: int) -> list[str]:
    """The lines of a program: its beginning, at least so many steps and ten draws, its end."""
    rules = w.grammar
    written, done = [rules.write("begin", w)], 0
    while done < steps or w.draws < FEWEST_DRAWS:
        written.append(rules.write("step", w))
        done += 1
    written.append(rules.write("end", w))
    return lines_of(written)


def generate(seed: int, steps: int = 20, kind: str = "") -> Program:
    """A program of a seed, and what it is for."""
    if kind in _PAIRS:
        return _pair(seed, steps, random.Random(seed).choice(_PAIRS[kind]))
    r, data = random.Random(seed // FAMILY), random.Random(seed)
    profile = kind or ("core" if r.random() < 0.4 else "compat")
    w = Writer(grammar(kind if kind in _PROFILES else "plain"), r, data, profile)
    lines = write(w, steps)
    return in_es(lines) if w.es else lines, profile


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
