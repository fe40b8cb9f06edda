"""A trace knows in which OpenGL call each pipe call was made; pictures of depths show something."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gallette.compare import compare_passes
from gallette.pictures import grey_range, to_rgb8
from gallette.reports.html import write_diff, write_trace
from gallette.scenes.common import Pass
from gallette.tracing import TraceStory, trace_target


@pytest.fixture(scope="module")
def story() -> TraceStory:
    return trace_target("shadow_map", "numpipe")


def test_pipe_calls_belong_to_the_opengl_call_that_made_them(story: TraceStory) -> None:
    for event in story.events:
        last = event.caused[-1]
        assert last.number == event.number
        assert last.calls[-1].startswith(event.call)
        name = {"clear": "glClear(", "draw_vbo": "glDrawArraysInstanced("}[event.call]
        assert last.text.startswith(name)
        numbers = [c.number for c in event.caused]
        assert numbers == sorted(set(numbers))
        assert all(c.calls for c in event.caused)
    counted = sum(len(c.calls) for e in story.events for c in e.caused)
    assert counted <= story.calls
    # State is bound by the call that draws: before it nobody knows which will be needed.
    drawing = story.events[1].caused[-1]
    assert any(c.startswith("bind_depth_stencil_alpha_state") for c in drawing.calls)


def test_the_page_links_both_sides(story: TraceStory, tmp_path: Path) -> None:
    text = write_trace(story, tmp_path / "page.html").read_text(encoding="utf-8")
    for event in story.events:
        marks = text.count(f'data-line="{event.number}"')
        assert marks == 1 + len(event.caused[-1].calls)


def test_depths_are_shown_in_the_range_that_occurs(story: TraceStory) -> None:
    pictures = story.events[1].pictures
    (name,) = pictures
    assert name.startswith("depth (0.") and name.endswith("1 white)")
    assert (pictures[name].min(), pictures[name].max()) == (0, 255)
    colours = story.events[-1].pictures
    assert [n.split(" (")[0] for n in colours] == ["colour 0", "depth"]


def grey(*values: float) -> np.ndarray:
    return np.repeat(np.array(values, np.float32).reshape(1, -1, 1), 4, axis=-1)


def test_only_grey_pictures_of_floats_have_a_range_of_their_own() -> None:
    assert grey_range(grey(0.5, 0.75)) == (0.5, 0.75)
    assert grey_range(grey(0.5, 0.75), grey(0.25, np.nan)) == (0.25, 0.75)
    assert grey_range(grey(0.5, 0.5)) == (0.0, 1.0)
    assert grey_range(grey(np.inf)) == (0.0, 1.0)
    coloured = grey(0.5, 0.75)
    coloured[..., 1] = 0
    assert grey_range(coloured) == (0.0, 1.0)
    assert grey_range((grey(0.0, 1.0) * 255).astype(np.uint8)) == (0.0, 1.0)
    assert to_rgb8(grey(0.5, 0.75), (0.5, 0.75))[0, :, 0].tolist() == [0, 255]


def test_both_sides_of_a_depth_pass_have_one_range(tmp_path: Path) -> None:
    covered = np.ones((1, 2), bool)
    sides = [Pass("depth", grey(*v), covered) for v in ((0.5, 0.75), (0.5, 1.0))]
    found = compare_passes(sides[0], sides[1], 1.0)
    assert found.shown == (0.5, 1.0)
    assert found.ours[0, :, 0].tolist() == [0, 128]
    assert found.theirs[0, :, 0].tolist() == [0, 255]


def test_a_report_begins_with_what_failed_and_shows_what_agrees(tmp_path: Path) -> None:
    from gallette.commands.diff import run_diffs

    scenes = ["depth_prepass", "transparency"]
    report = run_diffs(scenes, "faulty:no_blending", "numpipe", 1.0, {})
    text = write_diff(report, tmp_path / "page.html").read_text(encoding="utf-8")
    body = text.partition("<main>")[2]
    first = body.index('href="#scene-transparency"')
    assert body.index("<img") < body.index("<table")
    assert first < body.index('href="#scene-depth_prepass"')
    assert body.index('id="scene-transparency"') < body.index('id="scene-depth_prepass"')
    # Passes without a difference are shown outside of anything folded within their scene.
    agreed = body[body.index('id="scene-depth_prepass"') :]
    assert agreed.index("<img") < agreed.index("</details>")
    assert "on both sides" in agreed and "black, 1 white" in agreed
