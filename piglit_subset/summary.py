"""Compares runs: totals, rates, and the tests whose results differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gallette.piglit_subset.results import ORDER, Run

BAD = ("fail", "crash", "timeout", "incomplete", "warn")


@dataclass(frozen=True, slots=True)
class Change:
    """One test with its result in every run ("notrun" if it is missing)."""

    name: str
    results: tuple[str, ...]

    @property
    def problem(self) -> bool:
        return any(r in BAD for r in self.results)

    @property
    def differs(self) -> bool:
        return len(set(self.results)) > 1

    @property
    def kind(self) -> str:
        """Whether it is a fix or a regression, comparing the last run with the first."""
        first, last = self.results[0], self.results[-1]
        if first == last or "notrun" in (first, last):
            return "same" if first == last else "changed"
        if "skip" in (first, last):
            return "changed"
        return "fix" if ORDER.index(last) < ORDER.index(first) else "regression"


@dataclass(slots=True)
class Summary:
    """Several runs side by side."""

    runs: list[Run]
    tests: list[Change]
    folders: list[tuple[str, list[tuple[int, int]]]]  # group, per run (passed, that ran)

    @property
    def problems(self) -> list[Change]:
        return [t for t in self.tests if t.problem]

    @property
    def changes(self) -> list[Change]:
        return [t for t in self.tests if t.differs]

    def totals(self) -> list[Counter[str]]:
        return [run.totals() for run in self.runs]

    def versions(self) -> list[tuple[str, list[tuple[int, int]]]]:
        """Per version or extension and run: passed, and all tests (a skipped one is not passed)."""
        groups: dict[str, list[Change]] = {}
        for test in self.tests:
            groups.setdefault(version_of(test.name), []).append(test)
        return [
            (group, [_passed(tests, i, ("notrun",)) for i in range(len(self.runs))])
            for group, tests in sorted(groups.items(), key=lambda item: _version_order(item[0]))
        ]


def pass_rate(totals: Counter[str]) -> float:
    """The share of passed tests, without skipped ones."""
    ran = sum(n for r, n in totals.items() if r not in ("skip", "notrun"))
    return (totals["pass"] + totals["warn"]) / ran if ran else 0.0


def summarise(runs: list[Run]) -> Summary:
    names = sorted({name for run in runs for name in run.tests})

    def result(run: Run, name: str) -> str:
        return run.tests[name].result if name in run.tests else "notrun"

    tests = [Change(name, tuple(result(run, name) for run in runs)) for name in names]
    groups: dict[str, list[Change]] = {}
    for test in tests:
        parts = test.name.split("@")
        groups.setdefault("/".join(parts[:-1][:2]) or "(top)", []).append(test)
    folders = [
        (group, [_passed(tests, i, ("skip", "notrun")) for i in range(len(runs))])
        for group, tests in groups.items()
    ]
    return Summary(runs, tests, folders)


def version_of(name: str) -> str:
    """The version or extension a test belongs to: the part of its name after `spec`."""
    parts = name.split("@")
    if "spec" in parts[:-2]:
        return parts[parts.index("spec") + 1].lower()
    return "/".join(parts[:-1][:1]) or "(top)"


def _version_order(group: str) -> tuple[int, str]:
    """Versions of GLSL and GL first, then extensions by name."""
    rank = 0 if group.startswith("glsl-") and "es" not in group else 1
    rank = rank if group.startswith(("glsl", "gl-", "!opengl")) else 2
    return rank, group


def _passed(tests: list[Change], run: int, silent: tuple[str, ...]) -> tuple[int, int]:
    """How many tests passed in a run, and how many there are except those in `silent`."""
    seen = [t.results[run] for t in tests if t.results[run] not in silent]
    return sum(r in ("pass", "warn") for r in seen), len(seen)
