"""The whole stack through its face: bundled tests, scenes, explain, lessons, conformance."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gallette import tracing
from gallette.commands.diff import check_scenes
from gallette.compare import compare
from gallette.compiler.errors import GalletteError
from gallette.explaining import explain_file
from gallette.lessons import LESSONS
from gallette.piglit_subset.environment import child_environment
from gallette.piglit_subset.pool import run_all
from gallette.piglit_subset.suite import BUNDLED, find_tests, some_bundled
from gallette.references import load
from gallette.render import Rendering, render_scenes
from gallette.scenes import SCENES
from gallette.tracing import TraceStory, read_trace, trace_target
from tests.scenes_once import numpipe_scenes

# A machine without native GL, for those who ask EGL.
NO_GL = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/dev/null", "GALLETTE_REQUIRE_REFERENCE": "0"}


def test_generated_tests_pass_on_numpipe() -> None:
    """With the validator looking at every shader after every pass; those that a person wrote pass
    in tests/spirv/test_round_trip.py."""
    environment = {**child_environment("numpipe", 2), "GALLETTE_DEBUG": "nir:validate"}
    chosen = [test for test in some_bundled(step=20) if BUNDLED not in test[1].parents]
    assert len(chosen) > 50
    reports = run_all(chosen, "numpipe", jobs=1, timeout=120, environment=environment)
    assert {r.name: r.reason for r in reports if r.result != "pass"} == {}


def test_scenes_on_numpipe_agree_with_the_recorded_references(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    pytest.importorskip("moderngl")
    names = list(SCENES)
    drawn = Rendering("numpipe", passes=numpipe_scenes(tmp_path_factory))
    diffs = compare(drawn, load(names), names, 1.0)
    bad = {d.name: d.error or [p.name for p in d.passes if not p.ok] for d in diffs if not d.ok}
    assert bad == {}


def test_the_prepass_bug_can_be_switched_on_and_off() -> None:
    """Holes with use counts in inexact rules, none under any remedy."""
    pytest.importorskip("moderngl")
    lost = {}
    for choice in ("always", "never", "not_position"):
        options = {"inexact_used_once": choice}
        rendering = render_scenes("numpipe", ["depth_prepass"], options=options)
        first, second = rendering.passes["depth_prepass"]
        lost[choice] = int((first.coverage & ~second.coverage).sum())
    assert lost["always"] > 1000
    assert (lost["never"], lost["not_position"]) == (0, 0)


def test_explain_shows_passes_variants_and_code() -> None:
    test = BUNDLED / "glsl-1.20" / "two-sided" / "front-and-back-color.shader_test"
    story = explain_file(test, "numpipe")
    assert story.outcome == "pass"
    fragment = next(s for s in story.shaders if s.stage == "fragment")
    assert any(p.name == "lower_io" and p.progress for p in fragment.passes)
    keys = {v.key: v for v in fragment.variants}
    assert "two_sided_color=True" in keys
    two_sided = keys["two_sided_color=True"]
    assert two_sided.reason == "differs in two_sided_color"
    assert "def run(" in two_sided.code
    assert any(e.key == "two_sided_color=True" and e.lowered for e in story.events)


def test_explain_in_the_terminal_and_as_a_page(gallette, tmp_path: Path) -> None:
    shader = tmp_path / "lit.frag"
    shader.write_text(
        "#version 330\nin vec3 n;\nout vec4 color;\n"
        "void main() { color = vec4(normalize(n) * 0.5 + 0.5, 1.0); }\n"
    )
    done = gallette("explain", str(shader))
    assert done.returncode == 0, done.stderr
    assert "lower_io" in done.stdout
    assert "def run(" in done.stdout
    done = gallette("explain", str(shader), "--html", "lit.html")
    assert done.returncode == 0, done.stderr
    page = re.sub("<[^>]*>", "", (tmp_path / "lit.html").read_text())
    assert "fragment shader" in page and "def run(" in page


def test_a_syntax_error_is_one_message_with_its_place(gallette, tmp_path: Path) -> None:
    shader = tmp_path / "bad.frag"
    shader.write_text("#version 330\nout vec4 color;\nvoid main() { color = vec4(1.0 }\n")
    done = gallette("explain", str(shader))
    assert done.returncode == 2
    assert "bad.frag:3:" in done.stderr
    assert "^" in done.stderr
    assert "Traceback" not in done.stderr


def test_lessons_are_listed(gallette) -> None:
    done = gallette("lesson")
    assert done.returncode == 0
    assert all(name in done.stdout for name in LESSONS)


def test_conformance_without_a_native_gl(
    gallette, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The main job: tests, scenes, one report, and the word that recordings were used.

    Two of the scenes: all are drawn, and compared with their recordings, above.
    """
    pytest.importorskip("moderngl")
    asked = []

    def two(names: list[str], command: str) -> list[str]:
        asked.append(check_scenes(names, command))
        return ["depth_prepass", "gradient"]

    monkeypatch.setattr("gallette.commands.conformance.check_scenes", two)
    what = ("--driver", "numpipe", "--filter", "blending", "--jobs", "1", "-o", "report")
    done = gallette("conformance", *what, **NO_GL)
    assert asked == [list(SCENES)]
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no native OpenGL here" in done.stdout
    assert "recorded from" in done.stdout
    last = done.stdout.strip().splitlines()[-1]
    assert last.endswith(str(tmp_path / "report" / "index.html"))
    page = (tmp_path / "report" / "index.html").read_text()
    assert "no native OpenGL here" in page
    results = json.loads((tmp_path / "report" / "results.json").read_text())
    chosen = find_tests([], ["blending"])
    assert set(results["tests"]) == {name for name, _ in chosen} and len(chosen) > 20
    assert "depth_prepass" in page and "gradient" in page


def test_a_required_reference_that_is_missing_fails(gallette_alone) -> None:
    done = gallette_alone("diff", "life", **{**NO_GL, "GALLETTE_REQUIRE_REFERENCE": "1"})
    assert done.returncode == 2
    assert done.stderr.startswith("no native OpenGL")


def test_a_benchmark_answers_with_ratios(gallette, tmp_path: Path) -> None:
    pytest.importorskip("moderngl")
    done = gallette(
        *("bench", "gradient", "--repeat", "2", "--json", "b.json"),
        *("--driver", "noop", "--against", "noop"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sides = json.loads((tmp_path / "b.json").read_text())["sides"]
    assert all(len(s["frames"]["gradient"]) >= 2 for s in sides)
    assert all(s["median"]["gradient"] > 0 for s in sides)


def test_trace_shows_draws_state_pictures_and_variants() -> None:
    pytest.importorskip("moderngl")
    story = trace_target("depth_prepass", "numpipe")
    calls = [e.call for e in story.events]
    assert calls == ["clear", "draw_vbo", "clear", "draw_vbo"]
    first, second = story.events[1], story.events[3]
    shown = [[name.split(" (")[0] for name in e.pictures] for e in (first, second)]
    assert shown == [["depth"], ["colour 0", "depth"]]
    assert any("depth_only=True" in v for v in first.variants)
    assert second.changes["depth stencil alpha"].endswith("depth_func EQUAL")
    assert "vertex shader" not in second.changes
    assert second.state["vertex shader"] == first.state["vertex shader"]


def test_a_trace_is_described_in_words() -> None:
    """Things by what they were made from; holes in lists, labels and types are left out."""

    def size(width: int, **more: object) -> dict[str, object]:
        return {"desc": {"format": "R8", "width": width, **more}}

    target = {"type": "BlendTarget", "enabled": True, "label": "x"}
    blend = {"type": "BlendState", "targets": [target], "factor": 0.5}
    views = {"stage": "FRAGMENT", "start": 0}
    constants = {"stage": "VERTEX", "index": 1}
    info = {"info": {"count": 3}}
    calls: list[tuple[str, dict[str, object], str]] = [
        ("resource_create", size(4, height=2), "resource#1"),
        ("resource_create", size(8, label="noise"), "resource#2"),
        ("create_shader_state", {"shader": {"name": "blur"}, "stream": None}, "shader#1"),
        ("create_blend_state", {"state": blend}, "blend#1"),
        ("bind_blend_state", {"handle": "blend#1"}, ""),
        ("bind_shader_state", {"stage": "FRAGMENT", "handle": "shader#1"}, ""),
        ("set_sampler_views", {**views, "views": [None, "resource#1", None, "resource#2"]}, ""),
        ("set_constant_buffer", {**constants, "buffer": {"bytes": 2, "sha1": "a", "hex": "b"}}, ""),
        ("set_viewport_states", {"start": 1, "viewports": [0.5] * 5}, ""),
        ("draw_vbo", info, ""),
        ("set_sampler_views", {**views, "views": [None, None]}, ""),
        ("set_constant_buffer", {**constants, "buffer": {"bytes": 99, "sha1": "abcd"}}, ""),
        ("draw_vbo", info, ""),
    ]
    lines = [
        json.dumps({"n": n, "call": call, "args": args, **({"result": result} if result else {})})
        for n, (call, args, result) in enumerate(calls)
    ]
    story = TraceStory("made up", "numpipe")
    read_trace(story, "\n".join(lines), {}, {}, {"9": (20, 1), "12": (31, 2)}, {})
    first, second = story.events
    assert (first.place, first.text, second.place) == (
        "call 20, draw 1",
        "count 3",
        "call 31, draw 2",
    )
    assert (story.calls, story.resources) == (13, 2)
    assert first.changes == {
        "blend": "targets enabled true, factor 0.5",
        "fragment shader": "blur",
        "fragment sampler views": "resource#1 (R8 4x2), noise (R8 8)",
        "vertex constant buffer 1": "2 bytes b",
        "viewport states from 1": "5 times 0.5",
    }
    assert second.changes == {
        "vertex constant buffer 1": "99 bytes #abcd",
        "fragment sampler views": "nothing",
    }


def test_trace_credits_variants_to_the_call_that_made_them() -> None:
    """Dispatches and copies are watched like draws."""
    pytest.importorskip("moderngl")
    story = trace_target("terrain", "numpipe")
    made = {e.call for e in story.events if any(v.startswith("compute") for v in e.variants)}
    assert made == {"launch_grid"}


def test_trace_shows_every_colour_buffer() -> None:
    pytest.importorskip("moderngl")
    story = trace_target("deferred", "numpipe")
    draw = next(e for e in story.events if e.call == "draw_vbo")
    assert list(draw.pictures)[:2] == ["colour 0", "colour 1"]
    clear = next(e for e in story.events if e.call == "clear")
    assert "COLOR0|COLOR1" in clear.text


def test_what_cannot_be_traced_says_why_where_errors_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.shader_test")
    assert tracing._child("noop", missing, tmp_path / "pictures.npz") == 2
    out, err = capsys.readouterr()
    assert out == "" and missing in err
    with pytest.raises(GalletteError, match=r"missing\.shader_test"):
        trace_target(missing, "noop")


def test_tracing_the_other_side_of_a_diff_leaves_nothing_behind(gallette, tmp_path: Path) -> None:
    done = gallette("diff", "gradient", "--driver", "noop", "--against", "trace:noop")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_debug_output_of_a_rendering_process_arrives(gallette) -> None:
    what = ("diff", "gradient", "--driver", "noop", "--against", "noop")
    done = gallette(*what, GALLETTE_DEBUG="gl:calls")
    assert "glDrawArraysInstanced(mode=GL_TRIANGLE" in done.stderr


def test_trace_of_a_shader_test_in_the_terminal_and_as_a_page(gallette, tmp_path: Path) -> None:
    test = str(BUNDLED / "glsl-3.30" / "depth" / "mask-and-range.shader_test")
    done = gallette("trace", test, "--json", "t.jsonl")
    assert done.returncode == 0, done.stderr
    assert "depth_writemask false" in done.stdout
    assert done.stdout.strip().endswith("pass")
    assert json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])["call"]
    assert gallette("trace", test, "--html", "t.html").returncode == 0
    assert "data:image/png" in (tmp_path / "t.html").read_text()
