"""The lesson: a frame's commands, what the driver makes of them, and what merging saves."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import moderngl
import numpy as np

import gallette
from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.enums import GL

SIZE = 96
SPRITES = 48
VERTEX = """#version 330
in vec2 corner; uniform vec3 place; out vec2 at;
void main() { at = corner * 0.5 + 0.5; gl_Position = vec4(corner * place.z + place.xy, 0.0, 1.0); }
"""
FRAGMENT = """#version 330
uniform sampler2D image; uniform vec4 tint; in vec2 at; out vec4 color;
void main() { color = texture(image, at) * tint; }
"""
_ENUMS = {"glEnable", "glDisable", "glBindTexture", "glActiveTexture"}


@dataclass
class Frame:
    """The records of one frame."""

    commands: list[tuple[str, str]] = field(default_factory=list)
    """The names of functions, and the calls as text."""
    batches: list[tuple[int, ...]] = field(default_factory=list)
    """Of the draws that were executed together: the pending draws of each."""
    picture: Any = None


def drawn(driver: str) -> Frame:
    """The records of the third frame of a small program, whose draws the driver has seen before."""
    gl: Any = gallette.moderngl_context(driver)
    if not hasattr(gl.pipe, "taps"):
        raise GalletteError(f"{driver} executes each draw at once: use numpipe or jit")
    frame = Frame()
    with moderngl.create_context(standalone=True, context=gl) as ctx:
        program = ctx.program(VERTEX, FRAGMENT)
        corners = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
        sprite = ctx.vertex_array(program, [(ctx.buffer(corners), "2f", "corner")])
        rng = np.random.default_rng(5)
        images = [ctx.texture((4, 4), 4, rng.bytes(64)) for _ in range(2)]
        target = ctx.simple_framebuffer((SIZE, SIZE))
        target.use()
        for number in range(3):
            target.clear(0.1, 0.1, 0.15)
            if number == 2:
                gl.finish()
                gl.stream.taps.append(
                    lambda calls: frame.commands.extend((n, _shown(n, a)) for n, a in calls)
                )
                gl.pipe.taps.append(
                    lambda merged: frame.batches.append(tuple(len(m.entries) for m in merged))
                )
            for sprite_number in range(SPRITES):
                column, row = sprite_number % 8, sprite_number // 8
                (ctx.enable if row % 2 else ctx.disable)(ctx.BLEND)
                images[column % 2].use()
                program["place"] = column / 4 - 0.875, row / 3 - 0.85, 0.11
                program["tint"] = 1.0, column / 7, row / 5, 0.75
                sprite.render(moderngl.TRIANGLE_STRIP)
            gl.finish()
        gl.stream.taps.clear()
        gl.pipe.taps.clear()
        pixels = np.frombuffer(target.read(components=3), np.uint8)
        frame.picture = pixels.reshape(SIZE, SIZE, 3)[::-1].copy()
    return frame


def _shown(name: str, arguments: tuple[Any, ...]) -> str:
    """A call as text; floats behind a pointer by their values."""
    if name.startswith("glUniform") and name.endswith("v"):
        count = int(name.removeprefix("glUniform")[0])
        values = (ctypes.c_float * count).from_address(arguments[-1])
        return f"{name}({arguments[0]}, {', '.join(f'{v:.3g}' for v in values)})"
    if name in _ENUMS:
        first, *rest = arguments
        return f"{name}({', '.join([GL.name_of(first), *map(str, rest)])})"
    return f"{name}({', '.join(map(str, arguments))})"
