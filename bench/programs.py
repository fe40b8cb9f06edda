"""Run many C programs on gallette's EGL and say how they fared, by reason.

The list has a line per program: name, TAB, command line, and optionally TAB and the verdict of a
reference. A program's verdict is the last `{"result": "..."}` it prints, as piglit's programs do;
without one it is the exit status. Results go to a file as they come, so a run can be resumed.

    python bench/programs.py list.tsv -j 2 -o results.tsv --cwd /path/of/the/programs
    python bench/programs.py list.tsv -o results.tsv --summary      # the results so far
    python bench/programs.py list.tsv -o results.tsv --redo fail    # those again
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RESULT = re.compile(r'"result": "(\w+)"')
GOOD = ("pass", "warn")


def environment(extra: list[str]) -> dict[str, str]:
    """The program's environment: EGL without windows, on gallette."""
    from gallette.egl.libraries import vendor_file

    found = dict(os.environ, EGL_PLATFORM="surfaceless", OPENBLAS_NUM_THREADS="1")
    found.pop("PYTHONDONTWRITEBYTECODE", None)  # thousands of short programs: compile once
    found["__EGL_VENDOR_LIBRARY_FILENAMES"] = str(vendor_file())
    found.update(e.split("=", 1) for e in extra)
    return found


def run(command: str, cwd: str, env: dict[str, str], limit: float) -> tuple[str, str, float]:
    """Verdict, what the program said, seconds of processor time.

    The limit is processor time too, so that a busy machine does not judge; ten times as much on
    the clock ends a program that only waits.
    """

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        running = subprocess.Popen(
            command.split(), cwd=cwd or None, env=env, stdout=out, stderr=err, preexec_fn=limited
        )
        timer = threading.Timer(10 * limit, running.kill)
        timer.start()
        _, status, usage = os.wait4(running.pid, 0)
        timer.cancel()
        running.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said = out.read().decode("utf-8", "replace")
        text = err.read().decode("utf-8", "replace") + said
    found = RESULT.findall(said)
    if running.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        verdict = "timeout"
    elif running.returncode < 0:
        verdict = "crash"
    elif found:
        verdict = found[-1]
    else:
        verdict = "pass" if running.returncode == 0 else "fail"
    return verdict, text, usage.ru_utime + usage.ru_stime


REASONS = (
    re.compile(r"(?:Test requires|requires) .*"),
    re.compile(r"gallette: bug in \w+"),
    re.compile(r"\w*(?:Error|Exception): .*"),
    re.compile(r"Unexpected GL error: .*"),
    re.compile(r"Failed to compile .*|.*\berror: .*"),
    re.compile(r"Probe \w+ at .*"),
)


def reason(text: str) -> str:
    """The most telling line, numbers left out so that equal causes look equal."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    bug = [i for i, line in enumerate(lines) if line.startswith("gallette: bug in")]
    if bug:
        rest = [x for x in lines[bug[0] :] if re.match(r"[\w.]*(Error|Exception|Interrupt)\b", x)]
        return f"{lines[bug[0]]} {rest[0] if rest else ''}"[:160]
    for pattern in REASONS:
        for line in lines:
            match = pattern.search(line)
            if match:
                return re.sub(r"\d+", "#", match[0])[:160]
    lines = [x for x in lines if "PIGLIT" not in x]
    return re.sub(r"\d+", "#", lines[-1])[:160] if lines else ""


def read(path: Path) -> dict[str, tuple[str, float, str]]:
    found = {}
    if path.is_file():
        for line in path.read_text().splitlines():
            name, verdict, seconds, why = [*line.split("\t"), ""][:4]
            found[name] = (verdict, float(seconds), why)
    return found


def run_all(
    rows: list[list[str]], results: dict[str, tuple[str, float, str]], env: dict[str, str],
    cwd: str, options: argparse.Namespace, logs: Path | None = None,
) -> None:  # fmt: skip
    """Run the commands of rows without a result, and keep what comes of each as it comes."""
    deadline = time.monotonic() + options.minutes * 60

    def one(row: list[str]) -> None:
        if row[0] in results or time.monotonic() > deadline:
            return
        verdict, text, seconds = run(row[1], cwd, env, options.timeout)
        why = "" if verdict in GOOD else reason(text).replace("\t", " ")
        results[row[0]] = (verdict, seconds, why)
        with options.output.open("a") as out:
            out.write(f"{row[0]}\t{verdict}\t{seconds:.1f}\t{why}\n")
        if logs:
            logs.mkdir(parents=True, exist_ok=True)
            (logs / re.sub(r"[^\w.-]+", "_", row[0])[:200]).write_text(text)
        if sys.stderr.isatty():
            print(f"\r{len(results)} of {len(rows)} ", end="", file=sys.stderr)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, rows))


def summary(listed: list[list[str]], results: dict[str, tuple[str, float, str]]) -> None:
    """Rates, the slowest programs, and why programs fail that the reference passes."""
    known = {row[0]: row[2] if len(row) > 2 else "pass" for row in listed}
    judged = [n for n in known if known[n] in GOOD and n in results]
    verdicts = Counter(results[n][0] for n in judged)
    passed = sum(verdicts[v] for v in GOOD)
    rate = 100 * passed / max(len(judged), 1)
    print(f"{passed} of {len(judged)} that the reference passes: {rate:.1f} %  {dict(verdicts)}")
    others = Counter(results[n][0] for n in known if known[n] not in GOOD and n in results)
    print(f"where the reference does not pass: {dict(others)}")
    reasons: dict[str, list[str]] = {}
    for name in judged:
        verdict, _, why = results[name]
        if verdict not in GOOD:
            reasons.setdefault(f"{verdict}: {why}", []).append(name)
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):5}  {why}\n           {names[0]}")
    slow = sorted((r[1], n) for n, r in results.items() if n in known)[-5:]
    print("slowest: " + ", ".join(f"{n} {s:.0f} s" for s, n in reversed(slow)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("list", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("programs.tsv"))
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds of processor time")
    parser.add_argument("--cwd", default="", help="where the programs run")
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE for the programs")
    parser.add_argument("--minutes", type=float, default=9.5, help="start none after these")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    parser.add_argument(
        "--redo", default="", help="run those again whose verdict or reason matches"
    )
    parser.add_argument("--logs", type=Path, help="keep what each program says in this folder")
    options = parser.parse_args()
    listed = [line.split("\t") for line in options.list.read_text().splitlines() if line]
    results = read(options.output)
    if options.redo:
        again = re.compile(options.redo)
        for name in [n for n, r in results.items() if again.search(f"{r[0]}: {r[2]}")]:
            del results[name]
    if not options.summary:
        run_all(listed, results, environment(options.env), options.cwd, options, options.logs)
    summary(listed, results)


if __name__ == "__main__":
    main()
