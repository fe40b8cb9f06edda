"""The wheel holds everything, and what it installs keeps to its own name."""

from __future__ import annotations

import email
import hashlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gallette import __version__
from gallette.compiler.text_tables import table_rows
from gallette.state_tracker.limits import GALLETTE_VERSION

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("compiler", "drivers", "piglit_subset", "pipe", "state_tracker")

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
def distributed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make dist` makes of this tree. (That a second time makes the same bytes is looked at by
    `make installed`.)"""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "dist.py"), str(folder)],
        cwd=folder.parent,
        env={
            **os.environ,
            "SOURCE_DATE_EPOCH": "1700000000",
            "GALLETTE_ADDRESS": "https://forge.example/us/gallette",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def installed(distributed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked beside somebody else's package called `pipe`."""
    place = tmp_path_factory.mktemp("site")
    (wheel,) = distributed.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
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
    written, generated = "arrays/length-and-equality", "interpolation/flat-float"
    names = f"({written}|{generated})$"
    command = ("-m", "gallette", "piglit", "run", "-v", "-j", "1", "--filter", names)
    done = run(installed, tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert written in done.stdout and generated in done.stdout, done.stdout


def test_what_is_distributed_is_described(distributed: Path) -> None:
    first = {path.name: path.read_bytes() for path in distributed.iterdir()}
    assert sorted(Path(name).suffix for name in first) == [".gz", ".json", ".whl"]
    for name, data in first.items():
        if name.endswith(".whl"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                assert {i.date_time for i in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}
    (bill,) = (json.loads(data) for name, data in first.items() if name.endswith(".json"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    scopes = {part["name"]: part["scope"] for part in bill["components"]}
    assert scopes["numpy"] == scopes["markdown-it-py"] == "required"  # rich needs the latter
    assert scopes["llvmlite"] == scopes["cffi"] == "optional"
    assert not scopes.keys() & {"pytest", "mypy", "gallette"}
    files = {f["name"]: f["hashes"][0] for f in bill["metadata"]["component"]["components"]}
    assert files == {
        name: {"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}
        for name, data in first.items()
        if not name.endswith(".json")
    }
    known = {bill["metadata"]["component"]["bom-ref"], *(p["bom-ref"] for p in bill["components"])}
    assert {edge["ref"] for edge in bill["dependencies"]} == known
    assert {ref for edge in bill["dependencies"] for ref in edge["dependsOn"]} <= known


def test_the_wheel_names_the_repository_it_was_built_from(installed: Path) -> None:
    (metadata,) = installed.glob("gallette-*.dist-info/METADATA")
    message = email.message_from_string(metadata.read_text())
    urls = message.get_all("Project-URL")
    assert urls is not None
    assert "Repository, https://forge.example/us/gallette" in urls
    assert "Issues, https://forge.example/us/gallette/issues" in urls
    text = str(message.get_payload())
    assert "](https://forge.example/us/gallette/raw/main/docs/pictures/scenes.png)" in text
    assert "](https://forge.example/us/gallette/blob/main/docs/ci.md)" in text


def test_the_description_has_no_relative_links() -> None:
    describe = runpy.run_path(str(ROOT / "setup.py"))["description"]
    text = (
        "![a picture](docs/a.png) [a page](docs/a.md#b) [elsewhere](https://a.example) [here](#c)"
    )
    assert describe(text, None) == " a page [elsewhere](https://a.example) [here](#c)"
    assert describe(text, "https://b.example") == (
        "![a picture](https://b.example/raw/main/docs/a.png) "
        "[a page](https://b.example/blob/main/docs/a.md#b) "
        "[elsewhere](https://a.example) [here](#c)"
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/" in readme and "](docs/" not in describe(readme, None)


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("git@forge.example:us/gallette.git", "https://forge.example/us/gallette"),
        ("ssh://git@forge.example/us/gallette", "https://forge.example/us/gallette"),
        ("https://token@forge.example/us/part/gallette/", "https://forge.example/us/part/gallette"),
        ("/srv/copies/gallette", None),
        ("file:///srv/copies/gallette", None),
        ("", None),
    ],
)
def test_an_address_follows_from_the_clone(remote: str, page: str | None) -> None:
    setup = runpy.run_path(str(ROOT / "setup.py"))
    assert setup["public"](remote) == page


def test_the_version_is_the_same_everywhere_and_has_an_entry_in_the_changelog() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert version == __version__ == GALLETTE_VERSION
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[(.*?)\](.*)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert [name for name, _ in releases][:2] == ["Unreleased", version]
    assert all(re.fullmatch(r" - \d{4}-\d\d-\d\d", date) for _, date in releases[1:])


def test_versions_for_continuous_integration_satisfy_what_is_declared() -> None:
    """A bound that was changed wants `make lock`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]
    locked = {}
    for line in table_rows(ROOT / ".ci" / "constraints.txt"):
        name, version = line.split("==")
        locked[name] = version
    for need in map(Requirement, wanted):
        if need.name != "gallette":
            assert need.specifier.contains(locked[canonicalize_name(need.name)]), need
    assert list(locked) == sorted(locked)
    (llvmlite,) = (need for need in map(Requirement, extras["jit"]))
    assert any(bound.operator == "<" for bound in llvmlite.specifier)  # it is used beyond its API


def test_build_leftovers_are_not_packaged() -> None:
    """What is kept beside the layers is named here: caches and reports have been added unseen."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    folders = {path.split("/")[0] for path in listed.stdout.splitlines() if "/" in path}
    assert folders == {*LAYERS, "gallette", ".ci", ".github", "bench", "docs", "fuzz", "tests"}
