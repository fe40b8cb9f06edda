"""What gallette costs a program that is not Python, and one that makes many contexts.

Processor time throughout, so that a busy machine does not decide. `tests/egl/host.c` is the C
program; nothing but the standard library and moderngl is needed beside it.

    python bench/hosts.py                 # all figures, each with its goal
    python bench/hosts.py --processes 20  # fewer at once
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOST = Path(__file__).parent.parent / "tests" / "egl" / "host.c"


def compiled(source: Path, *libraries: str) -> Path:
    """A C program, or an end with a message."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("needs a C compiler")
    program = Path(tempfile.mkdtemp()) / source.stem
    subprocess.run([compiler, "-O1", "-o", program, source, *libraries], check=True)
    return program


def environment() -> dict[str, str]:
    from gallette.egl.libraries import folder

    kept = {k: v for k, v in os.environ.items() if "EGL" not in k and "GALLETTE" not in k}
    return kept | {"LD_LIBRARY_PATH": str(folder()), "OPENBLAS_NUM_THREADS": "1"}


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(what: str, value: str, goal: str) -> None:
    print(f"{what:44} {value:>12}   (goal: {goal})", flush=True)


def start_up(program: Path, env: dict[str, str]) -> None:
    """A whole program that clears a picture and reads it, Python's start included."""
    command, rounds = [str(program), "draw"], 5
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    costs = []
    for _ in range(rounds):
        before = children()
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
        costs.append(children() - before)
    told("a C program from start to end", f"{min(costs):.2f} s", "0.6 s")


def call(program: Path, env: dict[str, str]) -> None:
    done = subprocess.run([str(program), "speed"], env=env, check=True, capture_output=True)
    told("a GL call from C", f"{float(done.stdout):.2f} us", "3 us")


def together(program: Path, env: dict[str, str], count: int) -> None:
    """Many processes at once: each draws what it should."""
    command = [str(program), "draw"]
    running = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(count)
    ]
    right = sum(p.communicate()[0].split()[:1] == [b"51"] for p in running)
    told(f"of {count} processes at once drew rightly", str(right), str(count))


def memory() -> int:
    """Resident bytes of this process."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def contexts(count: int) -> None:
    """The time of a context after the first, and what many leave behind: ours, and moderngl's.

    moderngl itself never frees the names of extensions, 20 KB for each context, and more on
    llvmpipe: it gets one llvmpipe context again and again, so that only its own memory is left. The
    two figures after that are for contexts that report one name only.
    """
    import moderngl

    import gallette

    def with_moderngl() -> None:
        ours = gallette.moderngl_context()
        moderngl.create_context(standalone=True, context=ours).release()

    def telling_little() -> None:
        ours = gallette.moderngl_context()
        ours.limits.extensions = ours.limits.extensions[:1]
        moderngl.create_context(standalone=True, context=ours).release()

    def native() -> None:
        moderngl.create_context(standalone=True, context=_Native()).release()

    def alone() -> None:
        gallette.moderngl_context().release()

    for what, one in (
        ("context", alone),
        ("moderngl context", with_moderngl),
        ("moderngl context that tells little", telling_little),
        ("moderngl context on llvmpipe", native),
    ):
        many(what, one, count)


class _Native:
    """What moderngl asks for functions: one context of the machine's llvmpipe, current for good."""

    context: Any = None

    def __init__(self) -> None:
        if _Native.context is None:
            from gallette.state_tracker import create_context

            _Native.context = create_context("native:llvmpipe", version=(4, 5), profile="core")

    def load_opengl_function(self, name: str) -> int:
        found: int = self.context.load_opengl_function(name)
        return found

    def __enter__(self) -> _Native:
        return self

    def __exit__(self, *error: object) -> None:
        """It stays current."""

    def release(self) -> None:
        """It stays."""


def many(what: str, one: Callable[[], None], count: int) -> None:
    for _ in range(20):
        one()
    gc.collect()
    before, start = memory(), time.process_time()
    for _ in range(count):
        one()
    cost = (time.process_time() - start) / count
    gc.collect()
    told(f"a {what} made and released", f"{1000 * cost:.1f} ms", "30 ms")
    left = (memory() - before) / 2**20
    told(f"left behind by {count} of these", f"{left:.1f} MB", "5 MB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=100)
    parser.add_argument("--contexts", type=int, default=1000)
    options = parser.parse_args()
    program, env = compiled(HOST, "-ldl", "-lpthread"), environment()
    start_up(program, env)
    call(program, env)
    contexts(options.contexts)
    together(program, env, options.processes)


if __name__ == "__main__":
    main()
