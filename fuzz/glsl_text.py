"""Mutated and random GLSL: the front end answers, quickly, and never crashes.

    python -m fuzz glsl-text --seconds 60

Inputs are token mutations of the seeds below (delete, repeat, swap, replace, splice), random token
soup, random bytes, and pathological nesting. Anything but a result is a finding; so is an input
that takes longer than its length allows.
"""

from __future__ import annotations

import argparse
import random
import time

from fuzz.damage import WORDS, glsl
from fuzz.gl_programs.shaders import source
from fuzz.harness import Finding, Fuzzer, shorter
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Stage

STAGES = (
    Stage.VERTEX,
    Stage.FRAGMENT,
    Stage.FRAGMENT,
    Stage.GEOMETRY,
    Stage.TESS_CTRL,
    Stage.TESS_EVAL,
    Stage.COMPUTE,
)
SECONDS_PER_CHARACTER = 4e-5
SECONDS_MINIMUM = 1.0

SEED_STAGES = (Stage.FRAGMENT, Stage.VERTEX, Stage.COMPUTE, Stage.GEOMETRY, Stage.FRAGMENT)
_NAMES = ("statements", "macros", "blocks", "subroutines", "precisions")
SEEDS = tuple(
    source("text", stage.value, name).rstrip("\n") + "\n"
    for stage, name in zip(SEED_STAGES, _NAMES, strict=True)
)


def nested(rng: random.Random) -> str:
    """Depth or breadth where a recursive or quadratic compiler would fall over."""
    n = rng.choice((50, 190, 210, 3000, 20000))
    body = rng.choice(
        (
            f"float x = {'(' * n}1.0{')' * n};",
            f"float x = {'-' * n}1.0;",
            f"bool x = {'!' * n}true;",
            f"float x = {'1.0 + ' * n}1.0;",
            f"float x = {'a = ' * n}1.0;",
            f"{'{' * n}{'}' * n}",
            f"{'if (true) ' * n};",
            f"{'if (a > 0.0) ; else ' * n};",
            f"{'for (;;) ' * n}break;",
            f"float x = {'sin(' * n}1.0{')' * n};",
            f"float x = a{'[0]' * n};",
            f"float x = v{'.xyzw' * n}.x;",
            f"float x = {'true ? 1.0 : ' * n}1.0;",
            f"vec4 x = {'vec4(' * n}1.0{')' * n};",
            f"x{', x' * n};",
            f"int x{'[2]' * min(n, 500)};",
            f"switch (1) {{ {'case 1: ' * n} }}",
            "a += 1.0; " * n,
        )
    )
    pre = rng.choice(
        (
            "",
            "#define A B B\n#define B C C\n#define C D D\n#define D A A\nA\n",
            "".join(f"#define M{i + 1} M{i} M{i}\n" for i in range(40)) + "#define M0 x\nM40\n",
            "#if 1\n" * min(n, 3000),
            "#if " + "(" * n + "1\n",
            "#define F(x) x x\n" + "F(" * min(n, 300) + "1" + ")" * min(n, 300),
        )
    )
    return f"#version 430\n{pre}\nvoid main() {{ float a = 1.0; vec4 v = vec4(a); {body} }}\n"


class GLSLText(Fuzzer[tuple[Stage, str]]):
    """Texts for a stage."""

    steps = (shorter,)
    batch = 50

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--no-link", action="store_true", help="only compile")

    def make(self, number: int) -> tuple[Stage, str]:
        rng = random.Random(number)
        kind = rng.random()
        stage = rng.choice(STAGES)
        if kind < 0.80:
            which = rng.randrange(len(SEEDS))
            text = glsl(SEEDS[which], SEEDS, rng)
            if rng.random() < 0.8:
                stage = SEED_STAGES[which]
        elif kind < 0.93:
            text = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 120)))
        elif kind < 0.97:
            text = "".join(chr(rng.randrange(1, 256)) for _ in range(rng.randrange(1, 300)))
        else:
            text = nested(rng)
        return stage, text

    def attempt(self, given: tuple[Stage, str]) -> str:
        stage, text = given
        begin = time.process_time()  # not wall time: others may use the machine
        result = compile_shader(stage, text, CompileOptions(api="compat"))
        if result.ok and not self.options.no_link:
            program = link_program([result], LinkOptions(api="compat", optimize=False))
            for shader in program.shaders.values():
                shader.unref()
        if not result.ok and not result.info_log:
            raise Finding("rejected without a message")
        took = time.process_time() - begin
        if took > SECONDS_MINIMUM + SECONDS_PER_CHARACTER * len(text):
            raise Finding("slow", f"{took:.2f} s")
        return "compile" if result.ok else "are rejected"

    @staticmethod
    def text(given: tuple[Stage, str]) -> str:
        return f"// {given[0].value}\n{given[1]}"

    @staticmethod
    def read(saved: bytes) -> tuple[Stage, str]:
        head, _, text = saved.decode().partition("\n")
        return Stage(head.removeprefix("// ")), text


FUZZER = GLSLText
