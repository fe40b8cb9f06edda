"""Writing random programs: a walk over the state space that keeps to what is defined."""

from __future__ import annotations

import random

from gl_diff import steps
from gl_diff.steps import objects, transfer
from gl_diff.writer import STEPS, Writer

__all__ = ["generate"]

assert steps


def generate(seed: int, steps: int = 40, core: bool | None = None) -> tuple[list[str], str]:
    """A program of a seed, and the profile it is for."""
    r = random.Random(seed)
    core = r.random() < 0.4 if core is None else core
    w = Writer(r, core, unfilled=r.random() < 0.25, floats=r.random() < 0.25)
    for first in (objects.new_target, objects.new_texture, objects.new_program):
        first(w)
    objects.new_buffer(w)
    objects.new_array(w)
    functions, weights = zip(*STEPS, strict=True)
    for function in r.choices(functions, weights, k=steps):
        function(w)
    for target in w.targets:
        w.bound_target = target
        w.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {target.name})")
        transfer.look(w)
    w.say(*(f"see.query({query})" for query in w.queries))
    return w.lines, "core" if core else "compat"
