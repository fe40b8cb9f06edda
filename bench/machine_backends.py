"""The back ends of the simulated machines: `python -m bench.machine_backends [COUNT]`.

Random programs with divergent loops, texture headers and 64-bit values are compiled for both
machines, and what their encoded words do is compared with what selection meant, value by value, by
oracles that share no code with allocation and scheduling (`tests/machines`): no two values that
live at the same time share a channel, and every dependency is respected. The naive settings are
run, too: those must be caught.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from typing import Any

from tests.machines.effects import Verdict
from tests.machines.programs import MACHINES, Checked, checked_program

__all__ = ["main"]

SETTINGS: dict[str, tuple[tuple[str, dict[str, Any], bool], ...]] = {
    "simd": (
        ("mask_aware", {}, True),
        ("loop_extended", {"live_ranges": "loop_extended"}, True),
        ("32 registers", {"registers": 32, "width": 16}, True),
        ("naive", {"live_ranges": "naive"}, False),
    ),
    "tiler": (
        ("barriers for writers", {}, True),
        ("16 registers", {"registers": 16}, True),
        ("for readers only", {"barriers": "reads"}, False),
    ),
}
"""By machine: name, options of the back end, whether every program must be right."""


@dataclass(slots=True)
class Tally:
    """What the programs under one setting add up to."""

    name: str
    options: dict[str, Any]
    right: bool
    programs: int = 0
    wrong: list[int] = field(default_factory=list)
    total: Verdict = field(default_factory=Verdict)
    spilled: int = 0  # programs
    spills: int = 0

    def count(self, seed: int, found: Checked) -> None:
        self.programs += 1
        if found.verdict.problems:
            self.wrong.append(seed)
        self.total.add(found.verdict)
        self.spilled += found.spills > 0
        self.spills += found.spills

    def __str__(self) -> str:
        total = self.total
        lines = [
            f"{self.name:20} {len(self.wrong)} of {self.programs} wrong {self.wrong[:5]}; "
            f"{total.effects:,} effects with {total.values:,} values compared, "
            f"{total.undefined:,} undefined; {self.spills:,} spills in {self.spilled} programs"
        ]
        return "\n".join(lines + (total.problems[:5] if self.right else []))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.machine_backends")
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--machine", choices=MACHINES)
    parser.add_argument("--setting", default="", help="only settings with this in their name")
    options = parser.parse_args(arguments)
    as_expected = True
    for machine in [options.machine] if options.machine else MACHINES:
        settings = [s for s in SETTINGS[machine] if options.setting in s[0]]
        tallies = [Tally(*setting) for setting in settings]
        for seed in range(options.first, options.first + options.count):
            for tally in tallies:
                tally.count(seed, checked_program(machine, seed, **tally.options))
        for tally in tallies:
            as_expected &= (not tally.wrong) is tally.right
            print(f"{machine} {tally}", flush=True)
    return 0 if as_expected else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
