"""The course: its order, its pages, and that what the lessons claim is what happens."""

from __future__ import annotations

import http.client
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from gallette.lessons import (
    LESSONS,
    Page,
    algebraic_rule,
    dvec_inputs,
    is_used_once,
    ownership,
    run_lesson,
    triangle,
    writing_a_pass,
)
from gallette.lessons.course import CHAPTERS, chapters, neighbours, write_course
from gallette.lessons.course import page as contents
from gallette.lessons.examples import overdraw
from gallette.lessons.glossary import GLOSSARY, page, words_in
from gallette.lessons.page import Control, Diff, Pictures, Table
from gallette.lessons.serve import Course, make_server
from gallette.reports.html import write_lesson
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import pixels, program, quad

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_course_has_every_lesson_once_and_neighbours_in_its_order() -> None:
    order = list(LESSONS)
    assert order[:2] == ["triangle", "reading_nir"]
    assert neighbours(order[0]) == (None, LESSONS[order[1]])
    assert neighbours(order[-1]) == (LESSONS[order[-2]], None)
    assert [x.name for _, _, members in chapters() for x in members] == order
    files = {path.stem for path in (ROOT / "gallette" / "lessons").glob("*.md")}
    assert files == set(order), "a lesson is a file and a line in course.CHAPTERS"
    assert len(CHAPTERS) > 4


def test_the_course_as_pages(tmp_path: Path) -> None:
    """Index, two lessons with links to their neighbours, the rest named with the reason."""
    index, written = write_course(tmp_path, "numpipe", names=["writing_a_pass", "algebraic_rule"])
    assert {w.lesson.name for w in written if w.path} == {"writing_a_pass", "algebraic_rule"}
    text = index.read_text()
    assert 'href="writing_a_pass.html"' in text
    assert "not asked for" in text
    rule = (tmp_path / "algebraic_rule.html").read_text()
    assert '<a rel="prev" href="writing_a_pass.html">' in rule
    assert 'class="control"' in rule and 'class="question"' in rule and "Try this" in rule
    assert 'class="predict"' in rule and "gallette lesson start xor_rule" in rule
    assert "Words of this page" in rule and "<dt>inexact</dt>" in rule
    assert "NIR" in (tmp_path / "glossary.html").read_text()


def test_emphasis_is_rendered_and_html_is_not(tmp_path: Path) -> None:
    made = Page("t")
    made.prose("A *screen* is <b>no</b> `*pointer*`.")
    text = write_lesson(made, tmp_path / "t.html").read_text()
    assert "<em>screen</em> is &lt;b&gt;no&lt;/b&gt; <code>*pointer*</code>" in text


def test_only_numbers_are_set_flush_right() -> None:
    table = Table(("", "n", "with unit", "words"), [("a", "1,024", "12 KiB", "3 loads, 1 stores")])
    assert table.figures == {1, 2}


def test_a_wrong_rule_is_caught_and_a_right_one_is_not() -> None:
    found = {claim: algebraic_rule.counterexample(rule) for claim, rule, _ in algebraic_rule.RULES}
    assert [c for c, f in found.items() if f is None] == ["(a | b) & a is a"]
    zero = found["a + 0 is a"]
    assert zero is not None
    assert (zero.operands["a"], zero.before, zero.after) == (
        "-0.0 (0x80000000)", "0.0 (0x00000000)", "-0.0 (0x80000000)",
    )  # fmt: skip
    shift = found["a / 8 is a >> 3"]
    assert shift is not None and (shift.before, shift.after) == ("0", "-1")


def test_each_wrong_pass_is_caught_by_what_the_lesson_says() -> None:
    verdicts = {name: writing_a_pass.verdict(f)[0] for name, f, _ in writing_a_pass.ATTEMPTS}
    assert verdicts == {
        "right": "",
        "forgets the swizzle": "it computes something else",
        "builds behind the users": "the validator refuses it",
        "negates the wrong one": "it computes something else",
        "keeps quiet": "it changed the shader and says it did not",
    }


def test_a_counterexample_shows_what_its_explanation_says() -> None:
    """Rounding is shown by ordinary numbers whose results are far apart, not by signs of zero."""
    rules = {claim: algebraic_rule.counterexample(rule) for claim, rule, _ in algebraic_rule.RULES}
    lost = rules["(a + b) - b is a"]
    assert lost is not None
    a, b = (float(lost.operands[name].split()[0]) for name in "ab")
    assert abs(b) > 1e6 * abs(a) and float(lost.after.split()[0]) == a
    assert float(lost.before.split()[0]) != a
    fused = rules["a * b + c in one step"]
    assert fused is not None
    before, after = (float(x.split()[0]) for x in (fused.before, fused.after))
    assert np.isfinite([before, after]).all() and before != after


def test_ownership_mistakes_are_reported_where_they_happen() -> None:
    steps, twice = ownership.given_back_twice()
    assert twice == "AssertionError: shader 'vertex' was given back too often"
    assert [count for _, count in steps[:3]] == [1, 1, 0]
    for driver, counts in (("noop", [1, 2, 2, 1]), ("numpipe", [1, 1, 1, 1])):  # numpipe clones
        steps, leak = ownership.never_given_back(driver)
        assert leak.startswith("LeakError:") and "vertex" in leak
        assert [count for _, count in steps] == counts
    before, after = ownership.changed_meanwhile()
    assert "VARYING.VAR0" in before and "VARYING.VAR0" not in after


def test_each_remedy_of_is_used_once_is_seen_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bug loses pixels and no remedy does; what each costs is counted over a few shaders."""
    some = [("a", is_used_once.GLSL)] * 8  # of which every fourth counts
    monkeypatch.setattr("gallette.lessons.is_used_once.corpus", lambda: some)
    said: list[str] = []
    made = run_lesson(LESSONS["is_used_once"], "numpipe", said.append)
    assert said[-2:] == ["counting instructions: a"] * 2
    blocks = made.blocks
    variants = next(b for b in blocks if isinstance(b, Diff))
    # Of the position's eight products, those of one use only are fused in the smaller variant.
    assert variants.before.count("ffma") < variants.after.count("ffma")
    (control,) = (b for b in blocks if isinstance(b, Control))
    names = [remedy.name for remedy in is_used_once.REMEDIES]
    assert [name for name, _ in control.states] == names
    rows = []
    for _, behind in control.states:
        shown, table = behind
        assert isinstance(shown, Pictures) and isinstance(table, Table)
        ((caption, picture),) = shown.pictures
        lost, seen = (int(n.replace(",", "")) for n in table.rows[0][0].split(" of "))
        assert caption == f"{lost:,} lost pixels (orange)"
        assert (picture == (255, 120, 0)).all(axis=-1).sum() == lost
        rows.append((lost, seen, *map(int, table.rows[0][1:])))
    assert 0 < rows[0][0] < rows[0][1] and [row[0] for row in rows[1:]] == [0, 0, 0]
    # The vertex shader of the scene twice: what the rows above say, and twice that below.
    costs = next(b for b in blocks if isinstance(b, Table))
    first = sum(rows[0][2:])
    for row, below, remedy in zip(rows, costs.rows, is_used_once.REMEDIES, strict=True):
        both = sum(row[2:])
        changed = "2" if both != first else "0"
        assert below == (remedy.name, str(2 * both), f"{both / first - 1:+.2%}", changed)
    options = [r.driver_options for r in is_used_once.REMEDIES]
    assert [o["inexact_used_once"] for o in options] == [
        "always",
        "never",
        "always",
        "not_position",
    ]
    assert [o["position_invariant"] for o in options] == [False, False, True, False]


def test_without_the_pass_a_dvec3_reads_its_neighbours_bytes() -> None:
    before, _, _ = dvec_inputs.split()
    assert "a value is used before it is defined" in dvec_inputs.every_use_rewritten(before)


def test_the_triangle_is_explained_by_its_own_run() -> None:
    seen = triangle.run_once("numpipe")
    names = [c["call"] for c in seen.pipe_calls if "call" in c]
    assert names.index("clear") < names.index("draw_vbo")
    assert set(seen.stages) == {"vertex", "fragment"}
    assert {r.stage for r in seen.passes} == {"vertex", "fragment"}
    assert tuple(seen.picture[triangle.SIZE[1] // 2, triangle.SIZE[0] // 2]) != (26, 26, 38)
    folder = seen.capture.parent
    del seen
    assert not folder.exists(), "a run that is gone leaves no files"


PLACED = """#version 330
in vec2 position;
uniform vec2 place;
void main() { gl_Position = vec4(position * vec2(0.125, 1.0) + place, 0.0, 1.0); }
"""


def test_the_drivers_lesson_shows_how_often_a_pixel_is_covered() -> None:
    """More than its last colour says is no other colour; clearing begins anew."""
    gl = Context(screen=overdraw.OverdrawScreen(), size=(16, 4))
    drawn = program(gl, PLACED)
    quad(gl, drawn)
    place = gl.get_uniform_location(drawn, "place")
    for turn in range(2):
        gl.clear(GL.COLOR_BUFFER_BIT)
        for column in range(8):
            for _ in range(column):
                gl.uniform2f(place, column / 4 - 0.875, float(turn))
                gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        seen = pixels(gl, 16, 4)[:, ::2, :3].astype(int)
        ramp = np.round(overdraw.RAMP[[0, 1, 2, 3, 4, 4, 4, 4]] * 255)
        rows = np.where(np.arange(4)[:, None, None] >= 2 * turn, ramp, 0)
        assert abs(seen - rows).max() <= 1
    gl.release()


def test_the_pages_in_the_documentation_are_up_to_date() -> None:
    text = (ROOT / "docs" / "reference" / "vocabulary.md").read_text(encoding="utf-8")
    assert text == page(), "run: python -m gallette.lessons"
    text = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    assert text == contents(), "run: python -m gallette.lessons"


def test_words_are_found_in_plural_and_not_inside_others() -> None:
    assert words_in("Two passes, one phi; a passage") == ["pass", "phi"]
    assert "ISA" not in words_in("Isa is a name")
    assert all(meaning[-1] in ".)" for meaning in GLOSSARY.values())


def test_terms_are_never_left_raw(tmp_path: Path) -> None:
    """A caption or cell in backticks becomes code, and nothing of it is HTML by itself."""
    made = Page("t")
    made.add(Diff("<a>", "<b>", "`x` & <y>"))
    text = write_lesson(made, tmp_path / "t.html").read_text()
    assert "<code>x</code> &amp; &lt;y&gt;" in text
    assert "&lt;a&gt;" in text


def test_the_live_course_answers_its_own_pages_only() -> None:
    server = make_server(Course("numpipe"))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def ask(path: str, **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def when_made(path: str) -> str:
        """The page, asked for again until it is there."""
        while json.loads(ask(path.replace(".html", ".json"))[1]):
            time.sleep(0.05)
        return ask(path)[1]

    try:
        assert ask("/")[0] == 200
        assert ask("/glossary.html")[0] == 200
        text = when_made("/writing_a_pass.html?driver=numpipe")
        assert "forgets the swizzle" in text and "data-missing" in text
        assert 'href="?driver=jit"' in text
        status, part = ask("/writing_a_pass.part?driver=numpipe&control=0&state=1")
        assert status == 200 and "forgets_the_swizzle" in part and "<html" not in part
        assert ask("/writing_a_pass.part?driver=numpipe&control=0&state=99")[0] == 404
        assert ask("/writing_a_pass.part?driver=numpipe&control=x&state=1")[0] == 404
        for driver in ("numpipe", "jit", "numpipe"):
            found = when_made(f"/writing_a_pass.html?driver={driver}")
            assert f'"?driver={driver}" aria-current' in found
        assert ask("/writing_a_pass.html?driver=native")[0] == 404
        assert ask("/../secret.html")[0] == 404
        assert ask("/", Host="example.org")[0] == 403
        assert ask("/", Origin="http://example.org")[0] == 403
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_page_that_is_not_made_yet_says_what_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go = threading.Event()

    def slowly(item: object, driver: str, say: object, live: bool) -> Page:
        assert callable(say)
        say("something slow")
        go.wait(60)
        made = Page("t")
        made.prose("## Here it is")
        return made

    monkeypatch.setattr("gallette.lessons.serve.run_lesson", slowly)
    course = Course("numpipe")
    waiting = course.page("triangle", "numpipe")
    assert waiting is not None and b"data-waiting" in waiting
    while course.state("triangle", "numpipe") != b'"something slow"':
        time.sleep(0.01)
    go.set()
    while course.state("triangle", "numpipe") != b'""':
        time.sleep(0.01)
    assert b"Here it is" in (course.page("triangle", "numpipe") or b"")
