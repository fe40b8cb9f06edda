"""Known failures: one text file per driver, with a reason on each line.

A driver of the stack has its list beside its code (`drivers/numpipe/fails.txt`); lists of native
drivers are here (`known/native-softpipe.txt`). A line is a test's name, two spaces, and why it
fails. Listed failures do not fail a run; a listed test that passes does, so that lists stay up to
date.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gallette.compiler.errors import InputError, Span
from gallette.compiler.output_files import write_whole
from gallette.piglit_subset.results import Run

FOLDER = Path(__file__).resolve().parent / "known"
FAILED = ("fail", "crash", "timeout")
_HEAD = "# Known failures of {driver}: a test's name, two spaces, and the reason.\n"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A run compared with its driver's list."""

    failures: list[str]
    known: dict[str, str]
    surprises: list[str]

    @property
    def ok(self) -> bool:
        return not self.failures and not self.surprises


def load(path: Path) -> dict[str, str]:
    """Test name -> reason; empty if there is no list."""
    if not path.exists():
        return {}
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.partition("  ")
        if not reason.strip():
            raise InputError("a known failure needs a reason", Span(number, 1, 0, str(path)), line)
        found[name.strip().replace("/", "@")] = reason.strip()
    return found


def judge(run: Run, known: dict[str, str]) -> Judgement:
    failed = [name for name, test in run.tests.items() if test.result in FAILED]
    return Judgement(
        [name for name in failed if name not in known],
        {name: known[name] for name in failed if name in known},
        [n for n in known if n in run.tests and run.tests[n].result in ("pass", "warn")],
    )


def update(run: Run, path: Path) -> tuple[list[str], list[str]]:
    """Rewrite a driver's list after a run; returns the added and removed tests.

    Lines of tests that did not run and comments are kept. A new line has the observed failure, to
    be replaced by its cause.
    """
    known = load(path)
    judgement = judge(run, known)
    gone = set(judgement.surprises)
    old = path.read_text(encoding="utf-8") if path.exists() else _HEAD.format(driver=run.name)
    lines = []
    for line in old.splitlines():
        name = line.partition("  ")[0].strip().replace("/", "@")
        if line.startswith("#") or name not in gone:
            lines.append(line)
    for name in sorted(judgement.failures):
        seen = next(iter(run.tests[name].reason.splitlines()), "") or run.tests[name].result
        lines.append(f"{name.replace('@', '/')}  seen: {seen}")
    write_whole(path, "\n".join(lines) + "\n")
    return judgement.failures, judgement.surprises
