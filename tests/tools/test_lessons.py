"""The course: its order, its pages, and that what the lessons claim is what happens."""

from __future__ import annotations

import http.client
import re
import shlex
import threading
from pathlib import Path

import numpy as np
import pytest

from gallette.cli import COMMANDS, main
from gallette.lessons import (
    LESSONS,
    Page,
    algebraic_rule,
    dvec_inputs,
    is_used_once,
    ownership,
    triangle,
    writing_a_pass,
)
from gallette.lessons.course import CHAPTERS, chapters, in_order, neighbours, write_course
from gallette.lessons.examples import overdraw
from gallette.lessons.glossary import GLOSSARY, page, words_in
from gallette.lessons.page import Code, Diff, Flip, Pictures, Prose, Question, Table, Try, lesson
from gallette.lessons.serve import Course, make_server
from gallette.reports.html import write_lesson
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import pixels, program, quad

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_course_has_every_lesson_once_and_neighbours_in_its_order() -> None:
    order = [x.name for x in in_order()]
    assert sorted(order) == sorted(LESSONS)
    assert order[:2] == ["triangle", "reading_nir"]
    assert neighbours(order[0]) == (None, LESSONS[order[1]])
    assert neighbours(order[-1]) == (LESSONS[order[-2]], None)
    assert {name for name, _, _ in chapters()} <= set(CHAPTERS)


def test_a_new_lesson_joins_by_being_registered() -> None:
    try:

        @lesson("fresh", "Something new", chapter="no such chapter")
        def run(page: Page, driver: str) -> None:
            """What it is about."""

        assert "fresh" in [x.name for x in in_order()]
        assert LESSONS["fresh"].doc == "What it is about."
    finally:
        del LESSONS["fresh"]


def test_the_course_as_pages(tmp_path: Path) -> None:
    """Index, two lessons with links to their neighbours, the rest named with the reason."""
    index, written = write_course(tmp_path, "numpipe", names=["writing_a_pass", "algebraic_rule"])
    assert {w.lesson.name for w in written if w.path} == {"writing_a_pass", "algebraic_rule"}
    text = index.read_text()
    assert 'href="writing_a_pass.html"' in text
    assert "not asked for" in text
    rule = (tmp_path / "algebraic_rule.html").read_text()
    assert '<a rel="prev" href="writing_a_pass.html">' in rule
    assert 'class="flip"' in rule and 'class="question"' in rule and "Try this" in rule
    assert "Words of this page" in rule and "<dt>inexact</dt>" in rule
    assert "NIR" in (tmp_path / "glossary.html").read_text()


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


def test_ownership_mistakes_are_told_where_they_happen() -> None:
    _, twice = ownership.given_back_twice()
    assert twice == "AssertionError: shader 'vertex' was given back too often"
    for driver in ("noop", "numpipe"):
        _, leak = ownership.never_given_back(driver)
        assert leak.startswith("LeakError:") and "vertex" in leak
    before, after = ownership.changed_under_his_feet()
    assert "VARYING.VAR0" in before and "VARYING.VAR0" not in after


def test_each_remedy_of_is_used_once_is_seen_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bug loses pixels and no remedy does; what each costs is counted over a few shaders."""
    some = [("a", {"vertex": is_used_once.VERTEX, "fragment": is_used_once.FRAGMENT})] * 2
    monkeypatch.setattr("gallette.lessons.shaders.corpus", lambda: iter(some))
    said: list[str] = []
    lesson_page = Page("t", said.append)
    LESSONS["is_used_once"].run(lesson_page, "numpipe")
    blocks = lesson_page.blocks
    assert [b.heading for b in blocks if isinstance(b, Prose)] == [
        "The idiom",
        "What the driver does",
        "The same frames under each remedy",
        "What the remedies cost",
        "Whose duty is it?",
        "What to take home",
    ]
    assert [type(b) for b in blocks if not isinstance(b, Prose)] == [
        Code, Diff, Table, Flip, Table, Question, Question, Question, Try,
    ]  # fmt: skip
    names = [remedy.name for remedy in is_used_once.REMEDIES]
    assert said[:4] == [f"rendering with {name}" for name in names]
    assert said[4:] == ["counting instructions: a"] * 2
    code, variants = blocks[1], blocks[3]
    assert isinstance(code, Code) and code.text == is_used_once.VERTEX.strip()
    assert isinstance(variants, Diff)
    # Of the position's eight products, those of one use only are fused in the smaller variant.
    assert variants.before.count("ffma") < variants.after.count("ffma")
    pixels_lost, costs = (b for b in blocks if isinstance(b, Table))
    assert [row[0] for row in pixels_lost.rows] == names
    lost = [tuple(map(int, row[1].split(" of "))) for row in pixels_lost.rows]
    seen = lost[0][1]
    assert 0 < lost[0][0] < seen and lost[1:] == [(0, seen)] * 3
    flip = next(b for b in blocks if isinstance(b, Flip))
    for (name, behind), (count, _) in zip(flip.states, lost, strict=True):
        (shown,) = behind
        assert isinstance(shown, Pictures)
        ((caption, picture),) = shown.pictures
        assert caption == f"{name}: {count} pixels lost (magenta)"
        assert (picture == (255, 0, 255)).all(axis=-1).sum() == count
    # The vertex shader of the scene twice: what the rows above say, and twice that below.
    for above, below, remedy in zip(
        pixels_lost.rows, costs.rows, is_used_once.REMEDIES, strict=True
    ):
        both = int(above[2]) + int(above[3])
        first = int(pixels_lost.rows[0][2]) + int(pixels_lost.rows[0][3])
        percent = f"{both / first - 1:+.2%}"
        changed = "2" if both != first else "0"
        assert below == (remedy.name, str(2 * both), percent, changed)
    assert any("the 2 vertex shaders" in b.text for b in blocks if isinstance(b, Prose))
    options = [r.driver_options for r in is_used_once.REMEDIES]
    assert [o["inexact_used_once"] for o in options] == [
        "always",
        "never",
        "always",
        "not_position",
    ]
    assert [o.get("position_invariant") for o in options] == [None, None, "1", None]


def test_without_the_pass_a_dvec3_reads_its_neighbours_bytes() -> None:
    before, _, _ = dvec_inputs.split()
    assert "a value is used before it is defined" in dvec_inputs.every_use_rewritten(before)


def test_the_triangle_is_told_by_its_own_run() -> None:
    with triangle.run_once("numpipe") as seen:
        names = [c["call"] for c in seen.pipe_calls if "call" in c]
        assert names.index("clear") < names.index("draw_vbo")
        assert set(seen.stages) == {"vertex", "fragment"}
        assert {r.stage for r in seen.passes} == {"vertex", "fragment"}
        assert tuple(seen.picture[triangle.SIZE[1] // 2, triangle.SIZE[0] // 2]) != (26, 26, 38)


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


def test_the_vocabulary_is_up_to_date() -> None:
    text = (ROOT / "docs" / "reference" / "vocabulary.md").read_text(encoding="utf-8")
    assert text == page(), "run: python -m gallette.lessons"


def test_words_are_found_in_plural_and_not_inside_others() -> None:
    assert words_in("Two passes, one phi; a passage") == ["pass", "phi"]
    assert "ISA" not in words_in("Isa is a name")
    assert all(meaning[-1] in ".)" for meaning in GLOSSARY.values())


def test_terms_are_never_left_raw(tmp_path: Path) -> None:
    """A caption or cell in backticks becomes code, and nothing of it is HTML by itself."""
    page = Page("t")
    page.add(Diff("<a>", "<b>", "`x` & <y>"))
    text = write_lesson(page, tmp_path / "t.html").read_text()
    assert "<code>x</code> &amp; &lt;y&gt;" in text
    assert "&lt;a&gt;" in text


@pytest.fixture(scope="module")
def tries() -> list[tuple[str, str]]:
    """Commands of the cheap lessons; the others are looked at by the test of all pages."""
    found = []
    for name in ("reading_nir", "writing_a_pass", "algebraic_rule", "dvec_inputs", "derefs"):
        lesson_page = Page(name)
        LESSONS[name].run(lesson_page, "numpipe")
        for block in lesson_page.blocks:
            if isinstance(block, Try):
                found += [(name, command) for command, _ in block.commands]
    return found


def test_what_is_to_be_tried_exists(
    tries: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(tries) > 8
    for name, command in tries:
        check_command(name, command, capsys)


def check_command(name: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [w for w in shlex.split(command) if not re.fullmatch(r"[A-Z_]+=\S+", w)]
    if words[0] == "python":
        files = [w for w in words if w.endswith(".py")]
        assert all((ROOT / f).exists() for f in files), f"{name}: {command}"
        return
    assert words[0] == "gallette" and words[1] in COMMANDS, f"{name}: {command}"
    path = words[1:3] if words[1] == "piglit" else words[1:2]
    with pytest.raises(SystemExit):
        main([*path, "--help"])
    usage = capsys.readouterr().out
    for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", " ".join(words)):
        assert option in usage, f"{name}: no option {option} in {command}"


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

    try:
        assert ask("/")[0] == 200
        status, text = ask("/writing_a_pass.html?driver=numpipe")
        assert status == 200 and "forgets the swizzle" in text
        assert 'href="?driver=jit"' in text
        for driver in ("numpipe", "jit", "numpipe"):
            found = ask(f"/writing_a_pass.html?driver={driver}")[1]
            assert re.findall(r'"\?driver=(\w+)" aria-current', found) == [driver]
        assert ask("/writing_a_pass.html?driver=native")[0] == 404
        assert ask("/../secret.html")[0] == 404
        assert ask("/", Host="example.org")[0] == 403
        assert ask("/", Origin="http://example.org")[0] == 403
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
