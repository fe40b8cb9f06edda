"""Lesson: a frame's commands, what the driver makes of them, and what merging saves."""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import moderngl
import numpy as np

import gallette
from gallette.compiler.errors import GalletteError
from gallette.lessons.page import Page, Pictures, Table, lesson
from gallette.state_tracker.entry_points.enums import GL

__all__ = ["Frame", "drawn"]

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
    """What was seen of one frame."""

    commands: list[tuple[str, str]] = field(default_factory=list)
    """The names of functions, and the calls as text."""
    batches: list[tuple[int, ...]] = field(default_factory=list)
    """Of the draws that were executed together: the pending draws of each."""
    picture: Any = None


def drawn(driver: str) -> Frame:
    """The third frame of a small program, when the driver knows its draws."""
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


@lesson(
    "command_stream",
    "The command stream: calls, batches, merged draws",
    chapter="Drivers",
    place=25,
)
def run(page: Page, driver: str) -> None:
    """A frame of many small draws, from the calls of the application to the few draws executed.

    Why a driver does not draw at once.
    """
    frame = drawn(driver)
    draws = sum(name.startswith("glDraw") for name, _ in frame.commands)
    executed = sum(map(len, frame.batches))
    page.section(
        "Nothing is drawn yet",
        f"""The program draws {SPRITES} sprites: for each it switches blending on or off, binds one
        of two textures, sets two uniforms and draws. None of these calls returns anything, so none
        is executed when it is made. A few instructions write it into a ring of memory as a command,
        unless it switches what was switched that way last. The ring is flushed when the program
        asks for something: here for the picture.""",
    )
    page.add(Pictures([("the third frame", frame.picture)]))
    rows: list[tuple[str, ...]] = [
        (str(number), text) for number, (_, text) in enumerate(frame.commands[:24], 1)
    ]
    page.add(Table(("command", "call"), rows, f"the first of {len(frame.commands)} commands"))
    counts = Counter(name for name, _ in frame.commands)
    rows = [(name, str(count)) for name, count in counts.most_common()]
    page.add(Table(("function", "commands"), rows, "by function"))
    page.section(
        "States instead of calls",
        """Most commands set state. What counts is the state that each draw is made in: the last
        call for every slot, such as the texture of unit 0. The state tracker works out a hash of
        that for all draws at once. For a state that it met before it need not look at textures,
        programs and formats again: the driver's snapshot of that state is still there. Only the
        uniforms of each draw are new.""",
    )
    page.section(
        "Few draws instead of many",
        f"""The driver makes {draws} pending draws of them. Those with an equal merge key become
        instances of one draw: here all sprites that are blended, and all that are not. They may
        differ in constants, in vertex buffers and in the textures that fragments read. Because
        sprites of both states could overlap, every pixel is given its fragments in the order of
        the draws.""",
    )
    page.add(
        Table(
            ("merged draw", "pending draws in it", "draws saved"),
            [
                (str(number), str(count), str(count - 1))
                for number, count in enumerate((n for batch in frame.batches for n in batch), 1)
            ],
            f"{draws} pending draws became {executed}",
        )
    )
    page.ask(
        "The program reads a pixel after every sprite. What happens?",
        """Each read makes the effect of pending draws visible, so it flushes the ring and then the
        batch, which has one draw in it. Nothing can be merged: the picture is the same, and takes
        many times as long.""",
    )
    page.ask(
        "May the driver wait with a draw whose vertex buffer is written in the next call?",
        """Yes: what pending draws read is copied before it is written, so that they see it as it
        was (copy-on-write). If too much would have to be copied, the batch is flushed instead.""",
    )
    page.tries(
        ("GALLETTE_STREAM=off gallette bench small_draws", "the same, every call executed at once"),
        ("gallette bench small_draws state_draws", "scenes of many small draws"),
    )
