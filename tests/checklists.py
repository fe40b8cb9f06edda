"""The checklists of the rooms (`README.md`): what a failing test prints of them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("compiler/nir", "compiler/glsl", "pipe", "piglit_subset", "drivers/vulkan")


def checklists(room: str) -> dict[str, dict[str, str]]:
    """By what is added, the steps by their names: "opcode", "row" and its line."""
    text = (ROOT / room / "README.md").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {}
    for section in text.split("\n## ")[1:]:
        head, _, body = section.partition("\n")
        what = re.sub(r"^To add an? ", "", head)
        steps = re.findall(r"^\d+\. \*\*(.+?)\*\*(.*(?:\n {3,}.*)*)", body, re.MULTILINE)
        found[what] = {name: f"{name}{' '.join(rest.split())}" for name, rest in steps}
    return found


def step(room: str, what: str, name: str) -> str:
    """The line of a checklist that a test looks after."""
    return f"{room}/README.md, to add {what}: {checklists(room)[what][name]}"
