"""A lesson's text: what is executed, what is refused, and that its numbers come from the run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gallette.lessons import LESSONS, run_lesson
from gallette.lessons.page import Code, Control, Prose, Question, Table
from gallette.lessons.text import Lesson, LessonError, read_lesson

HEAD = "---\ntitle: T\nabout: A?\nminutes: 5\ngiven: 16 bytes\n---\n"


def lesson(tmp_path: Path, body: str, head: str = HEAD) -> Lesson:
    path = tmp_path / "l.md"
    path.write_text(head + body, encoding="utf-8")
    return read_lesson(path)


# Numbers that are written out: digits, and words from four on ("one", "two" and "three" count
# things that the text itself lists).
_WORDS = [
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "thousand",
]
_NUMBER = re.compile(rf"(?<![\w.%])-?\d[\d.,/^-]*\w*|\b(?:{'|'.join(_WORDS)})\b", re.I)


def literals(item: Lesson) -> list[str]:
    """Numbers in a lesson's prose that are neither computed nor listed as given."""
    texts = [item.about]
    texts += [p.text for p in item.parts if p.info is None]
    texts += [p.text.split(" :: ")[0] for p in item.parts if p.info == "question"]
    found = []
    for text in texts:
        text = re.sub(r"`[^`]*`", "", text)  # code
        text = re.sub(r"\{[^{}]*\}", "", text)  # computed
        text = re.sub(r"^(- .*) :: .*$", r"\1", text, flags=re.M)
        text = re.sub(r"^(\d+\. |## \d+\. )", "", text, flags=re.M)  # lists and headings
        for phrase in item.given:
            text = re.sub(re.escape(phrase).replace(r"\ ", r"\s+"), "", text)
        found += _NUMBER.findall(text)
    return found


@pytest.mark.parametrize("name", LESSONS)
def test_numbers_in_prose_come_from_the_run(name: str) -> None:
    assert literals(LESSONS[name]) == []


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_given_is_said(name: str) -> None:
    """A lesson lists no number as given that its prose does not have."""
    item = LESSONS[name]
    text = " ".join([item.title, item.about, *(p.text for p in item.parts)])
    assert [phrase for phrase in item.given if phrase not in " ".join(text.split())] == []


def test_a_number_that_a_changed_run_would_falsify_is_found(tmp_path: Path) -> None:
    body = "It has 12 passes of 16 bytes, {n} or twelve, `32x4`.\n"
    assert literals(lesson(tmp_path, body)) == ["12", "twelve"]


def test_numbers_tables_and_choices_are_those_of_the_run(tmp_path: Path) -> None:
    item = lesson(
        tmp_path,
        "```python run\nn = 6 * 7\ntable(('a', 'b'), [('x', n * 1000)])\n```\n"
        "It is {n}, {n / 5:.1f} and {n!r}.\n"
        "```question\nHow many? {n}\n- few :: n < 10\n- {n} :: n >= 10\n---\nSo *many*: {n}.\n```\n"
        "```glsl a caption\nvoid main() { }\n```\n",
    )
    table, prose, question, code = run_lesson(item, "numpipe").blocks
    assert isinstance(table, Table) and table.rows == [("x", "42,000")]
    assert isinstance(prose, Prose) and prose.text == "It is 42, 8.4 and 42."
    assert isinstance(question, Question)
    assert (question.text, question.choices, question.right) == ("How many? 42", ("few", "42"), 1)
    assert question.answer == "So *many*: 42."
    assert isinstance(code, Code) and (code.language, code.caption) == ("glsl", "a caption")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "```question\nWhich?\n- a :: True\n- b :: True\n---\nx\n```\n",
            "2 choices of this question",
        ),
        ("```question\nWhich?\n- a :: False\n---\nx\n```\n", "0 choices of this question"),
        ("There are {nothing}.\n", "l.md:7: {nothing} cannot be evaluated"),
    ],
)
def test_claims_that_the_run_does_not_confirm_are_refused(
    tmp_path: Path, body: str, message: str
) -> None:
    item = lesson(tmp_path, body)
    with pytest.raises(LessonError, match=re.escape(message)):
        run_lesson(item, "numpipe")


def test_a_lesson_says_what_it_is_about(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match="lacks: 'minutes'"):
        lesson(tmp_path, "", "---\ntitle: T\nabout: A\n---\n")
    with pytest.raises(LessonError, match="does not begin with lines about itself"):
        lesson(tmp_path, "", "text\n")


def test_a_live_page_computes_the_first_state_only(tmp_path: Path) -> None:
    body = "control('c', [1, 2, 3], lambda value: prose(str(value)))"
    item = lesson(tmp_path, f"```python run\n{body}\n```\n")
    page = run_lesson(item, "numpipe", live=True)
    (control,) = page.controls
    assert isinstance(control, Control) and control.slider
    assert [bool(blocks) for _, blocks in control.states] == [True, False, False]
    (block,) = control.compute(2)
    assert isinstance(block, Prose) and block.text == "3"
    whole = run_lesson(item, "numpipe").controls[0]
    assert all(blocks for _, blocks in whole.states)


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_needed_comes_before(name: str) -> None:
    order = list(LESSONS)
    assert all(order.index(need) < order.index(name) for need in LESSONS[name].needs)
