"""Known failures: one list per driver, with a reason each.

`known/DRIVER.txt` names bundled tests that are expected to fail. They do not make a run fail; a
listed test that passes does, because the list must not rot.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gallette.compiler.errors import InputError, Span
from gallette.piglit_subset.results import Run

__all__ = ["FOLDER", "Judgement", "judge", "load"]

FOLDER = Path(__file__).resolve().parent / "known"
FAILED = ("fail", "crash", "timeout")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A run seen against its driver's list."""

    failures: list[str]
    known: dict[str, str]
    surprises: list[str]

    @property
    def ok(self) -> bool:
        return not self.failures and not self.surprises


def load(driver: str, folder: Path = FOLDER) -> dict[str, str]:
    """Test name -> reason, for one driver; empty if it has no list."""
    path = folder / f"{driver.replace(':', '-')}.txt"
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
