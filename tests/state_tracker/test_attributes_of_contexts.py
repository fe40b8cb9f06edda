"""Every attribute of a context that the state tracker names is one.

A context answers the name of any OpenGL function, so no type checker notices one that is misspelt.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import gallette
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.functions import FUNCTIONS

HERE = Path(__file__).parents[2] / "state_tracker"
CALLED = {"ctx", "_ctx", "context", "_context"}
"""What a context is called, as a variable or as an attribute."""


def named(text: str) -> Iterator[tuple[int, str]]:
    """Attributes of contexts in a module, and their lines."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Attribute):
            continue
        of = node.value
        if getattr(of, "id", getattr(of, "attr", "")) in CALLED:
            yield node.lineno, node.attr


def test_every_attribute_that_is_named_is_there() -> None:
    functions = {FUNCTIONS[name].method for name in FUNCTIONS}
    wrong, seen = [], 0
    with gallette.create_context("noop") as made:
        assert isinstance(made, Context)
        there = {*object.__dir__(made), *functions}
    for path in sorted(HERE.rglob("*.py")):
        for line, name in named(path.read_text()):
            seen += 1
            if name not in there:
                wrong.append(f"{path.relative_to(HERE)}:{line}: {name}")
    assert not wrong
    assert seen > 1000
