"""Constructors: scalars, vectors, matrices, arrays and structures from their parts."""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.availability import ARRAYS
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker, constant_value
from gallette.compiler.glsl.check.conversions import construction, shape_with
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

_LITERALS = {Base.FLOAT: "float", Base.INT: "int", Base.UINT: "uint", Base.BOOL: "bool"}


def constructor(c: Checker, type_: Type, node: s.Call) -> hir.Expr:
    if type_.is_vector and len(node.args) == type_.rows:  # the usual case: of literals
        kind = _LITERALS.get(type_.base)
        literals = [a.value for a in node.args if a.__class__ is s.Literal and a.kind == kind]
        if len(literals) == type_.rows:
            return hir.Const(type_, node.loc, node.end, tuple(literals))
    args = [c.expr(a) for a in node.args]
    if type_.is_vector:  # of constants with its own base type
        base = type_.base
        parts: list[Any] = []
        for arg in args:
            if arg.__class__ is not hir.Const or arg.type.base is not base:
                break
            parts += arg.value
        else:
            if len(parts) == type_.rows:
                return hir.Const(type_, node.loc, node.end, tuple(parts))
    if type_.is_array:
        return construct_array(c, type_, args, node)
    if type_.is_struct:
        return construct_struct(c, type_, args, node)
    if not type_.is_numeric:
        opaque = type_.is_sampler or type_.is_image
        if opaque and c.lang.has("ARB_bindless_texture") and len(args) == 1:
            if args[0].type in (t.UVEC2, t.UINT64, type_):
                return hir.Convert(type_, node.loc, node.end, args[0])
        raise c.abort(f"'{type_}' cannot be constructed", node)
    if not args:
        raise c.abort(f"constructor of '{type_}' needs arguments", node)
    if c.lang.has("ARB_bindless_texture") and len(args) == 1:
        handle = args[0].type
        if (handle.is_sampler or handle.is_image) and type_ in (t.UVEC2, t.UINT64):
            return hir.Convert(type_, node.loc, node.end, args[0])
    for arg, written in zip(args, node.args, strict=True):
        if not arg.type.is_numeric:
            raise c.abort(f"'{arg.type}' cannot be used to construct '{type_}'", written)
    return build_numeric(c, type_, args, node)


def build_numeric(c: Checker, type_: Type, args: list[hir.Expr], node: s.Call) -> hir.Expr:
    base = type_.base
    first = args[0].type
    if type_.is_scalar:
        if len(args) > 1:
            raise c.abort(f"constructor of '{type_}' takes one argument", node)
        arg = args[0]
        if not first.is_scalar:
            c.warn(f"'{type_}' takes only the first component of '{first}'", node.args[0])
            arg = first_component(c, arg)
        return relocate(c, c.convert(arg, type_), node)
    if len(args) == 1 and first.is_scalar:
        scalar = c.convert(args[0], t.scalar(base))
        return make_constructed(c, type_, [scalar], node)
    if len(args) == 1 and type_.is_matrix and first.is_matrix:
        c.need("120 es100", "constructing a matrix from a matrix", node)
        return make_constructed(c, type_, [c.convert(args[0], shape_with(first, base))], node)
    if type_.is_matrix and any(a.type.is_matrix for a in args):
        raise c.abort(f"'{type_}' cannot be made of a matrix and other arguments", node)
    wanted, given = type_.components, 0
    for arg, written in zip(args, node.args, strict=True):
        if given >= wanted:
            raise c.abort(f"too many arguments for '{type_}'", written)
        given += arg.type.components
    if given < wanted:
        raise c.abort(f"'{type_}' needs {wanted} components, {given} given", node)
    if given > wanted and len(args) > 1:  # vec3(v4) is common; vec3(v2, v2) is likely a mistake
        c.warn(f"'{type_}' takes {wanted} of the {given} components", node.args[-1])
    return make_constructed(c, type_, [c.convert(a, shape_with(a.type, base)) for a in args], node)


def first_component(c: Checker, arg: hir.Expr) -> hir.Expr:
    scalar = t.scalar(arg.type.base)
    if isinstance(arg, hir.Const):
        return hir.Const(scalar, arg.loc, arg.end, arg.value[:1])
    if arg.type.is_matrix:
        zero = hir.Const(t.INT, arg.loc, arg.end, (0,))
        arg = hir.IndexRef(arg.type.column_type, arg.loc, arg.end, arg, zero)
    return hir.Swizzle(scalar, arg.loc, arg.end, arg, (0,))


def relocate(c: Checker, expr: hir.Expr, node: s.Expr) -> hir.Expr:
    if isinstance(expr, hir.Const):
        return hir.Const(expr.type, node.loc, node.end, expr.value)
    return expr


def make_constructed(c: Checker, type_: Type, args: list[hir.Expr], node: s.Expr) -> hir.Expr:
    """A constructor expression, folded if all arguments are constant."""
    known = []
    for arg in args:
        value = constant_value(arg)
        if value is None:
            return hir.Construct(type_, node.loc, node.end, args)
        known.append(value)
    return hir.Const(type_, node.loc, node.end, constructed_value(c, type_, args, known))


def constructed_value(
    c: Checker, type_: Type, args: list[hir.Expr], values: list[hir.Value]
) -> hir.Value:
    if type_.is_aggregate:
        return tuple(values)
    sources = construction(type_, [a.type for a in args])
    return tuple(values[x[0]][x[1]] if isinstance(x, tuple) else x for x in sources)


def construct_array(c: Checker, type_: Type, args: list[hir.Expr], node: s.Call) -> hir.Expr:
    c.need(ARRAYS, "an array constructor", node)
    if not args:
        raise c.abort("an array constructor needs arguments", node)
    if type_.length == 0:
        type_ = t.array(type_.element or t.ERROR, len(args))
    if len(args) != type_.length:
        raise c.abort(f"'{type_}' needs {type_.length} elements, {len(args)} given", node)
    element = type_.element
    assert element is not None
    if element.is_unsized_array:
        element = args[0].type
        type_ = t.array(element, len(args))
    values = [c.coerce(a, element, "array element") for a in args]
    return make_constructed(c, type_, values, node)


def construct_struct(c: Checker, type_: Type, args: list[hir.Expr], node: s.Call) -> hir.Expr:
    if len(args) != len(type_.fields):
        raise c.abort(f"'{type_}' has {len(type_.fields)} members, {len(args)} values given", node)
    values = [
        c.coerce(a, f.type, f"member '{f.name}'") for a, f in zip(args, type_.fields, strict=True)
    ]
    return make_constructed(c, type_, values, node)
