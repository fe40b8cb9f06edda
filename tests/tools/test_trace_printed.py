"""What `gallette trace` prints and whom it asks, with names that look like markup."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from gallette.cli import command_parser
from gallette.commands import trace
from gallette.compiler.errors import GalletteError

ODD = "[b]x[/b].gcap"  # rich's markup, were it read as such


def _console(color: bool = False) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    system: Any = "standard" if color else None
    return Console(file=out, width=300, force_terminal=color, color_system=system,
                   highlight=False), out  # fmt: skip


class Call:
    """A call as it is listed."""

    def __init__(self, number: int, frame: int, text: str, draws: bool = False) -> None:
        self.number, self.frame, self.text, self.draws = number, frame, text, draws

    def __str__(self) -> str:
        return self.text


def _capture(frames: int, groups: dict[int, tuple[str, ...]] | None = None) -> Any:
    calls = [
        Call(1, 0, "Enable([b])"), Call(2, 0, "DrawArrays(4)", True), Call(3, 1, "Clear(1)", True),
        Call(4, 1, "Flush()"), Call(5, 2, "Finish()"),
    ]  # fmt: skip
    return SimpleNamespace(
        calls=calls, frames=frames, groups=groups or {}, draws=lambda: calls[1:3],
        reader=SimpleNamespace(resources=12),
    )  # fmt: skip


def test_calls_are_listed_by_frame_and_group() -> None:
    groups = {2: ("[i]a", "b"), 3: ("[i]a", "b"), 5: ("c",)}
    out, text = _console()
    trace._print_calls(out, _capture(3, groups))
    assert text.getvalue().splitlines() == [
        "     1 Enable([b])",
        "       [i]a / b",
        "     2 DrawArrays(4)  (draw 1)",
        "frame 1",
        "     3 Clear(1)  (draw 2)",
        "     4 Flush()",
        "frame 2",
        "       c",
        "     5 Finish()",
    ]
    out, text = _console()
    trace._print_calls(out, _capture(1))
    assert len(text.getvalue().splitlines()) == 5  # of one frame, none is named


def test_what_draws_is_bold_and_headings_are_yellow() -> None:
    out, text = _console(color=True)
    trace._print_calls(out, _capture(2, {4: ("g",)}))
    assert text.getvalue().splitlines() == [
        "     1 Enable([b])",
        "\x1b[1m     2 DrawArrays(4)  (draw 1)\x1b[0m",
        "\x1b[1;33mframe 1\x1b[0m",
        "\x1b[1m     3 Clear(1)  (draw 2)\x1b[0m",
        "\x1b[33m       g\x1b[0m",
        "     4 Flush()",
        "\x1b[1;33mframe 2\x1b[0m",
        "     5 Finish()",
    ]


@pytest.mark.parametrize(("frames", "said"), [(1, ""), (2, "2 frames, ")])
def test_a_capture_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frames: int, said: str
) -> None:
    monkeypatch.setattr(trace, "open_capture", lambda path: _capture(frames))
    monkeypatch.chdir(tmp_path)
    Path("[b]x.gcap").write_bytes(bytes(2600))
    out, text = _console()
    trace._summary(out, Path("[b]x.gcap"))
    wanted = f"[b]x.gcap: 5 calls, 2 draws, {said}12 resources, 3 kB\n"
    assert text.getvalue() == wanted


def _event(**more: Any) -> Any:
    given = {
        "place": "call 3, draw 1", "call": "Draw[b]", "text": "of [i]all", "microseconds": 41,
        "variants": ["[u]one", "two"],
        "state": {"[b]one": "1", "two": "[i]2"}, "changes": {"two": "[i]2"},
    }  # fmt: skip
    return SimpleNamespace(**given | more)


def test_draws_are_printed_with_changed_or_with_all_state() -> None:
    heading = "call 3, draw 1: Draw[b] of [i]all 41 us"
    variants = ["       new variant [u]one", "       new variant two"]
    story = cast("Any", SimpleNamespace(events=[_event(), _event()], calls=9, resources=4,
                                        outcome="[b]fine"))  # fmt: skip
    last = "2 draws in 9 calls to the driver, 4 resources; [b]fine"
    for everything in (False, True):
        out, text = _console()
        trace._print(out, story, everything)
        one = ["       [b]one: 1"] if everything else []
        body = [*variants, *one, "       two: [i]2"]
        assert text.getvalue().splitlines() == [heading, *body, heading, *body, last]


@pytest.mark.parametrize(("length", "shown"), [(159, "x" * 159), (160, "x" * 157 + "...")])
def test_long_state_is_cut(length: int, shown: str) -> None:
    out, text = _console()
    trace._print_event(out, _event(variants=[], changes={"k": "x" * length}), False)
    assert text.getvalue().splitlines()[1:] == [f"       k: {shown}"]


def test_the_parts_of_a_draw_have_colors() -> None:
    out, text = _console(color=True)
    trace._print_event(out, _event(variants=["v"]), False)
    assert text.getvalue().splitlines() == [
        "\x1b[1mcall 3, draw 1: Draw[b]\x1b[0m of [i]all \x1b[90m41 us\x1b[0m",
        "\x1b[33m       new variant \x1b[0mv",
        "\x1b[36m       two: \x1b[0m[i]2",
    ]


class Stage:
    """Everything the command asks, replaced by what writes down."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.said: list[Any] = []
        self.captures: set[str] = set()
        self.out, self.text = _console()
        story = SimpleNamespace(events=[], calls=1, resources=2, outcome="done")

        def told(name: str, answer: Any = None) -> Any:
            def call(*given: Any, **named: Any) -> Any:
                self.said.append((name, *given))
                return answer

            return call

        patch.setattr(trace, "console", lambda: self.out)
        patch.setattr(trace, "default_driver", lambda: "usual")
        patch.setattr("gallette.running.check_driver", told("driver"))
        patch.setattr(trace, "check_target", told("target"))
        patch.setattr(trace, "is_capture", lambda path: str(path) in self.captures)
        patch.setattr(trace, "open_capture", told("open", "a capture"))
        patch.setattr(trace, "record_target", told("record", "drawn [b]well"))
        patch.setattr(trace, "trace_target", told("trace", story))
        patch.setattr(trace, "_print_calls", lambda out, capture: self.said.append(capture))
        patch.setattr(trace, "_summary", lambda out, path: self.said.append(("summary", path)))
        patch.setattr("gallette.reports.html.write_trace", told("html", "[b]p.html"))
        patch.setattr(trace, "run_program", self.run_program)
        patch.setattr("shutil.which", lambda name: "/x" if name == "prog" else None)

    def run_program(
        self, program: list[str], driver: str, *, frames: int, timeout: float, record: Path
    ) -> Any:
        self.said.append((program, driver, frames, record))
        self.captures.add(str(record))
        return SimpleNamespace(returncode=3, timed_out=timeout is not None)

    def run(self, *words: str) -> int:
        parser = command_parser("trace")
        return trace.run(parser.parse_args(words))


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


def test_a_scene_is_traced(stage: Stage) -> None:
    page, kept = Path("[b]p.html"), Path("kept.json")
    assert stage.run("gradient") == 0
    checks: list[Any] = [("target", "gradient", "gallette trace"), ("driver", "usual")]
    assert stage.said == [*checks, ("trace", "gradient", "usual", None)]
    assert stage.text.getvalue() == "0 draws in 1 call to the driver, 2 resources; done\n"
    stage.said.clear()
    words = ("gradient", "--driver", "other", "--json", "kept.json", "--html", "[b]p.html")
    assert stage.run(*words) == 0
    (_, told, html) = stage.said[1:]
    assert (told, html[0], html[2]) == (("trace", "gradient", "other", kept), "html", page)
    assert stage.text.getvalue().endswith("done\nreport: [b]p.html\n")


def test_a_scene_is_recorded(stage: Stage) -> None:
    assert stage.run("gradient", "-o", ODD) == 0
    assert stage.said[2:] == [("record", "gradient", Path(ODD), "usual"), ("summary", Path(ODD))]
    assert stage.text.getvalue() == "drawn [b]well\n"


def test_the_calls_of_a_capture(stage: Stage) -> None:
    stage.captures.add("a.gcap")
    assert stage.run("a.gcap", "--calls") == 0
    assert stage.said[2:] == [("open", "a.gcap"), "a capture"]
    stage.said.clear()
    assert stage.run("gradient", "--calls") == 0  # is none: it is traced
    assert stage.said[-1][0] == "trace"


def test_a_program_is_recorded(stage: Stage) -> None:
    path = Path("prog.gcap")
    assert stage.run("prog") == 3
    told = ["prog"], "usual", 0, path
    assert stage.said == [("driver", "usual"), told, ("summary", path)]
    stage.said.clear()
    words = ("--driver", "other", "--frames", "1", "-o", "o.gcap", "prog", "a", "--", "-b")
    assert stage.run(*words) == 3
    told = ["prog", "a", "-b"], "other", 1, Path("o.gcap")
    assert stage.said == [("driver", "other"), told, ("summary", Path("o.gcap"))]


def test_a_program_that_takes_too_long(stage: Stage) -> None:
    """What it did by then is kept, and the status says that it did not end."""
    assert stage.run("--timeout", "2", "prog") == 1
    assert "prog was ended after 2 s" in stage.text.getvalue()


def test_what_is_refused(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    for driver in ("native", "native:llvmpipe"):
        with pytest.raises(GalletteError, match="needs a driver of gallette, not native"):
            stage.run("gradient", "--driver", driver)
    with pytest.raises(GalletteError, match="gallette trace: gradient takes no arguments"):
        stage.run("gradient", "more")
    assert stage.said == []
    done = SimpleNamespace(returncode=0, timed_out=False)
    monkeypatch.setattr(trace, "run_program", lambda *given, **named: done)
    with pytest.raises(GalletteError, match="gallette trace: prog made no OpenGL calls"):
        stage.run("prog")


def test_what_a_program_is(stage: Stage, tmp_path: Path) -> None:
    for name in ("plain", "a.shader_test", "a.gcap", "whole"):
        (tmp_path / name).write_text("")
    stage.captures.add(str(tmp_path / "whole"))
    kinds = {"plain": True, "a.shader_test": False, "a.gcap": False, "whole": False, "none": False}
    assert {name: trace._is_program(str(tmp_path / name)) for name in kinds} == kinds
    assert trace._is_program("prog") and not trace._is_program("gradient")
