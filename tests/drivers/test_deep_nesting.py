"""The deepest code that the compiler accepts runs on every driver within Python's default stack."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from gallette.compiler.glsl.parse.expressions import MAX_NESTING
from gallette.compiler.work_limits import MOST_NESTED
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import program, quad

DRIVERS = ("numpipe", "jit", "simd", "tiler")
COLUMNS = 8
IFS = MAX_NESTING - 4
CHAIN = MOST_NESTED - 6
RETURNS = MOST_NESTED - 1


def in_ifs(first: int, count: int, inner: str) -> str:
    """Ifs in each other, which one column after the other does not enter."""
    opened = "".join(f"if (x * 20 + 7 != {n}) {{ r += {n};\n" for n in range(first, first + count))
    return opened + inner + "}" * count


CODE = {
    "function": (
        f"int f(int x) {{ int r = 0; {in_ifs(IFS, IFS, '')} return r; }}\n",
        in_ifs(0, IFS, "r += f(x);"),
    ),
    "chain": (
        "",
        " else ".join(f"if (x + {CHAIN - COLUMNS} == {n}) r = {n * 3};\n" for n in range(CHAIN)),
    ),
    "returns": (
        "int f(int x) { "
        + "".join(f"if (x * 32 + 15 == {n}) return {n};\n" for n in range(RETURNS))
        + "return 1; }\n",
        "r = f(x);",
    ),
}


def of_ifs(x: int, first: int = 0) -> int:
    """What `in_ifs` adds up."""
    left = [n for n in range(first, first + IFS) if n == x * 20 + 7]
    return sum(range(first, left[0] if left else first + IFS))


WANTED = {
    "function": [of_ifs(x) + (of_ifs(x, IFS) if x * 20 + 7 >= IFS else 0) for x in range(COLUMNS)],
    "chain": [(x + CHAIN - COLUMNS) * 3 for x in range(COLUMNS)],
    "returns": [x * 32 + 15 if x * 32 + 15 < RETURNS else 1 for x in range(COLUMNS)],
}


@pytest.fixture
def default_stack() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("default_stack")
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", CODE)
def test_the_deepest_code_runs(driver: str, name: str) -> None:
    gl = create_context(driver, size=(COLUMNS, 1))
    vertex = "#version 330\nin vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
    functions, body = CODE[name]
    fragment = (
        f"#version 330\nout ivec4 result;\n{functions}"
        f"void main() {{ int x = int(gl_FragCoord.x), r = 0;\n{body}\nresult = ivec4(r); }}"
    )
    quad(gl, program(gl, vertex, fragment))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32I, COLUMNS, 1, 0, GL.RGBA_INTEGER, GL.INT, None)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    data = gl.read_pixels(0, 0, COLUMNS, 1, GL.RGBA_INTEGER, GL.INT)
    assert gl.get_error() == GL.NO_ERROR
    assert np.frombuffer(data, np.int32).reshape(COLUMNS, 4)[:, 0].tolist() == WANTED[name]
