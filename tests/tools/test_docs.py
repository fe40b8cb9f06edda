"""README and docs cannot rot: their blocks run (`test_docs_commands`: those of the shell)."""

from __future__ import annotations

import ast
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.cli import COMMANDS, main
from gallette.golden import Tolerance
from gallette.machines import MACHINES, machine_named
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_file
from tests.tools.documents import PAGES, ROOT, Block, blocks

COMMAND_WORDS = ("gallette", "python", "make", "pip")
PROGRAMS = ("python", "chromium")
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def shell_lines() -> Iterator[tuple[str, list[str]]]:
    for block in blocks("sh"):
        for line in block.lines():
            words = shlex.split(line)
            if words[0] == "gallette":
                yield f"{block.name}: {line}", words[1:]


PYTHON = [block for block in blocks("python") if not block.reason]


@pytest.mark.parametrize("block", PYTHON, ids=lambda b: b.name)
def test_python_blocks_run(block: Block) -> None:
    pytest.importorskip("moderngl")
    if block.apart:
        subprocess.run([sys.executable, "-c", block.text], cwd=ROOT, check=True)
    else:
        exec(compile(block.text, block.name, "exec"), {})


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda b: b.name)
def test_toml_blocks_are_entry_points_of_drivers_or_tolerances(block: Block) -> None:
    data = tomllib.loads(block.text)
    if "project" not in data:
        assert all(Tolerance.of(value) for value in data.values())
        return
    tables = data["project"]["entry-points"]["gallette.drivers"]
    module, colon, factory = next(iter(tables.values())).partition(":")
    assert module.isidentifier() and colon and factory.isidentifier()


@pytest.mark.parametrize("block", blocks("shader_test"), ids=lambda b: b.name)
def test_shader_tests_of_the_docs_pass(block: Block, tmp_path: Path) -> None:
    """A whole one, or lines of a `[test]` section."""
    text = block.text
    if "[require]" not in text:
        text = (
            "[require]\nGLSL >= 3.30\n[vertex shader passthrough]\n[fragment shader]\n"
            "#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }\n[test]\n" + text
        )
    path = tmp_path / "docs.shader_test"
    path.write_text(text, encoding="utf-8")
    outcome = run_test(parse_file(path), "numpipe")
    assert outcome.result == "pass", outcome.reason


@pytest.mark.parametrize("block", blocks(*MACHINES), ids=lambda b: b.name)
def test_assembly_of_the_docs_is_assembled_and_printed_again(block: Block) -> None:
    machine = machine_named(block.language)
    code = [machine.encode(instr) for instr in machine.assemble(block.text, block.name)]
    assert len(code) == len(block.lines())


def test_comments_are_about_lines_that_are_there() -> None:
    assert not [(block.name, block.unheard()) for block in blocks() if block.unheard()]


def test_every_block_is_of_a_tested_kind() -> None:
    """What no test runs is text (drawings, generated code), and has no commands in it."""
    run = {"python", "sh", "toml", "shader_test", "nir", *MACHINES}
    for block in blocks():
        if block.language.startswith("{"):
            continue  # for Sphinx
        assert block.language in {*run, "text", ""}, block.name
        if block.language not in run:
            commands = [x for x in block.lines() if x.split()[0] in COMMAND_WORDS]
            assert not commands, f"{block.name}: mark it sh"


@pytest.mark.parametrize(("name", "words"), list(shell_lines()))
def test_shell_lines_name_real_commands_and_options(
    name: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert words[0] in COMMANDS, name
    path = [words[0]]
    if words[0] == "piglit":
        path.append(words[1])
    if words[0] in ("glslc", "nir-opt"):
        return
    with pytest.raises(SystemExit):
        main([*path, "--help"])
    usage = capsys.readouterr().out
    if words[0] == "run":  # the rest is the program's
        words = words[: next((i for i, w in enumerate(words) if w in PROGRAMS), len(words))]
    for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", " ".join(words)):
        assert option in usage, f"{name}: no option {option}"


# contracts.md names files that may exist (`passes/x.py`); the architecture names ones that do.
_FACTUAL = [p for p in PAGES if p.name in ("architecture.md", "README.md", "CONTRIBUTING.md")]
_PLACE = re.compile(r"`([\w/]+/[\w/]+\.py)(?::(\w+))?`")
PLACES = sorted(
    {m.groups("") for p in _FACTUAL for m in _PLACE.finditer(p.read_text(encoding="utf-8"))}
)


@pytest.mark.parametrize(("file", "name"), PLACES)
def test_places_named_in_the_docs_exist(file: str, name: str) -> None:
    path = ROOT / file
    assert path.exists(), file
    if name:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        defined = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        assert name in defined, f"{file} has no {name}"


def test_the_diagram_is_current_and_its_files_exist() -> None:
    """After a change: `python docs/diagram.py docs/pictures/draw_call.svg`."""
    made = runpy.run_path(str(ROOT / "docs" / "diagram.py"))
    picture = ROOT / "docs" / "pictures" / "draw_call.svg"
    assert picture.read_text(encoding="utf-8") == made["diagram"]()
    named = [(folder, file) for folder, *_, boxes in made["LAYERS"] for file, _ in boxes]
    files = [ROOT / folder / file for folder, file in named if file.endswith(".py")]
    assert len(files) > 20
    assert [file for file in files if not file.is_file()] == []


# What contracts.md says that stands in no source file: an address, and C's own name of a function.
_ELSEWHERE = {"x1F01", "geometry_", "glProgramParameteri"}


def test_files_and_names_in_the_contracts_exist() -> None:
    """Every file it names is one, and every name in it occurs in the sources."""
    files = [p for f in ("compiler", "drivers", "pipe", "state_tracker", "gallette", "tests")
             for p in (ROOT / f).rglob("*.py")]  # fmt: skip
    files += (ROOT / "compiler").rglob("*.txt")  # the tables
    paths = [str(p) for p in files]
    known: set[str] = set(_ELSEWHERE)
    for path in files:
        known.update(re.findall(r"\w+", path.read_text(encoding="utf-8")), path.parts, [path.stem])
    text = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
    wrong = []
    for span in re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S)):
        named = re.findall(r"[\w/]*\w+\.py\b", span)
        wrong += [name for name in named if not any(p.endswith(f"/{name}") for p in paths)]
        wrong += [word for word in re.findall(r"[A-Za-z_]\w{2,}", span) if word not in known]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("name", ["architecture.md", "contracts.md"])
def test_pages_about_the_structure_fit_a_screen(name: str) -> None:
    lines = (ROOT / "docs" / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 100] == []


def test_the_list_of_commands_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    """Regenerate the end of docs/shader_tests.md from `gallette piglit commands`."""
    assert main(["piglit", "commands"]) == 0
    listed = "".join(f"    {line}\n" for line in capsys.readouterr().out.splitlines())
    assert (ROOT / "docs" / "shader_tests.md").read_text(encoding="utf-8").endswith(listed)
