"""The order of qualifiers, which was fixed before GLSL 4.20 and GLSL ES 3.10."""

from __future__ import annotations

import itertools

import pytest

from gallette.compiler.nir.ir import Stage
from tests.glsl.shaders import compiled, errors

# In the order of GLSL 3.30, 4.7: invariant, interpolation, auxiliary, storage, precision.
ORDER = (
    ("precise",),
    ("invariant",),
    ("smooth", "flat", "noperspective"),
    ("centroid", "sample", "patch"),
    ("const", "in", "out", "inout", "uniform", "buffer", "shared", "attribute", "varying"),
    ("highp", "mediump", "lowp"),
)
PLACE = {word: place for place, words in enumerate(ORDER) for word in words}
HEAD = "#version {}\n#extension GL_ARB_gpu_shader5 : enable\n"
HEAD += "#extension GL_ARB_tessellation_shader : enable\n"
HEAD += "#extension GL_ARB_shader_storage_buffer_object : enable\n"
HEAD += "#extension GL_ARB_compute_shader : enable\n"


def out_of_order(words: tuple[str, str], version: int, stage: Stage = Stage.FRAGMENT) -> bool:
    text = f"{HEAD.format(version)}{' '.join(words)} float x;\nvoid main() {{}}\n"
    found = errors(text, stage)
    return any("must come earlier" in message for message in found)


@pytest.mark.parametrize("first", PLACE)
def test_what_comes_first_comes_first(first: str) -> None:
    for second in PLACE:
        if first != second:
            late = PLACE[first] > PLACE[second]
            late |= first in ("in", "attribute", "varying") and second == "const"
            assert out_of_order((first, second), 330) == late, second
            assert not out_of_order((first, second), 420)


def test_three_are_compared_with_each_other() -> None:
    right = ("flat", "in", "highp")
    for words in itertools.permutations(right):
        text = f"#version 330\n{' '.join(words)} int x;\nvoid main() {{}}\n"
        assert compiled(Stage.FRAGMENT, text).ok == (words == right)
        assert compiled(Stage.FRAGMENT, text.replace("330", "420")).ok
        text = text.replace("330", "300 es")
        assert compiled(Stage.FRAGMENT, text, "es").ok == (words == right)
        assert compiled(Stage.FRAGMENT, text.replace("300", "310"), "es").ok
