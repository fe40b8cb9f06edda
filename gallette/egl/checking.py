"""The libraries that a program would get from `gallette run`, found without running it."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gallette.egl.install import SONAMES
from gallette.egl.libraries import folder
from gallette.egl.starting import dynamic_linker
from gallette.egl.xcb import missing

_LOADER_SECONDS = 10


def facts(
    command: Sequence[str], variables: Mapping[str, str], driver: str, why: str
) -> Iterator[tuple[str, str]]:
    """Pairs of a name and its description."""
    yield "driver", f"{driver} ({why})"
    yield "windows", _windows(variables)
    yield "libraries", str(folder())
    yield "program", shlex.join(command)
    linked = linked_libraries(command, variables)
    if linked is None:
        yield "links", "unknown: the dynamic linker tells nothing of it (is it a static program?)"
        return
    ours = {name: path for name, path in linked.items() if name in SONAMES.values()}
    for name, path in ours.items():
        is_ours = Path(path).parent == folder()
        yield "links", f"{name}: {'gallette' if is_ours else f'NOT gallette, but {path}'}"
    if not ours:
        yield "links", "no OpenGL library; those that it loads by name will be gallette's"


def _windows(variables: Mapping[str, str]) -> str:
    for variable, server in (("DISPLAY", "X server"), ("WAYLAND_DISPLAY", "Wayland compositor")):
        if variables.get(variable):
            lacking = missing() if variable == "DISPLAY" else None
            but = f", but {lacking}" if lacking else ""
            return f"on the {server} {variables[variable]}{but}"
    return "none: off-screen (there is no DISPLAY)"


def linked_libraries(command: Sequence[str], variables: Mapping[str, str]) -> dict[str, str] | None:
    """The libraries that the dynamic linker gives a program, by name; None if they are unknown."""
    by_linker = command[1:] and dynamic_linker(command[1]) == command[0]
    if not by_linker and dynamic_linker(command[0]) is None:  # such a program would run
        return None
    try:
        done = subprocess.run(
            command[:2] if by_linker else command[:1],
            env={**variables, "LD_TRACE_LOADED_OBJECTS": "1"},  # it lists them, and runs nothing
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LOADER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = {}
    for line in done.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow:
            found[name] = rest.partition(" (")[0]
    return found or None
