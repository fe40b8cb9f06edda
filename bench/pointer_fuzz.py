"""Random calls of the whole entry-point table through its C pointers: no crash, hang or leak.

    python bench/pointer_fuzz.py --calls 10000000 --jobs 2
    python bench/pointer_fuzz.py --seed 4711 --contexts 1 -v  # one context again, its calls shown

A context is made, given a few objects that work, called 5,000 times with sensible and adversarial
arguments (objects are deleted at any moment), and released. A process does fifty of them. What C
forbids is left out: pointers lead to memory as long as any index could reach, and no further.
Looked for: a process that dies, a Python exception behind a pointer, a call of more than two
seconds of processor time, bytes written behind the room that was given, memory kept after contexts
are gone.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

PER_CONTEXT = 5000
PER_PROCESS = 50
SILENCE = 120.0
"""Seconds without a new call before a process counts as hanging."""


def run_process(seed: int, contexts: int, calls: int, driver: str, verbose: bool) -> dict[str, Any]:
    """A child that does some contexts, and what it found; a dead one is told by its last call."""
    with tempfile.TemporaryFile() as last, tempfile.TemporaryFile() as log:
        last.truncate(4096)
        view = mmap.mmap(last.fileno(), 4096)
        command = [sys.executable, "-m", "bench.pointer_calls", str(seed), str(contexts)]
        command += [str(calls), str(last.fileno()), driver, *(["-v"] if verbose else [])]
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=None if verbose else log,
            pass_fds=[last.fileno()],
            cwd=Path(__file__).parents[1],
        )
        seen, since = b"", time.monotonic()
        while child.poll() is None:
            time.sleep(0.2)
            now = view[:]
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > SILENCE:
                child.kill()
                child.wait()
        assert child.stdout is not None
        printed = child.stdout.read().decode()
        log.seek(0)
        errors = log.read().decode(errors="replace")
        told = seen.rstrip(b"\0").decode(errors="replace")
        view.close()
    try:
        found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    except (IndexError, ValueError):
        what = "hang" if child.returncode == -9 else f"died with {child.returncode}"
        found = {"calls": 0, "findings": [f"{what}: {told}\n{errors[-1500:]}"], "kept": 0}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--contexts", type=int, help="do only so many contexts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--driver", default="numpipe")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every call")
    options = parser.parse_args()
    from concurrent.futures import ThreadPoolExecutor

    whole = options.contexts or -(-options.calls // PER_CONTEXT)
    shares = [
        (options.seed + first, min(PER_PROCESS, whole - first))
        for first in range(0, whole, PER_PROCESS)
    ]
    total, kept, kinds = 0, 0.0, Counter[str]()
    start = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = pool.map(
            lambda s: run_process(*s, PER_CONTEXT, options.driver, options.verbose), shares
        )
        for (seed, _), found in zip(shares, runs, strict=True):
            total += found["calls"]
            kept = max(kept, found["kept"])
            kinds.update(found.get("errors", {}))
            for finding in found["findings"]:
                print(f"seeds from {seed}: {finding}", flush=True)
            kinds["findings"] += len(found["findings"])
            rate = total / (time.monotonic() - start)
            print(f"{total:,} calls, {rate:,.0f} a second", file=sys.stderr, flush=True)
    findings = kinds.pop("findings")
    print(f"{total:,} calls in {whole:,} contexts on {options.driver}: {findings} findings; ")
    print(f"a context left at most {kept:.1f} kB behind; errors recorded: {dict(kinds)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
