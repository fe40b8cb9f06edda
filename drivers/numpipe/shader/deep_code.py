"""Compiles generated text that is nested more deeply than Python's own compiler accepts.

Python rejects 100 levels of indentation, and 20 nested loops. A shader may have both. So the text
is parsed in pieces with few levels, whose trees are joined; and a deeply nested loop becomes a
function, which the loop around it calls.
"""

from __future__ import annotations

import ast
from types import CodeType

_INDENT = 4
_MOST_LEVELS = 64
"""Indentation levels of a piece that is parsed at once."""

_MOST_LOOPS = 16
"""Nested loops in one function."""

_PIECE = "piece_"
"""Prefix of the name that stands for a separately parsed piece of text."""


def compile_text(text: str, name: str) -> CodeType:
    """The code of a text that defines one function, `run`."""
    many_levels = "\n" + " " * (_INDENT * _MOST_LEVELS) in text
    if not many_levels and text.count("while ") <= _MOST_LOOPS:
        return compile(text, name, "exec")
    tree = _Pieces(text.splitlines()).tree()
    (run,) = tree.body
    assert isinstance(run, ast.FunctionDef)
    _make_functions_of_loops(run)
    return compile(ast.fix_missing_locations(tree), name, "exec")


class _Pieces:
    """The text in pieces: lines that are indented too far are a piece of their own."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.levels = [(len(line) - len(line.lstrip(" "))) // _INDENT for line in lines]
        self.found: list[tuple[int, int]] = []  # line ranges still to be parsed

    def tree(self) -> ast.Module:
        whole = self._parse(0, len(self.lines))
        waiting = list(_bodies(whole))
        while waiting:
            body = waiting.pop()
            for at, statement in enumerate(body):
                if _name_of(statement).startswith(_PIECE):
                    start, stop = self.found[int(_name_of(statement).removeprefix(_PIECE))]
                    # The body has nothing else, since only blocks indent text further.
                    piece = self._parse(start, stop)
                    body[at : at + 1] = piece.body
                    waiting += _bodies(piece)
                    break
        return whole

    def _parse(self, start: int, stop: int) -> ast.Module:
        """The tree of some lines, with names in place of pieces that are parsed separately."""
        first = self.levels[start]
        chosen: list[str] = []
        at = start
        while at < stop:
            level = self.levels[at] - first
            if level < _MOST_LEVELS:
                chosen.append(self.lines[at][first * _INDENT :])
                at += 1
                continue
            begin = at
            while at < stop and self.levels[at] - first >= _MOST_LEVELS:
                at += 1
            chosen.append(" " * (_INDENT * level) + f"{_PIECE}{len(self.found)}")
            chosen += [""] * (at - begin - 1)
            self.found.append((begin, at))
        tree = ast.parse("\n".join(chosen))
        return ast.increment_lineno(tree, start) if start else tree


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    """The lists of statements in a tree."""
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                found.append(statements)
    return found


def _name_of(statement: ast.stmt) -> str:
    """The name that a statement consists of; empty for other statements."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name):
        return statement.value.id
    return ""


def _make_functions_of_loops(run: ast.FunctionDef) -> None:
    """Turn deeply nested loops into functions that use the variables of `run`."""
    shared: set[str] = set()
    number = 0
    waiting: list[tuple[list[ast.stmt], int]] = [(run.body, 0)]
    while waiting:
        body, loops = waiting.pop()
        for at, statement in enumerate(body):
            inner = loops
            if isinstance(statement, ast.While):
                inner += 1
                if inner > _MOST_LOOPS:
                    inner, number = 1, number + 1
                    names = _stored(statement)
                    shared |= names
                    made, call = _as_function(f"loop_{number}", statement, names)
                    body[at] = ast.If(ast.Constant(True), [made, call], [])
            for name in ("body", "orelse"):
                nested = getattr(statement, name, None)
                if nested:
                    waiting.append((nested, inner))
    if shared:
        bound = {argument.arg for argument in run.args.args}
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in sorted(shared - bound)]
        run.body.insert(0, ast.Assign(targets, ast.Constant(None)))


def _as_function(name: str, loop: ast.While, names: set[str]) -> tuple[ast.stmt, ast.stmt]:
    """A function of that name that runs the loop, and its call."""
    body: list[ast.stmt] = [ast.Nonlocal(sorted(names)), loop] if names else [loop]
    nothing = ast.arguments([], [], None, [], [], None, [])
    made = ast.FunctionDef(name, nothing, body, [], lineno=loop.lineno, col_offset=0)
    return made, ast.Expr(ast.Call(ast.Name(name, ast.Load()), [], []))


def _stored(tree: ast.AST) -> set[str]:
    """The names that code binds."""
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
