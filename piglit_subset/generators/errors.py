"""Every rule of GLSL that a compiler must enforce: a shader that breaks it, and one that keeps it.

The rules are rows of `errors.txt`. The second shader of each is as close to the first as possible,
so that the first is refused for this rule and no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gallette.piglit_subset.generators.common import GREEN, Test, drawn, glsl, main

_RULE = re.compile(r"(?P<name>[\w-]+)(?: \[(?P<version>\d+)\])?: (?P<purpose>.+)")
_PART = re.compile(r" +(bad|good)(\+?) +(.+)")


def tests() -> Iterator[Test]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for row in re.split(r"\n\n+", re.sub(r"(?m)^#.*\n", "", text).strip()):
        head, *lines = row.splitlines()
        rule = _RULE.fullmatch(head)
        assert rule is not None, head
        parts = {}
        for line in lines:
            part = _PART.fullmatch(line)
            assert part is not None, line
            parts[part[1] + part[2]] = part[3]
        version = int(rule["version"] or 330)
        place = f"glsl-{glsl(version)}/errors/{rule['name']}"
        refused = _test(version, parts, "bad", "compile error GL_FRAGMENT_SHADER")
        yield place, f"{rule['purpose']}: a shader that breaks the rule is refused.", refused
        accepted = _test(version, parts, "good", *GREEN)
        yield f"{place}-kept", f"{rule['purpose']}: a shader that keeps the rule runs.", accepted


def _test(version: int, parts: dict[str, str], which: str, *commands: str) -> str:
    outside = parts.get(f"{which}+", "").replace("\\n", "\n").splitlines()
    inside = [parts[which]] if which in parts else []
    fragment = [*outside, "out vec4 color;", *main(*inside, "color = vec4(0.0, 1.0, 0.0, 1.0);")]
    return drawn(version, fragment, commands)
