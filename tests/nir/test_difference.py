"""Diffs of NIR text look through renumbering."""

from __future__ import annotations

from gallette.compiler.nir.text.difference import diff_lines, stable


def test_equal_texts_have_no_diff() -> None:
    assert diff_lines("a\nb", "a\nb") == []


def test_renumbering_alone_is_no_change() -> None:
    before = "%0 = a\n%1 = b\n%2 = fadd %0, %1\nstore %2"
    after = "%0 = a\n%1 = fadd %0, %0\nstore %1"
    assert diff_lines(before, after, context=0) == [
        ("hunk", "... 1 unchanged lines"),
        ("del", "%1 = b"),
        ("del", "%2 = fadd %0, %1"),
        ("add", "%2 = fadd %0, %0"),
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


def test_names_that_are_stable_already_stay() -> None:
    before = "%0 = a\n%1 = deref\n%2 = load %1\n%3 = fneg %2"
    after = "%0 = a\n%2 = ubo %0\n%3 = fneg %2"
    assert stable(before, after) == after
    assert [row for row in diff_lines(before, after) if row[0] in ("add", "del")] == [
        ("del", "%1 = deref"),
        ("del", "%2 = load %1"),
        ("add", "%2 = ubo %0"),
    ]


def test_indentation_alone_is_no_change() -> None:
    before = "block b0:\n    if %0 {\n        block b1:\n            %1 = a\n    }"
    assert diff_lines(before, before.replace("    ", "  ")) == []


def test_lines_that_look_alike_are_distinguished_by_their_sources() -> None:
    loads = [f"%{i} = load {c}" for i, c in enumerate("abcd")]
    sums = [f"%{i + 4} = fadd %{i}, %{(i + 1) % 4}" for i in range(4)]
    before = "\n".join([*loads, *sums, "store %4, %5, %6, %7"])
    names = {f"%{i}": f"%{i - (i > 1)}" for i in range(8)}  # the load of b is used no more
    kept = [*loads[:1], *loads[2:], sums[2], sums[3], "store %6, %7"]
    after = "\n".join(kept)
    for name in sorted(names, key=lambda n: int(n[1:])):
        after = after.replace(name, names[name])
    added = [line for kind, line in diff_lines(before, after, context=0) if kind == "add"]
    assert added == ["store %6, %7"]


def test_blocks_keep_their_names_too() -> None:
    before = "block b0:\n%0 = x\nblock b1:\n%1 = y\nblock b2:\n%2 = phi b0: %0, b1: %1"
    after = "block b0:\n%0 = y\nblock b1:\n%1 = phi b0: %0"
    text = stable(before, after)
    assert "phi" in text and "block b2:" in text
