"""`gallette piglit coverage`: what a test touches is seen, what it does not is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.cli import main
from gallette.coverage import AREAS, Area, measure, report, watching
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text

TEST = """[require]
GLSL >= 3.30
[vertex shader passthrough]
[fragment shader]
#version 330
uniform float a;
out vec4 color;
void main() { float b = a; b *= 2.0; color = vec4(fract(b) < 0.25 ? 1.0 : 0.0); }
[test]
enable GL_BLEND
blend func GL_ONE GL_SRC_ALPHA
uniform float a 1.75
draw rect -1 -1 2 2
probe all rgba 0 0 0 0
"""


def test_what_a_test_touches_is_seen() -> None:
    with watching() as seen:
        outcome = run_test(parse_text(TEST, "t.shader_test"), "numpipe")
    found = {area.name: area for area in report(seen)}
    assert set(found) == set(AREAS)
    assert outcome.result in ("pass", "fail")
    assert "ffract" in found["NIR opcodes"].touched
    assert "fcos" in found["NIR opcodes"].missing
    assert "store_output" in found["NIR intrinsics"].touched
    assert {"link_program", "blend_func"} <= set(found["GL functions"].touched)
    assert "begin_query" in found["GL functions"].missing
    assert "R8G8B8A8_UNORM" in found["pixel formats"].touched
    assert "rgb SRC_ALPHA" in found["blend functions and factors"].touched
    assert {"Assign *=", "Conditional"} <= set(found["GLSL syntax"].touched)
    assert "While" in found["GLSL syntax"].missing
    assert "fract" in found["GLSL built-in functions"].touched
    opcodes = found["NIR opcodes"]
    assert "fcos" in opcodes.untouched and "vec16" not in opcodes.untouched
    assert "vec16" in opcodes.unreachable["vectors of kernels"]
    for area in found.values():
        explained = [name for names in area.unreachable.values() for name in names]
        assert sorted([*explained, *area.untouched]) == sorted(area.missing)
        assert area.total == len({*area.touched, *area.missing}) > 0


def test_nothing_is_watched_afterwards() -> None:
    with watching() as seen:
        pass
    run_test(parse_text(TEST, "t.shader_test"), "numpipe")
    assert not any(seen.values())


def test_processes_put_together_what_they_saw(tmp_path: Path) -> None:
    paths = []
    for name in ("sqrt", "exp2"):
        path = tmp_path / f"{name}.shader_test"
        path.write_text(TEST.replace("fract(b)", f"{name}(b)"))
        paths.append(path)
    seen = measure(paths, 2)
    assert {"sqrt", "exp2"} <= seen["GLSL built-in functions"]
    assert "fract" not in seen["GLSL built-in functions"]


def test_every_reason_for_being_out_of_reach_is_about_something() -> None:
    """A pattern that fits no row of its table has outlived its reason."""
    import re

    from gallette.coverage import _BEYOND, _tables

    tables = _tables()
    for area, patterns in _BEYOND.items():
        for pattern in patterns:
            assert any(re.fullmatch(pattern, name) for name in tables[area]), (area, pattern)


def test_what_the_command_says_of_coverage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row for each area, then what no test touched, with the reasons there are."""
    (tmp_path / "a.shader_test").write_text(TEST)
    measured: list[Any] = []
    areas = [
        Area("NIR opcodes", "", ("fadd", "fmul", "mov"), ("vec16",)),
        Area("logic operations", "", ("XOR",), ("AND", "OR")),
        Area("GLSL syntax", "", ("While", "For"), ()),
    ]

    def measure(paths: list[Path], jobs: int) -> dict[str, set[str]]:
        measured.append((paths, jobs))
        return {}

    monkeypatch.setattr("gallette.coverage.measure", measure)
    monkeypatch.setattr("gallette.coverage.report", lambda seen: areas)
    page = tmp_path / "out"
    assert main(["piglit", "coverage", str(tmp_path), "-j", "3", "--html", str(page)]) == 0
    assert measured == [([tmp_path / "a.shader_test"], 3)]
    words = [
        line.strip("│ ").replace("│", " ").split() for line in capsys.readouterr().out.split("\n")
    ]
    assert ["used", "by", "1", "test"] in words
    assert ["NIR", "opcodes", "3", "4", "75.0%"] in words
    assert ["logic", "operations", "1", "3", "33.3%"] in words
    assert ["GLSL", "syntax", "2", "2", "100.0%"] in words
    said = [" ".join(line) for line in words]
    assert "logic operations, unused: AND, OR" in said
    assert "NIR opcodes, cannot be used (vectors of kernels): vec16" in said
    assert not any(line.startswith("GLSL syntax,") for line in said)
    assert any(line.startswith("report: ") for line in said)
    text = (page / "index.html").read_text()
    assert "What the suite uses" in text and "1 shader_tests on numpipe" in text
