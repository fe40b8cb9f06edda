"""The back ends of the simulated machines: `python -m fuzz machine-code`.

Random programs with divergent loops, texture headers and 64-bit values are compiled for both
machines, and what their encoded words do is compared with what selection meant, value by value, by
oracles that share no code with allocation and scheduling (`tests/machines`): no two values that
live at the same time share a channel, and every dependency is respected. The naive settings are
run, too, and how often they are caught is counted.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from fuzz.harness import Finding, Fuzzer
from tests.machines.programs import MACHINES, checked_program

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


class MachineCode(Fuzzer[int]):
    """Programs by number, on each machine."""

    limit = 600.0

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(driver="")
        parser.add_argument("--setting", default="", help="only settings with this in their name")

    def make(self, number: int) -> int:
        return number

    def attempt(self, given: int) -> Counter[str]:
        counts: Counter[str] = Counter()
        for machine in MACHINES if not self.options.driver else (self.options.driver,):
            for name, options, right in SETTINGS[machine]:
                if self.options.setting not in name:
                    continue
                found = checked_program(machine, given, **options)
                total, of = found.verdict, f"of {machine}, {name}"
                if total.problems and right:
                    raise Finding(f"{machine}, {name}", "\n".join(total.problems[:5]))
                counts[f"wrong {of}"] += bool(total.problems)
                counts[f"values compared {of}"] += total.values
                counts[f"spills {of}"] += found.spills
        return counts


FUZZER = MachineCode
