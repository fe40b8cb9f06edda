"""asm, disasm, shader-db and explain for the machine simd."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gallette.cli import main
from gallette.explaining import explain_file

SHADER = """#version 330
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < int(uv.x * 9.0); i++)
        sum += textureOffset(image, uv * float(i), ivec2(1, 2));
    color = sum;
}
"""


def test_what_is_disassembled_can_be_assembled(tmp_path: Path, capsys) -> None:
    shader, text = tmp_path / "a.frag", tmp_path / "a.s"
    shader.write_text(SHADER)
    assert main(["disasm", str(shader)]) == 0
    text.write_text(capsys.readouterr().out)
    binary = tmp_path / "a.bin"
    assert main(["asm", str(text), "-o", str(binary)]) == 0
    capsys.readouterr()
    assert main(["asm", str(text)]) == 0
    words = tmp_path / "a.hex"
    words.write_text(capsys.readouterr().out)
    shown = []
    for file in (binary, words):
        assert main(["disasm", str(file)]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert "sampler" in shown[0] and "while(16) @" in shown[0]


def test_errors_say_where(tmp_path: Path, capsys) -> None:
    text = tmp_path / "bad.s"
    text.write_text("mov(8) g2<1>:F g3<1>:F\nadd(8) g2<1>:F g3<1>:F\n")
    assert main(["asm", str(text)]) == 2
    assert (
        "bad.s:2:1" in (found := capsys.readouterr().err) and "add lacks the second source" in found
    )
    (tmp_path / "odd.bin").write_bytes(b"\xff" * 17)
    assert main(["disasm", str(tmp_path / "odd.bin")]) == 2
    assert "not a whole number of instructions" in capsys.readouterr().err


def test_shader_db_compares_settings_of_the_machine(tmp_path: Path, capsys) -> None:
    (tmp_path / "a.shader_test").write_text("[require]\nGLSL >= 3.30\n[fragment shader]\n" + SHADER)
    words = ["--driver", "simd", "--set", "width=8", "--against", "width=16"]
    assert main(["shader-db", str(tmp_path), *words]) == 0
    out = capsys.readouterr().out
    assert "1 shaders" in out and "0 SIMD16" in out and "1 SIMD16" in out and "spills" in out


def test_explain_shows_where_the_buffers_of_a_run_lay(tmp_path: Path, capsys) -> None:
    path = "piglit_subset/spec/glsl-1.20/two-sided/front-and-back-color.shader_test"
    where, page = tmp_path / "map.json", tmp_path / "page.html"
    words = ["explain", path, "--driver", "simd", "--memory", str(where)]
    assert main([*words, "--brief"]) == 0
    shown = capsys.readouterr().out
    found = json.loads(where.read_text())
    assert found["mixed"] == 0 and {d["pages"][0] for d in found["directories"]} == {4096, 65536}
    names = [entry["name"] for entry in found["ranges"]]
    assert "batch" in names and any(name.startswith("kernel") for name in names)
    for entry in found["ranges"]:
        assert f"{entry['start']:#x}" in shown
        assert entry["start"] % entry["page"] == 0 and entry["size"] % entry["page"] == 0
    assert main([*words, "--html", str(page)]) == 0
    text = page.read_text()
    assert 'id="memory"' in text and all(f"<td>{name}</td>" in text for name in names)


def test_explain_shows_no_memory_before_a_run(tmp_path: Path, capsys) -> None:
    shader = tmp_path / "a.frag"
    shader.write_text(SHADER)
    words = ["explain", str(shader), "--driver", "simd", "--memory", str(tmp_path / "m")]
    assert main(words) == 2
    assert "--memory needs a .shader_test and the driver simd" in " ".join(
        capsys.readouterr().err.split()
    )


def test_explain_shows_assembly_stalls_and_a_picture_of_registers(tmp_path: Path) -> None:
    shader = tmp_path / "a.frag"
    shader.write_text(SHADER)
    (variant,) = explain_file(str(shader), "simd").shaders[0].variants
    assert "send(16)" in variant.code and re.search(r"; \d+ \+\d", variant.code)
    ((caption, picture),) = variant.pictures
    assert "registers" in caption and picture.ndim == 3
