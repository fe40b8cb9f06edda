"""Whatever stands in a shader_test: a verdict or a clear error, never another exception."""

from __future__ import annotations

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from gallette.compiler.errors import GalletteError
from gallette.piglit_subset import commands
from gallette.piglit_subset.requirements import Skip, context_needs
from gallette.piglit_subset.shader_test import parse_text
from gallette.piglit_subset.suite import find_tests
from gallette.piglit_subset.vertices import parse_vertex_data

TEXTS = [path.read_text() for _, path in find_tests([])]
NOISE = st.text(st.characters(codec="utf-8"), max_size=30)


def survey(text: str) -> None:
    """Everything that reads the file before a context exists."""
    with contextlib.suppress(GalletteError):
        test = parse_text(text, "fuzz")
        with contextlib.suppress(GalletteError):
            context_needs(test)
        for line in test.commands:
            with contextlib.suppress(Skip):
                commands.lookup(line)
        if test.vertex_data:
            parse_vertex_data(test.vertex_data)


@settings(max_examples=300)
@given(st.lists(NOISE, max_size=8).map("\n".join))
def test_random_text(text: str) -> None:
    survey(text)


@settings(max_examples=300)
@given(st.sampled_from(TEXTS), st.integers(0, 5000), st.integers(0, 60), NOISE)
def test_a_bundled_test_with_a_stretch_replaced(text: str, at: int, gone: int, new: str) -> None:
    at %= len(text)
    survey(text[:at] + new + text[at + gone :])


@settings(max_examples=200)
@given(st.lists(st.sampled_from(" ".join(TEXTS).split()), max_size=12).map(" ".join))
def test_shuffled_words_in_every_line_section(line: str) -> None:
    for section in ("require", "vertex data", "test"):
        survey(f"[{section}]\n{line}\n{line}\n")
