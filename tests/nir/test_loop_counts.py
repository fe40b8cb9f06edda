"""What is known of a loop: how often it runs, what leaves it, what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.compiler.nir.analysis.loops import MAX_TRIPS, LoopInfo, analyse_loop
from gallette.compiler.nir.ir import Loop
from gallette.compiler.nir.text.parser import parse
from tests.cases import Case, each, sections

LEAVE = "if %c {\nbreak\n} else {\n}\n"
FILE = Path(__file__).with_name("loops.txt")
BASE = "\n".join(
    [
        "32 %i = phi start: %n0, next: %k",
        "1 %c = ige %i, %n10",
        f"{LEAVE}block next:",
        "32 %k = iadd %i, %n1",
        "",
    ]
)


def analysed(text: str) -> LoopInfo:
    return analyse_loop(next(n for n in parse(text).entry.body if isinstance(n, Loop)))


def loop(code: str) -> LoopInfo:
    return analysed(sections(FILE)["loops"].template.replace("\n$\n", f"\n{code}\n"))


def test_the_limit_of_iterations_is_that_of_the_file() -> None:
    assert MAX_TRIPS == 512


@each(FILE)
def test_how_often_a_loop_runs(case: Case) -> None:
    info = analysed(case.source)
    assert str(info.trip_count) == case.answer.replace("?", "None")
    assert (info.exiting is not None) == (case.answer != "?")


def chain(length: int) -> str:
    """A condition that is computed in so many steps."""
    code = "32 %i = phi start: %n0, next: %k\n32 %t0 = iadd %i, %n0\n"
    for i in range(1, length):
        code += f"32 %t{i} = iadd %t{i - 1}, %n0\n"
    return f"{code}1 %c = ige %t{length - 1}, %n10\n{LEAVE}block next:\n32 %k = iadd %i, %n1\n"


def test_conditions_may_be_deep_but_not_too_deep() -> None:
    assert [loop(chain(n)).trip_count for n in (1, 10, 24, 25, 60)] == [10, 10, 10, None, None]


INNER = "loop {\nif %c {\nbreak\n} else {\n}\n}\n"


@pytest.mark.parametrize(
    ("more", "nested", "other", "instrs"),
    [
        ("", 0, False, 4),
        (INNER, 1, False, 5),
        (INNER + INNER, 2, False, 6),
        ("loop {\nif %c {\nreturn\n} else {\nbreak\n}\n}\n", 1, True, 6),
        ("if %c {\nif %c {\nbreak\n} else {\n}\n} else {\n}\n", 0, True, 5),
        ("if %c {\nreturn\n} else {\n}\n", 0, True, 5),
    ],
)
def test_what_is_in_a_loop(more: str, nested: int, other: bool, instrs: int) -> None:
    code = BASE
    if more:
        # The step stays in the last block, which is what the phi at the head knows.
        first, step = BASE.split("block next:\n")
        code = first + more.replace("%k", "%i") + "block next:\n" + step
    info = loop(code)
    assert (info.nested_loops, info.has_other_exits) == (nested, other)
    assert info.instr_count == instrs
    assert len(info.header_phis) == 1
    assert len(info.terminators) == 1 and info.terminators[0].breaks_on
