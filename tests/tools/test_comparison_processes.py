"""Worker processes of comparisons: their messages, results and failures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette import references, render
from gallette.benchmarks import BENCHMARKS, child
from gallette.benchmarks.profiling import PARTS
from gallette.benchmarks.report import chart, geometric_mean, markdown, profile_table, update_page
from gallette.benchmarks.sides import Side
from gallette.compare import PassDiff, SceneDiff, compare, compare_passes
from gallette.compiler.errors import GalletteError, InputError
from gallette.render import Rendering, load_passes, save_passes
from gallette.scenes.common import Pass


def picture(name: str, size: tuple[int, int] = (2, 3), value: int = 7) -> Pass:
    color = np.full((*size, 4), value, np.uint8)
    return Pass(name, color, np.ones(size, bool), "")


# -- scenes that are compared ----------------------------------------------------------------------


def test_verdicts_are_the_worst_of_the_passes() -> None:
    def of(mismatch: int, difference: float, over: float) -> PassDiff:
        empty = np.zeros((1, 1, 3), np.uint8)
        return PassDiff("p", empty, empty, empty, mismatch, 1, difference, over, 1)

    same, near, far = of(0, 0, 0), of(0, 3.0, 0.001), of(0, 3.0, 0.0011)
    uncovered = of(1, 0, 0)
    assert [p.verdict for p in (same, near, far, uncovered)] == [
        "identical", "close", "different", "different",
    ]  # fmt: skip
    for passes, verdict, ok in (
        ([same, same], "identical", True), ([same, near], "close", True),
        ([far, near], "different", False), ([], "error", False),
    ):  # fmt: skip
        diff = SceneDiff("s", "", list(passes))
        assert (diff.verdict, diff.ok) == (verdict, ok)
    broken = SceneDiff("s", "", [same], error="it broke")
    assert (broken.verdict, broken.ok) == ("error", False)


def test_problems_that_prevent_a_comparison_are_reported() -> None:
    ours = Rendering("a", passes={n: [picture("x"), picture("y")] for n in ("one", "two", "blur")})
    ours.seconds = {"one": 1.5, "blur": 2.5}
    theirs = Rendering("b", passes={"two": [picture("x")], "blur": [picture("x"), picture("y")]})
    theirs.seconds = {"blur": 3.5}
    ours.errors, theirs.errors = {"bad": "first"}, {"bad": "second"}
    one, two, bad, blur = compare(ours, theirs, ["one", "two", "bad", "blur"], 1)
    assert one.error == "b: no picture of this scene"
    assert two.error == "the two sides have different passes"
    assert bad.error == "a: first\nb: second\n"
    assert blur.error == ""
    assert [p.name for p in blur.passes] == ["x", "y"]
    assert [d.seconds for d in (one, two, blur)] == [(1.5, 0.0), (0.0, 0.0), (2.5, 3.5)]
    assert one.doc == ""
    assert blur.doc
    with pytest.raises(ValueError, match="pass 'x' has different sizes on the two sides"):
        compare_passes(picture("x"), picture("x", (3, 2)), 1)


# -- recorded references ---------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "references"
    monkeypatch.setattr(references, "FOLDER", place)
    return place


def test_what_is_recorded_can_be_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Rendering("native", "some renderer", {"one": [picture("x"), picture("y", value=9)]})
    asked: list[Any] = []

    def rendered(driver: str, scenes: Any) -> Rendering:
        asked.append((driver, scenes))
        return made

    monkeypatch.setattr(references, "render_scenes", rendered)
    with pytest.raises(GalletteError, match="there are no recorded references"):
        references.load(["one"])
    assert references.record(["one"]) is made
    assert references.record(["one"], "native:other") is made  # the folder may be there
    assert asked == [("native", ["one"]), ("native:other", ["one"])]
    assert json.loads((folder / "renderer.json").read_text()) == {
        "renderer": "some renderer", "made with": "moderngl",
    }  # fmt: skip
    found = references.load(["one", "two"])
    assert (found.driver, found.renderer) == ("recorded", "recorded from some renderer")
    assert [p.name for p in found.passes["one"]] == ["x", "y"]
    assert found.passes["one"][1].color.tolist() == picture("y", value=9).color.tolist()
    assert found.errors == {"two": "no recorded reference"}
    made.errors = {"one": "it broke", "two": "too"}
    with pytest.raises(GalletteError, match="cannot record one: it broke"):
        references.record(["one"])


@pytest.mark.parametrize("required", ["", "0", "1"])
@pytest.mark.parametrize("against", ["native", "native:llvmpipe"])
def test_recordings_stand_in_for_a_native_gl_that_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, required: str, against: str
) -> None:
    def fails(*args: Any, **more: Any) -> Rendering:
        raise GalletteError("no libEGL\nsecond line")

    folder.mkdir()
    (folder / "renderer.json").write_text('{"renderer": "R"}')
    save_passes(folder / "one.npz", {"one": [picture("x")]}, small=True)
    monkeypatch.setattr(references, "render_scenes", fails)
    monkeypatch.setenv("GALLETTE_REQUIRE_REFERENCE", required)
    if against != "native" or required == "1":
        with pytest.raises(GalletteError, match="no libEGL"):
            references.native_or_recorded(against, ["one"])
        return
    found, note = references.native_or_recorded(against, ["one"])
    assert list(found.passes) == ["one"]
    assert note == "no native OpenGL here (no libEGL): using images recorded from R"


def test_an_available_native_gl_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    made, heard = Rendering("native"), []

    def rendered(driver: str, scenes: Any, on_pass: Any, timeout: Any) -> Rendering:
        assert timeout is None
        on_pass(f"{driver} {scenes}")
        return made

    monkeypatch.setattr(references, "render_scenes", rendered)
    assert references.native_or_recorded("native", ["one"], heard.append) == (made, "")
    assert heard == ["native ['one']"]


# -- a process that renders ------------------------------------------------------------------------


def test_a_process_renders_scenes_and_scripts_and_continues_after_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, script, out = tmp_path / "broken.py", tmp_path / "script.py", tmp_path / "out.npz"
    broken.write_text("print('words of its own')\nraise ValueError('so it goes')\n")
    script.write_text(
        "import moderngl\nctx = moderngl.create_context(standalone=True)\n"
        "f = ctx.simple_framebuffer((4, 2))\nf.clear(1.0, 0, 0, 1.0)\nf.read()\n"
    )
    assert render._child("numpipe", out, [str(broken), "gradient", str(script)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    said = [{k: v for k, v in line.items() if k != "seconds"} for line in lines]
    renderer = said[0]["renderer"]
    assert [line for line in said if "renderer" in line] == [{"renderer": renderer}] * 3
    failed = [line for line in lines if "error" in line]
    assert [line["scene"] for line in failed] == [str(broken)]
    assert "so it goes" in failed[0]["error"]
    assert [line["scene"] for line in lines if "seconds" in line] == ["gradient", str(script)]
    passes = load_passes(out)
    assert list(passes) == ["gradient", str(script)]
    told = [(line["scene"], line["pass"]) for line in lines if "pass" in line]
    assert told == [(s, p.name) for s, list_of in passes.items() for p in list_of]
    assert passes[str(script)][0].color[0, 0].tolist() == [255, 0, 0, 255]


def test_a_process_without_the_driver_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert render._child("nothing", tmp_path / "out.npz", ["gradient"]) == 2
    assert "unknown driver 'nothing'" in capsys.readouterr().err
    with pytest.raises(GalletteError, match="unknown driver 'nothing'"):
        render.render_scenes("nothing", ["gradient"])


def test_what_a_process_says_is_kept() -> None:
    made, heard = Rendering("d"), list[str]()
    for message in (
        {"renderer": "R"}, {"scene": "one", "pass": "x"}, {"scene": "one", "seconds": 2.5},
        {"scene": "two", "error": "E"}, {"scene": "one", "pass": "y"},
    ):  # fmt: skip
        render._progress(made, message, heard.append)
        render._progress(made, message, None)
    assert (made.renderer, made.seconds, made.errors) == ("R", {"one": 2.5}, {"two": "E"})
    assert heard == ["x", "y"]


def test_options_travel_as_debug_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GALLETTE_DEBUG", raising=False)
    monkeypatch.delenv("GALLETTE_TRACE", raising=False)
    of = render.scene_environment
    assert "GALLETTE_DEBUG" not in of("numpipe")
    assert of("numpipe", {"a": "1", "b": "x"})["GALLETTE_DEBUG"] == "driver:a=1,driver:b=x"
    monkeypatch.setenv("GALLETTE_DEBUG", "glsl")
    assert of("numpipe", {"a": "1"})["GALLETTE_DEBUG"] == "glsl,driver:a=1"
    assert of("numpipe")["GALLETTE_DEBUG"] == "glsl"
    assert "GALLETTE_TRACE" not in of("numpipe")
    assert of("trace:numpipe")["GALLETTE_TRACE"] == "/dev/null"
    monkeypatch.setenv("GALLETTE_TRACE", "here")
    assert of("trace:numpipe")["GALLETTE_TRACE"] == "here"


@pytest.mark.parametrize("small", [True, False])
def test_passes_are_kept_in_few_bytes_and_come_back(small: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    covered = rng.integers(0, 2, (5, 3)).astype(bool)
    colored = rng.uniform(-2, 3, (5, 3, 4)).astype(np.float32)
    grey = np.repeat(rng.uniform(0, 1, (5, 3, 1)), 4, -1).astype(np.float32)
    grey[..., 3] = 1
    almost = grey.copy()
    almost[4, 2, 3] = 0.5
    large = colored * np.float32(100)
    bytes_ = rng.integers(0, 256, (5, 3, 4)).astype(np.uint8)
    made = [
        Pass(n, c, covered, f"note {n}")
        for n, c in (("c", colored), ("g", grey), ("a", almost), ("l", large), ("b", bytes_))
    ]
    save_passes(tmp_path / "p.npz", {"one": made[:3], "two": made[3:]}, small=small)
    found = load_passes(tmp_path / "p.npz")
    assert list(found) == ["one", "two"]
    for before, after in zip(made, [*found["one"], *found["two"]], strict=True):
        assert (after.name, after.note) == (before.name, before.note)
        assert (after.coverage == before.coverage).all()
        assert after.color.dtype == before.color.dtype
        most = np.abs(before.color).max() / 32767 if small and before.name in "cga" else 0
        np.testing.assert_allclose(after.color, before.color, atol=float(max(most, 1e-4 * small)))
    with np.load(tmp_path / "p.npz") as arrays:
        kinds = [arrays[f"p{i}"].dtype for i in range(5)]
        shapes = [arrays[f"p{i}"].shape for i in range(5)]
    whole = [np.int16] * 3 if small else [np.float32] * 3
    assert kinds == [*whole, np.float32, np.uint8]
    assert shapes == [(5, 3, 4), (5, 3), (5, 3, 4), (5, 3, 4), (5, 3, 4)]


# -- benchmarks ------------------------------------------------------------------------------------


class Answering(Side):
    """A side that has its answers ready."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        super().__init__("numpipe")
        self.given = iter(answers)

    def request(self, question: str) -> dict[str, Any]:
        return next(self.given)


def test_frames_are_kept_by_what_they_are() -> None:
    side = Answering(
        {"first": 2.0}, {"seconds": [0.5, 0.25], "processor": [0.75, 1.0]},
        {"seconds": [0.125], "processor": [0.5]}, {"lacks": "no GL 4.3"}, {"error": "it broke"},
        {"profile": {"calls": 1.0}},
    )  # fmt: skip
    for name in ("a", "a", "a", "b", "c", "b", "c"):  # neither b nor c is asked again
        side.draw_frames(name)
    assert side.first == {"a": 2.0}
    assert (side.times, side.processor) == ({"a": [0.5, 0.25, 0.125]}, {"a": [0.75, 1.0, 0.5]})
    assert (side.lacks, side.errors) == ({"b": "no GL 4.3"}, {"c": "it broke"})
    assert (side.median("a"), side.median("a", True), side.median("b")) == (0.25, 0.75, None)
    side.profile("b")  # has no frames
    side.profile("a")
    assert side.profiles == {"a": {"calls": 1.0}}
    native = Side("native:softpipe")
    native.times = {"a": [1.0]}
    native.profile("a")
    assert (native.profiles, native.native, native.name) == ({}, True, "softpipe")
    assert (side.native, side.name) == (False, "numpipe")


def test_a_side_that_does_not_start_says_why() -> None:
    side = Side("nothing")
    with pytest.raises(GalletteError, match="unknown driver 'nothing'"):
        side.start()
    side.close()


def test_a_side_that_ended_is_an_error() -> None:
    side = Side("numpipe")
    side.start()
    assert side.renderer
    assert side.process.stdin is not None
    side.process.kill()
    side.process.wait()
    assert side.request("gradient") in (
        {"error": "the process is gone"}, {"error": "the process ended with status -9 "},
    )  # fmt: skip
    side.draw_frames("gradient")
    assert "gradient" in side.errors
    side.close()
    assert side.log.closed


def test_the_process_of_a_side(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    pytest.importorskip("moderngl")
    monkeypatch.setattr("sys.stdin", iter(["gradient\n", " gradient \n", "none\n", "nbody\n"]))
    monkeypatch.setitem(BENCHMARKS, "nbody", replace(BENCHMARKS["nbody"], version=990))
    assert child.main("numpipe") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    keys = ["renderer"], ["first"], ["seconds", "processor"], ["error"], ["lacks"]
    assert [list(line) for line in lines] == list(keys)
    assert lines[1]["first"] > lines[2]["seconds"][0] > 0
    assert lines[3]["error"].startswith("GalletteError: gallette bench: unknown benchmark 'none'; ")
    assert lines[4] == {"lacks": "no GL 9.9"}
    assert child.main("nothing") == 2
    assert "unknown driver 'nothing'" in capsys.readouterr().err


SHARES = dict.fromkeys(PARTS, 0.0)


def measured() -> list[Side]:
    ours, one, other = Side("numpipe"), Side("native:softpipe"), Side("native:llvmpipe")
    ours.times = {"a": [0.1, 0.3, 0.2], "b": [0.01], "c": [0.5]}
    one.times = {"a": [0.8], "b": [0.001]}
    other.times = {"a": [0.02], "c": [50.0]}
    for side in (ours, one, other):
        side.processor = {name: [2 * v for v in values] for name, values in side.times.items()}
    return [ours, one, other]


def test_tables_have_a_column_for_each_side_and_each_ratio() -> None:
    text = markdown(measured(), ["a", "b", "c"])
    assert text.splitlines() == [
        "| benchmark | numpipe | softpipe | llvmpipe | softpipe / numpipe | llvmpipe / numpipe |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| `a` | 200.0 | 800.0 | 20.0 | 4.00 | 0.10 |",
        "| `b` | 10.0 | 1.0 |  | 0.10 |  |",
        "| `c` | 500.0 |  | 50000.0 |  | 100.00 |",
        "| geometric mean |  |  |  | **0.63** | **3.16** |",
    ]
    assert "| `a` | 400.0 | 1600.0 | 40.0 | 4.00 | 0.10 |" in markdown(measured(), ["a"], True)
    assert geometric_mean([0.1, 100.0]) == pytest.approx(10**0.5)


def test_shares_of_the_time_are_printed_in_per_cent() -> None:
    sides = measured()
    first, second, *rest = PARTS
    sides[0].profiles = {"a": SHARES | {first: 0.996, second: 0.004}, "b": {}}
    sides[1].profiles = {}
    lines = profile_table(sides[0], ["a", "b", "c"]).splitlines()
    assert lines[0] == f"| numpipe, % of the time | {' | '.join(PARTS)} |"
    assert lines[1] == f"| --- | {' | '.join(['---:'] * len(PARTS))} |"
    assert lines[2:] == [f"| `a` | 100 |  | {' | '.join([''] * len(rest))} |"]
    whole = markdown(sides, ["a"])
    assert whole.split("\n\n")[1] == profile_table(sides[0], ["a"])
    assert len(whole.split("\n\n")) == 2


def test_ratios_lie_on_a_logarithmic_axis() -> None:
    text = chart(measured(), ["a", "b", "c"])
    assert 'viewBox="0 0 760 132"' in text
    labels = {
        float(label): float(x)
        for x, label in re.findall(r'<text x="([\d.]+)" y="15"[^>]*>([^<]+)<', text)
    }
    assert labels == {0.1: 150.0, 1.0: 346.7, 10.0: 543.3, 100.0: 740.0}
    lines = re.findall(r'<path d="M([\d.]+) 22V128" stroke="#(\w+)"/>', text)
    assert lines == [("150.0", "ddd"), ("346.7", "888"), ("543.3", "ddd"), ("740.0", "ddd")]
    circles = re.findall(r'<circle cx="([\d.]+)" cy="(\d+)" r="5" fill="(#\w+)"/>', text)
    first, second = "#2f6f4f", "#b5651d"
    assert circles == [
        ("465.1", "34", first), ("150.0", "34", second), ("150.0", "56", first),
        ("740.0", "78", second),
    ]  # fmt: skip
    names = re.findall(r'<text x="142" y="(\d+)" text-anchor="end">(\w+)</text>', text)
    assert names == [("38", "a"), ("60", "b"), ("82", "c")]
    keys = re.findall(r'<text x="8" y="(\d+)" fill="(#\w+)">([^<]+)<', text)
    assert keys == [
        ("104", first, "softpipe / numpipe"), ("126", second, "llvmpipe / numpipe"),
    ]  # fmt: skip


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "page.md"
    made.write_text("A<!-- figures: gallette bench --docs -->old<!-- end of figures -->Z")
    yield made


def test_pages_say_which_time_it_is(page: Path) -> None:
    update_page(page, measured(), ["a"])
    assert "\nTime by the clock, milliseconds per frame:\n" in page.read_text()
    assert update_page(page, measured(), ["a"], True) == page.parent / "pictures/benchmarks.svg"
    assert "\nProcessor time of all threads, milliseconds per frame:\n" in page.read_text()
    assert "400.0" in page.read_text()


def test_pages_that_cannot_be_read_or_written(page: Path, tmp_path: Path) -> None:
    none = tmp_path / "none.md"
    with pytest.raises(InputError, match=re.escape(f"{none}: cannot read: No such file")):
        update_page(none, measured(), ["a"])
    (tmp_path / "pictures").write_text("a file where the folder should be")
    picture = tmp_path / "pictures" / "benchmarks.svg"
    with pytest.raises(InputError, match=re.escape(f"{picture}: cannot write: ")):
        update_page(page, measured(), ["a"])
    for text in ("<!-- figures: gallette bench --docs -->", "<!-- end of figures -->"):
        page.write_text(text)
        with pytest.raises(InputError, match="needs <!-- figures"):
            update_page(page, measured(), ["a"])
