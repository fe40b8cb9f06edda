"""Writes: l-values, assignment, ++ and --."""

from __future__ import annotations

from gallette.compiler.glsl.availability import ARRAYS, INTEGERS
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker, checks
from gallette.compiler.glsl.check.conversions import (
    operator_type,
    shape_with,
)
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir.types import Type

_BITWISE = frozenset(("&", "|", "^", "<<", ">>", "%", "~"))


def memory_of(c: Checker, expr: hir.Expr) -> frozenset[str]:
    """The memory qualifiers along an access path."""
    found: frozenset[str] = frozenset()
    while True:
        if isinstance(expr, hir.FieldRef):
            if isinstance(expr.base.type, Type) and expr.base.type.is_interface:
                root: hir.Expr = expr.base
                while isinstance(root, hir.IndexRef):
                    root = root.base
                if isinstance(root, hir.VarRef) and root.var.block is not None:
                    found |= root.var.block.member_quals[expr.index].memory
            expr = expr.base
        elif isinstance(expr, (hir.IndexRef, hir.Swizzle)):
            expr = expr.base
        elif isinstance(expr, hir.VarRef):
            return found | expr.var.quals.memory
        else:
            return found


def warn_uninitialized(c: Checker, var: hir.Variable, node: s.Expr) -> None:
    """Warn once per variable if a local is read before anything has written it."""
    if var.quals.storage == "const" or var.const_value is not None:
        return
    c.warn(f"'{var.name}' is read before it is written", node)
    var.written = True


def step_expr(c: Checker, node: s.Unary, operand: hir.Expr) -> hir.Expr:
    type_ = operand.type
    op = node.op.removeprefix("p")
    if not type_.is_numeric or type_.is_boolean:
        raise c.abort(f"'{op}' cannot be applied to '{type_}'", node)
    check_lvalue(c, operand, node.operand, f"'{op}'")
    return hir.Step(type_, node.loc, node.end, op[0], node.op[0] == "p", operand)


@checks(s.Assign)
def assign_expr(c: Checker, node: s.Assign) -> hir.Expr:
    value = c.expr(node.value)
    c.quiet += node.op == "="
    target = c.expr(node.target)
    c.quiet -= node.op == "="
    check_lvalue(c, target, node.target, "the left side of an assignment")
    type_ = target.type
    op = node.op[:-1]
    if not op:
        if type_.is_array:
            c.need(ARRAYS, "assigning whole arrays", node)
            if type_.is_unsized_array:
                raise c.abort("an array without a size cannot be assigned", node.target)
        value = c.coerce(value, type_, "assignment")
        return hir.Assign(type_, node.loc, node.end, "", target, value)
    if op in _BITWISE:
        c.need(INTEGERS, f"operator '{node.op}'", node)
    found = operator_type(op, type_, value.type, c.lang)
    if isinstance(found, str):
        raise c.abort(f"'{type_} {node.op} {value.type}' is not possible", node, found)
    result, base_left, base_right = found
    if result is not type_ or base_left is not type_.base:
        raise c.abort(
            f"'{type_} {node.op} {value.type}' gives '{result}', which is not '{type_}'", node
        )
    value = c.convert(value, shape_with(value.type, base_right))
    return hir.Assign(type_, node.loc, node.end, op, target, value)


def check_lvalue(c: Checker, expr: hir.Expr, node: s.Expr, how: str) -> None:
    if isinstance(expr, hir.VarRef):
        check_writable(c, expr.var, node, how)
    elif isinstance(expr, (hir.FieldRef, hir.IndexRef)):
        if isinstance(expr, hir.FieldRef) and "readonly" in memory_of(c, expr):
            raise c.abort(f"{how} is readonly", node)
        if isinstance(expr, hir.IndexRef) and c.stage == "tess_ctrl":
            check_own_vertex(c, expr, node, how)
        inner = node.base if isinstance(node, (s.Index, s.Member)) else node
        check_lvalue(c, expr.base, inner, how)
    elif isinstance(expr, hir.Swizzle):
        if not expr.is_place:
            raise c.abort(f"{how} repeats a swizzle component", node)
        check_lvalue(c, expr.base, node.base if isinstance(node, s.Member) else node, how)
    else:
        shown = ""
        root = node
        while isinstance(root, (s.Index, s.Member)):
            root = root.base
        if isinstance(expr, hir.Const) and isinstance(root, s.Name):
            shown = f": '{root.name}' is constant"
        raise c.abort(f"{how} must be a variable{shown}", node)
    if isinstance(expr, hir.VarRef) and expr.type.contains_opaque():
        opaque = expr.type.without_array
        bindless = c.lang.has("ARB_bindless_texture") and (
            opaque.is_sampler or opaque.is_image or opaque.is_struct
        )
        if not bindless or expr.var.quals.storage == "uniform":
            raise c.abort(f"variables of type '{expr.type}' cannot be written", node)


def check_own_vertex(c: Checker, expr: hir.IndexRef, node: s.Expr, how: str) -> None:
    """Check that a tessellation control shader writes only the outputs of its own vertex."""
    base, index = expr.base, expr.index
    if isinstance(base, hir.VarRef) and base.var.kind == "global":
        if base.var.quals.storage == "out" and not base.var.quals.patch:
            own = isinstance(index, hir.VarRef) and index.var.name == "gl_InvocationID"
            if not own:
                raise c.abort(f"{how} must have the index gl_InvocationID", node)


def check_writable(c: Checker, var: hir.Variable, node: s.Expr, how: str) -> None:
    storage = var.quals.storage
    reason = ""
    if storage == "const" or var.const_value is not None:
        reason = "constant"
    elif storage == "uniform":
        reason = "a uniform"
    elif storage == "in" and var.kind != "param":
        reason = "a shader input"
    elif "readonly" in var.quals.memory and storage == "buffer":
        reason = "readonly"
    elif var.kind == "param" and var.read_only:
        reason = "a constant parameter"
    if reason:
        raise c.abort(f"{how} cannot be '{var.name}': it is {reason}", node)
    var.written = var.changed = True
