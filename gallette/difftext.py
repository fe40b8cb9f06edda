"""Line diffs of NIR text as (kind, line) pairs, for the terminal and for HTML."""

from __future__ import annotations

import difflib

__all__ = ["diff_lines"]


def diff_lines(before: str, after: str, context: int = 2) -> list[tuple[str, str]]:
    """`kind` is "add", "del", "same" or "hunk" (a gap of unchanged lines)."""
    a, b = before.splitlines(), after.splitlines()
    rows: list[tuple[str, str]] = []
    groups = list(difflib.SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(context))
    for number, group in enumerate(groups):
        if number or group[0][1] > 0:
            skipped = group[0][1] - (groups[number - 1][-1][2] if number else 0)
            rows.append(("hunk", f"... {skipped} unchanged lines"))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows += [("same", line) for line in a[i1:i2]]
            else:
                rows += [("del", line) for line in a[i1:i2]]
                rows += [("add", line) for line in b[j1:j2]]
    if groups and groups[-1][-1][2] < len(a):
        rows.append(("hunk", f"... {len(a) - groups[-1][-1][2]} unchanged lines"))
    return rows
