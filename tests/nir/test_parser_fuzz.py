"""Damaged text is refused or read, but never crashes the reader or the validator."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from nir_cases import read_cases
from random_shaders import make_shader

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

CASES = [
    case.text
    for file in sorted((Path(__file__).parent / "passes").glob("*.nir"))
    for case in read_cases(file)
]
PIECES = [
    "%1", "%99", "}", "{", "(", ")", "32", "1x4", "fadd", "loop {", "if %1 {", "phi", "-1",
    "0x7fffffffff", "block b0:", '"', "=", ",", "vec4", "vec4[0]", "float[99999999]", "$S",
    "shader_in", "break", "return", ".xyzw", ".q", "@load_deref", "@discard ()", "undef", "1e999",
    "nan", "true", "\x00", "é", "(((", "access=77", "location=VARYING.POS", "*",
]  # fmt: skip


def damage(text: str, rng: random.Random) -> str:
    """A few random edits: characters, words, lines."""
    for _ in range(rng.randrange(1, 4)):
        kind = rng.randrange(6)
        words = list(re.finditer(r"[%\w.]+|[^\s\w]", text))
        if kind == 0 and text:
            at = rng.randrange(len(text))
            text = text[:at] + text[at + 1 :]
        elif kind == 1:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 2 and words:
            word = rng.choice(words)
            text = text[: word.start()] + rng.choice(PIECES) + text[word.end() :]
        elif kind == 3 and len(words) > 1:
            one, two = rng.choice(words), rng.choice(words)
            text = text[: one.start()] + two.group() + text[one.end() :]
        elif kind == 4:
            lines = text.splitlines()
            rng.shuffle(lines) if rng.random() < 0.1 else lines.pop(rng.randrange(len(lines)))
            text = "\n".join(lines)
        else:
            lines = text.splitlines()
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines) if lines else "")
            text = "\n".join(lines)
    return text


@pytest.mark.parametrize("part", range(8))
def test_damaged_text_never_crashes(part: int) -> None:
    rng = random.Random(part)
    for number in range(250):
        if number % 5:
            text = rng.choice(CASES)
        else:
            text = print_shader(make_shader(rng, derefs=rng.random() < 0.5))
        text = damage(text, rng)
        try:
            shader = parse(text)
        except GalletteError as error:
            assert str(error)
        else:
            again = print_shader(shader)
            assert print_shader(parse(again)) == again
