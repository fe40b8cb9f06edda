"""piglit's own shader_runner on gallette's EGL against gallette's runner: do the verdicts agree?

    python bench/runner_agreement.py tests.txt --sample 300 --seed 11 -j 2 -o agreement.tsv

The list names .shader_test files of an installed piglit, a path per line; `--sample` takes some of
them at random. Each file is run by the program that piglit's own list names for it (shader_runner,
or the one for ES), which talks to gallette as to any system's OpenGL, and by `gallette piglit run`.
Both sides use the same driver, so what differs is a runner's reading of a file, or what the C API
does that the runner's Python calls do not. Verdicts go to a file: a run can be resumed.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
from collections import Counter
from pathlib import Path

from programs import environment, read, run_all

from gallette.piglit_subset.results import read_run


def commands(piglit: Path) -> dict[str, list[str]]:
    """Every file of piglit's list of shader_tests -> the program and its arguments."""
    found = {}
    for test in tree.fromstring(gzip.decompress((piglit / "tests/shader.xml.gz").read_bytes())):
        text = next(o.get("value") or "" for o in test if o.get("name") == "command")
        program, file = ast.literal_eval(text)[:2]
        found[str(piglit / file)] = [str(piglit / "bin" / program), str(piglit / file)]
    return found


def ours(files: list[str], driver: str, jobs: int) -> dict[str, str]:
    """What gallette's runner says."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "tests.txt"
        listed.write_text("".join(f"{file}\n" for file in files))
        out = Path(folder) / "results"
        command = [sys.executable, "-m", "gallette", "piglit", "run", "--driver", driver]
        command += ["--tests-list", str(listed), "-j", str(jobs), "-o", str(out)]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        return {entry.path: entry.result for entry in read_run(out).tests.values()}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("list", type=Path)
    parser.add_argument("--sample", type=int, default=0, help="so many of them, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--driver", default="numpipe")
    parser.add_argument("--piglit", type=Path, default=Path("/usr/lib/x86_64-linux-gnu/piglit"))
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds of processor time")
    parser.add_argument("--minutes", type=float, default=9.0, help="start none after these")
    parser.add_argument("-o", "--output", type=Path, default=Path("agreement.tsv"))
    options = parser.parse_args()
    files = [line for line in options.list.read_text().splitlines() if line]
    if options.sample:
        files = sorted(random.Random(options.seed).sample(files, options.sample))
    known = commands(options.piglit)
    files = [file for file in files if file in known]
    theirs = read(options.output)
    env = environment(["PIGLIT_PLATFORM=surfaceless_egl", f"GALLETTE_DRIVER={options.driver}"])
    env["LD_LIBRARY_PATH"] = str(options.piglit / "lib")
    rows = [[file, " ".join([*known[file], "-auto", "-fbo"])] for file in files]
    run_all(rows, theirs, env, str(options.piglit), options)
    files = [file for file in files if file in theirs]
    mine = ours(files, options.driver, options.jobs)
    agree = [file for file in files if mine.get(file) == theirs[file][0]]
    rate = 100 * len(agree) / max(1, len(files))
    print(f"{len(agree)} of {len(files)} verdicts agree: {rate:.2f} %")
    print("piglit's runner:  ", dict(Counter(theirs[file][0] for file in files)))
    print("gallette's runner:", dict(Counter(mine.get(file, "none") for file in files)))
    for file in files:
        if file not in agree:
            name = Path(file).relative_to(options.piglit)
            verdict, _, why = theirs[file]
            print(f"{name}: piglit {verdict} ({why}), gallette {mine.get(file)}")
    return 0 if len(agree) >= 0.998 * len(files) else 1


if __name__ == "__main__":
    raise SystemExit(main())
