"""What is explained of a file: its stage, its twin, its forms, its lines, a test's variants."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gallette import explaining
from gallette.compiler.errors import CompileError, InputError
from gallette.explaining import (
    MOST_LINES,
    MOST_TEXT,
    Explanation,
    ShaderStory,
    VariantStory,
    explain_file,
)

VERTEX = "#version 330\nin vec4 p;\nout vec4 c;\nvoid main() { gl_Position = p; c = p; }\n"
FRAGMENT = "#version 330\nin vec4 c;\nout vec4 color;\nvoid main() { color = c; }\n"
FLAT = "#version 330\nout vec4 color;\nvoid main() { color = vec4(0.5); }\n"
TEST = f"""[require]
GLSL >= 3.30
SIZE 8 8
[vertex shader passthrough]
[fragment shader]
{FLAT}
[test]
clear color 0 0 0 0
clear
draw rect -1 -1 2 2
probe all rgba 0.5 0.5 0.5 0.5
"""


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("a.vert.glsl", "vertex"), ("a.frag.glsl", "fragment"), ("a_vs.glsl", "vertex"),
        ("a_vert.glsl", "vertex"), ("myvertex.glsl", "vertex"), ("a_fs.glsl", "fragment"),
        ("vs.glsl", "fragment"), ("a.glsl", "fragment"), ("a.comp.glsl", "compute"),
    ],
)  # fmt: skip
def test_names_say_stages(name: str, stage: str) -> None:
    assert explaining._stage_of_name(Path(name)) == stage


def test_a_file_is_explained_with_the_one_beside_it(tmp_path: Path) -> None:
    fragment = written(tmp_path, "a.frag", FRAGMENT)
    assert [s.stage for s in explain_file(fragment, "numpipe").shaders] == ["fragment"]
    vertex = written(tmp_path, "a.vert", VERTEX)
    for name in (fragment, vertex):
        found = explain_file(name, "numpipe")
        assert [s.stage for s in found.shaders] == ["vertex", "fragment"]
        assert [s.source for s in found.shaders] == [VERTEX, FRAGMENT]
        assert (found.name, found.driver, found.log) == (name, "numpipe", "")
    assert [s.stage for s in explain_file(vertex, "numpipe", alone=True).shaders] == ["vertex"]
    written(tmp_path, "a.vert", "no shader")  # then they are no pair
    assert [s.stage for s in explain_file(fragment, "numpipe").shaders] == ["fragment"]
    with pytest.raises(CompileError, match="error"):
        explain_file(vertex, "numpipe")
    with pytest.raises(CompileError, match="error"):
        explain_file(vertex, "numpipe", alone=True)


def test_stages_that_names_do_not_determine_are_given(tmp_path: Path) -> None:
    plain = written(tmp_path, "shader.txt", FLAT)
    with pytest.raises(
        InputError, match=re.escape("the stage cannot be inferred from the file name; use --stage")
    ):
        explain_file(plain, "numpipe")
    assert [s.stage for s in explain_file(plain, "numpipe", "fragment").shaders] == ["fragment"]
    glsl = written(tmp_path, "a.glsl", FLAT)
    assert [s.stage for s in explain_file(glsl, "numpipe").shaders] == ["fragment"]
    named = written(tmp_path, "b.frag", FLAT)  # the name counts
    assert [s.stage for s in explain_file(named, "numpipe", "vertex").shaders] == ["fragment"]


def test_files_that_are_too_long_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(explaining, "MOST_LINES", FLAT.count("\n") + 1)
    assert MOST_LINES > 100
    name = written(tmp_path, "a.frag", FLAT)
    assert explain_file(name, "numpipe").shaders
    longer = written(tmp_path, "b.frag", "\n" + FLAT)
    with pytest.raises(InputError, match=re.escape("too long to explain (5 lines; up to 4 are")):
        explain_file(longer, "numpipe")
    with pytest.raises(InputError, match="no such file"):
        explain_file(str(tmp_path / "none.shader_test"), "numpipe")


def test_a_shader_has_forms_and_variants(tmp_path: Path) -> None:
    (story,) = explain_file(written(tmp_path, "a.frag", FLAT), "numpipe").shaders
    assert story.first_line == 1
    assert story.passes
    assert story.seconds == pytest.approx(sum(p.seconds for p in story.passes))
    names = [name for name, _ in story.forms()]
    changed = [p for p in story.passes if p.progress]
    assert names[0] == "the front end"
    assert names[1 : 1 + len(changed)] == [p.name for p in changed]
    assert names[-1] == "variant: null key"
    assert story.forms()[0][1] == changed[0].before
    assert story.forms()[1][1] == changed[0].after
    (variant,) = story.variants
    assert (variant.key, variant.reason) == ("null key", "first variant")
    assert "//@3" in variant.marked_nir
    assert variant.marked_code.startswith("def run")
    assert "//@" not in variant.nir
    (native,) = explain_file(written(tmp_path, "b.frag", FLAT), "native").shaders
    assert native.variants == []
    assert native.nir == story.nir


def test_forms_that_are_too_long_for_a_page_are_left_out() -> None:
    def record(name: str, progress: bool, size: int = 5) -> Any:
        return SimpleNamespace(name=name, progress=progress, before="b" * size, after="a" * size,
                               seconds=1.5)  # fmt: skip

    variant = VariantStory(
        "key", "r", False, 0.0, [record("v", True), record("w", False)], "n", "c"
    )
    marked = VariantStory("other", "r", False, 0.0, [], "n", "c", marked_nir="m")
    story = ShaderStory("fragment", "", 1, [record("x", False), record("y", True)], "", [variant])
    assert story.forms() == [
        ("the front end", "bbbbb"), ("y", "aaaaa"), ("key: v", "aaaaa"), ("variant: key", "n"),
    ]  # fmt: skip
    assert story.seconds == 3.0
    story.variants.append(marked)
    assert story.forms()[-1] == ("variant: other", "m")
    room = MOST_TEXT - 5 - 5 - 1 - 1
    for size, count in ((room, 5), (room + 1, 3)):
        story.passes = [SimpleNamespace(name="y", progress=True, before="bbbbb", after="a" * size)]
        assert len(story.forms()) == count
    assert [name for name, _ in story.forms()] == [
        "the front end", "variant: key", "variant: other",
    ]  # fmt: skip
    assert ShaderStory("vertex", "").forms() == []


@pytest.mark.parametrize("driver", ["numpipe", "simd", "native"])
def test_tests_are_run_and_their_variants_shown(driver: str, tmp_path: Path) -> None:
    found = explain_file(written(tmp_path, "a.shader_test", TEST), driver)
    assert [s.stage for s in found.shaders] == ["vertex", "fragment"]
    assert found.shaders[1].source.strip() == FLAT.strip()
    assert found.shaders[1].first_line == 6
    if driver == "native":
        assert (found.outcome, found.events, found.memory) == ("", [], None)
        return
    assert found.outcome == "pass"
    assert {e.stage for e in found.events} == {"vertex", "fragment"}
    assert (found.memory is not None) == (driver == "simd")
    wrong = TEST.replace("rgba 0.5 0.5", "rgba 0.5 0.25")
    failed = explain_file(written(tmp_path, "b.shader_test", wrong), driver)
    assert failed.outcome.startswith("fail: ")
    compat = TEST.replace("GLSL >= 3.30", "GL >= 2.1\nGLSL >= 1.20").replace(FLAT, (
        "#version 120\nvoid main() { gl_FragColor = vec4(0.5); }\n"))  # fmt: skip
    assert explain_file(written(tmp_path, "c.shader_test", compat), driver).outcome == "pass"


def test_programs_that_do_not_link_are_reported(tmp_path: Path) -> None:
    text = TEST.replace("out vec4 color;", "float missing();\nout vec4 color;").replace(
        "vec4(0.5)", "vec4(missing())"
    )
    with pytest.raises(CompileError, match="missing"):
        explain_file(written(tmp_path, "a.shader_test", text), "numpipe")
    assert Explanation("n", "d", []).memory is None
