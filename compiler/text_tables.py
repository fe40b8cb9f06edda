"""Tables in text files: a row a line; `#` begins a remark, `[name]` a group of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def table_rows(path: Path) -> list[str]:
    """The lines that are neither empty nor remarks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and line[0] != "#"]


def grouped_rows(path: Path) -> Iterator[tuple[str, str]]:
    """The rows, each with the name of its group."""
    group = ""
    for row in table_rows(path):
        if row[0] == "[":
            group = row[1:-1]
        else:
            yield group, row
