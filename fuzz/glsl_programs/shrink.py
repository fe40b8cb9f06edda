"""How a program that shows a defect becomes small.

Statements go, or are replaced by what is inside them; expressions become literals or one of their
own parts; functions, globals and members without a use go. Each candidate is a copy, so a bad one
costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import count
from typing import Any

from fuzz.glsl_programs import syntax as s
from gallette.compiler.reduce import Step, rewriting

__all__ = ["STEPS"]

Given = tuple[s.Program, int]
"""a program, and the seed of its inputs"""


# Each kind of edit is `(program, position) -> done?`: None when there is no such position.


def _drop_functions(program: s.Program, position: int) -> bool | None:
    if position >= len(program.functions) - 1:
        return None
    name = program.functions[position].name
    if any(isinstance(e, s.Call) and e.name == name for e in s.expressions(program)):
        return False
    del program.functions[position]
    return True


def _drop_globals(program: s.Program, position: int) -> bool | None:
    if position >= len(program.globals) + len(program.structs):
        return None
    if position >= len(program.globals):
        struct = program.structs[position - len(program.globals)]
        if struct.base in program.text.replace(f"struct {struct.base} ", "", 1):
            return False
        program.structs.remove(struct)
        return True
    name = program.globals[position].name
    if any(isinstance(e, s.Var) and e.name == name for e in s.expressions(program)):
        return False
    del program.globals[position]
    return True


def _lists(program: s.Program) -> list[list[s.Stmt]]:
    return [body for f in program.functions for body in s.bodies(f)]


def _drop_chunks(program: s.Program, position: int) -> bool | None:
    """Halves, quarters ... single statements, of every list of statements."""
    at = 0
    for body in _lists(program):
        size = len(body)
        while size:
            for start in range(0, len(body), size):
                if at == position:
                    del body[start : start + size]
                    return True
                at += 1
            size //= 2
    return None


def _unwrap(program: s.Program, position: int) -> bool | None:
    """A compound statement becomes what is inside it."""
    at = 0
    for body in _lists(program):
        for i, statement in enumerate(body):
            for inner in list(s.bodies(statement))[:3]:
                if at == position:
                    body[i : i + 1] = inner
                    return True
                at += 1
    return None


def _slots(node: Any) -> Iterator[tuple[Any, Any, s.Expr]]:
    """(container, key, expression) of every expression, outermost first."""
    if isinstance(node, list):
        for i, x in enumerate(node):
            if isinstance(x, s.Expr):
                yield node, i, x
            yield from _slots(x)
    elif isinstance(node, tuple):
        for x in node:
            yield from _slots(x)
    elif isinstance(node, (s.Expr, s.Stmt, s.Function, s.Program)):
        for f in fields(node):
            x = getattr(node, f.name)
            if isinstance(x, s.Expr):
                yield node, f.name, x
            yield from _slots(x)


def _put(container: Any, key: Any, e: s.Expr) -> None:
    if isinstance(container, list):
        container[key] = e
    else:
        setattr(container, key, e)


def simpler(e: s.Expr) -> list[s.Expr]:
    """Expressions of the same type that may stand for this one."""
    out: list[s.Expr] = []
    if not e.type.is_aggregate and e.type != s.VOID:
        for value in (0, 1):
            if not (isinstance(e, (s.Lit, s.Cons)) and _is_plain(e)):
                out.append(literal(e.type, value))
    parts = [x for x in s.expressions(e) if x is not e and x.type == e.type]
    return out + parts[:6]


def _is_plain(e: s.Expr) -> bool:
    if isinstance(e, s.Cons):
        return len(e.args) == 1 and isinstance(e.args[0], s.Lit) and e.args[0].value in (0, 1)
    return isinstance(e, s.Lit) and e.value in (0, 1)


def literal(type_: s.Type, value: int) -> s.Expr:
    """A constant of any type but aggregates."""
    plain = {"bool": bool(value), "float": float(value)}.get(type_.base, value)
    one = s.Lit(type_.scalar, plain)
    return one if type_.size == 1 else s.Cons(type_, [one])


def _simplify(program: s.Program, position: int) -> bool | None:
    at = 0
    for container, key, e in _slots(program):
        if isinstance(container, (s.Assign, s.Step)) and key == "target":
            continue
        options = simpler(e)
        if position < at + len(options):
            _put(container, key, options[position - at])
            return True
        at += len(options)
    return None


def _step(edit: Callable[[s.Program, int], bool | None]) -> Step[Given]:
    """Candidates are what an edit makes of copies, at one position after the other."""

    def candidates(given: Given) -> Iterator[Given]:
        for position in count():
            candidate = given[0].clone()
            outcome = edit(candidate, position)
            if outcome is None:
                return
            if outcome:
                yield candidate, given[1]

    return rewriting(candidates)


STEPS = tuple(map(_step, (_drop_functions, _drop_chunks, _unwrap, _drop_globals, _simplify)))
