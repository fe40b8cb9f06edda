"""A program of a seed."""

from __future__ import annotations

import random

from fuzz.programs import Program

from . import steps as all_steps
from .steps.buffers import new_buffer
from .steps.framebuffers import new_framebuffer
from .steps.shading import new_program
from .steps.textures import new_texture
from .steps.vertices import new_array
from .writer import STEPS, Writer

__all__ = ["generate"]

assert all_steps


def generate(seed: int, steps: int = 60) -> Program:
    """Lines: what a program begins with, and so many steps after it."""
    r = random.Random(seed)
    w = Writer(r, compat=r.random() < 0.15)
    for _ in range(3):
        new_buffer(w, r.choice((256, 4096, 4096, 1000)))
    for _ in range(2):
        new_texture(w)
    if r.random() < 0.6:
        new_framebuffer(w)
    new_program(w)
    new_array(w)
    weights, choices = [weight for weight, _ in STEPS], [make for _, make in STEPS]
    for _ in range(steps):
        (choice,) = r.choices(choices, weights)
        choice(w)
    return Program(w.lines, "compat" if w.compat else "core", r.choice((0, 0, 0, 4)))
