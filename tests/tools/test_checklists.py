"""Checklists name files that are there, and tests that look after a step can find it."""

from __future__ import annotations

import re

import pytest

from tests.checklists import ROOMS, ROOT, checklists, step

_PATH = re.compile(r"`([\w./*]+/[\w.*]*|[\w*]+\.(?:py|txt))`")


@pytest.mark.parametrize("room", ROOMS)
def test_files_of_a_checklist_exist(room: str) -> None:
    named = 0
    for what, steps in checklists(room).items():
        assert steps, what
        for line in steps.values():
            folders = [ROOT / room, ROOT]
            for path in _PATH.findall(line):
                if "NAME" in path:
                    continue
                below = path.removeprefix("../")
                there = [f for folder in (*folders, ROOT / "compiler") for f in folder.glob(below)]
                assert there, f"{room}, {what}: {path}"
                folders += [there[0].parent]
                named += 1
    assert named >= 2


def test_a_step_is_found_with_its_line() -> None:
    assert step("compiler/nir", "opcode", "jit").startswith(
        "compiler/nir/README.md, to add opcode: jit: `drivers/jit/shader/alu.py`"
    )
    with pytest.raises(KeyError):
        step("compiler/nir", "opcode", "nothing")
