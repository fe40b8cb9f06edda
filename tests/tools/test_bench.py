"""`gallette bench`: what is compared, and what becomes of the figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette
from gallette import cli
from gallette.benchmarks import BENCHMARKS, child, find, lacks, read_scenes
from gallette.benchmarks.captures import captures_in
from gallette.benchmarks.limits import FrameWork, Rates, bounds, machine_rates, operations
from gallette.benchmarks.profiling import PARTS, profile
from gallette.benchmarks.report import chart, geometric_mean, markdown, ratios, update_page
from gallette.benchmarks.sides import Side, measure
from gallette.capture import recording
from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.ir.modes import Stage
from gallette.render import render_scenes
from gallette.scenes import SCENES
from gallette.state_tracker import GL, create_context


def sides() -> list[Side]:
    ours, theirs = Side("numpipe"), Side("native:softpipe")
    ours.times = {"a": [0.1, 0.3, 0.2], "b": [0.01]}
    theirs.times = {"a": [0.8], "c": [1.0]}
    return [ours, theirs]


def test_ratios_are_of_medians_of_what_both_have_drawn() -> None:
    ours, theirs = sides()
    assert ratios(ours, theirs, ["a", "b", "c"]) == {"a": pytest.approx(4.0)}
    assert geometric_mean([]) == 0.0


def test_the_table_goes_between_the_comments_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- figures: gallette bench --docs -->old<!-- end of figures -->after"
    )
    picture = update_page(page, sides(), ["a", "b"])
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after") and "old" not in text
    assert "| `a` | 200.0 | 800.0 | 4.00 |" in text
    assert "| geometric mean |  |  | **4.00** |" in text
    assert picture.read_text().count("<circle") == 1


def test_a_page_without_the_comments_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(GalletteError, match=r"needs <!-- figures"):
        update_page(page, sides(), ["a"])


def test_chart_and_table_of_nothing() -> None:
    assert chart([Side("numpipe")], ["a"]).startswith("<svg")
    assert "| `a` |  |" in markdown([Side("numpipe")], ["a"])


def test_what_a_benchmark_needs() -> None:
    assert lacks(BENCHMARKS["nbody"], 330, 4) == "no GL 4.3"
    assert lacks(BENCHMARKS["msaa_mesh"], 430, 1) == "no 4 samples"
    assert lacks(BENCHMARKS["msaa_mesh"], 430, 4) == ""
    assert len(BENCHMARKS) >= 16


def test_frames_are_timed_and_profiled() -> None:
    pytest.importorskip("moderngl")
    (side,) = measure(["gradient"], ["numpipe"], 2, profiled=True)
    assert not side.errors and len(side.times["gradient"]) >= 2
    assert len(side.times["gradient"]) == len(side.processor["gradient"])
    assert set(side.profiles["gradient"]) == set(PARTS)
    assert sum(side.profiles["gradient"].values()) == pytest.approx(1.0)


def test_a_scene_that_yields_pictures_is_timed() -> None:
    pytest.importorskip("moderngl")
    (side,) = measure(["dual_source", "small_draws"], ["noop"], 1)
    assert not side.errors and side.times["dual_source"] and side.times["small_draws"]


def test_a_benchmark_yields_a_picture() -> None:
    pytest.importorskip("moderngl")
    rendering = render_scenes("jit", ["blended_quads"])
    assert not rendering.errors
    (frame,) = rendering.passes["blended_quads"]
    assert frame.name == "frame" and frame.color.shape == (512, 512, 4)
    assert 0.5 < frame.coverage.mean() < 1


def test_every_scene_draws_the_same_again_in_its_context() -> None:
    moderngl = pytest.importorskip("moderngl")
    different = []
    for name, scene in SCENES.items():
        window: Any = gallette.moderngl_context("numpipe")
        ctx = moderngl.create_context(standalone=True, context=window)
        ctx.extra = window
        small = scene.size[0] // 2, scene.size[1] // 2
        first, again = (list(scene.render(ctx, small)) for _ in range(2))
        if not all(np.array_equal(a.color, b.color) for a, b in zip(first, again, strict=True)):
            different.append(name)
        window.release()
    assert different == []


def test_a_request_draws_several_short_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(child.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(child.time, "process_time", lambda: 2 * now[0])
    for quick, many in ((0.24, 4), (0.3, 3), (0.4, 2), (0.6, 1), (3.0, 1)):

        def frame(takes: float = quick * child.TURN) -> None:
            now[0] += takes

        found = child._time_frames(frame)
        assert len(found["seconds"]) == len(found["processor"]) == many
        assert sum(found["processor"]) == pytest.approx(2 * many * quick * child.TURN)


def test_the_memory_of_frames_is_measured() -> None:
    pytest.importorskip("moderngl")
    (side,) = measure(["lit_mesh"], ["numpipe"], 1, memory=True)
    found = side.memory["lit_mesh"]
    assert not side.errors and not side.profiles
    assert found.attachments == 512 * 512 * 8  # a colour and a depth
    assert 1 << 20 < found.vertices < 2 << 20
    assert 1 << 20 < found.peak < 10 * found.attachments + found.vertices
    assert found.ratio == (found.peak - found.vertices) / found.attachments < 10


def test_operations_are_those_of_every_invocation() -> None:
    shader = Shader(Stage.FRAGMENT, "operations")
    b = Builder(shader.add_entry())
    x = b.imm_float(1.5)
    b.fmul(x, x)
    b.ffma(x, x, x)
    b.fneg(x)  # a modifier
    b.iadd(b.imm_int(1), b.imm_int(2))
    b.push_if(b.flt(x, x))
    b.fadd(x, x)
    b.push_else()
    b.fadd(b.fadd(x, x), x)
    b.pop_if()
    b.push_loop()
    b.fadd(x, b.fadd(x, x))
    b.push_if(b.flt(x, x))
    b.fsqrt(x)
    b.jump("break")
    b.pop_if()
    b.pop_loop()
    loops: list[int] = []
    assert operations(shader.entry.body, loops) == 1 + 2 + 1 + 1
    assert loops == [3]


def test_the_bound_is_the_slower_of_bytes_and_operations() -> None:
    rates = Rates(bytes=100.0, operations=10.0)
    assert FrameWork(200, 10, 0).seconds(rates) == 2.0
    assert FrameWork(200, 30, 0).seconds(rates) == 3.0


def test_the_work_of_frames() -> None:
    pytest.importorskip("moderngl")
    names = ["gradient", "mandelbrot", "bilinear_texture", "reduction", "shadow_map"]
    found = bounds(names)
    assert list(found) == names
    attachments = 512 * 512 * (4 + 4)
    for name in names[:3]:
        assert attachments <= found[name].bytes < 4 * attachments
    texture = 256 * 256 * 4
    assert found["bilinear_texture"].bytes == found["gradient"].bytes + texture
    assert found["gradient"].pixels == 512 * 512
    # A pixel of the set takes 128 iterations, one of the gradient none.
    assert found["mandelbrot"].operations > 20 * found["gradient"].operations > 512 * 512


def test_captures_of_folders_are_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("moderngl")
    with pytest.raises(InputError, match="no captures"):
        captures_in([tmp_path])
    path = tmp_path / "flat.gcap"
    with recording(path):
        gl = create_context("noop", profile="compat", version=(2, 1), size=(8, 4))
        gl.matrix_mode(GL.PROJECTION)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)
        gl.finish()
        gl.release()
    what = ["--driver", "noop", "--against", "", "--repeat", "1"]
    assert cli.main(["bench", "--captures", str(tmp_path), *what]) == 0
    (row,) = [line.split("│") for line in capsys.readouterr().out.splitlines() if "│ flat " in line]
    assert [cell.strip() for cell in row[2:5]] == ["4", "2", "32"]


def test_the_rates_of_this_machine() -> None:
    for rates in machine_rates():
        assert rates.bytes > 1e7 and rates.operations > 1e7


MINE = """
from gallette.benchmarks import benchmark

@benchmark("flash")
def flash(ctx, size):
    '''ten clears'''
    def draw():
        for k in range(10):
            ctx.clear(k / 10, 0.5, 0.5)
    return draw
"""


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    before = dict(BENCHMARKS)
    yield path
    BENCHMARKS.clear()
    BENCHMARKS.update(before)


def test_a_benchmark_in_another_size() -> None:
    assert find("blur") is BENCHMARKS["blur"]
    found = find("blur@64")
    assert (found.name, found.size) == ("blur@64", (64, 64))
    assert found.prepare is BENCHMARKS["blur"].prepare
    for size in ("", "0", "-1", "16385", "x", "64@64", "²"):
        with pytest.raises(GalletteError, match="a size is a number from 1 to 16384"):
            find(f"blur@{size}")
    with pytest.raises(GalletteError, match="unknown benchmark 'blurred'; did you mean 'blur'"):
        find("blurred@64")


def test_files_register_benchmarks(mine: Path) -> None:
    assert read_scenes(mine) == ["flash"] == read_scenes(mine)
    assert find("flash@8").doc == "ten clears"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", r"mine.py: registers no benchmark"),
        ("x = 1\nx = = 1\n", r"mine.py:2: invalid syntax"),
        ("x = 1\n\nx = y\n", r"mine.py:3: NameError: name 'y'"),
        ("x = '\0'\n", r"mine.py:1: source code"),
    ],
)
def test_files_without_benchmarks(mine: Path, text: str, said: str) -> None:
    mine.write_text(text)
    with pytest.raises(InputError, match=said):
        read_scenes(mine)
    mine.unlink()
    with pytest.raises(InputError, match=r"mine.py: cannot read"):
        read_scenes(mine)


def test_what_a_pixel_costs_in_several_sizes(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("moderngl")
    what = ["bench", "--scenes", str(mine), "--against", "", "--repeat", "1", "--driver", "noop"]
    assert cli.main([*what, "--size", "8,16"]) == 0
    printed = capsys.readouterr().out
    assert "flash@8" in printed and "flash@16" in printed and "ns a pixel" in printed
    assert "mean" not in printed
    assert cli.main(what) == 0
    assert "ns a pixel" not in capsys.readouterr().out


def test_frames_with_gl_errors_are_not_timed(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("moderngl")
    mine.write_text(
        MINE.replace("for k in range(10):", "for k in range(ctx.extra.enable(1) or 1):")
    )
    what = ["bench", "--scenes", str(mine), "--against", "", "--repeat", "1", "--driver", "noop"]
    assert cli.main(what) == 1
    assert "noop, flash: GL_INVALID_ENUM" in capsys.readouterr().out


def test_time_spent_outside_the_drivers_counts_as_calls() -> None:
    shares = profile(lambda: sum(range(10000)), seconds=0.05)
    assert shares["calls"] == 1.0
