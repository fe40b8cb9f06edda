"""The first context loads hundreds of modules, which the garbage collector need not traverse."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import gc
{before}
import gallette
kept = gallette.create_context("numpipe")
young, old = (sum(len(gc.get_objects(generation=g)) for g in some) for some in ((0, 1), (2,)))
print(young, old, gc.get_freeze_count(), gc.isenabled())
"""


def generations(before: str) -> tuple[int, int, int]:
    """How many objects are young, old and frozen after the first context was created."""
    code = CODE.format(before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    young, old, frozen, enabled = done.stdout.split()
    assert enabled == "True"
    return int(young), int(old), int(frozen)


def test_what_was_loaded_is_old() -> None:
    young, old, frozen = generations("")
    assert young < old / 10
    assert frozen == 0


def test_what_the_program_froze_stays_frozen() -> None:
    *_, frozen = generations("some = [[] for _ in range(1000)]; gc.freeze()")
    assert frozen > 1000
