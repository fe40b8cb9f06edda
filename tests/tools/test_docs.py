"""README and docs cannot rot: Python blocks run, shell lines name real commands and options."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.cli import COMMANDS, main

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def blocks(language: str) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for number, (kind, text) in enumerate(_BLOCK.findall(page.read_text(encoding="utf-8"))):
            if kind == language:
                yield f"{page.name}:{number}", text


def shell_lines() -> Iterator[tuple[str, list[str]]]:
    for name, text in blocks("sh"):
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["gallette"]:
                yield f"{name}: {line}", words[1:]


# Signatures rather than programs: pages that describe interfaces.
_NOT_PROGRAMS = ("contracts.md",)
PYTHON = [(n, t) for n, t in blocks("python") if not n.startswith(_NOT_PROGRAMS)]


@pytest.mark.parametrize(("name", "code"), PYTHON, ids=[n for n, _ in PYTHON])
def test_python_blocks_run(name: str, code: str) -> None:
    pytest.importorskip("moderngl")
    exec(compile(code, name, "exec"), {})


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


# What contracts.md says that stands in no source file: an address, and C's own name of a function.
_ELSEWHERE = {"x1F01", "geometry_", "glProgramParameteri"}


def test_files_and_names_in_the_contracts_exist() -> None:
    """Every file it names is one, and every name in it occurs in the sources."""
    files = [p for f in ("compiler", "drivers", "pipe", "state_tracker", "gallette", "tests")
             for p in (ROOT / f).rglob("*.py")]  # fmt: skip
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
