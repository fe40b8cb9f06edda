"""Comparing pictures, recorded references, scenes on the native GL, and the reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gallette.compare import compare, compare_passes, heat_map
from gallette.references import FOLDER, load
from gallette.render import Rendering, load_passes, render_scenes, save_passes
from gallette.scenes import SCENES, Pass


def picture(value: float, dtype=np.uint8, size: tuple[int, int] = (40, 50)) -> Pass:
    color = np.full((*size, 4), value, dtype)
    return Pass("p", color, color[..., 3] > 0)


def test_equal_pictures_are_identical() -> None:
    diff = compare_passes(picture(7), picture(7), 1)
    assert diff.verdict == "identical"
    assert diff.max_difference == 0


def test_one_step_is_close() -> None:
    assert compare_passes(picture(7), picture(8), 1).verdict == "close"
    assert compare_passes(picture(7), picture(9), 1).verdict == "different"


def test_up_to_one_in_a_thousand_pixels_may_be_off() -> None:
    theirs = picture(7)
    theirs.color[0, :2] = 200
    assert compare_passes(picture(7), theirs, 1).verdict == "close"
    theirs.color[0, 2] = 200
    assert compare_passes(picture(7), theirs, 1).verdict == "different"


def test_coverage_must_match_exactly() -> None:
    theirs = picture(7)
    theirs.coverage[3, 4] = False
    diff = compare_passes(picture(7), theirs, 1)
    assert (diff.coverage_mismatch, diff.verdict) == (1, "different")


def test_floats_are_measured_in_the_same_steps() -> None:
    diff = compare_passes(picture(0.5, np.float32), picture(0.5 + 2 / 255, np.float32), 1)
    assert diff.max_difference == pytest.approx(2, abs=1e-4)


def test_a_nan_on_one_side_is_the_largest_difference() -> None:
    theirs = picture(0.5, np.float32)
    theirs.color[0, 0, 0] = np.nan
    assert compare_passes(picture(0.5, np.float32), theirs, 1).max_difference == 255


def test_the_heat_map_is_black_where_equal() -> None:
    heat = heat_map(np.array([[0.0, 255.0]]), 1)
    assert heat[0, 0].sum() < 10
    assert heat[0, 1].sum() > 600


def test_passes_survive_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    color = rng.random((5, 7, 4), np.float32) * 2 - 1
    passes = {"s": [Pass("a", color, color[..., 0] > 0, "note"), picture(3)]}
    save_passes(tmp_path / "x.npz", passes)
    again = load_passes(tmp_path / "x.npz")["s"]
    assert again[0].note == "note"
    np.testing.assert_array_equal(again[0].color, color)
    np.testing.assert_array_equal(again[0].coverage, color[..., 0] > 0)
    save_passes(tmp_path / "y.npz", passes, small=True)
    small = load_passes(tmp_path / "y.npz")["s"]
    assert np.abs(small[0].color - color).max() < 0.25 / 255


def test_every_scene_has_a_recorded_reference() -> None:
    recorded = load(list(SCENES))
    assert recorded.errors == {}
    assert set(recorded.passes) == set(SCENES)
    assert "recorded from" in recorded.renderer
    assert sum(p.stat().st_size for p in FOLDER.iterdir()) < 2_000_000


def test_enough_scenes_are_multi_pass() -> None:
    assert len(SCENES) >= 8
    assert sum(s.multipass for s in SCENES.values()) >= 4
    assert all(s.doc for s in SCENES.values())


def test_a_scene_that_failed_on_one_side_is_an_error() -> None:
    ours = Rendering("a", errors={"gradient": "it broke"})
    theirs = Rendering("b", passes={"gradient": [picture(1)]})
    (diff,) = compare(ours, theirs, ["gradient"], 1)
    assert not diff.ok
    assert diff.error == "a: it broke\n"


@pytest.mark.native
def test_scenes_render_as_recorded(native: str, gallette, tmp_path: Path) -> None:
    """The native GL against itself: everything identical, and a report that stands alone."""
    done = gallette("diff", "life", "gradient", "--driver", "native", "--html", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 scenes agree" in done.stdout
    page = (tmp_path / "out" / "index.html").read_text()
    # Identical passes need one picture only.
    assert page.count("data:image/png;base64,") == 4
    assert "http://" not in page and "https://" not in page


@pytest.mark.native
def test_without_a_native_gl_the_recordings_are_used(native: str, gallette) -> None:
    """A made-up Mesa driver stands for a machine without GL."""
    done = gallette(
        "diff", "life", "--driver", "native", "--against", "native:nosuchdriver",
        GALLETTE_REQUIRE_REFERENCE="0",
    )  # fmt: skip
    if "no native OpenGL here" in done.stdout:
        assert "recorded from" in done.stdout
        assert done.returncode == 0


SCRIPT = """
import sys
import moderngl, numpy as np
import gallette

def main():
    ctx = moderngl.create_context(standalone=True)
    program = ctx.program(
        vertex_shader="#version 330\\nin vec2 p; void main() { gl_Position = vec4(p, 0.0, 1.0); }",
        fragment_shader="#version 330\\nuniform vec4 tint; out vec4 color;"
                        "void main() { color = tint; }",
    )
    data = np.array([-1, -1, 1, -1, 0, 1], "f4")
    shape = ctx.vertex_array(program, ctx.buffer(data), "p")
    target = ctx.simple_framebuffer((32, 24))
    target.use()
    for blue in (0.25, 0.5):
        program["tint"].value = (1.0, 0.5, blue, 1.0)
        shape.render()
        target.read(components=3)
    gallette.mark("the last", target)
    picture = ctx.texture((8, 8), 4, bytes(range(256)))
    picture.read()
    print("done", len(sys.argv))

if __name__ == "__main__":
    main()
"""


def test_a_script_is_a_scene(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(SCRIPT)
    done = render_scenes("numpipe", [str(path)])
    assert done.errors == {}
    passes = done.passes[str(path)]
    assert [p.name for p in passes] == ["line 20", "line 20, 2", "the last", "line 23"]
    assert passes[0].color[2, 16].tolist() == [255, 128, 64, 255]
    assert (passes[1].color == passes[2].color).all()
    assert (passes[3].color.reshape(-1) == np.arange(256)).all()


READS = """
import moderngl, numpy as np

ctx = moderngl.create_context(standalone=True)
numbers = np.arange(64).reshape(4, 4, 4)
for dtype, kind in (("f1", "u1"), ("f2", "f2"), ("f4", "f4"), ("u1", "u1"), ("i2", "i2")):
    data = numbers.astype(kind)
    if dtype == "f4":
        data[0, 0, 0] = np.nan
    ctx.texture((4, 4), 4, data.tobytes(), dtype=dtype).read()
depths = (np.arange(16) / 15).astype("f4")
nearer = ctx.depth_texture((4, 4), depths.tobytes())
nearer.read()
numbers = ctx.texture((4, 4), 4, dtype="u1")
ctx.framebuffer([numbers]).read(dtype="u1")
ctx.framebuffer([], nearer).read(components=1, dtype="f4", attachment=-1)
shown = ctx.texture((4, 4), 4, dtype="f1")
both = ctx.framebuffer([numbers, shown])
both.read(dtype="u1")
both.read(attachment=1)
"""


def test_what_a_script_reads_is_shown_if_it_is_a_picture(tmp_path: Path) -> None:
    """Colours of each kind, depths with what is covered; integers are none."""
    path = tmp_path / "reads.py"
    path.write_text(READS)
    done = render_scenes("numpipe", [str(path)])
    assert done.errors == {}
    passes = done.passes[str(path)]
    assert [p.name for p in passes] == ["line 10", "line 10, 2", "line 10, 3", "line 13", "line 20"]
    assert [str(p.color.dtype) for p in passes] == ["uint8", *["float32"] * 3, "uint8"]
    numbers = np.arange(64)
    for index, shown in enumerate(passes[:3]):
        wanted = np.where(numbers == 0, 0, numbers) if index == 2 else numbers
        assert (shown.color.reshape(-1) == wanted).all()
        assert shown.coverage.all()
    depths = passes[3]
    assert np.allclose(depths.color[..., 0].reshape(-1), np.arange(16) / 15, atol=1e-6)
    assert (depths.color[..., 3] == 1).all()
    assert depths.coverage.reshape(-1).tolist() == [True] * 15 + [False]
    assert not passes[4].coverage.any()


def test_a_script_that_shows_nothing_shows_its_last_framebuffer(tmp_path: Path) -> None:
    path = tmp_path / "quiet.py"
    text = SCRIPT.replace("target.read(components=3)", "pass").replace("picture.read()", "pass")
    path.write_text(text.replace('gallette.mark("the last", target)', "pass"))
    done = render_scenes("numpipe", [str(path)])
    assert [p.name for p in done.passes[str(path)]] == ["at the end"]


def test_a_script_that_fails_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("import moderngl\nmoderngl.create_context(standalone=True)\n1 / 0\n")
    done = render_scenes("numpipe", [str(path)])
    assert "ZeroDivisionError" in done.errors[str(path)]


@pytest.mark.native
def test_a_script_against_native(native: str, gallette, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SCRIPT)
    done = gallette("diff", "mine.py", "--against", native, "--html", "page")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 scenes agree" in done.stdout
    missing = gallette("diff", "other.py")
    assert missing.returncode == 2
    assert "other.py: no such file" in missing.stderr
