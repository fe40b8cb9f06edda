"""`gallette run PROGRAM ARGS...`: any OpenGL program or Python script, unmodified, on gallette."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.egl import launch

__all__ = ["add_arguments", "prepared", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--driver", help="the driver (default: GALLETTE_DRIVER)")
    parser.add_argument("--frames", type=int, default=0, metavar="N", help="stop after N frames")
    parser.add_argument(
        "--save", default="", metavar="OUT.png", help="keep the last frame (or all: OUT%%d.png)"
    )
    parser.add_argument("--size", default="", metavar="WxH", help="the size of off-screen surfaces")
    parser.add_argument(
        "--capture", type=Path, metavar="FILE", help="record every OpenGL call (gallette replay)"
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, help="the program and its arguments")


def _is_script(path: str) -> bool:
    """Does Python run this file?"""
    if path.endswith(".py"):
        return True
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def command_line(program: list[str]) -> list[str]:
    """What is executed: scripts run under a launcher that prepares their process."""
    name = program[0]
    launcher = [sys.executable, "-P", launch.__file__]  # -P: no modules beside the launcher
    if os.path.basename(name) in ("python", "python3") and len(program) > 1:
        return launcher + program[1:]
    if name.endswith(".py") and not Path(name).is_file():
        raise GalletteError(f"gallette run: there is no {name}")
    found = name if os.path.sep in name else shutil.which(name)
    if found is None and Path(name).is_file():
        found = name
    if found is None or not Path(found).is_file():
        raise GalletteError(f"gallette run: there is no program {name!r}")
    if _is_script(found):
        return [*launcher, found, *program[1:]]
    if not os.access(found, os.X_OK):
        raise GalletteError(f"gallette run: {found} is neither a program nor a Python script")
    return [found, *program[1:]]


def prepared(options: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """What is executed, and its environment."""
    from gallette.egl.install import environment

    program = [a for i, a in enumerate(options.program) if (i, a) != (0, "--")]
    if not program:
        raise GalletteError("gallette run: which program? (try gallette run --help)")
    command = command_line(program)
    variables = dict(os.environ)
    environment(variables, options.driver)
    if options.frames or options.save:
        variables["GALLETTE_FRAMES"] = os.path.abspath(options.save) if options.save else os.devnull
    if options.frames:
        variables["GALLETTE_FRAME_LIMIT"] = str(options.frames)
    if options.size:
        width, _, height = options.size.partition("x")
        if not (width.isdigit() and height.isdigit()):
            raise GalletteError(f"gallette run: --size wants WxH, not {options.size!r}")
        variables["GALLETTE_SIZE"] = options.size
    if options.capture:
        variables["GALLETTE_CAPTURE"] = os.path.abspath(options.capture)
    return command, variables


def run(options: argparse.Namespace) -> int:
    command, variables = prepared(options)
    sys.stdout.flush()
    os.execve(command[0], command, variables)
