"""`gallette bench`: what is compared, and what becomes of the figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.benchmarks import BENCHMARKS
from gallette.benchmarks.profiling import PARTS, profile
from gallette.benchmarks.report import chart, geometric_mean, markdown, ratios, update_page
from gallette.benchmarks.sides import Side, measure
from gallette.compiler.errors import GalletteError


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
    with pytest.raises(GalletteError, match=r"there is no <!-- figures"):
        update_page(page, sides(), ["a"])


def test_chart_and_table_of_nothing() -> None:
    assert chart([Side("numpipe")], ["a"]).startswith("<svg")
    assert "| `a` |  |" in markdown([Side("numpipe")], ["a"])


def test_what_a_benchmark_needs() -> None:
    assert BENCHMARKS["nbody"].lacks(330, 4) == "no GL 4.3"
    assert BENCHMARKS["msaa_mesh"].lacks(430, 1) == "no 4 samples"
    assert BENCHMARKS["msaa_mesh"].lacks(430, 4) == ""
    assert len(BENCHMARKS) >= 16


def test_frames_are_timed_and_profiled() -> None:
    pytest.importorskip("moderngl")
    (side,) = measure(["gradient"], ["numpipe"], 2, profiled=True)
    assert not side.errors and len(side.times["gradient"]) == 2
    assert set(side.profiles["gradient"]) == set(PARTS)
    assert sum(side.profiles["gradient"].values()) == pytest.approx(1.0)


def test_the_memory_of_frames_is_measured() -> None:
    pytest.importorskip("moderngl")
    (side,) = measure(["lit_mesh"], ["numpipe"], 1, memory=True)
    found = side.memory["lit_mesh"]
    assert not side.errors and not side.profiles
    assert found.attachments == 512 * 512 * 8  # a colour and a depth
    assert 1 << 20 < found.vertices < 2 << 20
    assert 1 << 20 < found.peak < 10 * found.attachments + found.vertices
    assert found.ratio == (found.peak - found.vertices) / found.attachments < 10


def test_time_spent_outside_the_drivers_counts_as_calls() -> None:
    shares = profile(lambda: sum(range(10000)), seconds=0.05)
    assert shares["calls"] == 1.0
