"""What a random program may do: one module for each part of the state space."""

from __future__ import annotations

from fuzz.gl_programs.steps import drawing, feedback, objects, settings, transfer
from fuzz.gl_programs.writer import PLAIN, Writer

__all__ = ["drawing", "feedback", "generate_plain", "objects", "settings", "transfer"]


def generate_plain(w: Writer, steps: int) -> None:
    """A program with vertex and fragment shaders."""
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
