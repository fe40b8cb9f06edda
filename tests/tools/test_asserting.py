"""Every test can fail: it asserts something on every way through it, itself or in what it calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
Function = ast.FunctionDef | ast.AsyncFunctionDef
# Fail by themselves when something is wrong: of libraries, fuzzers' own, and functions in a table.
_FAILING = {"raises", "warns", "fail", "check_call", "exec", "assert_", "survey", "attempt", "[]"}


def _called(node: ast.AST) -> set[str]:
    """Names of everything called below a node."""
    names = set()
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        names.add("assert_" if name.startswith("assert_") else name)
        if isinstance(call.func, ast.Subscript):
            names.add("[]")
    return names


def _asserts(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Assert) for n in ast.walk(node))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below a node, and what handles exceptions: not the expressions in them."""
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        below = getattr(node, part, None)
        for statement in below if isinstance(below, list) else ():
            yield statement
            yield from _statements(statement)


def _functions() -> dict[str, list[tuple[Path, Function]]]:
    found: dict[str, list[tuple[Path, Function]]] = {}
    for path in sorted(TESTS.rglob("*.py")):
        for node in _statements(ast.parse(path.read_bytes())):
            if isinstance(node, Function):
                found.setdefault(node.name, []).append((path, node))
    return found


def _asserting(functions: dict[str, list[tuple[Path, Function]]]) -> set[str]:
    """Names of functions that assert, or call one that does."""
    known = {n for n, made in functions.items() if any(_asserts(f) for _, f in made)} | _FAILING
    calls = {n: set().union(*(_called(f) for _, f in made)) for n, made in functions.items()}
    while more := {n for n, names in calls.items() if n not in known and names & known}:
        known |= more
    return known


def _looks_at_nothing(body: list[ast.stmt], known: set[str]) -> bool:
    """Is there a way through these statements that asserts nothing?"""
    for statement in body:
        if isinstance(statement, ast.If):
            ways = (statement.body, statement.orelse)
            if not any(_looks_at_nothing(way, known) for way in ways):
                return False
            continue
        if _asserts(statement) or _called(statement) & known:
            return False
        if isinstance(statement, ast.Raise):
            return False
    return True


def test_every_test_asserts_something() -> None:
    functions = _functions()
    known = _asserting(functions)
    found = [
        f"{path.relative_to(TESTS)}:{node.lineno} {node.name}"
        for name, made in functions.items()
        if name.startswith("test_")
        for path, node in made
        if path.name.startswith("test_") and _looks_at_nothing(node.body, known)
    ]
    assert found == []


def test_no_error_is_swallowed_without_a_word() -> None:
    """`except ...: pass` says why, in a comment."""
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text()
        if not re.search(r"^\s+except\b", text, re.M):
            continue
        lines = text.splitlines()
        for node in _statements(ast.parse(text)):
            if isinstance(node, ast.ExceptHandler) and isinstance(node.body[-1], ast.Pass):
                if not any("#" in line for line in lines[node.lineno - 2 : node.body[-1].lineno]):
                    found.append(f"{path.relative_to(TESTS)}:{node.lineno}")
    assert found == []


def test_this_test_can_fail() -> None:
    nothing = "def test_a():\n    if x:\n        assert y\n    z()\n"
    something = "def test_b():\n    if x:\n        assert y\n    else:\n        check(z)\n"
    for text, empty in ((nothing, True), (something, False)):
        function = ast.parse(text).body[0]
        assert isinstance(function, ast.FunctionDef)
        assert _looks_at_nothing(function.body, {"check"}) is empty
