"""`gallette reduce` shrinks what it is written for: NIR text, GLSL, shader_tests."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gallette.cli import main
from gallette.compiler.errors import GalletteError
from gallette.compiler.glsl.api import compile_shader
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.reduce import reduce_text
from gallette.piglit_subset.shader_test import parse_text
from gallette.piglit_subset.suite import BUNDLED

sys.path.insert(0, str(Path(__file__).parents[1] / "nir"))
from random_shaders import make_shader

GLSL = """#version 330
// A long shader; somebody says that this line breaks:  n = uint(-bias);
uniform float bias;
uniform mat4 unused;
struct Light { vec3 color; float power; };
uniform Light lights[4];
in vec2 at;
out vec4 color;
float falloff(float d, float k) {
    for (int i = 0; i < 3; i++) { d += k * float(i); }
    return 1.0 / (d * d + 1.0);
}
void main() {
    vec3 sum = vec3(0.125);
    uint n = 7u;
    if (at.x > 0.5) {
        for (int i = 0; i < 4; i++) {
            sum += lights[i].color * falloff(length(at), lights[i].power);
            if (sum.x > 3.0) { n = uint(-bias); break; }
        }
    } else {
        sum = sum.zyx;
    }
    color = vec4(sum, float(n));
}
"""


def compiles(text: str) -> bool:
    return compile_shader(Stage.FRAGMENT, text).ok


def shown(check: Callable[[str], bool], text: str) -> tuple[str, int]:
    done = reduce_text(text, check)
    assert check(done.value)
    return done.value, done.tried


def test_glsl_stays_valid_and_keeps_the_line() -> None:
    text, tried = shown(lambda t: "uint(-" in t and compiles(t), GLSL)
    assert len(text) < 90
    assert "falloff" not in text
    assert "lights" not in text
    assert tried < 2000


def test_nir_stays_valid_and_keeps_the_operation() -> None:
    shader = print_shader(make_shader(random.Random(11), derefs=False))
    wanted = next(i.op.name for i in instrs_of(parse(shader).entry) if isinstance(i, Alu))

    def interesting(text: str) -> bool:
        try:
            found = parse(text)
            validate(found, "reducing")
        except GalletteError:
            return False
        return any(isinstance(i, Alu) and i.op.name == wanted for i in instrs_of(found.entry))

    text, _ = shown(interesting, shader)
    before, after = parse(shader).count_instrs(), parse(text).count_instrs()
    assert after <= 4 < 20 < before


def _size(path: Path) -> int:
    return path.stat().st_size


def test_a_shader_test_stays_one_and_keeps_its_probe() -> None:
    longest = max((BUNDLED / "glsl-3.30" / "control-flow").glob("*.shader_test"), key=_size)
    text = longest.read_text(encoding="utf-8")

    def interesting(candidate: str) -> bool:
        try:
            test = parse_text(candidate)
        except GalletteError:
            return False
        return bool(test.shaders) and "probe" in candidate and "void main" in candidate

    reduced, _ = shown(interesting, text)
    assert len(reduced) < len(text) / 3
    assert parse_text(reduced).shaders


# The command.


@pytest.mark.parametrize(
    ("name", "text", "bug", "left"),
    [
        ("a.frag", GLSL, "break;", "break;"),
        ("a.nir", print_shader(make_shader(random.Random(11), derefs=False)), "shader", "shader"),
        ("a.shader_test", "[require]\nGLSL >= 1.10\n\n[test]\ndraw\nprobe all\n", "probe", "probe"),
    ],
)
def test_files_of_each_kind_are_shrunk_by_a_command(
    name: str,
    text: str,
    bug: str,
    left: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert main(["reduce", str(file), "--check", f"grep -q '{bug}' {{}}"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == left
    assert f"{len(text)} -> {len(out)} characters" in err
    assert file.read_text(encoding="utf-8") == text  # the command saw copies


def test_the_copy_is_called_as_the_file_is(tmp_path: Path) -> None:
    file = tmp_path / "deep.vert"
    file.write_text("one\ntwo\nthree\n", encoding="utf-8")
    check = "case {} in *deep.vert) grep -q two {};; *) exit 9;; esac"
    result = tmp_path / "small.vert"
    assert main(["reduce", str(file), "--check", check, "-o", str(result)]) == 0
    assert result.read_text(encoding="utf-8") == "two"


def test_any_status_may_be_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.txt"
    file.write_text("alpha\nbeta\ngamma\n", encoding="utf-8")
    check = "grep -q beta {} && exit 3; exit 0"
    assert main(["reduce", str(file), "--check", check, "--status", "3"]) == 0
    assert capsys.readouterr().out == "beta"


def test_a_file_that_is_not_interesting_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("alpha\n", encoding="utf-8")
    assert main(["reduce", str(file), "--check", "grep -q beta {}", "--status", "0"]) == 2
    assert "does not end with status 0" in capsys.readouterr().err
    assert main(["reduce", str(tmp_path / "none"), "--check", "true"]) == 2


def test_a_command_that_hangs_counts_as_another_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("keep\nhang\n", encoding="utf-8")
    # Whatever has no `hang` in it hangs.
    check = "grep -q hang {} || sleep 5"
    arguments = ["reduce", str(file), "--check", check, "--timeout", "0.2", "--limit", "6"]
    assert main(arguments) == 0
    assert "hang" in capsys.readouterr().out


def test_no_more_candidates_than_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.frag"
    file.write_text(GLSL, encoding="utf-8")
    assert main(["reduce", str(file), "--check", "grep -q main {}", "--limit", "3"]) == 0
    assert "3 tried" in capsys.readouterr().err
