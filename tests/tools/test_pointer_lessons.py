"""The lessons about pointers, SPIR-V and Newton-Raphson show what they say."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.check.validate import validate
from gallette.lessons import LESSONS, Page
from gallette.lessons.newton_raphson import errors_between_one_and_two, machine
from gallette.lessons.page import Pictures, Try
from gallette.lessons.pointers import GENERIC, PLAIN, PROVEN, TABLES, counts, lowered
from gallette.lessons.spirv import SOURCE, census, front_form, round_trip
from tests.tools.test_lessons import check_command


@pytest.mark.parametrize("name", ["pointers", "spirv", "newton_raphson"])
def test_the_lesson_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = Page(LESSONS[name].title)
    LESSONS[name].run(page, "numpipe")
    assert len(page.blocks) > 8
    assert any(isinstance(block, Pictures) for block in page.blocks)
    commands = [c for block in page.blocks if isinstance(block, Try) for c, _ in block.commands]
    assert len(commands) >= 2
    for command in commands:
        check_command(name, command, capsys)


def test_every_format_reaches_the_same_memory() -> None:
    for formats in TABLES.values():
        shader = lowered(PLAIN, formats)
        validate(shader)
        assert (counts(shader)["loads"], counts(shader)["stores"]) == (2, 2)


def test_a_generic_pointer_branches_until_it_is_proven() -> None:
    generic, proven = counts(lowered(GENERIC, "")), counts(lowered(PROVEN, ""))
    assert generic["branches"] >= 2
    assert generic["loads"] == 3  # global, the workgroup's, the invocation's own
    assert (proven["branches"], proven["loads"], proven["stores"]) == (0, 1, 1)


def test_derefs_know_that_another_member_was_written() -> None:
    early, late = counts(lowered(PLAIN, "", derefs=False)), counts(lowered(PLAIN, ""))
    assert (early["loads"], late["loads"]) == (3, 2)


def test_steps_square_the_error() -> None:
    for name in ("1/x", "inversesqrt"):
        worst = [errors_between_one_and_two(name, machine(n)).max() for n in range(3)]
        assert 2.0**-9 < worst[0] < 2.0**-7
        assert worst[1] < 2 * worst[0] ** 2
        assert worst[2] < 2.0**-23


def test_the_round_trip_keeps_the_code() -> None:
    shader = front_form(SOURCE)
    module, back = round_trip(shader)
    found = census(module)
    assert sum(found.values()) == len(module.instructions)
    assert found["lines"] > 3
    assert abs(back.count_instrs() - shader.count_instrs()) <= 4
