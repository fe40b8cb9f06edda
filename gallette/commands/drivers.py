"""List the installed drivers, or show the capabilities and options of one.

`native` is the machine's own OpenGL, `native:NAME` one of Mesa's drivers; `trace:NAME` is the
driver NAME with every call to it recorded.
"""

from __future__ import annotations

import argparse
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.terminal import console, table

_NATIVE_FACTS = ("VENDOR", "RENDERER", "VERSION", "SHADING_LANGUAGE_VERSION")


def run(options: argparse.Namespace) -> int:
    from rich.text import Text

    out = console()
    if options.options:
        return _options(options.driver)
    if options.driver:
        return _show(options.driver)
    from gallette.pipe.loader import create_screen, driver_names

    rows = table(out, "drivers")
    for column in ("name", "what it is", "GLSL"):
        rows.add_column(column)
    for name in driver_names():
        try:
            screen = create_screen(name)
        except GalletteError as error:
            rows.add_row(name, Text(str(error), "red"), "")
            continue
        rows.add_row(name, screen.describe(), str(screen.caps.glsl_version))
        screen.destroy()
    facts = _native_facts("native")
    if isinstance(facts, str):
        rows.add_row("native", Text(facts.splitlines()[0], "yellow"), "")
    else:
        rows.add_row("native", facts["RENDERER"], facts["SHADING_LANGUAGE_VERSION"])
    out.print(rows)
    out.print("native:NAME is a driver of Mesa, trace:NAME records the calls made to a driver")
    return 0


def _options(wanted: str | None) -> int:
    """Print the options of drivers, and what configuration files set for this program."""
    from rich.text import Text

    from gallette.pipe.loader import driver_factory, driver_names
    from gallette.pipe.settings import ALIASES, known_options, settings_files, settings_for

    out = console()
    also = {option: name for name, option in ALIASES.items()}
    rows = table(out, "driver options")
    for column in ("driver", "option", "also called", "default", "now"):
        rows.add_column(column)
    for name in [wanted] if wanted else driver_names():
        try:
            factory = driver_factory(name)
        except GalletteError as error:
            rows.add_row(name, Text(str(error), "red"))
            continue
        chosen = settings_for(name, factory)
        for option, (default, trusted) in known_options(factory).items():
            now = repr(chosen[option]) if option in chosen else ""
            star = " *" if trusted else ""
            rows.add_row(name, option + star, also.get(option, ""), repr(default), now)
    out.print(rows)
    out.print("* a gallette.toml in the working directory cannot set it", markup=False)
    files = ", ".join(map(str, settings_files())) or "none (gallette.toml, GALLETTE_CONFIG)"
    out.print(f"configuration files: {files}", markup=False)
    return 0


def _native_facts(driver: str) -> dict[str, str] | str:
    """The strings of the native GL, or why it cannot be used."""
    from gallette.state_tracker import GL, create_context

    try:
        gl: Any = create_context(driver)
    except GalletteError as error:
        return str(error)
    try:
        return {name: str(gl.get_string(getattr(GL, name))) for name in _NATIVE_FACTS}
    finally:
        gl.release()


def _show(name: str) -> int:

    out = console()
    if name.split(":")[0] == "native":
        facts = _native_facts(name)
        if isinstance(facts, str):
            raise GalletteError(facts)
        for key, value in facts.items():
            out.print(f"{key.lower().replace('_', ' '):<26}{value}", markup=False)
        return 0
    from gallette.pipe.caps import describe_caps
    from gallette.pipe.loader import create_screen

    screen = create_screen(name)
    rows = table(out, screen.describe())
    rows.add_column("cap")
    rows.add_column("value", justify="right")
    rows.add_column("meaning")
    for row in describe_caps(screen.caps):
        rows.add_row(*row)
    out.print(rows)
    for note in getattr(screen, "notes", list)():
        out.print(note, markup=False)
    screen.destroy()
    return 0
