"""Run any OpenGL program or Python script on gallette, unmodified.

The program finds gallette's EGL, GLX and OpenGL libraries instead of the system's; Python packages
such as moderngl, PyOpenGL and pyglet work, too. The program needs no window: without one, each
picture that it reads from a framebuffer is a frame.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from gallette import quickest_driver
from gallette.compiler.errors import GalletteError
from gallette.egl.starting import prepared

if TYPE_CHECKING:
    from gallette.golden.programs import Finished


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; use WxH, such as 640x480")
    return int(width), int(height)


VALUES = {"size": _size}


def run(options: argparse.Namespace) -> int:
    from gallette.pipe.loader import driver_names

    program = [a for i, a in enumerate(options.program) if (i, a) != (0, "--")]
    if not program:
        raise GalletteError("gallette run: needs a PROGRAM (try gallette run --help)")
    if options.golden is None:
        for name in ("update", "tolerance", "share", "perceptual", "html", "json", "junit"):
            if getattr(options, name):
                raise GalletteError(f"gallette run: --{name} needs --golden")
    driver = options.driver or quickest_driver()
    if driver.split(":")[0] not in ("native", *driver_names()):
        raise GalletteError(f"gallette run: unknown driver {driver!r} (see gallette drivers)")
    command, variables = prepared(
        program,
        driver,
        frames=options.frames,
        save=options.save,
        size=options.size,
        record=options.capture,
    )
    if options.check:
        return _check(command, variables, options.driver, driver)
    if not options.driver and not os.environ.get("GALLETTE_DRIVER"):
        print(f"gallette run: drawing on {driver} (--driver chooses another)", file=sys.stderr)
    if options.golden is None and not options.save and not options.timeout:
        sys.stdout.flush()
        os.execve(command[0], command, variables)
    return _watched(options, program, driver)


def _check(command: list[str], variables: dict[str, str], asked: str | None, driver: str) -> int:
    """Print the libraries that the program would use; returns 1 if it would use another OpenGL."""
    from gallette.egl.checking import facts

    why = "--driver" if asked else "GALLETTE_DRIVER" if os.environ.get("GALLETTE_DRIVER") else ""
    good = True
    for name, text in facts(command, variables, driver, why or "the fastest that is installed"):
        print(f"{name:<10} {text}")
        good = good and "NOT gallette" not in text
    return 0 if good else 1


def _watched(options: argparse.Namespace, program: list[str], driver: str) -> int:
    """Run the program as a child process, then save or compare its frames."""
    from gallette.commands.comparing import compare_goldens, report_goldens, tolerance_option
    from gallette.golden.programs import run_program

    name = Path(program[0]).name
    with tempfile.TemporaryDirectory(prefix="gallette-") as temporary:
        folder = Path(temporary, "frames") if options.save or options.golden else None
        done = run_program(
            program,
            driver,
            folder=folder,
            frames=options.frames,
            size=options.size,
            timeout=options.timeout,
            record=options.capture,
        )
        if options.save and done.frames:
            _save(done.frames, options.save)
        if done.timed_out:
            shown = "" if folder is None else f"; it showed {len(done.frames)} frames"
            print(
                f"gallette run: {name} was ended after {options.timeout:g} s (--timeout){shown}",
                file=sys.stderr,
            )
        if options.golden is not None:
            names = [f"frame {path.stem}" for path in done.frames]
            checked = compare_goldens(
                options.golden / Path(name).stem,
                list(zip(names, done.frames, strict=True)),
                tolerance_option(options),
                update=options.update,
                title=name,
                errors=_reasons(done, name),
            )
            if not report_goldens(options, [checked], f"{name} on {driver}"):
                return 1
        if folder is not None and not done.frames:
            print(
                f"gallette run: {name} showed no frame: it did not swap the buffers of a window, "
                "and did not read at least half of a framebuffer",
                file=sys.stderr,
            )
            return done.returncode or 1
    if done.timed_out:
        return 1
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _reasons(done: Finished, name: str) -> list[str]:
    """Why frames may be missing."""
    if done.timed_out:
        return [f"{name} was ended at its time limit"]
    return [f"{name} ended with status {done.returncode}"] if done.returncode else []


def _save(frames: list[Path], target: str) -> None:
    """Write the last frame, or all of them, to the file of --save."""
    from gallette.compiler.output_files import write_whole

    if "%" not in target:
        write_whole(target, frames[-1].read_bytes())
        return
    for path in frames:
        try:
            write_whole(target % int(path.stem), path.read_bytes())
        except (TypeError, ValueError):
            message = f"gallette run: --save {target}: write %d for the number of a frame"
            raise GalletteError(message) from None
