"""Finds tests: the bundled ones, or the files, folders and lists that the user names.

The bundled suite is the hand-written tests in `spec/` and the generated ones. A generated test is
found by its place in `spec/`, too, as if it were a file there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gallette.compiler.errors import InputError, Span
from gallette.piglit_subset.generated import generated_tests
from gallette.piglit_subset.results import SEPARATOR, test_name

BUNDLED = Path(__file__).resolve().parent / "spec"
SUFFIX = ".shader_test"

Tests = list[tuple[str, Path]]


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` of `count`, counted from 1. All parts together are all tests, without
    overlap.
    """

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        match = re.fullmatch(r"(\d+)/(\d+)", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise InputError(f"--shard {text!r}: expected I/N with 1 <= I <= N, such as 2/8")
        return cls(int(match[1]), int(match[2]))

    def of(self, tests: Tests) -> Tests:
        """Every n-th test, so that adjacent tests (with similar cost) are spread evenly."""
        return tests[self.index - 1 :: self.count]


def find_tests(
    paths: Iterable[str | Path],
    patterns: Iterable[str] = (),
    exclude: Iterable[str] = (),
    lists: Iterable[Path] = (),
) -> Tests:
    """The tests under `paths` or on `lists`, as (name, path) in name order.

    Without either, the bundled tests. `patterns` are regular expressions: a test is kept when all
    of `patterns` match its name and none of `exclude` does.
    """
    keep = [_pattern("--filter", p) for p in patterns]
    drop = [_pattern("--exclude", p) for p in exclude]
    roots = [Path(p) for p in paths]
    listed = [read_list(file) for file in lists]
    found = _on_lists(listed, roots) if listed else _under(roots or [BUNDLED])

    def wanted(name: str) -> bool:
        shown = name.replace("@", "/")
        return all(c.search(shown) for c in keep) and not any(c.search(shown) for c in drop)

    return sorted((n, path) for n, path in found.items() if wanted(n))


def some_bundled(step: int = 5) -> Tests:
    """The hand-written bundled tests, and every `step`-th generated one."""
    tests = find_tests([])
    generated = [t for t in tests if BUNDLED not in t[1].parents]
    return sorted({*tests} - {*generated} | {*generated[::step]})


def located_again(tests: Tests) -> Tests:
    """The tests of an earlier run. Its generated tests may have been removed from the cache, so
    they are found again by their names.
    """
    if all(path.exists() for _, path in tests):
        return tests
    bundled = dict(find_tests([]))
    return [(n, path if path.exists() else bundled.get(n, path)) for n, path in tests]


def _pattern(option: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise InputError(f"{option} {text!r}: {error}") from None


def read_list(file: Path) -> list[tuple[Span, str]]:
    """The entries of a list of tests, one per line, with their places; `#` starts a comment."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot read: {error}") from None
    entries = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if line:
            column = raw.index(line) + 1
            entries.append((Span(number, column, column + len(line), str(file)), line))
    return entries


def _on_lists(listed: list[list[tuple[Span, str]]], roots: list[Path]) -> dict[str, Path]:
    """Entries are files, or names (`spec@a@b` or `spec/a/b`) of tests under `roots`."""
    found: dict[str, Path] = {}
    known: dict[str, Path] | None = None
    for entries in listed:
        for span, text in entries:
            if text.endswith(SUFFIX):
                path = file_at(Path(text))
                if path is None:
                    raise InputError(f"no such file: {text}", span, text)
                found.setdefault(_unique(found, test_name(path, _root_of(path)), path), path)
                continue
            if known is None:
                known = _under(roots or [BUNDLED])
            name = text.replace("/", "@")
            if name not in known:
                raise InputError(f"no test has this name: {text}", span, text)
            found[name] = known[name]
    return found


def _under(roots: Iterable[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for root in roots:
        for name, path in _at(root).items():
            found.setdefault(_unique(found, name, path), path)
    return found


def _at(root: Path) -> dict[str, Path]:
    """The tests in a folder by their names, or a single file."""
    if root.is_dir() or (not root.exists() and root.suffix != SUFFIX):
        files = {path.relative_to(root): path for path in root.rglob(f"*{SUFFIX}")}
        files |= generated_in(root)
        if not files and not root.exists():
            raise InputError(f"{root}: no such file or folder")
        top = [BUNDLED.name] if root == BUNDLED else []
        return {
            SEPARATOR.join([*top, *place.with_suffix("").parts]): path
            for place, path in sorted(files.items())
        }
    path = file_at(root)
    if path is None:
        raise InputError(f"{root}: no such file or folder")
    if path.suffix != SUFFIX:
        raise InputError(f"{root}: not a {SUFFIX} file")
    return {test_name(path, _root_of(path)): path}


def file_at(path: Path) -> Path | None:
    """The file, or the generated test with this place."""
    return path if path.is_file() else generated_in(path.parent).get(Path(path.name))


def generated_in(folder: Path) -> dict[Path, Path]:
    """Place in the folder -> file, of the generated tests in a folder of the bundled suite."""
    here = folder.resolve()
    if here != BUNDLED and BUNDLED not in here.parents:
        return {}
    prefix = "" if here == BUNDLED else f"{here.relative_to(BUNDLED).as_posix()}/"
    return {
        Path(place.removeprefix(prefix)): path
        for place, path in generated_tests().items()
        if place.startswith(prefix)
    }


def _root_of(path: Path) -> Path:
    """The root that names a file's test: the folder called `tests` above it, if there is one, or
    the one that contains `spec`.
    """
    parents = path.absolute().parents
    for parent in parents:
        if parent.name in ("tests", "generated_tests"):
            return parent
    for parent in parents:
        if parent.name == "spec":
            return parent.parent
    return path.parent


def _unique(found: dict[str, Path], name: str, path: Path) -> str:
    if name not in found or found[name] == path:
        return name
    number = 2
    while f"{name}~{number}" in found:
        number += 1
    return f"{name}~{number}"
