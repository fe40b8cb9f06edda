"""Per-application settings: driver options in a file, matched by the program's name.

    # gallette.toml
    [[application]]
    program = "depth_demo*"                # a glob over the program's name; default: every program
    driver = "numpipe"                     # default: every driver that knows the options
    vs_position_always_invariant = true

The file is `GALLETTE_CONFIG`; without that variable, `gallette/gallette.toml` in the user's
configuration folder and then `gallette.toml` in the working directory. Later files override earlier
ones, and options that a program passes itself override all files.

The working directory may contain files of other people, such as an unpacked archive. So its file
cannot set options that a driver declares as `Annotated[..., TRUSTED]`: those that name files, from
which code may be loaded or which are written, and those that lift limits.
"""

from __future__ import annotations

import fnmatch
import inspect
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

from gallette.compiler.errors import InputError

TRUSTED = "only from the user's own settings"
"""Marks an option, in its annotation, that a file in the working directory may not set."""


class Option(NamedTuple):
    """An option of a driver, as its screen declares it."""

    default: Any
    trusted: bool


ALIASES = {"vs_position_always_invariant": "position_invariant"}
"""Names by which users of other drivers know an option."""


def may_defer() -> bool:
    """Whether calls and draws may be executed later than they were made (the command stream):
    unless GALLETTE_STREAM is `off`. Pictures are equal either way.
    """
    return os.environ.get("GALLETTE_STREAM", "").lower() not in ("off", "0", "no")


def program_name() -> str:
    """The running program: its script or executable, without the folder."""
    started = os.environ.get("GALLETTE_PROGRAM") or (sys.argv[0] if sys.argv else "")
    return Path(started).name or Path(sys.executable or "python").name


def settings_files() -> list[Path]:
    """The existing files, the most general one first."""
    return [file for file, _ in _files()]


def _files() -> list[tuple[Path, bool]]:
    """The files, and whether each is the user's own choice."""
    given = os.environ.get("GALLETTE_CONFIG")
    if given:
        if not Path(given).is_file():
            raise InputError(f"GALLETTE_CONFIG: there is no file {given}")
        return [(Path(given), True)]
    found = [(place, True) for place in _own_file() if place.is_file()]
    here = Path("gallette.toml")
    if here.is_file() and not any(here.samefile(own) for own, _ in found):
        found.append((here, False))
    return found


def _own_file() -> list[Path]:
    """The user's own file, whether it exists or not; none for users without a home."""
    xdg = os.environ.get("XDG_CONFIG_HOME", "")
    if xdg.startswith("/"):  # the specification tells us to ignore relative paths
        return [Path(xdg) / "gallette" / "gallette.toml"]
    try:
        return [Path.home() / ".config" / "gallette" / "gallette.toml"]
    except RuntimeError:
        return []


def known_options(factory: Callable[..., Any]) -> dict[str, Option]:
    """The options of a driver's screen.

    They are the factory's parameters or, if it takes `**options`, those of `ScreenOptions` in the
    same module.
    """
    found = _options_of(factory)
    parameters = inspect.signature(factory).parameters.values()
    beside = getattr(inspect.getmodule(factory), "ScreenOptions", None)
    if beside is not None and any(p.kind is p.VAR_KEYWORD for p in parameters):
        found |= _options_of(beside)
    return found


def _options_of(made_by: Callable[..., Any]) -> dict[str, Option]:
    try:
        hints = get_type_hints(made_by, include_extras=True)
    except NameError:  # annotations with names imported for type checkers only
        hints = dict.fromkeys(inspect.signature(made_by).parameters, Annotated[Any, TRUSTED])
    return {
        p.name: Option(p.default, TRUSTED in getattr(hints.get(p.name), "__metadata__", ()))
        for p in inspect.signature(made_by).parameters.values()
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
    """Options that the files set for `driver` in this program."""
    chosen: dict[str, Any] = {}
    program = program_name()
    files = _files()
    known = known_options(factory) if files else {}
    for file, own in files:
        for section in _applications(file):
            named = section.pop("driver", None)
            pattern = section.pop("program", "*")
            if named not in (None, driver) or not fnmatch.fnmatch(program, pattern):
                continue
            for name, value in section.items():
                option = ALIASES.get(name, name)
                if option in known:
                    if known[option].trusted and not own:
                        raise _refused(file, driver, name)
                    chosen[option] = value
                elif named is not None:
                    raise InputError(
                        f"{file}: {driver} has no option {name!r} (it has {', '.join(known)})"
                    )
    return chosen


def _refused(file: Path, driver: str, name: str) -> InputError:
    own = "".join(f"{place}, or in " for place in _own_file())
    return InputError(
        f"{file.resolve()}: {name!r} of the driver {driver} names files or lifts a limit, which a "
        f"file in the working directory may not do; if you want it, put it in {own}a file that "
        "GALLETTE_CONFIG names"
    )
