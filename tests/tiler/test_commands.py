"""asm, disasm, shader-db and explain for the machine tiler."""

from __future__ import annotations

from pathlib import Path

from gallette.cli import main
from gallette.drivers.machines.tiler.isa.opcodes import OPCODES
from gallette.explaining import explain_file

SHADER = """#version 330
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < int(uv.x * 9.0); i++)
        sum += textureOffset(image, uv * float(i), ivec2(1, 2)) * sin(uv.y);
    color = sum;
}
"""


def test_what_is_disassembled_can_be_assembled(tmp_path: Path, capsys) -> None:
    shader, text = tmp_path / "a.frag", tmp_path / "a.s"
    shader.write_text(SHADER)
    assert main(["disasm", str(shader), "--driver", "tiler"]) == 0
    text.write_text(capsys.readouterr().out)
    binary = tmp_path / "a.bin"
    assert main(["asm", str(text), "--driver", "tiler", "-o", str(binary)]) == 0
    capsys.readouterr()
    assert main(["disasm", str(binary), "--driver", "tiler"]) == 0
    again = capsys.readouterr().out.splitlines()
    first = [line.split(";")[0].rstrip() for line in text.read_text().splitlines()]
    assert [line.rstrip() for line in again] == [line for line in first if line]


def test_malformed_text_is_reported(tmp_path: Path, capsys) -> None:
    text = tmp_path / "bad.s"
    text.write_text("nop\nadd.f r0.x, r1.x\n")
    assert main(["asm", str(text), "--driver", "tiler"]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "add.f lacks the second source" in shown and "2:1" in shown


def test_the_table_is_listed(capsys) -> None:
    assert main(["asm", "--instructions", "--driver", "tiler"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in OPCODES)


def test_an_unknown_machine(capsys) -> None:
    assert main(["asm", "--instructions", "--driver", "tyler"]) == 2
    assert "did you mean tiler?" in " ".join(capsys.readouterr().err.split())


def test_a_shader_is_explained_with_its_stalls(tmp_path: Path) -> None:
    shader = tmp_path / "a.frag"
    shader.write_text(SHADER)
    (story,) = explain_file(str(shader), "tiler").shaders
    code = story.variants[0].code
    assert "(sy)" in code and "nop" in code and " nops, " in code


def test_a_shader_test_is_explained_with_its_bins() -> None:
    path = "piglit_subset/spec/glsl-1.20/two-sided/front-and-back-color.shader_test"
    story = explain_file(path, "tiler")
    fragment = next(s for s in story.shaders if s.stage == "fragment")
    captions = [caption for v in fragment.variants for caption, _ in v.pictures]
    assert any("bins of" in caption and "stored" in caption for caption in captions)


def test_shader_db_measures_both_choices(capsys) -> None:
    folder = "piglit_subset/spec/glsl-1.20/two-sided"
    assert main(["shader-db", folder, "--driver", "tiler", "--against", "barriers=reads"]) == 0
    assert "instructions" in capsys.readouterr().out
