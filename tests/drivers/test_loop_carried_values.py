"""What a loop hands on from round to round, all at once: every driver has what Python has.

In each round new values are made of the old ones, or change places, or stay, before any of the old
ones may be overwritten. Drivers keep them in places that are used again, and move as little as they
can; so what is tried is many ways to hand a few values on, with much that is no longer needed
before the loop, and lanes that leave it in other rounds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import program, quad

LANES, ROUNDS = 24, 6
MANY = {"numpipe": 40, "jit": 20, "simd": 10, "tiler": 10}
VERTEX = "#version 330\nin vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
FORMS: tuple[tuple[str, Callable[[int, int, int], int]], ...] = (
    ("a + b", lambda a, b, i: a + b),
    ("a - b", lambda a, b, i: a - b),
    ("a * 3u + b", lambda a, b, i: a * 3 + b),
    ("a ^ (b >> 1)", lambda a, b, i: a ^ (b >> 1)),
    ("a + i", lambda a, b, i: a + i),
    ("a", lambda a, b, i: a),
    ("b", lambda a, b, i: b),
    ("7u", lambda a, b, i: 7),
)


@dataclass
class Program:
    """Loops over a few values: of each the form, and the values it is made of."""

    seed: int
    made: list[tuple[int, int, int]] = field(default_factory=list)
    leaves: int = 0  # lanes leave where the first value is 0 modulo this; 0: none does

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        count = rng.randint(2, 4)
        for _ in range(count):
            form = rng.choice((rng.randrange(4), rng.randrange(len(FORMS))))
            self.made.append((form, rng.randrange(count), rng.randrange(count)))
        self.leaves = rng.choice((0, 0, 5, 13))

    def glsl(self) -> str:
        count = len(self.made)
        new = []
        for number, (form, a, b) in enumerate(self.made):
            text = FORMS[form][0].replace("b", "B").replace("a", f"v{a}").replace("B", f"v{b}")
            new.append(f"uint n{number} = {text};")
        return f"""#version 330
        uniform uint rounds;
        out uvec4 result;
        void main() {{
            uint x = uint(gl_FragCoord.x);
            uvec4 before = uvec4(x + 1u, x * 5u, x ^ 9u, x * x);
            before = before * before.yzwx + before.zwxy;
            uint {", ".join(f"v{k} = before[{k}] % 1009u" for k in range(count))};
            for (uint i = 0u; i < rounds; i++) {{
                {f"if (v0 % {self.leaves}u == 0u) break;" if self.leaves else ""}
                {" ".join(new)}
                {" ".join(f"v{k} = n{k};" for k in range(count))}
            }}
            result = uvec4({", ".join([*(f"v{k}" for k in range(count)), "1", "1"][:4])});
        }}"""

    def value(self, x: int) -> list[int]:
        """What Python makes of it in one lane."""
        mask = 0xFFFFFFFF
        first = [x + 1, x * 5, x ^ 9, x * x]
        second = [first[k] * first[(k + 1) % 4] + first[(k + 2) % 4] for k in range(4)]
        values = [each % 1009 for each in second[: len(self.made)]]
        for i in range(ROUNDS):
            if self.leaves and values[0] % self.leaves == 0:
                break
            values = [FORMS[form][1](values[a], values[b], i) & mask for form, a, b in self.made]
        return [*values, 1, 1][:4]


@pytest.mark.parametrize("driver", MANY)
def test_loop_carried_values_are_assigned_at_once(driver: str) -> None:
    gl = create_context(driver, size=(LANES, 1))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    kind = GL.RGBA_INTEGER, GL.UNSIGNED_INT
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32UI, LANES, 1, 0, *kind, None)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    for seed in range(MANY[driver]):
        made = Program(seed)
        name = program(gl, VERTEX, made.glsl())
        quad(gl, name)
        gl.uniform1ui(gl.get_uniform_location(name, "rounds"), ROUNDS)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        found = np.frombuffer(gl.read_pixels(0, 0, LANES, 1, *kind), np.uint32).reshape(-1, 4)
        assert gl.get_error() == GL.NO_ERROR
        assert found.tolist() == [made.value(x) for x in range(LANES)], made


def test_programs_hand_on_in_many_ways() -> None:
    programs = [Program(seed) for seed in range(40)]
    assert {len(each.made) for each in programs} == {2, 3, 4}
    assert {form for each in programs for form, _, _ in each.made} == set(range(len(FORMS)))
    assert {each.leaves for each in programs} == {0, 5, 13}
    ends = {tuple(each.value(x)[0] for x in range(LANES)) for each in programs}
    assert len(ends) > len(programs) // 2
