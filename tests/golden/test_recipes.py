"""The recipes of docs/ci.md install what there is and pass options that there are."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = [
    *(ROOT / "docs" / "ci" / name for name in ("github.yml", "gitlab.yml", "Dockerfile", "tox.ini",
                                               "noxfile.py")),
    ROOT / ".github" / "actions" / "pixel-tests" / "action.yml",
    ROOT / ".github" / "workflows" / "platforms.yml",
]  # fmt: skip
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_what_recipes_install(path: Path) -> None:
    text = path.read_text()
    extras = re.findall(r"(?:gallette|-e '\.)\[([\w,]+)\]", text)
    assert extras and all(
        name in PROJECT["optional-dependencies"] for names in extras for name in names.split(",")
    )
    options = set(re.findall(r"--(gallette-\w+)", text))
    plugin = (ROOT / "gallette" / "pytest_plugin.py").read_text()
    assert all(f'"--{name}"' in plugin for name in options)
    assert "pytest" in text


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_commands_of_recipes(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command line of gallette is one that its parser takes, and each file is there."""
    from gallette import cli

    for line in path.read_text().splitlines():
        _, found, rest = line.partition("python -m gallette ")
        if not found:
            continue
        words = shlex.split(rest)
        assert words[0] in cli.COMMANDS
        helped = [*words[: 2 if words[0] == "piglit" else 1], "--help"]
        with pytest.raises(SystemExit):
            cli.main(helped)
        said = capsys.readouterr().out
        assert all(word in said for word in words if word.startswith("--"))
    for name in re.findall(r"\b((?:docs|tests)/[\w/.]+)", path.read_text()):
        assert (ROOT / name).exists(), name


def test_every_recipe_is_shown() -> None:
    page = (ROOT / "docs" / "ci.md").read_text()
    for path in (ROOT / "docs" / "ci").iterdir():
        assert path.is_dir() or f"literalinclude}} ci/{path.name}" in page
    assert "USER tester" in (ROOT / "docs" / "ci" / "Dockerfile").read_text()  # never as root
