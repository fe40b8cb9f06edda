"""Processor time of frames of OpenGL's first years, beside llvmpipe: meshes, lists, glBegin.

`old_gl.c` is the program. It alternates between `gallette run` and the machine's own OpenGL, with
one thread. The libraries' headers must be installed (libegl-dev, libgl-dev).

    python bench/old_gl.py                          # all kinds on numpipe and jit
    python bench/old_gl.py meshes --frames 20 --driver jit
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from hosts import compiled

KINDS = ("meshes", "lists", "letters", "begins", "vertices")
LLVMPIPE = {
    "EGL_PLATFORM": "surfaceless",
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GALLIUM_DRIVER": "llvmpipe",
    "LP_NUM_THREADS": "1",
}


def milliseconds(command: list[str], extra: dict[str, str]) -> float:
    kept = {k: v for k, v in os.environ.items() if "EGL" not in k and "GALLETTE" not in k}
    done = subprocess.run(
        command, env=kept | extra, check=True, capture_output=True, text=True
    ).stdout.split()
    if done[2] != "0":
        sys.exit(f"{' '.join(command)}: OpenGL error {done[2]}")
    return float(done[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--frames", type=int, default=5, help="frames to measure (default: 5)")
    parser.add_argument("--driver", default="numpipe,jit", help="default: numpipe,jit")
    options = parser.parse_args()
    unknown = set(options.kind) - set(KINDS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    program = str(compiled(Path(__file__).with_suffix(".c"), "-lEGL", "-lGL", "-lm"))
    print(f"{'ms of a frame':12} {'llvmpipe':>10}", end="")
    drivers = options.driver.split(",")
    print("".join(f" {driver:>10} {'ratio':>6}" for driver in drivers))
    for kind in options.kind or KINDS:
        command = [program, kind, str(options.frames)]
        native = milliseconds(command, LLVMPIPE)
        line = f"{kind:13} {native:10.2f}"
        for driver in drivers:
            run = [sys.executable, "-m", "gallette", "run", "--driver", driver, *command]
            ours = milliseconds(run, {"GALLETTE_THREADS": "1"})
            line += f" {ours:10.2f} {ours / native:6.1f}"
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
