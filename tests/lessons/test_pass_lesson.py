"""The lesson on writing a pass: each attempt's verdict, its evidence and the shader it leaves."""

from __future__ import annotations

import re

import pytest

from gallette.compiler.nir.ir.shader import Shader
from gallette.lessons.writing_a_pass import ATTEMPTS, SUBJECT, lower_fsub, verdict

PASSES = {name: function for name, function, _ in ATTEMPTS}
HEAD = [
    "32 %0 = load_const (0x00000000) // 0",
    "32x4 %1 = @load_input (%0) (location=VARYING.VAR0)",
    "32x4 %2 = @load_input (%0) (location=VARYING.VAR1)",
]
FIRST, SECOND = "32x2 %3 = mov %1.zw", "32x2 %4 = mov %2.yx"
STORE = "@store_output (%7, %0) (write_mask=xy, location=FRAG.DATA0)"
RIGHT = [FIRST, SECOND, "32x2 %5 = fneg %4", "32x2 %6 = fadd %3, %5", "32x2 %7 = fadd %6, %6",
         STORE]  # fmt: skip
LEFT = {
    "right": RIGHT,
    "keeps quiet": RIGHT,
    "negates the wrong one": [FIRST, SECOND, "32x2 %5 = fneg %3", "32x2 %6 = fadd %5, %4",
                              "32x2 %7 = fadd %6, %6", STORE],
    "forgets the swizzle": ["32x4 %3 = fneg %2", "32x4 %4 = fadd %1, %3", "32x2 %5 = mov %4.xy",
                            "32x2 %6 = fadd %5, %5", STORE.replace("7", "6")],
    "builds behind the users": ["32x2 %3 = fadd %7, %7", STORE.replace("7", "3"),
                                "32x2 %4 = mov %1.zw", "32x2 %5 = mov %2.yx", "32x2 %6 = fneg %5",
                                "32x2 %7 = fadd %4, %6"],
}  # fmt: skip


@pytest.mark.parametrize("name", PASSES)
def test_what_an_attempt_leaves(name: str) -> None:
    lines = [line.strip() for line in verdict(PASSES[name])[2].splitlines()]
    assert lines[lines.index("block b0:") + 1 : -1] == HEAD + LEFT[name]


def test_the_evidence_is_the_numbers_of_both_shaders() -> None:
    seen = {}
    for name in ("negates the wrong one", "forgets the swizzle"):
        wrong, evidence, _ = verdict(PASSES[name])
        assert wrong == "it computes something else"
        found = re.fullmatch(r"output 4, component 0: \[(.*)\] became \[(.*)\]", evidence)
        assert found is not None
        seen[name] = [[float(v) for v in side.split(", ")] for side in found.groups()]
    right, other = seen["negates the wrong one"]
    assert other == [-value for value in right] and len(right) == 4
    assert seen["forgets the swizzle"][0] == right != seen["forgets the swizzle"][1]


def test_the_validators_words_are_evidence() -> None:
    wrong, evidence, _ = verdict(PASSES["builds behind the users"])
    assert wrong == "the validator refuses it"
    assert evidence.startswith("invalid shader after builds_behind: a value is used before it is")


def test_what_passes_say() -> None:
    def does_nothing(shader: Shader) -> bool:
        return False

    def claims(shader: Shader) -> bool:
        return True

    def once(shader: Shader) -> bool:
        return lower_fsub(shader)

    without = SUBJECT.replace("fsub", "fadd")
    assert [verdict(p)[:2] for p in (does_nothing, once)] == [("", "")] * 2
    assert [verdict(p, without)[:2] for p in PASSES.values()] == [("", "")] * len(PASSES)
    assert verdict(claims)[:2] == ("it makes progress for ever", "")
    answers = iter([False, True])  # whoever is told that nothing changed does not ask again
    assert verdict(lambda shader: next(answers))[:2] == ("", "")
    said = ("it changed the shader and says it did not", "changed=True, said False")
    assert verdict(PASSES["keeps quiet"])[:2] == said
