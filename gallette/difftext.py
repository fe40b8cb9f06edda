"""Line diffs of NIR text as (kind, line) pairs, for the terminal and for HTML.

Values are numbered in order, so one removed instruction renumbers everything below it. The diff
looks through that: lines are aligned without their numbers, and an aligned line counts as the same
if it reads the same once old numbers are replaced by those of the lines they were aligned with.
"""

from __future__ import annotations

import difflib
import re

__all__ = ["diff_lines"]

_VALUE = re.compile(r"%(\d+)")
_DEFINED = re.compile(r"(\S*) ?%(\d+) =")

Row = tuple[str, str]


def diff_lines(before: str, after: str, context: int = 2) -> list[Row]:
    """`kind` is "add", "del", "same" or "hunk" (a gap of unchanged lines)."""
    return _collapse(_rows(before.splitlines(), after.splitlines()), context)


def _rows(old: list[str], new: list[str]) -> list[Row]:
    old_keys, new_keys = ([_VALUE.sub("%", line) for line in lines] for lines in (old, new))
    matcher = difflib.SequenceMatcher(None, old_keys, new_keys, autojunk=False)
    renamed: dict[str, str] = {}
    rows: list[Row] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            rows += [("del", line) for line in old[i1:i2]]
            rows += [("add", line) for line in new[j1:j2]]
            renamed.update(_replaced(old[i1:i2], new[j1:j2]))
            continue
        gone: list[Row] = []
        come: list[Row] = []
        for a, b in zip(old[i1:i2], new[j1:j2], strict=True):
            was, now = _DEFINED.search(a), _DEFINED.search(b)
            if was and now:
                renamed[was[2]] = now[2]
            if _VALUE.sub(lambda m: "%" + renamed.get(m[1], m[1]), a) == b:
                rows += [*gone, *come, ("same", b)]
                gone, come = [], []
            else:
                gone.append(("del", a))
                come.append(("add", b))
        rows += [*gone, *come]
    return rows


def _replaced(old: list[str], new: list[str]) -> dict[str, str]:
    """Which old value each new one of a changed stretch stands for: by order among equal sizes.

    Only a guess, but a good one where an instruction was replaced by a better one; without it
    every user of the result would show up as changed, too.
    """
    made = [m.groups() for line in new if (m := _DEFINED.search(line))]
    result = {}
    for line in old:
        was = _DEFINED.search(line)
        match = next((m for m in made if was and m[0] == was[1]), None)
        if was and match:
            made.remove(match)
            result[was[2]] = match[1]
    return result


def _collapse(rows: list[Row], context: int) -> list[Row]:
    """Replace long runs of unchanged lines by one line that counts them."""
    changed = [i for i, (kind, _) in enumerate(rows) if kind != "same"]
    near = {k for i in changed for k in range(i - context, i + context + 1)}
    out: list[Row] = []
    skipped = 0
    for i, row in enumerate(rows):
        if i in near:
            if skipped:
                out.append(("hunk", f"... {skipped} unchanged lines"))
                skipped = 0
            out.append(row)
        else:
            skipped += 1
    if skipped and out:
        out.append(("hunk", f"... {skipped} unchanged lines"))
    return out
