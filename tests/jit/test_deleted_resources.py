"""Draws that follow plans hold nothing of deleted textures and buffers for long."""

from __future__ import annotations

import gc
from typing import Any

import moderngl
import numpy as np

import gallette
from gallette.drivers.jit.draw_plan import DrawPlan

VERTEX = """#version 330
in vec2 v; uniform vec2 at; void main() { gl_Position = vec4(v * 0.1 + at, 0, 1); }"""
FRAGMENT = """#version 330
uniform sampler2D t; out vec4 c; void main() { c = texture(t, vec2(0.5)); }"""


def plans() -> int:
    """How many plans there are, those of other contexts included."""
    gc.collect()
    return sum(isinstance(each, DrawPlan) for each in gc.get_objects())


def test_plans_of_deleted_textures_are_forgotten() -> None:
    context: Any = gallette.moderngl_context("jit")
    ctx = moderngl.create_context(standalone=True, context=context)
    ctx.simple_framebuffer((16, 16)).use()
    program = ctx.program(VERTEX, FRAGMENT)
    square = np.array([-1, -1, 1, -1, -1, 1, 1, 1], "f4").tobytes()
    before = plans()
    for _ in range(300):
        texture, buffer = ctx.texture((4, 4), 4), ctx.buffer(square)
        array = ctx.vertex_array(program, [(buffer, "2f", "v")])
        texture.use()
        for k in range(12):  # enough for a command list
            program["at"].value = k / 12, 0
            array.render(moderngl.TRIANGLE_STRIP)
        ctx.finish()
        for each in (array, buffer, texture):
            each.release()
    kept = plans() - before
    context.release()
    assert kept < 150
