"""The programs that the explorer offers, read from `examples.txt`."""

from __future__ import annotations

import re
from pathlib import Path

from gallette.compiler.nir.ir.modes import DRAWING, SUFFIXES

STAGES = tuple(stage.value for stage in DRAWING)
_SUFFIXES = {stage.value: suffix for suffix, stage in SUFFIXES.items()}


def _read() -> dict[str, dict[str, str]]:
    """The sources of each program by stage; a program without a vertex shader has that of the
    first.
    """
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {}
    for part in re.split(r"^== ", text, flags=re.M)[1:]:
        name, _, rest = part.partition("\n")
        pieces = re.split(r"^\[(\w+)\]\n", rest, flags=re.M)
        given = {
            stage: body.rstrip() + "\n"
            for stage, body in zip(pieces[1::2], pieces[2::2], strict=True)
        }
        first = next(iter(found.values()), given)
        whole = {"vertex": first["vertex"], **given}
        found[name] = {stage: whole[stage] for stage in STAGES if stage in whole}
    return found


EXAMPLES = _read()
VERTEX, FRAGMENT = EXAMPLES["waves"].values()


def sources_of(path: Path) -> dict[str, str]:
    """The program that a file belongs to: `a.frag` is combined with `a.vert`, `a.geom` and so on
    beside it. A missing vertex or fragment shader is that of the first example.
    """
    found = {"vertex": VERTEX, "fragment": FRAGMENT}
    for stage, suffix in _SUFFIXES.items():
        beside = path.with_suffix(suffix)
        if beside.is_file():
            found[stage] = beside.read_text(encoding="utf-8", errors="replace")
    return {stage: found[stage] for stage in STAGES if stage in found}
