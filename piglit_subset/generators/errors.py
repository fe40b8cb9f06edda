"""Every rule of GLSL that a compiler must enforce: a shader that violates it, and one that does
not.

`errors.txt` has the rules. The second shader is as close to the first as possible, so that the
first is rejected for this rule only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gallette.piglit_subset.generators.common import templates

_HEAD = re.compile(r"== (?P<name>\S+)(?: \((?P<version>\d+)\))?: (?P<purpose>.*)")


def tests() -> Iterator[str]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    rules = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("# "))
    for rule in rules.strip().split("\n\n"):
        first, *lines = rule.strip().split("\n")
        head = _HEAD.fullmatch(first)
        assert head is not None, first
        for shader in ("bad", "good"):
            outside, inside = (
                [line.split(None, 2)[2] for line in lines if line.startswith(f"{shader} {part}")]
                for part in ("global", "main")
            )
            yield templates("errors").rule(
                head["name"],
                head["purpose"],
                int(head["version"] or 330),
                shader == "good",
                outside,
                inside,
            )
