"""Writing random programs: a walk over the state space that keeps to what is defined."""

from __future__ import annotations

import random

from fuzz.gl_programs import steps
from fuzz.gl_programs.beside import mixed
from fuzz.gl_programs.es import in_es
from fuzz.gl_programs.fixed import generate_fixed
from fuzz.gl_programs.modern import generate_modern
from fuzz.gl_programs.shared import generate_shared
from fuzz.gl_programs.steps import objects, transfer
from fuzz.gl_programs.threads import at_once
from fuzz.gl_programs.writer import PLAIN, Writer

__all__ = ["FAMILY", "generate"]

assert steps


FAMILY = 4
"""programs that have their states in common and differ in numbers, vertices and texels: llvmpipe
compiles machine code for every state, which costs more than all the rest"""
_KINDS = {"fixed": generate_fixed, "modern": generate_modern, "shared": generate_shared}
"""programs that are written in another way"""
_TWO = {"beside": mixed, "threads": at_once}
_BESIDE = "", "", "es", "fixed", "modern"
"""those that may run at the same time"""


def generate(seed: int, steps: int = 20, kind: str = "") -> tuple[list[str], str]:
    """A program of a seed, and what it is for: at least `steps` steps and ten draws."""
    if kind in _TWO:
        return _TWO[kind](seed, lambda one, of: generate(one, steps, of), _BESIDE)
    if kind in _KINDS:
        return _KINDS[kind](seed, steps, FAMILY), kind
    es = kind == "es"
    r = random.Random(seed // FAMILY)
    core = r.random() < 0.4 or es
    unfilled, floats = r.random() < 0.25, r.random() < 0.25
    w = Writer(r, random.Random(seed), core, es, unfilled=unfilled and not es, floats=floats)
    for first in (objects.new_target, objects.new_texture, objects.new_program):
        first(w)
    objects.new_buffer(w)
    objects.new_array(w)
    PLAIN.walk(w, w, steps)
    for target in w.targets:
        w.bound_target = target
        w.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {target.name})")
        transfer.look(w)
    w.say(*(f"see.query({query})" for query in w.queries))
    if es:
        return in_es(w.lines), "es"
    return w.lines, "core" if core else "compat"
