"""Names, literals and operators."""

from __future__ import annotations

from gallette.compiler.glsl.availability import ARRAYS, INTEGERS
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker, FunctionSet, checks, constant_value
from gallette.compiler.glsl.check.conversions import (
    can_convert,
    common_base,
    operator_type,
    shape_with,
)
from gallette.compiler.glsl.check.lvalues import _BITWISE, step_expr, warn_uninitialized
from gallette.compiler.glsl.diagnostics import Abort
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type

_LITERALS = {
    "int": t.INT,
    "uint": t.UINT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "bool": t.BOOL,
    "int64_t": t.INT64,
    "uint64_t": t.UINT64,
}


@checks(s.Literal)
def literal_expr(c: Checker, node: s.Literal) -> hir.Expr:
    return hir.Const(_LITERALS[node.kind], node.loc, node.end, (node.value,))


@checks(s.Name)
def name_expr(c: Checker, node: s.Name) -> hir.Expr:
    symbol = c.find(node.name)
    if isinstance(symbol, hir.Variable):
        if symbol.type is t.ERROR:
            raise Abort
        c.use(symbol)
        if symbol.kind == "local" and not symbol.written and not c.quiet:
            warn_uninitialized(c, symbol, node)
        value = symbol.const_value
        if value is not None and not symbol.type.is_aggregate:
            return hir.Const(symbol.type, node.loc, node.end, value)
        if not c.indexing and symbol.quals.storage == "uniform":
            symbol.whole = True
        return hir.VarRef(symbol.type, node.loc, node.end, symbol)
    if isinstance(symbol, FunctionSet):
        raise c.abort(f"function '{node.name}' is used without a call", node)
    if isinstance(symbol, Type):
        raise c.abort(f"type '{node.name}' is used as a value", node)
    hint = c.suggest(node.name)
    if node.name.startswith("gl_"):
        raise c.abort(
            f"'{node.name}' is not a built-in variable of {c.lang.name} "
            f"{c.stage.replace('_', ' ')} shaders",
            node,
            hint,
        )
    raise c.abort(f"'{node.name}' is not declared", node, hint)


@checks(s.InitList)
def init_list_expr(c: Checker, node: s.InitList) -> hir.Expr:
    raise c.abort("an initializer list can only initialize a variable", node)


@checks(s.Unary)
def unary_expr(c: Checker, node: s.Unary) -> hir.Expr:
    operand = c.expr(node.operand)
    op, type_ = node.op, operand.type
    if op in ("++", "--", "p++", "p--"):
        return step_expr(c, node, operand)
    if op == "!":
        if type_ is not t.BOOL:
            raise c.abort(
                f"'!' needs a bool, not '{type_}'",
                node,
                "use not() for vectors" if type_.is_boolean and type_.is_vector else "",
            )
    elif op == "~":
        c.need(INTEGERS, "operator '~'", node)
        if not type_.is_integer:
            raise c.abort(f"'~' needs an integer, not '{type_}'", node)
    elif not type_.is_numeric or type_.is_boolean:
        raise c.abort(f"'{op}' cannot be applied to '{type_}'", node)
    if op == "+":
        return operand
    if isinstance(operand, hir.Const):
        value = c.folding.unary(op, type_, operand.value)
        return hir.Const(type_, node.loc, node.end, value)
    return hir.Unary(type_, node.loc, node.end, op, operand)


@checks(s.Binary)
def binary_expr(c: Checker, node: s.Binary) -> hir.Expr:
    if not isinstance(node.left, s.Binary):
        left = c.expr(node.left)
        return operator_expr(c, node, left, c.expr(node.right))
    # Long chains are left-leaning; a loop along them avoids deep recursion.
    spine = [node]
    while isinstance(spine[-1].left, s.Binary):
        spine.append(spine[-1].left)
    left = c.expr(spine[-1].left)
    for link in reversed(spine):
        left = operator_expr(c, link, left, c.expr(link.right))
    return left


def operator_expr(c: Checker, node: s.Binary, left: hir.Expr, right: hir.Expr) -> hir.Expr:
    op = node.op
    if op in ("&&", "||", "^^"):
        return logical_expr(c, node, left, right)
    if op in ("==", "!="):
        return equality_expr(c, node, left, right)
    if op in _BITWISE:
        c.need(INTEGERS, f"operator '{op}'", node)
    return arithmetic_expr(c, op, left, right, node)


def arithmetic_expr(c: Checker, op: str, left: hir.Expr, right: hir.Expr, node: s.Expr) -> hir.Expr:
    key = (op, left.type, right.type)
    found = c.memory.operators.get(key)
    if found is None:
        found = c.memory.operators[key] = operator_type(op, left.type, right.type, c.lang)
    if isinstance(found, str):
        raise c.abort(f"'{left.type} {op} {right.type}' is not possible", node, found)
    result, base_left, base_right = found
    if left.type.base is not base_left:
        left = c.convert(left, shape_with(left.type, base_left))
    if right.type.base is not base_right:
        right = c.convert(right, shape_with(right.type, base_right))
    if isinstance(left, hir.Const) and isinstance(right, hir.Const):
        if op in ("/", "%") and result.is_integer and 0 in right.value:
            c.warn("integer division by zero", node)
        value = c.folding.binary(op, result, left.type, left.value, right.type, right.value)
        return hir.Const(result, node.loc, node.end, value)
    return hir.Binary(result, node.loc, node.end, op, left, right)


def logical_expr(c: Checker, node: s.Binary, left: hir.Expr, right: hir.Expr) -> hir.Expr:
    for side in (left, right):
        if side.type is not t.BOOL:
            raise c.abort(f"'{node.op}' needs bool operands, not '{side.type}'", side)
    if isinstance(left, hir.Const) and isinstance(right, hir.Const):
        a, b = left.value[0], right.value[0]
        value = (a and b) if node.op == "&&" else (a or b) if node.op == "||" else a != b
        return hir.Const(t.BOOL, node.loc, node.end, (value,))
    return hir.Logical(t.BOOL, node.loc, node.end, node.op, left, right)


def equality_expr(c: Checker, node: s.Binary, left: hir.Expr, right: hir.Expr) -> hir.Expr:
    a, b = left.type, right.type
    if a is not b:
        base = common_base(a, b, c.lang) if a.is_numeric and b.is_numeric else None
        if base is None or (a.rows, a.columns) != (b.rows, b.columns):
            raise c.abort(f"'{a} {node.op} {b}' is not possible", node)
        left, right = (
            c.convert(left, shape_with(a, base)),
            c.convert(right, shape_with(b, base)),
        )
    elif a.contains_opaque() or a is t.VOID:
        raise c.abort(f"values of type '{a}' cannot be compared", node)
    elif a.without_array is not a:
        c.need(ARRAYS, "comparing arrays", node)
        if a.is_unsized_array:
            raise c.abort("arrays without a size cannot be compared", node)
    va, vb = constant_value(left), constant_value(right)
    if va is not None and vb is not None:
        same = c.folding.equal(left.type, va, vb)
        return hir.Const(t.BOOL, node.loc, node.end, (same == (node.op == "=="),))
    return hir.Binary(t.BOOL, node.loc, node.end, node.op, left, right)


@checks(s.Conditional)
def conditional_expr(c: Checker, node: s.Conditional) -> hir.Expr:
    condition = c.expr(node.condition)
    if condition.type is not t.BOOL:
        raise c.abort(f"the condition is '{condition.type}', not bool", node.condition)
    then, otherwise = c.expr(node.then), c.expr(node.otherwise)
    a, b = then.type, otherwise.type
    if a is not b:
        if can_convert(a, b, c.lang):
            then = c.convert(then, b)
        elif can_convert(b, a, c.lang):
            otherwise = c.convert(otherwise, a)
        else:
            raise c.abort(f"the branches have different types '{a}' and '{b}'", node)
    type_ = then.type
    if type_.is_array:
        c.need(ARRAYS, "selecting between arrays", node)
    if type_.contains_opaque() and not c.lang.has("ARB_bindless_texture"):
        raise c.abort(f"'?:' cannot select between values of type '{type_}'", node)
    if isinstance(condition, hir.Const):
        chosen = then if condition.value[0] else otherwise
        if constant_value(then) is not None and constant_value(otherwise) is not None:
            value = constant_value(chosen)
            assert value is not None
            return hir.Const(type_, node.loc, node.end, value)
    return hir.Select(type_, node.loc, node.end, condition, then, otherwise)


@checks(s.Comma)
def comma_expr(c: Checker, node: s.Comma) -> hir.Expr:
    items = [c.expr(item) for item in node.items]
    type_ = items[-1].type
    if not c.lang.has("430 es300"):  # since then, it is no constant expression
        values = [constant_value(item) for item in items]
        if values[-1] is not None and None not in values:
            return hir.Const(type_, node.loc, node.end, values[-1])
    return hir.Comma(type_, node.loc, node.end, items)
