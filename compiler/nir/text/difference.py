"""Line diffs of NIR text as (kind, line) pairs, for the terminal and for HTML.

In a diff one name means one value. Texts recorded pass by pass keep the names of values. Texts
printed separately number them in order, so that one removed instruction renumbers all that follow.
`stable` gives the values of the second text the names of the corresponding values in the first, and
gives new values unused names. Differences in numbering and indentation are ignored.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

_NAME = re.compile(r"%\d+|\bb\d+\b")
_DEFINED = re.compile(r"(%\d+) =|\bblock (b\d+):")

Row = tuple[str, str]


def diff_lines(before: str, after: str, context: int = 2) -> list[Row]:
    """The lines of a diff, each with its `kind`: "add", "del", "same" or "hunk" (a gap of unchanged
    lines).
    """
    old, new = before.splitlines(), stable(before, after).splitlines()
    rows: list[Row] = []
    for tag, i1, i2, j1, j2 in _aligned(_bare(old), _bare(new)):
        if tag == "equal":
            rows += [("same", line) for line in new[j1:j2]]
        else:
            rows += [("del", line) for line in old[i1:i2]]
            rows += [("add", line) for line in new[j1:j2]]
    return _collapse(rows, context)


def stable(before: str, after: str) -> str:
    """The text `after` with the names that its values have in `before`."""
    old, new = before.splitlines(), after.splitlines()
    most = max((int(name[1:]) for name in re.findall(r"%\d+", before)), default=-1)
    candidates = [after, _renamed(new, _corresponding(old, new), most)]
    return min(candidates, key=lambda text: _changed(old, text.splitlines()))


def _bare(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines]


def _aligned(old: list[str], new: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _changed(old: list[str], new: list[str]) -> int:
    edits = _aligned(_bare(old), _bare(new))
    return sum(i2 - i1 + j2 - j1 for tag, i1, i2, j1, j2 in edits if tag != "equal")


def _corresponding(old: list[str], new: list[str]) -> dict[str, str]:
    """For names of values and blocks in the new text, the corresponding names in the old one.

    Lines that are equal except for names are aligned first. The names found distinguish lines that
    looked alike, so the alignment is repeated with them.
    """
    names: dict[str, str] = {}
    for _ in range(4):
        keys = [_key(line, {}, old_names=True, known=set(names.values())) for line in old]
        other = [_key(line, names, old_names=False, known=set()) for line in new]
        found: dict[str, str] = {}
        votes: dict[str, Counter[str]] = {}
        for tag, i1, i2, j1, j2 in _aligned(keys, other):
            if tag != "equal":
                continue
            for a, b in zip(old[i1:i2], new[j1:j2], strict=True):
                for was, now in zip(_NAME.findall(a), _NAME.findall(b), strict=True):
                    votes.setdefault(now, Counter())[was] += 1
                defined, redefined = _DEFINED.search(a), _DEFINED.search(b)
                if defined and redefined:
                    found[redefined[1] or redefined[2]] = defined[1] or defined[2]
        found = _with_replacements(old, new, found, votes)
        if found == names:
            break
        names = found
    return names


def _key(line: str, names: dict[str, str], old_names: bool, known: set[str]) -> str:
    """A line without names, except those whose correspondence is known."""
    if old_names:
        return _NAME.sub(lambda m: m[0] if m[0] in known else m[0][0], line.strip())
    return _NAME.sub(lambda m: names.get(m[0], m[0][0]), line.strip())


def _with_replacements(
    old: list[str], new: list[str], found: dict[str, str], votes: dict[str, Counter[str]]
) -> dict[str, str]:
    """The correspondences, with those of new values that replace a removed value in all of its
    places.
    """
    gone = _defined(old) - set(found.values())
    for name in _defined(new) - set(found):
        uses = votes.get(name)
        if uses and len(uses) == 1 and (was := next(iter(uses))) in gone:
            found = {**found, name: was}
            gone.discard(was)
    return found


def _defined(lines: list[str]) -> set[str]:
    return {m[1] or m[2] for line in lines if (m := _DEFINED.search(line))}


def _renamed(lines: list[str], names: dict[str, str], most: int) -> str:
    """The lines with names replaced; values without a name are numbered after the largest
    number.
    """
    fresh: dict[str, str] = {}
    defined = _defined(lines)

    def name(match: re.Match[str]) -> str:
        given = match[0]
        if given in names or given not in defined or given[0] != "%":
            return names.get(given, given)
        return fresh.setdefault(given, f"%{most + 1 + len(fresh)}")

    return "\n".join(_NAME.sub(name, line) for line in lines)


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
