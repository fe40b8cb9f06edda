"""`gallette.toml`: driver options for a program, by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.errors import InputError
from gallette.pipe.loader import create_screen
from gallette.pipe.settings import program_name, settings_files


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without settings, and a user without any."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("GALLETTE_CONFIG", raising=False)
    monkeypatch.setenv("GALLETTE_PROGRAM", "/usr/games/depth_demo")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def option(name: str, **given: Any) -> Any:
    screen = create_screen("numpipe", **given)
    value = getattr(screen.options, name)  # type: ignore[attr-defined]
    screen.destroy()
    return value


def test_a_section_is_for_programs_its_pattern_matches(here: Path) -> None:
    assert program_name() == "depth_demo"
    write(
        here / "gallette.toml",
        '[[application]]\nprogram = "depth_*"\nvs_position_always_invariant = true\n'
        '[[application]]\nprogram = "other"\ninexact_used_once = "never"\n',
    )
    assert option("position_invariant") is True
    assert option("inexact_used_once") == ""


def test_the_working_directory_wins_over_the_user_and_the_program_over_both(here: Path) -> None:
    write(
        here / "config" / "gallette" / "gallette.toml",
        '[[application]]\ninexact_used_once = "never"\nposition_invariant = true\n',
    )
    write(here / "gallette.toml", '[[application]]\ninexact_used_once = "always"\n')
    assert option("inexact_used_once") == "always"
    assert option("position_invariant") is True
    assert option("position_invariant", position_invariant=False) is False


def test_a_named_file_replaces_the_others(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here / "gallette.toml", "[[application]]\nposition_invariant = true\n")
    write(here / "mine.toml", "")
    monkeypatch.setenv("GALLETTE_CONFIG", str(here / "mine.toml"))
    assert settings_files() == [here / "mine.toml"]
    assert option("position_invariant") is None
    monkeypatch.setenv("GALLETTE_CONFIG", "nowhere.toml")
    with pytest.raises(InputError, match=r"GALLETTE_CONFIG: there is no file nowhere\.toml"):
        create_screen("noop")


def test_a_driver_that_does_not_know_an_option_is_left_alone_unless_it_is_named(here: Path) -> None:
    write(here / "gallette.toml", "[[application]]\nposition_invariant = true\n")
    create_screen("noop").destroy()
    write(here / "gallette.toml", '[[application]]\ndriver = "noop"\nposition_invariant = true\n')
    with pytest.raises(InputError, match="noop has no option 'position_invariant'"):
        create_screen("noop")


@pytest.mark.parametrize(
    ("text", "message"),
    [("[[application", "gallette.toml: "), ("[program]\n", "only .* sections are known")],
)
def test_a_malformed_file_is_named(here: Path, text: str, message: str) -> None:
    write(here / "gallette.toml", text)
    with pytest.raises(InputError, match=message):
        create_screen("noop")
