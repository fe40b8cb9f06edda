"""asm, disasm, shader-db and explain for the machine tiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.cli import main
from gallette.drivers.machines.tiler.isa.opcodes import OPCODES
from gallette.drivers.machines.tiler.isa.table import ISA
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


@pytest.mark.parametrize(
    "line",
    [
        "(sy)(ss)(sat)(rpt2)add.f r0.x, (r)r1.x, (neg)(abs)c2.y",
        "mov r47.w, #0xdeadbeef",
        "cmps.s.lt p0.y, r3.z, #0xffffffff",
        "mad.f r1.x, (neg)r2.x, c127.w, (r)r3.x",
        "cov.fh hr3.w, r1.y",
        "br !p0.x, @12",
        "brdead p0.z, @900",
        "kill p0.x",
        "(ss)sam r4.x, r8.x, desc=0x30021 len=3 res=4",
        "rt null, r0.x, desc=0xf04 len=4 res=0",
        "end",
    ],
)
def test_text_and_words_say_the_same(line: str) -> None:
    instr = ISA.read_line(line)
    assert ISA.line(instr) == line
    word = ISA.encode(instr)
    assert word < 1 << 64
    assert ISA.line(ISA.decode(word)) == line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("add.f r0.x, r1.x", "add.f lacks the second source"),
        ("frob r0.x", "there is no instruction 'frob'"),
        ("(zz)nop", "'(zz)' is no modifier"),
        ("br r0.x, @1", "'r0.x' is no operand"),
    ],
)
def test_malformed_text_is_reported(tmp_path: Path, capsys, line: str, message: str) -> None:
    text = tmp_path / "bad.s"
    text.write_text(f"nop\n{line}\n")
    assert main(["asm", str(text), "--driver", "tiler"]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert message in shown and "2:1" in shown


def test_an_immediate_must_fit() -> None:
    with pytest.raises(ValueError, match="no immediate of 10 bits"):
        ISA.encode(ISA.read_line("add.u r0.x, r0.x, #0x200"))


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
