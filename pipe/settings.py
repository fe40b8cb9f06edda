"""Per-application settings: driver options in a file, matched by the program's name.

    # gallette.toml
    [[application]]
    program = "depth_demo*"                # a glob over the program's name; default: every program
    driver = "numpipe"                     # default: every driver that knows the options
    vs_position_always_invariant = true

The file is `GALLETTE_CONFIG`; without that variable, `gallette/gallette.toml` in the user's
configuration folder and then `gallette.toml` in the working directory. What comes later wins, and
what a program asks for itself wins over all of them.
"""

from __future__ import annotations

import fnmatch
import inspect
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gallette.compiler.errors import InputError

__all__ = ["ALIASES", "known_options", "program_name", "settings_files", "settings_for"]

ALIASES = {"vs_position_always_invariant": "position_invariant"}
"""Names under which other drivers' users know an option."""


def program_name() -> str:
    """The running program: its script or executable, without the folder."""
    started = os.environ.get("GALLETTE_PROGRAM") or (sys.argv[0] if sys.argv else "")
    return Path(started).name or Path(sys.executable or "python").name


def settings_files() -> list[Path]:
    """The files that exist, the most general one first."""
    given = os.environ.get("GALLETTE_CONFIG")
    if given:
        if not Path(given).is_file():
            raise InputError(f"GALLETTE_CONFIG: there is no file {given}")
        return [Path(given)]
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    places = [Path(home) / "gallette" / "gallette.toml", Path("gallette.toml")]
    return [place for place in places if place.is_file()]


def known_options(factory: Callable[..., Any]) -> dict[str, Any]:
    """The options a driver's screen takes, with their defaults.

    They are the factory's parameters or, if it takes `**options`, those of `ScreenOptions` beside
    it.
    """
    parameters = list(inspect.signature(factory).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        beside = getattr(inspect.getmodule(factory), "ScreenOptions", None)
        if beside is not None:
            parameters += inspect.signature(beside).parameters.values()
    return {
        p.name: p.default
        for p in parameters
        if p.default is not p.empty and p.kind is not p.VAR_KEYWORD and p.name != "inner"
    }


def _applications(file: Path) -> Iterator[dict[str, Any]]:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file}: {error}") from None
    sections = found.pop("application", [])
    if found or not isinstance(sections, list) or not all(isinstance(s, dict) for s in sections):
        raise InputError(f"{file}: only [[application]] sections are known")
    yield from sections


def settings_for(driver: str, factory: Callable[..., Any]) -> dict[str, Any]:
    """Options the files give to `driver` in this program."""
    chosen: dict[str, Any] = {}
    program = program_name()
    files = settings_files()
    known = known_options(factory) if files else {}
    for file in files:
        for section in _applications(file):
            named = section.pop("driver", None)
            pattern = section.pop("program", "*")
            if named not in (None, driver) or not fnmatch.fnmatch(program, pattern):
                continue
            for name, value in section.items():
                option = ALIASES.get(name, name)
                if option in known:
                    chosen[option] = value
                elif named is not None:
                    raise InputError(
                        f"{file}: {driver} has no option {name!r} (it has {', '.join(known)})"
                    )
    return chosen
