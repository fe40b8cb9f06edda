"""The score per folder, and the survivors with their lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gallette.compiler.text_tables import table_rows

EXPLAINED = Path(__file__).with_name("survivors.txt")


@dataclass(frozen=True)
class Result:
    path: str
    line: int
    fault: str
    by: str
    tried: int
    left: int = 0

    @property
    def key(self) -> str:
        return f"{self.path}:{self.line} {self.fault}"


def explained() -> dict[str, str]:
    """`path fault` of survivors with their reasons; lines move, so they are not part of the key."""
    reasons = {}
    for line in table_rows(EXPLAINED):
        what, _, why = line.partition("  # ")
        reasons[what.strip()] = why.strip()
    return reasons


def report(results: list[Result]) -> str:
    """The whole report as text."""
    results = list({r.key: r for r in results}.values())  # what was judged again counts as then
    planted = Counter(r.path.split("/")[0] for r in results)
    noticed = Counter(r.path.split("/")[0] for r in results if r.by)
    lines = [f"{'folder':<16}{'planted':>8}{'noticed':>8}{'':>6}"]
    for folder, count in sorted(planted.items()):
        share = noticed[folder] / count
        lines.append(f"{folder:<16}{count:>8}{noticed[folder]:>8}{share:>6.0%}")
    total = sum(noticed.values()) / max(len(results), 1)
    lines.append(f"{'all':<16}{len(results):>8}{sum(noticed.values()):>8}{total:>6.0%}")
    reasons = explained()
    left = sorted((r for r in results if not r.by), key=lambda r: (r.path, r.line))
    if left:
        lines += ["", f"{len(left)} survivors (how many tests ran the line):"]
    for r in left:
        why = reasons.get(f"{r.path} {r.fault}".strip(), "")
        ran = f"{r.tried - r.left} of {r.tried}" if r.left else str(r.tried)
        lines.append(f"  {r.path}:{r.line}  ({ran})  {r.fault}" + (f"  # {why}" if why else ""))
    return "\n".join(lines)
