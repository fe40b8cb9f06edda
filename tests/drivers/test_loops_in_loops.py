"""Loops in loops, left and gone on with in every place: each driver counts what Python counts.

A *skeleton* is a list of what a loop does: count, leave, go on, loop (a list again), or do some of
that on a condition. Every order of the same few things is one, the inner loop in front of, between
and behind what leaves the outer one. A pixel's column is what conditions see, so lanes leave at
different times; its row tells which skeleton it counts.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import program, quad

DRIVERS = ("numpipe", "jit", "simd", "tiler")
COLUMNS = 8
ROUNDS = 5

Skeleton = list[Any]
"""`("count", n)`, `("break", n)`, `("continue", n)`, `("if", n, skeleton)` or a loop's skeleton;
`n` tells one condition from another."""


def holds(number: int, column: int, count: int) -> bool:
    """The condition `n` in a column, where so much was counted: written as GLSL by `condition`."""
    return (column * (number + 3) + count * (2 * number + 1)) % 7 < 2


def condition(number: int) -> str:
    return f"(x * {number + 3} + c * {2 * number + 1}) % 7 < 2"


def glsl(body: Skeleton, depth: int = 0) -> str:
    """The body of a loop, or of what a condition guards."""
    lines = []
    for step in body:
        if isinstance(step, list):
            i = f"i{depth}"
            inner = glsl(step, depth + 1)
            lines.append(f"for (int {i} = 0; {i} < {ROUNDS}; ++{i}) {{ {inner} }}")
        elif step[0] == "count":
            lines.append(f"c += {step[1]};")
        elif step[0] == "if":
            lines.append(f"if ({condition(step[1])}) {{ {glsl(step[2], depth)} }}")
        else:
            lines.append(f"if ({condition(step[1])}) {step[0]};")
    return " ".join(lines)


def counted(body: Skeleton, column: int, count: int) -> tuple[int, str]:
    """What Python counts, and how the body ended."""
    for step in body:
        how = ""
        if isinstance(step, list):
            for _ in range(ROUNDS):
                count, left = counted(step, column, count)
                if left == "break":
                    break
        elif step[0] == "count":
            count += step[1]
        elif holds(step[1], column, count):
            if step[0] == "if":
                count, how = counted(step[2], column, count)
            else:
                how = step[0]
        if how:
            return count, how
    return count, ""


def orders() -> list[Skeleton]:
    """Every order of an inner loop and of what leaves the outer one, and some three deep."""
    inner = [("count", 1), ("break", 1), ("count", 3)]
    things = [inner, ("break", 2), ("continue", 3), ("count", 5)]
    found = [[[*order]] for order in itertools.permutations(things)]
    rng = random.Random(16)

    def grown(depth: int) -> Skeleton:
        parts: Skeleton = [("count", rng.randint(1, 9))]
        for _ in range(rng.randint(2, 3)):
            kind = rng.choice(["break", "continue", "count", "if", "loop", "loop"])
            if kind == "loop" and depth < 2:
                parts.append(grown(depth + 1))
            elif kind == "if" and depth < 2:
                parts.append(("if", rng.randint(0, 5), [*grown(depth + 1), ("break", 4)]))
            elif kind in ("break", "continue"):
                parts.append((kind, rng.randint(0, 5)))
        rng.shuffle(parts)
        return parts

    return found + [[grown(0)] for _ in range(8)]


SKELETONS = orders()


def source() -> str:
    functions = "".join(
        f"int f{n}(int x) {{ int c = 0; {glsl(body)} return c; }}\n"
        for n, body in enumerate(SKELETONS)
    )
    chosen = "".join(f"if (y == {n}) r = f{n}(x);\n" for n in range(len(SKELETONS)))
    return (
        "#version 330\nout ivec4 result;\n"
        + functions
        + "void main() { int x = int(gl_FragCoord.x), y = int(gl_FragCoord.y), r = -1;\n"
        + chosen
        + "result = ivec4(r); }"
    )


@pytest.mark.parametrize("driver", DRIVERS)
def test_every_loop_is_left_where_it_says(driver: str) -> None:
    rows = len(SKELETONS)
    gl = create_context(driver, size=(COLUMNS, rows))
    vertex = "#version 330\nin vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
    quad(gl, program(gl, vertex, source()))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32I, COLUMNS, rows, 0, GL.RGBA_INTEGER, GL.INT, None)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    data = gl.read_pixels(0, 0, COLUMNS, rows, GL.RGBA_INTEGER, GL.INT)
    assert gl.get_error() == GL.NO_ERROR
    found = np.frombuffer(data, np.int32).reshape(rows, COLUMNS, 4)[..., 0]
    wanted = [[counted(body, x, 0)[0] for x in range(COLUMNS)] for body in SKELETONS]
    assert found.tolist() == wanted


def test_skeletons_leave_everywhere() -> None:
    wanted = {tuple(counted(body, x, 0)[0] for x in range(COLUMNS)) for body in SKELETONS}
    assert len(wanted) > len(SKELETONS) * 3 // 4
