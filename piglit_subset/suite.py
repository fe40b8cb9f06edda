"""Finding tests: the bundled ones, or whatever files and folders the user names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from gallette.compiler.errors import InputError
from gallette.piglit_subset.results import test_name

__all__ = ["BUNDLED", "find_tests"]

BUNDLED = Path(__file__).resolve().parent / "tests"
SUFFIX = ".shader_test"


def find_tests(paths: Iterable[str | Path], patterns: Iterable[str] = ()) -> list[tuple[str, Path]]:
    """(name, path) of every test under `paths` (the bundled ones by default), in name order.

    `patterns` are regular expressions; a test is kept when all of them match its name.
    """
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern, re.IGNORECASE))
        except re.error as error:
            raise InputError(f"--filter {pattern!r}: {error}") from None
    found: dict[str, Path] = {}
    roots = [Path(p) for p in paths] or [BUNDLED]
    for root in roots:
        for path in _files(root):
            base = root if root.is_dir() else _root_of(path)
            found.setdefault(_unique(found, test_name(path, base), path), path)
    names = [n for n in found if all(c.search(n.replace("@", "/")) for c in compiled)]
    return sorted((n, found[n]) for n in names)


def _files(root: Path) -> list[Path]:
    if root.is_dir():
        return sorted(root.rglob(f"*{SUFFIX}"))
    if not root.exists():
        raise InputError(f"{root}: no such file or folder")
    if root.suffix != SUFFIX:
        raise InputError(f"{root}: not a {SUFFIX} file")
    return [root]


def _root_of(path: Path) -> Path:
    """Name a file by its place in a suite: the folder called `tests` above it, if there is one."""
    for parent in path.resolve().parents:
        if parent.name in ("tests", "generated_tests"):
            return parent
    return path.parent


def _unique(found: dict[str, Path], name: str, path: Path) -> str:
    if name not in found or found[name] == path:
        return name
    number = 2
    while f"{name}~{number}" in found:
        number += 1
    return f"{name}~{number}"
