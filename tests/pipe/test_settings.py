"""`gallette.toml`: driver options for a program, by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.errors import InputError
from gallette.drivers.common.work import DEFAULT_BUDGET
from gallette.pipe.loader import create_screen, driver_factory, driver_names
from gallette.pipe.settings import (
    Option,
    known_options,
    program_name,
    settings_files,
    settings_for,
)


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


def test_options_that_a_driver_lacks_are_ignored_unless_the_driver_is_named(here: Path) -> None:
    write(here / "gallette.toml", "[[application]]\nposition_invariant = true\n")
    create_screen("noop").destroy()
    write(here / "gallette.toml", '[[application]]\ndriver = "noop"\nposition_invariant = true\n')
    with pytest.raises(InputError, match="noop has no option 'position_invariant'"):
        create_screen("noop")


# What a file may not set that lies where a stranger can have put it.
DANGEROUS = {
    "trace": {"path": '"x.jsonl"', "sink": '"x.jsonl"'},
    "numpipe": {"budget": "9", "time_limit": "9.0"},
    "jit": {"budget": "9", "time_limit": "9.0", "cache": '"x"'},
    "simd": {"budget": "9", "time_limit": "9.0", "local_memory": "9"},
    "tiler": {"budget": "9", "time_limit": "9.0"},
}


def test_options_that_name_files_or_lift_limits_are_declared_so() -> None:
    found = {}
    for name in driver_names():
        options = known_options(driver_factory(name))
        found[name] = {option for option, (_, trusted) in options.items() if trusted}
    assert {name: set(options) for name, options in DANGEROUS.items()} == {
        name: options for name, options in found.items() if options
    }


@pytest.mark.parametrize(("driver", "option"), [(d, o) for d in DANGEROUS for o in DANGEROUS[d]])
def test_the_working_directory_names_no_files_and_lifts_no_limits(
    driver: str, option: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = here / "config" / "gallette" / "gallette.toml"
    text = f"[[application]]\n{option} = {DANGEROUS[driver][option]}\n"
    write(here / "gallette.toml", text)
    with pytest.raises(InputError) as caught:
        create_screen(driver)
    assert str(caught.value) == (
        f"{here}/gallette.toml: {option!r} of the driver {driver} names files or lifts a limit, "
        "which a file in the working directory may not do; if you want it, put it in "
        f"{own}, or in a file that GALLETTE_CONFIG names"
    )
    create_screen("noop").destroy()  # it has no such option
    (here / "gallette.toml").unlink()
    write(own, text)
    assert option in settings_for(driver, driver_factory(driver))
    monkeypatch.chdir(own.parent)  # where the user's own file is the working directory's
    assert option in settings_for(driver, driver_factory(driver))
    monkeypatch.setenv("GALLETTE_CONFIG", "gallette.toml")
    assert option in settings_for(driver, driver_factory(driver))
    assert [p.name for p in here.iterdir()] == ["config"]


def test_the_users_own_folder_is_no_relative_path(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    monkeypatch.setenv("HOME", str(here / "home"))
    write(here / "gallette" / "gallette.toml", "[[application]]\nbudget = 7\n")
    assert option("budget") == DEFAULT_BUDGET


def _secretive(path: "_OnlyForCheckers" = 0, size: int = 0) -> None:  # type: ignore # noqa
    """A driver whose annotations cannot be looked up."""


def test_options_of_which_nothing_is_known_are_only_the_users() -> None:
    assert known_options(_secretive) == {"path": Option(0, True), "size": Option(0, True)}


@pytest.mark.parametrize(
    ("text", "message"),
    [("[[application", "gallette.toml: "), ("[program]\n", "only .* sections are known")],
)
def test_a_malformed_file_is_named(here: Path, text: str, message: str) -> None:
    write(here / "gallette.toml", text)
    with pytest.raises(InputError, match=message):
        create_screen("noop")
