"""`gallette new` and what is loaded from files: each template works, and so does its test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gallette.cli import main
from gallette.commands.new import KINDS
from gallette.compiler.errors import InputError
from gallette.compiler.nir.outside import load_file
from gallette.compiler.nir.run.loaded import load_passes
from gallette.compiler.nir.run.pass_runner import PASSES
from gallette.pipe.loader import DriverError, create_screen

SHADER = """shader fragment "subject"
function main () entry
impl main {
    32 %zero = load_const (0x0)
    32x4 %a = @load_input (%zero) (location=VARYING.VAR0)
    32 %x = ixor %a.x, %a.y
    32 %y = ixor %x, %a.y
    32 %d = fsub %y, %a.z
    @store_output (%d, %zero) (write_mask=x, location=FRAG.DATA0)
}
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_passes_its_test(kind: str, tmp_path: Path) -> None:
    assert main(["new", kind, f"my_{kind}", "--folder", str(tmp_path)]) == 0
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_my_{kind}.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_there_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_mine.py").write_text("mine")
    assert main(["new", "pass", "mine", "--folder", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert not (tmp_path / "mine.py").exists()
    assert main(["new", "pass", "not-a-name"]) == 2
    assert "is no Python name" in capsys.readouterr().err


@pytest.mark.parametrize(("kind", "gone"), [("pass", "fsub"), ("rule", "ixor")])
def test_nir_opt_loads_passes_and_rules(
    kind: str, gone: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"loaded_{kind}"
    (tmp_path / "shader.nir").write_text(SHADER)
    assert main(["new", kind, name, "--folder", str(tmp_path)]) == 0
    capsys.readouterr()
    try:
        arguments = [str(tmp_path / "shader.nir"), "--load", str(tmp_path / f"{name}.py")]
        assert main(["nir-opt", *arguments, "-p", f"{name},dce", "--run"]) == 0
        out = capsys.readouterr()
        assert gone not in out.out and "same results" in out.err
    finally:
        PASSES.pop(name, None)


def test_a_file_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    with pytest.raises(InputError, match="no such file"):
        load_file(str(path))
    path.write_text("1 / 0\n")
    with pytest.raises(InputError, match="ZeroDivisionError: division by zero"):
        load_file(str(path))
    path.write_text("RULES = [(('iand', 'a'), 'a')]\n")
    with pytest.raises(InputError, match=r"broken\.py: "):
        load_passes(str(path))
    path = tmp_path / "dce.py"
    path.write_text("RULES = []\n")
    with pytest.raises(InputError, match="there is a pass dce already"):
        load_passes(str(path))


def test_a_driver_of_a_file_is_found_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["new", "driver", "mine", "--folder", str(tmp_path)]) == 0
    with pytest.raises(DriverError, match="unknown driver 'mine'"):
        create_screen("mine")
    monkeypatch.setenv("GALLETTE_LOAD", str(tmp_path / "mine.py"))
    screen = create_screen("mine")
    assert screen.name == "mine"
    screen.destroy()
