"""How often the GLSL front end agrees with a shader_test about what compiles and links.

    python bench/glsl_agreement.py DIRECTORY|LIST_FILE... [--sample N] [--show N] [--jobs N]

The runner of shader_tests compiles and links a test on the driver `numpipe` and leaves out what is
drawn. A test agrees when linking ends as it asks for: `link error` in its [test] section wants an
error, everything else a program. Tests that the runner skips are out of scope and counted apart.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import random
import sys
import time
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_file

UNTIL_LINKED = ("link", "compile", "xfb")
"""first words of the commands that say how a program is linked, and what comes of it"""


def run(path: str) -> tuple[str, str, str]:
    """(path, agree | differ | crash | out of scope, explanation)"""
    try:
        test = parse_file(Path(path))
        test.commands = [line for line in test.commands if line.text.startswith(UNTIL_LINKED)]
        test.vertex_data = []
        outcome = run_test(test, "numpipe")
    except GalletteError as error:
        return path, "out of scope", f"unreadable: {error}"
    if outcome.result in ("pass", "warn"):
        return path, "agree", ""
    if outcome.result == "skip":
        return path, "out of scope", outcome.reason
    crashed = any(text.startswith("Traceback") for text in outcome.messages)
    return path, "crash" if crashed else "differ", "\n".join(outcome.messages) or outcome.reason


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    names: list[str] = []
    for given in args.paths:
        place = Path(given)
        if place.is_dir():
            names += [str(p) for p in sorted(place.rglob("*.shader_test"))]
        elif place.suffix == ".shader_test":
            names.append(given)
        else:
            names += place.read_text().split()
    if args.sample and args.sample < len(names):
        names = random.Random(0).sample(names, args.sample)
    start = time.perf_counter()
    with multiprocessing.Pool(args.jobs) as pool:
        results = list(pool.imap_unordered(run, names, chunksize=16))
    counts = collections.Counter(kind for _, kind, _ in results)
    told = [row for row in sorted(results) if row[1] in ("differ", "crash")]
    for path, kind, why in told[: args.show]:
        print(f"--- {kind}: {path}\n{why[:600]}")
    judged = len(results) - counts["out of scope"]
    share = 100 * counts["agree"] / max(1, judged)
    seconds = time.perf_counter() - start
    print(
        f"{counts['agree']} of {judged} agree ({share:.2f} %), {counts['differ']} differ, "
        f"{counts['crash']} crash, {counts['out of scope']} out of scope, {seconds:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
