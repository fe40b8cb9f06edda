"""Diffs of NIR text look through renumbering."""

from __future__ import annotations

from gallette.difftext import diff_lines


def test_equal_texts_have_no_diff() -> None:
    assert diff_lines("a\nb", "a\nb") == []


def test_renumbering_alone_is_no_change() -> None:
    before = "%0 = a\n%1 = b\n%2 = fadd %0, %1\nstore %2"
    after = "%0 = a\n%1 = fadd %0, %0\nstore %1"
    assert diff_lines(before, after, context=0) == [
        ("hunk", "... 1 unchanged lines"),
        ("del", "%1 = b"),
        ("del", "%2 = fadd %0, %1"),
        ("add", "%1 = fadd %0, %0"),
        ("hunk", "... 1 unchanged lines"),
    ]


def test_a_rewired_operand_is_a_change() -> None:
    before = "%0 = a\n%1 = b\n%2 = fneg %0"
    after = "%0 = a\n%1 = b\n%2 = fneg %1"
    assert diff_lines(before, after, context=0)[1:] == [
        ("del", "%2 = fneg %0"),
        ("add", "%2 = fneg %1"),
    ]


def test_context_surrounds_a_change() -> None:
    before = "\n".join("abcdefghi")
    after = before.replace("e", "E")
    assert [kind for kind, _ in diff_lines(before, after, context=1)] == [
        "hunk", "same", "del", "add", "same", "hunk",
    ]  # fmt: skip
