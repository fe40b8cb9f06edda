"""The seeds of mutated GLSL are good shaders (`fuzz/glsl_text.py`)."""

from __future__ import annotations

from fuzz.glsl_text import FUZZER, SEED_STAGES, SEEDS
from fuzz.harness import options_of


def test_the_seeds_compile() -> None:
    fuzzer = FUZZER(options_of("glsl-text", FUZZER, ["--no-link"]), None)
    for stage, text in zip(SEED_STAGES, SEEDS, strict=True):
        assert fuzzer.attempt((stage, text)) == "compile"
