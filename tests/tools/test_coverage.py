"""`gallette piglit coverage`: what a test touches is seen, what it does not is named."""

from __future__ import annotations

from pathlib import Path

from gallette.coverage import AREAS, measure, report, watching
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
    assert "vec16" in opcodes.beyond["vectors of kernels"]
    for area in found.values():
        explained = [name for names in area.beyond.values() for name in names]
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
