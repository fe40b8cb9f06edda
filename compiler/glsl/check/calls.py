"""Calls of user functions, built-in functions and subroutines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gallette.compiler.glsl.builtins.functions import Overload, overloads
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.access import length_call
from gallette.compiler.glsl.check.builtin_rules import check_special, check_texture_offset
from gallette.compiler.glsl.check.constructors import constructor
from gallette.compiler.glsl.check.context import (
    Checker,
    Chosen,
    FunctionSet,
    checks,
    constant_value,
)
from gallette.compiler.glsl.check.lvalues import check_lvalue, warn_uninitialized
from gallette.compiler.glsl.check.overloads import _Params, choose_overload, matches, no_match
from gallette.compiler.glsl.check.types import resolve_type
from gallette.compiler.glsl.diagnostics import Abort
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.laxities import grant
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

_SPECIAL = ("atomic", "image", "inter")


@checks(s.Call)
def call_expr(c: Checker, node: s.Call) -> hir.Expr:
    callee = node.callee
    if isinstance(callee, s.TypeRef):
        return constructor(c, resolve_type(c, callee), node)
    if isinstance(callee, s.Member):
        return length_call(c, node, callee)
    if isinstance(callee, s.Index):
        return call_element(c, node, callee)
    name = callee.name
    symbol = c.find_function(name)
    if isinstance(symbol, Type):
        return constructor(c, symbol, node)
    # Arguments of `out` parameters are not read; which ones they are is not known yet.
    c.quiet += 1
    args = [c.expr(a) for a in node.args]
    c.quiet -= 1
    if isinstance(symbol, hir.Variable):
        if symbol.type is t.ERROR:
            raise Abort
        if symbol.type.without_array.base is Base.SUBROUTINE:
            return call_subroutine(c, symbol, args, node)
        raise c.abort(f"'{name}' is a variable, not a function", callee)
    if symbol is None:
        chosen = called_builtin(c, name, args)
        if isinstance(chosen, Overload):
            return call_builtin(c, chosen, args, node)
        builtins = c.memory.overloads[name]
        former = _former_texture_function(c, name, args, node)
        if former is not None:
            return call_builtin(c, former, args, node)
        raise no_match(c, name, args, node, [], builtins, ambiguous=chosen is not None)
    user = symbol.functions if isinstance(symbol, FunctionSet) else []
    candidates: list[tuple[_Params, object]] = [
        ([(p.quals.storage or "in", p.type) for p in f.params], f) for f in user
    ]
    builtins = ()
    if not user or c.lang.es:
        builtins = overloads(name, c.lang)
        candidates += [(o.params, o) for o in builtins]
    found = choose_overload(c, candidates, args)
    if isinstance(found, hir.Function):
        return call_user(c, found, args, node)
    if isinstance(found, Overload):
        return call_builtin(c, found, args, node)
    raise no_match(c, name, args, node, user, builtins, ambiguous=found is not None)


_OF_ES_1 = frozenset(
    f"{name}{lod}" for name in ("texture2D", "texture2DProj", "textureCube") for lod in ("", "Lod")
)


def _former_texture_function(
    c: Checker, name: str, args: list[hir.Expr], node: s.Call
) -> Overload | None:
    """A texture function of GLSL ES 1.00 in a shader of a later version of ES."""
    if name not in _OF_ES_1 or not c.lang.es or c.lang.version == 100:
        return None
    stage = "vertex" if name.endswith("Lod") else c.stage
    known = overloads(name, Language(100, es=True, compat=False, stage=stage))
    chosen = choose_overload(c, [(o.params, o) for o in known], args)
    if not isinstance(chosen, Overload):
        return None
    message = f"'{name}' is a function of GLSL ES 1.00"
    grant("texture functions", c.lang, c.log, message, node.callee.loc, node.callee.end)
    return chosen


def called_builtin(c: Checker, name: str, args: list[hir.Expr]) -> Chosen:
    """The overload of a built-in function for arguments of these types."""
    memory = c.memory
    key = (name, *[a.type for a in args])
    try:
        return memory.calls[key]
    except KeyError:
        pass
    known = memory.overloads.get(name)
    if known is None:
        known = memory.overloads[name] = overloads(name, c.lang)
    chosen: Any = choose_overload(c, [(o.params, o) for o in known], args)
    memory.calls[key] = chosen
    return chosen  # type: ignore[no-any-return]


def call_element(c: Checker, node: s.Call, callee: s.Index) -> hir.Expr:
    """Check `subroutines[i](...)`, with an index for each dimension of the array."""
    at: s.Expr = callee
    indices: list[hir.Expr] = []
    while isinstance(at, s.Index):
        indices.insert(0, c.expr(at.index))
        at = at.base
    symbol = c.find(at.name) if isinstance(at, s.Name) else None
    if (
        not isinstance(symbol, hir.Variable)
        or symbol.type.without_array.base is not Base.SUBROUTINE
        or any(not i.type.is_scalar or not i.type.is_integer for i in indices)
    ):
        raise c.abort("only an element of an array of subroutines can be called", callee)
    return call_subroutine(c, symbol, [c.expr(a) for a in node.args], node, indices)


def pass_arguments(
    c: Checker, params: _Params, args: list[hir.Expr], node: s.Call, name: str
) -> list[hir.Expr]:
    """Convert `in` arguments, and require l-values for the others."""
    out: list[hir.Expr] = []
    for (direction, type_), arg, written in zip(params, args, node.args, strict=True):
        if direction == "in" and arg.type is type_ and arg.__class__ is not hir.VarRef:
            out.append(arg)
            continue
        if direction in ("out", "inout"):
            check_lvalue(c, arg, written, f"{direction} argument of '{name}'")
            out.append(arg)
        else:
            if isinstance(written, s.Name) and isinstance(arg, hir.VarRef):
                if arg.var.kind == "local" and not arg.var.written:
                    warn_uninitialized(c, arg.var, written)
            if direction == "const" and constant_value(arg) is None:
                raise c.abort(f"this argument of '{name}' must be constant", written)
            same = arg.type is type_ or type_.is_array
            out.append(arg if same else c.convert(arg, type_))
    return out


def call_user(c: Checker, f: hir.Function, args: list[hir.Expr], node: s.Call) -> hir.Expr:
    params = [(p.quals.storage or "in", p.type) for p in f.params]
    values = pass_arguments(c, params, args, node, f.name)
    for param, arg in zip(f.params, args, strict=True):
        check_memory_argument(c, param, arg)
    if c.function is not None:
        c.function.calls.append((f, node.loc, node.end))
    return hir.Call(f.result, node.loc, node.end, f, values)


def check_memory_argument(c: Checker, param: hir.Variable, arg: hir.Expr) -> None:
    """Check that the parameter has the memory qualifiers of the argument."""
    if not param.type.without_array.is_image:
        return
    at = arg
    while isinstance(at, (hir.IndexRef, hir.FieldRef)):
        at = at.base
    if isinstance(at, hir.VarRef):
        lost = at.var.quals.memory - param.quals.memory - {"restrict"}
        if lost:
            raise c.abort(f"argument has '{min(lost)}', the parameter does not", arg)


def call_subroutine(
    c: Checker,
    var: hir.Variable,
    args: list[hir.Expr],
    node: s.Call,
    indices: Sequence[hir.Expr] = (),
) -> hir.Expr:
    c.use(var)
    prototype = c.shader.subroutine_types[var.type.without_array.name]
    params = [(p.quals.storage or "in", p.type) for p in prototype.params]
    if matches(c, params, args) is None:
        raise no_match(c, var.name, args, node, [prototype], (), ambiguous=False)
    values = pass_arguments(c, params, args, node, var.name)
    target: hir.Expr = hir.VarRef(var.type, node.loc, node.end, var)
    for index in indices:
        if target.type.element is None:
            raise c.abort(f"'{var.name}' has fewer dimensions", node)
        target = hir.IndexRef(target.type.element, node.loc, node.end, target, index)
    if target.type.is_array:
        raise c.abort("an array of subroutines is called element by element", node)
    return hir.SubroutineCall(prototype.result, node.loc, node.end, target, prototype, values)


def call_builtin(c: Checker, o: Overload, args: list[hir.Expr], node: s.Call) -> hir.Expr:
    name = o.name
    if o.result is t.VOID or name.startswith(_SPECIAL):
        check_special(c, o, args, node)
    values = pass_arguments(c, o.params, args, node, name)
    if c.function is not None:
        c.function.uses.add(name)
    if name == "ftransform":
        for needed in ("gl_ModelViewProjectionMatrix", "gl_Vertex"):
            var = c.find(needed)
            assert isinstance(var, hir.Variable)
            c.use(var)
    call = hir.BuiltinCall(o.result, node.loc, node.end, name, o.params, values)
    known = []
    for v in values:
        constant = constant_value(v)
        if constant is None:
            break
        known.append(constant)
    else:
        folded = c.folding.builtin(call, known) if known else None
        if folded is not None:
            return hir.Const(o.result, node.loc, node.end, folded)
    if "Offset" in name or name.startswith("textureGather"):
        check_texture_offset(c, o, values, node)
    return call
