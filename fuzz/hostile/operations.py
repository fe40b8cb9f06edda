"""What shaders do, read from `operations.txt`, which says what its lines mean."""

from __future__ import annotations

from pathlib import Path

__all__ = ["EXPRESSIONS", "STATEMENTS"]

EXPRESSIONS: dict[str, list[str]] = {}
"""by the letter of the type"""
STATEMENTS: list[tuple[str, int, str, str]] = []
"""in which stages, how often, an extension that is needed, and what"""


def _read() -> None:
    section = ""
    for line in Path(__file__).with_name("operations.txt").read_text().splitlines():
        if not line or line.startswith("# ") or line == "#":
            continue
        if line.startswith("["):
            section = line.strip("[]")
        elif section == "statements":
            stages, weight, text = line.split(" ", 2)
            extension, text = text.split(" ", 1) if text.startswith("#") else ("", text)
            stages = "vcegfk" if stages == "*" else stages
            STATEMENTS.append((stages, int(weight), extension[1:], text))
        else:
            EXPRESSIONS.setdefault(section, []).extend(map(str.strip, line.split(" | ")))


_read()
