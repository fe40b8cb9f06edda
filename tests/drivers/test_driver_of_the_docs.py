"""The complete driver of docs/drivers.md, taken from the page, installed, and run."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_file
from gallette.piglit_subset.suite import find_tests
from gallette.pipe.loader import forget_drivers

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "drivers.md").read_text(encoding="utf-8")
LONGEST = 200


def source() -> str:
    """The driver's module: the block that begins with its docstring."""
    found = re.search(r'^```python\n("""gouraud:.*?)^```', PAGE, re.S | re.M)
    assert found is not None
    return found[1]


def named_subset() -> dict[str, Path]:
    """The tests that the page says it passes: those of the command it shows."""
    found = re.search(r"^gallette (piglit run --driver gouraud .*)$", PAGE, re.M)
    assert found is not None
    words = shlex.split(found[1])
    return dict(find_tests([], [words[words.index("--filter") + 1]]))


@pytest.fixture
def gouraud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The driver as a package on the path."""
    (tmp_path / "gouraud.py").write_text(source())
    info = tmp_path / "gouraud-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gouraud\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gallette.drivers]\ngouraud = gouraud:GouraudScreen\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_drivers()
    yield
    sys.modules.pop("gouraud", None)
    monkeypatch.undo()
    forget_drivers()


def test_it_is_short() -> None:
    assert len(source().splitlines()) <= LONGEST


def test_the_subset_is_about_what_the_driver_is_about() -> None:
    subset = set(named_subset())
    assert len(subset) >= 20
    assert {
        "spec@glsl-1.20@two-sided@front-and-back-color",
        "spec@glsl-1.20@shade-model@flat-color",
    } <= subset


@pytest.mark.parametrize("name", sorted(named_subset()))
def test_it_passes_the_subset_the_page_names(name: str, gouraud: None) -> None:
    outcome = run_test(parse_file(named_subset()[name]), "gouraud")
    assert (outcome.result, outcome.reason) == ("pass", "")


def test_two_sided_colour_is_a_variant(gouraud: None) -> None:
    path = named_subset()["spec@glsl-1.20@two-sided@front-and-back-color"]
    reasons: list[str] = []
    run_test(
        parse_file(path),
        "gouraud",
        before_release=lambda gl: reasons.extend(event.reason for event in gl.pipe.variant_log),
    )
    assert "differs in two_sided_color" in reasons
