"""Probes: a byte of shared memory is set where a stretch of straight code of gallette runs.

A tracer that looks at every line makes the suite five times slower. A stretch of statements runs
as a whole or not at all, so one assignment before it is enough: `Probes.of(tree)` compiles
every module of a tree once more with `PROBES[17] = 1` at the head of each stretch inside a
function, and `runtime/sitecustomize.py` has Python load those. The bytes are a mapped file, which
processes started by a test also write to.

What runs while a module is imported has no probe: it runs in every process, not in a test.
"""

from __future__ import annotations

import ast
import json
import marshal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDERS = ("compiler", "pipe", "drivers", "state_tracker", "piglit_subset", "gallette")
MAY_LEAVE = (ast.Return, ast.Raise, ast.Continue, ast.Break, ast.Yield, ast.YieldFrom)


def sources_of(tree: Path) -> list[str]:
    """gallette's modules, as paths in a tree; no links."""
    listed = subprocess.check_output(
        ["git", "-C", str(tree), "ls-files", "--", *FOLDERS], text=True
    )
    files = sorted(f for f in listed.split("\n") if f.endswith(".py"))
    return [f for f in files if not (tree / f).is_symlink()]


def bind(module: ast.Module, name: str) -> None:
    """Import a name that `runtime/sitecustomize.py` provides, where other imports may begin."""
    where = _after_preamble(module.body)
    imported = ast.parse(f"from mutants_probes import {name} as __{name.lower()}__").body
    module.body[where:where] = [ast.copy_location(node, module.body[0]) for node in imported]
    ast.fix_missing_locations(module)


def compile_into(folder: Path, tree: Path, modules: dict[str, ast.Module]) -> None:
    """Leave changed modules of a tree, and the index by which Python is given them."""
    folder.mkdir(parents=True, exist_ok=True)
    index = {}
    for number, (path, module) in enumerate(modules.items()):
        imported = str(tree / (path if path.startswith("gallette/") else f"gallette/{path}"))
        index[imported] = str(folder / str(number))
        code = compile(module, imported, "exec", dont_inherit=True)
        Path(index[imported]).write_bytes(marshal.dumps(code))
    (folder / "index.json").write_text(json.dumps(index))


@dataclass
class Probes:
    """The stretches of a tree, numbered through."""

    count: int = 0
    lines: dict[str, dict[int, int]] = field(default_factory=dict)
    """path -> line -> stretch"""
    names: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    """path -> stretch -> names that are mentioned in it"""

    @classmethod
    def of(cls, tree: Path, folder: Path) -> Probes:
        """Number the stretches of a tree, leave compiled modules and an index in `folder`."""
        probes = cls()
        modules = {}
        for path in sources_of(tree):
            file = _Module(probes.count)
            modules[path] = file.visited((tree / path).read_bytes())
            probes.count = file.next
            probes.lines[path], probes.names[path] = file.lines, file.names
        compile_into(folder, tree, modules)
        (folder / "probes.json").write_text(
            json.dumps({"count": probes.count, "lines": probes.lines, "names": probes.names})
        )
        return probes

    @classmethod
    def read(cls, folder: Path) -> Probes:
        stored = json.loads((folder / "probes.json").read_text())
        probes = cls(stored["count"])
        for path, lines in stored["lines"].items():
            probes.lines[path] = {int(line): probe for line, probe in lines.items()}
        for path, names in stored["names"].items():
            probes.names[path] = {int(probe): words for probe, words in names.items()}
        return probes


class _Module:
    """One module: its tree with probes, and which line belongs to which."""

    def __init__(self, first: int) -> None:
        self.next = first
        self.lines: dict[int, int] = {}
        self.names: dict[int, list[str]] = {}

    def visited(self, source: bytes) -> ast.Module:
        module = ast.parse(source)
        for statement in module.body:
            self._outside(statement)
        bind(module, "PROBES")
        return module

    def _outside(self, statement: ast.stmt) -> None:
        """A statement of a module or class: only functions inside it have stretches."""
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            statement.body = self._stretches(statement.body)
        else:
            for body in _bodies(statement):
                for inner in body:
                    self._outside(inner)

    def _stretches(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements with a probe before each stretch."""
        first = _after_preamble(body)
        found = body[:first]
        probe = -1
        for statement in body[first:]:
            if probe < 0:
                probe = self.next
                self.next += 1
                set_it = ast.parse(f"__probes__[{probe}] = 1").body[0]
                for node in ast.walk(set_it):
                    ast.copy_location(node, statement)
                found.append(set_it)
            found.append(statement)
            self._head(statement, probe)
            bodies = _bodies(statement)
            if bodies and any(isinstance(n, MAY_LEAVE) for n in ast.walk(statement)):
                probe = -1
            for inner in bodies:
                inner[:] = self._stretches(inner)
        return found or body

    def _head(self, statement: ast.stmt, probe: int) -> None:
        """The lines of a statement without those of the bodies in it, and its names."""
        inside = [s for body in _bodies(statement) for s in body]
        assert statement.end_lineno is not None
        last = min([s.lineno - 1 for s in inside], default=statement.end_lineno)
        decorators = getattr(statement, "decorator_list", [])
        begin = min([statement.lineno, *(d.lineno for d in decorators)])
        for line in range(begin, max(last, begin) + 1):
            self.lines.setdefault(line, probe)
        words = set(self.names.get(probe, ()))
        skipped = {id(s) for s in inside}
        words.update(_mentioned(statement, skipped))
        self.names[probe] = sorted(words)


def _mentioned(node: ast.AST, skipped: set[int]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if id(child) in skipped:
            continue
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr
        yield from _mentioned(child, skipped)


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement."""
    found = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(statement, "handlers", [])]
    found += [case.body for case in getattr(statement, "cases", [])]
    return [body for body in found if isinstance(body, list) and body]


def _after_preamble(body: list[ast.stmt]) -> int:
    """Where other statements may begin: behind a docstring and `from __future__`."""
    where = 0
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        where = 1
    while where < len(body):
        statement = body[where]
        if not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        where += 1
    return where
