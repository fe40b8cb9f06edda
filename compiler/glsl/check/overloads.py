"""Overload resolution, and the message if no function or several functions match."""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.glsl.builtins.functions import Overload
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.conversions import can_convert, is_better_conversion
from gallette.compiler.glsl.diagnostics import Abort
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir.types import Type

_Params = Sequence[tuple[str, Type]]


def matches(c: Checker, params: _Params, args: list[hir.Expr]) -> bool | None:
    """True if exact, False with conversions, None if it does not match."""
    if len(params) != len(args):
        return None
    exact = True
    for (direction, type_), arg in zip(params, args, strict=True):
        if arg.type is type_:
            continue
        if (
            type_.is_array
            and type_.length == 0
            and arg.type.is_array
            and arg.type.element is type_.element
        ):
            continue
        exact = False
        forward = direction in ("in", "const", "inout")
        if forward and not can_convert(arg.type, type_, c.lang):
            return None
        if direction in ("out", "inout") and not can_convert(type_, arg.type, c.lang):
            return None
    return exact


def is_better(c: Checker, a: _Params, b: _Params, args: list[hir.Expr]) -> bool:
    """Whether `a` is a better match than `b`: better for some argument, worse for none."""
    better = False
    for (direction, pa), (_, pb), arg in zip(a, b, args, strict=True):
        out = direction == "out"
        to_a = (pa, arg.type) if out else (arg.type, pa)
        to_b = (pb, arg.type) if out else (arg.type, pb)
        if is_better_conversion(to_b, to_a):
            return False
        better = better or is_better_conversion(to_a, to_b)
    return better


def choose_overload(
    c: Checker, candidates: list[tuple[_Params, object]], args: list[hir.Expr]
) -> object | str | None:
    """The chosen candidate, None if none matches, or a message if several do."""
    loose: list[tuple[_Params, object]] = []
    for params, candidate in candidates:
        match = matches(c, params, args)
        if match:
            return candidate
        if match is not None:
            loose.append((params, candidate))
    if not loose:
        return None
    if len(loose) == 1:
        return loose[0][1]
    if c.lang.has(
        "400 ARB_gpu_shader5 ARB_gpu_shader_fp64 MESA_shader_integer_functions "
        "EXT_shader_implicit_conversions ARB_gpu_shader_int64"
    ):
        for params, candidate in loose:
            if all(
                other is candidate or is_better(c, params, other_params, args)
                for other_params, other in loose
            ):
                return candidate
    return "ambiguous"


def no_match(
    c: Checker,
    name: str,
    args: list[hir.Expr],
    node: s.Call,
    user: list[hir.Function],
    builtins: tuple[Overload, ...],
    ambiguous: bool,
) -> Abort:
    shown = f"{name}({', '.join(str(a.type) for a in args)})"
    known: list[hir.Function | Overload] = [*user, *builtins]
    if ambiguous:
        return c.abort(f"call of '{shown}' is ambiguous", node)
    if known:
        by_count = [k for k in known if len(k.params) == len(args)] or known
        given = [a.type for a in args]

        def similarity(candidate: hir.Function | Overload) -> int:
            types = [p.type if isinstance(p, hir.Variable) else p[1] for p in candidate.params]
            return sum(a is b for a, b in zip(types, given, strict=False))

        by_count.sort(key=similarity, reverse=True)
        listed = "; ".join(str(k) for k in by_count[:4])
        more = f"; and {len(by_count) - 4} more" if len(by_count) > 4 else ""
        return c.abort(f"no overload fits '{shown}'", node, f"candidates: {listed}{more}")
    return c.abort(
        f"function '{name}' is not declared", node.callee, c.suggest(name, functions=True)
    )
