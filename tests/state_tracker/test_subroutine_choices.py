"""Which function a subroutine uniform names (section 7.10 of OpenGL 4.6): choices are state of the
context, and some commands put the defaults back.

A row has steps and the function that runs then, in the first context or, after `|`, in the second,
which shares its objects. Both begin with program `P` in use, whose default is function 0.
"""

from __future__ import annotations

from typing import Any

import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.native.context import NativeContext
from tests.state_tracker.helpers import errors, linked

HEAD = "#version 430\n"
VERTEX = f"""{HEAD}out gl_PerVertex {{ vec4 gl_Position; }};
void main() {{ gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0.0, 1.0); }}
"""
FRAGMENT = f"""{HEAD}subroutine float F();
layout(index = 0) subroutine(F) float zero() {{ return 0.0; }}
layout(index = 1) subroutine(F) float one() {{ return 0.2; }}
layout(index = 2) subroutine(F) float two() {{ return 0.4; }}
layout(location = 0) subroutine uniform F f;
out vec4 color;
void main() {{ color = vec4(f()); }}
"""

ROWS: dict[str, int] = {
    "": 0,
    "choose 1": 1,
    "choose 1, choose 2": 2,
    "choose 1, use P": 0,
    "choose 1, use Q, use P": 0,
    "choose 1, use 0, use P": 0,
    "choose 1, link P": 0,
    "choose 1, link Q": 1,
    "choose 1, use bad": 1,
    "choose 1, choose 7": 1,
    "use 0, bind A, choose 2": 2,
    "use 0, bind A, choose 2, bind A": 2,
    "use 0, bind A, choose 2, bind B": 0,
    "use 0, bind A, choose 2, bind B, choose 1, bind A": 0,
    "use 0, bind A, choose 2, stages A F": 0,
    "use 0, bind A, choose 2, stages A V": 2,
    "use 0, bind A, choose 2, stages B F": 0,
    "choose 1, bind A, use 0": 0,
    "choose 1 | ": 0,
    "choose 1 | choose 2": 2,
    "choose 1 | choose 2 | ": 1,
    "choose 1 | use P | ": 1,
}


class Side:
    """A context with its pipelines; programs are shared."""

    def __init__(self, gl: Any, programs: dict[str, int]):
        self.gl, self.programs = gl, programs
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        self.pipelines = dict(zip("AB", gl.gen_program_pipelines(2), strict=True))
        for pipeline in self.pipelines.values():
            for bit, name in ((GL.VERTEX_SHADER_BIT, "V"), (GL.FRAGMENT_SHADER_BIT, "F")):
                gl.use_program_stages(pipeline, bit, programs[name])
        gl.use_program(programs["P"])

    def step(self, verb: str, *words: str) -> None:
        gl, named = self.gl, {**self.programs, **self.pipelines, "0": 0, "bad": 12345}
        if verb == "choose":
            gl.uniform_subroutinesuiv(GL.FRAGMENT_SHADER, 1, [int(words[0])])
        elif verb == "stages":
            bit = {"V": GL.VERTEX_SHADER_BIT, "F": GL.FRAGMENT_SHADER_BIT}[words[1]]
            gl.use_program_stages(named[words[0]], bit, named[words[1]])
        else:
            call = {
                "use": gl.use_program,
                "link": gl.link_program,
                "bind": gl.bind_program_pipeline,
            }
            call[verb](named[words[0]])

    def drawn(self) -> int:
        """The number of the function that a draw calls; queries have to answer the same."""
        self.gl.draw_arrays(GL.TRIANGLES, 0, 3)
        raw = bytes(self.gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))
        (asked,) = self.gl.get_uniform_subroutineuiv(GL.FRAGMENT_SHADER, 0)
        assert raw == bytes([51 * asked]) * 4
        return int(asked)


def programs(gl: Any) -> dict[str, int]:
    """P and Q of both stages, V and F of one each for pipelines."""
    found = {}
    for name, stages in (("P", "VF"), ("Q", "VF"), ("V", "V"), ("F", "F")):
        texts = {"V": {"vertex": VERTEX}, "F": {"fragment": FRAGMENT},
                 "VF": {"vertex": VERTEX, "fragment": FRAGMENT}}[stages]  # fmt: skip
        found[name] = linked(gl, separable=True, used=False, **texts)
    return found


def outcome(driver: str, steps: str) -> int:
    make: Any = NativeContext if driver == "llvmpipe" else Context
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (4, 4)}
    first = make(driver, **options)
    second = make(driver, **options, share=first)
    sides = []
    for gl in (first, second):
        gl.make_current()
        sides.append(Side(gl, sides[0].programs if sides else programs(gl)))
    number = 0
    for turn, part in enumerate(steps.split("|")):
        number = turn % 2
        sides[number].gl.make_current()
        for step in filter(None, map(str.strip, part.split(","))):
            sides[number].step(*step.split())
    wrong = errors(sides[number].gl)
    assert bool(wrong) == ("bad" in steps or "choose 7" in steps), wrong
    found = sides[number].drawn()
    for gl in (second, first):
        gl.make_current()
        gl.release()
    return found


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("steps", ROWS)
def test_choices_belong_to_the_context(driver: str, steps: str) -> None:
    assert outcome(driver, steps) == ROWS[steps]


@pytest.mark.native
@pytest.mark.parametrize("steps", ROWS)
def test_native_gl_selects_alike(steps: str) -> None:
    assert outcome("llvmpipe", steps) == ROWS[steps]
