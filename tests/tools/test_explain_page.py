"""The page of `gallette explain`: source, NIR and code know each other's lines."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from gallette.cli import main
from gallette.compiler.errors import InputError
from gallette.explaining import explain_file, unmarked
from gallette.inspector.programs import marked_code
from gallette.reports.highlight import coloured, coloured_lines, mapped
from gallette.reports.html import write_explanation

VERTEX = """#version 330
in vec2 position;
out vec2 uv;
void main() {
    uv = position * 0.5;
    gl_Position = vec4(position, 0.0, 1.0);
}
"""
FRAGMENT = """#version 330
in vec2 uv;
out vec4 color;
void main() {
    float wave = sin(uv.x);
    color = vec4(wave, uv, 1.0);
}
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    (tmp_path / "wave.vert").write_text(VERTEX)
    (tmp_path / "wave.frag").write_text(FRAGMENT)
    return tmp_path / "wave.frag"


def lines_of(text: str) -> set[int]:
    return {int(n) for n in re.findall(r"//@(\d+)$", text, re.M)}


def test_vertex_and_fragment_shader_are_explained_together(pair: Path) -> None:
    story = explain_file(str(pair), "noop")
    assert [s.stage for s in story.shaders] == ["vertex", "fragment"]
    assert [s.stage for s in explain_file(str(pair), "noop", alone=True).shaders] == ["fragment"]


def test_files_that_are_no_pair_are_explained_alone(pair: Path) -> None:
    pair.with_suffix(".vert").write_text(VERTEX.replace("vec2 uv", "vec3 uv"))
    assert [s.stage for s in explain_file(str(pair), "noop").shaders] == ["fragment"]


def test_warnings_of_both_shaders_are_shown(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_file(str(pair), "noop").log == ""
    for path in (pair, pair.with_suffix(".vert")):
        path.write_text(path.read_text().replace("void main", "#define A__B\nvoid main"))
    told = explain_file(str(pair), "noop").log.splitlines()
    warnings = [line for line in told if "warning" in line]
    assert [line.split(":")[0] for line in warnings] == [str(pair), str(pair.with_suffix(".vert"))]
    assert all("'A__B'" in line for line in warnings)
    assert main(["explain", str(pair), "--driver", "noop"]) == 0
    printed = capsys.readouterr().out
    assert all(line in printed for line in told)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_nir_and_code_have_their_source_lines(pair: Path, driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    shader = explain_file(str(pair), driver).shaders[1]
    (variant,) = shader.variants
    assert {5, 6} <= lines_of(variant.marked_nir)
    assert 5 in lines_of(variant.marked_code)
    code = re.sub(r"\s*[;#] line \d+$", "", variant.code, flags=re.M)  # jit's own way to say it
    assert unmarked(variant.marked_code) == "\n".join(code.splitlines())
    changed = [r for r in shader.passes if r.progress]
    assert 5 in lines_of(changed[0].before)


def test_the_page_has_every_form_and_links_lines(pair: Path, tmp_path: Path) -> None:
    story = explain_file(str(pair), "numpipe")
    page = write_explanation(story, tmp_path / "page.html").read_text()
    assert page.count('class="mapped"') == 2
    assert page.count('data-line="5"') > 6
    assert "//@" not in page
    assert "<option>0 the front end</option>" in page
    assert '<span class="fresh"' in page or 'class="fresh"' in page
    assert '<span class="nb">fsin</span>' in page  # NIR in colours


def test_a_shader_test_keeps_its_files_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "small.shader_test"
    path.write_text(
        "[require]\nGLSL >= 3.30\n\n[vertex shader passthrough]\n\n[fragment shader]\n"
        "#version 330\nout vec4 color;\nvoid main() {\n    color = vec4(gl_FragCoord.x);\n}\n\n"
        "[test]\nclear color 0 0 0 0\nclear\n"
    )
    story = explain_file(str(path), "numpipe")
    fragment = next(s for s in story.shaders if s.stage == "fragment")
    assert fragment.source.splitlines()[10 - fragment.first_line].strip().startswith("color =")
    assert 10 in lines_of(fragment.variants[0].marked_nir)


def test_a_source_too_long_to_explain_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "long.frag"
    path.write_text("#version 330\n" + "// x\n" * 60_000)
    start = time.process_time()
    with pytest.raises(InputError, match=r"too long to explain \(60,002 lines; up to 5,000"):
        explain_file(str(path), "noop")
    assert time.process_time() - start < 5


def test_comments_in_front_of_llvm_ir_give_it_its_lines() -> None:
    code = "; 32x1 fmul, line 4\n%1 = fmul\n%2 = x\n; 32x1 load_const\n%3 = y\n}\n; other"
    assert marked_code(None, code).splitlines() == [
        "; 32x1 fmul, line 4 //@4", "%1 = fmul //@4", "%2 = x //@4",
        "; 32x1 load_const", "%3 = y", "}", "; other",
    ]  # fmt: skip


def test_colours_lose_no_character_and_close_every_span() -> None:
    text = 'block b0:\n    32x4 %1 = fadd! %0.wwzy, %0 // <3\n    @store_output (%1) (a="x")\n'
    bare = re.sub(r"<[^>]+>", "", str(coloured(text, "nir")))
    assert bare.replace("&lt;", "<").replace("&quot;", '"').replace("&gt;", ">") == text
    comment = "/* one\n   two */ int x;"
    for line in coloured_lines(comment, "glsl"):
        assert line.count("<span") == line.count("</span>")
    assert [number for number, _ in mapped("a //@3\nb", "nir")] == ["3", ""]
