"""Programs that Debian carries, on gallette beside llvmpipe: a table, and 1 if one disagrees.

    make clients-all                            # installs what is missing (as root), and runs all
    python -m tests.clients.debian pipes mpv    # only some, of what is installed

Each program of `debian.txt` runs for some frames under `gallette run`, on an X server of its own,
and its calls are recorded. Then the record is drawn by gallette and by llvmpipe, and every picture
is compared. So it does not matter that a clock decides what most of them draw. What is printed is
the table of docs/conformance.md. A program that is ended at its limit is compared up to there, and
the table says so.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gallette.capture.story import open_capture
from gallette.compiler.text_tables import table_rows

LIST = Path(__file__).with_name("debian.txt")
FRAMES = 3
COMPARING = 900
"""Seconds after which a comparison is taken for hung."""
EVERY_DRAW = 1000
"""Of a program with more draws, only those of its last frame are compared: atlantis has 7,000."""
NATIVE = {
    "EGL_PLATFORM": "surfaceless",
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GALLIUM_DRIVER": "llvmpipe",
}


@dataclass(frozen=True)
class Program:
    name: str
    packages: tuple[str, ...]
    seconds: int
    tolerance: str
    command: tuple[str, ...]


def programs() -> list[Program]:
    """What `debian.txt` lists."""
    found = []
    for line in table_rows(LIST):
        name, packages, seconds, tolerance, *command = line.split()
        packaged = tuple(packages.split(","))
        found.append(Program(name, packaged, int(seconds), tolerance, tuple(command)))
    return found


def install(wanted: list[Program]) -> None:
    packages = sorted({p for program in wanted for p in program.packages} | {"xvfb"})
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=env)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)


def tried(program: Program, driver: str, folder: Path, display: str) -> tuple[bool, str]:
    """Whether the pictures agree, and what there is to say."""
    qml = shutil.which("qml6") or "/usr/lib/qt6/bin/qml"
    command = [w.format(data=folder, qml=qml) for w in program.command]
    steps, _, share = program.tolerance.partition(":")
    if shutil.which(command[0]) is None:
        return True, "not installed"
    record = folder / f"{program.name}.gcap"
    kept = ("LD_LIBRARY_PATH", "EGL", "__EGL", "SDL", "GALLETTE", "DISPLAY", "WAYLAND")
    env = {k: v for k, v in os.environ.items() if not k.startswith(kept)}
    x11 = {"DISPLAY": display, "GDK_BACKEND": "x11", "QT_QPA_PLATFORM": "xcb", "HOME": str(folder)}
    gallette = [sys.executable, "-m", "gallette"]
    run = [*gallette, "run", "--driver", driver, "--frames", str(FRAMES), "--capture", str(record)]
    try:
        ran = subprocess.run(
            [*run, "--timeout", str(program.seconds), *command],
            env=env | x11,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=program.seconds + 60,
        )
    except subprocess.TimeoutExpired:
        return False, "did not end"
    if not record.is_file():
        return False, "made no context"
    slow = f"was ended after {program.seconds} s" in ran.stderr
    ended = f"; ended at its limit of {program.seconds} s" if slow else ""
    draws = open_capture(record).draws()
    if not draws:
        return False, f"drew nothing{ended}"
    frame = ["--frame", str(draws[-1].frame)] if len(draws) > EVERY_DRAW else []
    try:
        done = subprocess.run(
            [*gallette, "diff", str(record), "--driver", driver, "--against", "native",
             "--tolerance", steps, *(["--share", share] if share else []), *frame],
            env=env | NATIVE, capture_output=True, text=True, timeout=COMPARING,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False, f"not compared within {COMPARING} s{ended}"
    said = (done.stdout.strip() or done.stderr.strip()).splitlines()
    words = said[0].replace(f"{record}: ", "") if said else "no answer"
    return done.returncode == 0, words + ended


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="programs (default: all)")
    parser.add_argument("--driver", default="jit", help="default: jit")
    parser.add_argument(
        "--install", action="store_true", help="install what is missing, by apt-get"
    )
    parser.add_argument(
        "--captures", type=Path, metavar="DIR", help="keep the records, for `gallette bench`"
    )
    options = parser.parse_args(arguments)
    wanted = [p for p in programs() if not options.name or p.name in options.name]
    if options.install:
        install(wanted)
    failed = 0
    print("| program | steps of 255 allowed | pictures |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(LIST.with_name("files"), folder, dirs_exist_ok=True)
        ready, told = os.pipe()
        # (Without -noreset, the server refuses clients for a moment after the last one left.)
        screen = ["-screen", "0", "640x480x24", "-noreset", "-displayfd", str(told)]
        server = subprocess.Popen(["Xvfb", *screen], pass_fds=[told], stderr=subprocess.DEVNULL)
        try:
            os.close(told)
            with os.fdopen(ready) as file:
                display = f":{file.readline().strip()}"
            for program in wanted:
                good, words = tried(program, options.driver, folder, display)
                failed += not good
                record = folder / f"{program.name}.gcap"
                if options.captures is not None and record.is_file():
                    shutil.copy(record, options.captures)
                words = words.replace(f"{options.driver} and native ", "")
                print(f"| {program.name} | {program.tolerance} | {words} |", flush=True)
        finally:
            server.terminate()
            server.wait()
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
