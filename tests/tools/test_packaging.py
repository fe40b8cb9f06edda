"""The wheel holds everything, and what it installs keeps to its own name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("compiler", "drivers", "piglit_subset", "pipe", "state_tracker")
# What a package may lack in the wheel: nothing but what Python itself leaves lying about.
_LITTER = shutil.ignore_patterns("__pycache__", "*.pyc")

BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"

USE = """
import struct
import moderngl
from pipe import select
import gallette

assert select is NotImplemented, "the other package's `pipe` is hidden"
ctx = moderngl.create_context(standalone=True, context=gallette.moderngl_context())
program = ctx.program(
    vertex_shader="#version 330\\nin vec2 at; void main() { gl_Position = vec4(at, 0.0, 1.0); }",
    fragment_shader="#version 330\\nout vec4 c; void main() { c = vec4(0.2, 0.6, 0.4, 1); }",
)
target = ctx.simple_framebuffer((64, 64))
target.use()
triangle = ctx.buffer(struct.pack("6f", -0.9, -0.9, 0.9, -0.9, 0.0, 0.9))
ctx.vertex_array(program, [(triangle, "2f", "at")]).render()
print(gallette.__file__, *target.read(viewport=(32, 32, 1, 1), components=4))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, unpacked beside somebody else's package called `pipe`."""
    tree = tmp_path_factory.mktemp("tree")
    for name in (*LAYERS, "gallette"):
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=_LITTER)
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, tree)
    place = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(place)], cwd=tree, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    wheel = place / done.stdout.split()[-1]
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    wheel.unlink()
    (place / "pipe").mkdir()
    (place / "pipe" / "__init__.py").write_text("select = NotImplemented\n")
    return place


def run(installed: Path, work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python on the installed wheel in a folder whose folders are called like our layers."""
    for name in (*LAYERS, "tests"):
        (work / name).mkdir(exist_ok=True)
    env = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=work, env=env, capture_output=True, text=True, timeout=300
    )


def files(root: Path, prefix: str = "") -> set[str]:
    found = {p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()}
    return {prefix + name for name in found if "__pycache__" not in name}


def test_the_wheel_holds_every_file_of_every_layer(installed: Path) -> None:
    expected = files(ROOT / "gallette", "gallette/")
    for layer in LAYERS:
        expected |= files(ROOT / layer, f"gallette/{layer}/")
    assert files(installed / "gallette", "gallette/") == expected


def test_it_installs_one_name(installed: Path) -> None:
    names = {p.name for p in installed.iterdir() if p.suffix != ".dist-info"}
    assert names == {"gallette", "pipe"}


def test_a_moderngl_script_runs_among_folders_called_like_ours(
    installed: Path, tmp_path: Path
) -> None:
    done = run(installed, tmp_path, "-c", USE)
    assert done.returncode == 0, done.stderr
    where, *pixel = done.stdout.split()
    assert Path(where).is_relative_to(installed)
    assert pixel == ["51", "153", "102", "255"]


def test_the_command_line_runs_among_folders_called_like_ours(
    installed: Path, tmp_path: Path
) -> None:
    done = run(installed, tmp_path, "-m", "gallette", "piglit", "run", "--filter", "arrays/")
    assert done.returncode == 0, done.stderr
    assert "pass" in done.stdout


def test_nothing_a_program_left_behind_is_kept() -> None:
    """What is kept beside the layers is named here: caches and reports have been added unseen."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    folders = {path.split("/")[0] for path in listed.stdout.splitlines() if "/" in path}
    assert folders == {*LAYERS, "gallette", ".ci", "bench", "docs", "fuzz", "tests"}
