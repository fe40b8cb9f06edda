"""Checks that `writeonly` variables are not read, once the whole shader is known.

Only reads that name such a buffer variable count. Written members, `out` arguments and `.length()`
do not read their operand, but do read the indices in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.lvalues import memory_of


def check_write_only(c: Checker) -> None:
    blocks = [b for b in c.shader.blocks if b.quals.storage == "buffer"]
    if not any("writeonly" in q.memory for b in blocks for q in [b.quals, *b.member_quals]):
        return
    for function in c.shader.functions:
        for expr in _expressions(function.body or ()):
            for read in _reads(expr):
                if "writeonly" in memory_of(c, read) and _is_buffer(read):
                    c.log.error("a writeonly buffer variable is read", read.loc, read.end)


def _expressions(body: Sequence[hir.Stmt]) -> Iterator[hir.Expr]:
    for stmt in body:
        match stmt:
            case hir.Declare():
                parts: list[Any] = [stmt.var.init]
            case hir.Evaluate():
                parts = [stmt.expr]
            case hir.Compound():
                parts = [stmt.body]
            case hir.If():
                parts = [stmt.condition, stmt.then, stmt.otherwise]
            case hir.Loop():
                parts = [stmt.init, stmt.condition, stmt.step, stmt.body]
            case hir.Switch():
                parts = [stmt.selector, *(body for _, _, body in stmt.groups)]
            case hir.Return():
                parts = [stmt.value]
            case _:
                parts = []
        for part in parts:
            if isinstance(part, hir.Expr):
                yield part
            elif part:
                yield from _expressions(part)


def _reads(e: hir.Expr) -> Iterator[hir.Expr]:
    """Access paths of variables whose values an expression reads."""
    stack = [(e, True)]
    while stack:
        x, value = stack.pop()
        match x:
            case hir.VarRef():
                if value:
                    yield x
            case hir.FieldRef() | hir.IndexRef() | hir.Swizzle():
                if value and _is_path(x):
                    yield x
                    value = False  # reported once for the whole path
                stack.append((x.base, value))
                if isinstance(x, hir.IndexRef):
                    stack.append((x.index, True))
            case hir.Length():
                stack.append((x.base, False))
            case hir.Assign():
                stack += [(x.target, bool(x.op)), (x.value, True)]
            case hir.Call():
                for param, arg in zip(x.function.params, x.args, strict=True):
                    stack.append((arg, param.quals.storage != "out"))
            case hir.BuiltinCall():
                for (way, _), arg in zip(x.params, x.args, strict=True):
                    stack.append((arg, way != "out"))
            case _:
                stack += [(inner, True) for inner in hir.children(x)]


def _is_path(e: hir.Expr) -> bool:
    while isinstance(e, (hir.FieldRef, hir.IndexRef, hir.Swizzle)):
        e = e.base
    return isinstance(e, hir.VarRef)


def _is_buffer(e: hir.Expr) -> bool:
    while isinstance(e, (hir.FieldRef, hir.IndexRef, hir.Swizzle)):
        e = e.base
    return isinstance(e, hir.VarRef) and e.var.quals.storage == "buffer"
