"""Statements."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker, checks_statement, constant_value
from gallette.compiler.glsl.check.conversions import can_convert
from gallette.compiler.glsl.check.functions import function_decl
from gallette.compiler.glsl.check.qualifiers import read_qualifiers
from gallette.compiler.glsl.check.types import precision_statement, resolve_type, sizes_match
from gallette.compiler.glsl.check.variables import declare, declare_variable
from gallette.compiler.glsl.diagnostics import Abort, TooManyErrors
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base


@checks_statement(s.ExprStmt)
def expression_statement(c: Checker, node: s.ExprStmt) -> list[hir.Stmt]:
    return [hir.Evaluate(node.loc, c.expr(node.expr))] if node.expr is not None else []


@checks_statement(s.Declaration)
def declaration_statement(c: Checker, node: s.Declaration) -> list[hir.Stmt]:
    return declare(c, node)


@checks_statement(s.Compound)
def compound_statement(c: Checker, node: s.Compound) -> list[hir.Stmt]:
    c.push_scope()
    body = c.statements(node.body)
    c.pop_scope()
    return [hir.Compound(node.loc, body)]


@checks_statement(s.Case)
def stray_label(c: Checker, node: s.Case) -> list[hir.Stmt]:
    label = "case" if node.value is not None else "default"
    raise c.abort(f"'{label}' outside of a switch", node)


@checks_statement(s.Precision)
def local_precision(c: Checker, node: s.Precision) -> list[hir.Stmt]:
    precision_statement(c, node)
    return []


@checks_statement(s.FunctionDecl)
def local_prototype(c: Checker, node: s.FunctionDecl) -> list[hir.Stmt]:
    function_decl(c, node)
    return []


def loop_body(c: Checker, node: s.Stmt) -> list[hir.Stmt]:
    """The body of a loop whose head may declare variables, in whose scope it is."""
    c.control_depth += 1
    body = c.statements(node.body if isinstance(node, s.Compound) else [node])
    c.control_depth -= 1
    return body


def scoped_body(c: Checker, node: s.Stmt) -> list[hir.Stmt]:
    """A branch or loop body, which is one scope, with or without braces."""
    c.push_scope()
    c.control_depth += 1
    body = c.statements(node.body if isinstance(node, s.Compound) else [node])
    c.control_depth -= 1
    c.pop_scope()
    return body


def boolean_condition(c: Checker, node: s.Expr) -> hir.Expr:
    value = c.expr(node)
    if value.type is not t.BOOL:
        hint = "write 'x != 0'" if value.type.is_scalar and value.type.is_numeric else ""
        if isinstance(node, s.Assign) and node.op == "=":
            hint = "did you mean '=='?"
        raise c.abort(f"the condition is '{value.type}', not bool", node, hint)
    return value


@checks_statement(s.If)
def if_statement(c: Checker, node: s.If) -> list[hir.Stmt]:
    """An if with its else-ifs; functions called only in dead branches need no definition."""
    chain: list[tuple[int, hir.Expr, list[hir.Stmt]]] = []
    calls = c.function.calls if c.function is not None else []
    live: int | None = None  # calls in front of the branches that a true condition makes dead
    branch: s.Stmt | None = node
    while isinstance(branch, s.If):
        try:
            condition: hir.Expr = boolean_condition(c, branch.condition)
        except TooManyErrors:
            raise
        except Abort:
            condition = hir.Const(t.BOOL, branch.loc, branch.end, (True,))
        known = condition.value[0] if isinstance(condition, hir.Const) else None
        before = len(calls)
        chain.append((branch.loc, condition, scoped_body(c, branch.then)))
        if known is False:
            del calls[before:]
        if known is True and live is None:
            live = len(calls)
        branch = branch.otherwise
    otherwise = scoped_body(c, branch) if branch is not None else []
    if live is not None:
        del calls[live:]
    for loc, condition, then in reversed(chain):
        otherwise = [hir.If(loc, condition, then, otherwise)]
    return otherwise


@checks_statement(s.For, s.While, s.DoWhile)
def loop_statement(c: Checker, node: s.For | s.While | s.DoWhile) -> list[hir.Stmt]:
    c.push_scope()
    c.loop_depth += 1
    c.control_depth += 1
    switch_depth, c.switch_depth = c.switch_depth, 0
    init: list[hir.Stmt] = []
    condition: hir.Expr | None = None
    var: hir.Variable | None = None
    step: hir.Expr | None = None
    if isinstance(node, s.For) and node.init is not None:
        init = c.statement(node.init)
    if isinstance(node, s.DoWhile):
        body = scoped_body(c, node.body)
        condition = boolean_condition(c, node.condition)
    else:
        if isinstance(node.condition, s.Declaration):
            condition, var = declared_condition(c, node.condition)
        elif node.condition is not None:
            condition = boolean_condition(c, node.condition)
        if isinstance(node, s.For) and node.step is not None:
            step = c.expr(node.step)
        body = loop_body(c, node.body)
    c.switch_depth = switch_depth
    c.control_depth -= 1
    c.loop_depth -= 1
    c.pop_scope()
    first = not isinstance(node, s.DoWhile)
    return [hir.Loop(node.loc, init, condition, var, step, body, first)]


def declared_condition(c: Checker, node: s.Declaration) -> tuple[hir.Expr, hir.Variable]:
    assert node.type is not None
    d = node.declarators[0]
    c.check_identifier(d.name, d)
    type_ = resolve_type(c, node.type)
    if type_ is not t.BOOL or d.dims:
        raise c.abort(f"the condition is '{type_}', not bool", node.type)
    assert d.init is not None
    value = c.coerce(c.expr(d.init), type_, f"initializer of '{d.name}'")
    var = hir.Variable(d.name, type_, read_qualifiers(c, node.quals, "local"), d.loc, d.end)
    var.written = True
    declare_variable(c, var, d)
    return value, var


@checks_statement(s.Switch)
def switch_statement(c: Checker, node: s.Switch) -> list[hir.Stmt]:
    selector = c.expr(node.selector)
    if not selector.type.is_scalar or not selector.type.is_integer:
        raise c.abort(f"the selector is '{selector.type}', not an integer", node.selector)
    groups: list[tuple[list[hir.Const], bool, list[hir.Stmt]]] = []
    seen: set[int] = set()
    has_default = False
    c.push_scope()
    c.switch_depth += 1
    c.control_depth += 1
    pending: list[s.Stmt] = []
    labels: list[hir.Const] = []
    is_default = False
    started = False

    def flush() -> None:
        nonlocal labels, is_default, pending
        groups.append((labels, is_default, c.statements(pending)))
        labels, is_default, pending = [], False, []

    for item in node.body:
        if not isinstance(item, s.Case):
            if not started:
                raise c.abort("a switch begins with 'case' or 'default'", item)
            pending.append(item)
            continue
        if pending:
            flush()
        started = True
        if item.value is None:
            if has_default:
                c.error("'default' is repeated", item)
            has_default = is_default = True
            continue
        value = case_value(c, item, selector)
        if value.value[0] in seen:
            c.error(f"case {value.value[0]} is repeated", item)
        seen.add(value.value[0])
        labels.append(value)
    if labels or is_default:
        if not pending:
            c.error("a label must be followed by a statement", node.body[-1])
        flush()
    c.control_depth -= 1
    c.switch_depth -= 1
    c.pop_scope()
    return [hir.Switch(node.loc, selector, groups)]


def case_value(c: Checker, item: s.Case, selector: hir.Expr) -> hir.Const:
    assert item.value is not None
    value = c.expr(item.value)
    constant = constant_value(value)
    if constant is None or not value.type.is_scalar:
        raise c.abort("a case label must be a constant scalar", item.value)
    if value.type is not selector.type:
        if {value.type.base, selector.type.base} <= {Base.INT, Base.UINT}:
            if not (
                can_convert(value.type, selector.type, c.lang)
                or can_convert(selector.type, value.type, c.lang)
            ):
                raise c.abort(
                    f"the label is '{value.type}', the selector '{selector.type}'", item.value
                )
        else:
            raise c.abort(
                f"the label is '{value.type}', the selector '{selector.type}'", item.value
            )
    converted = c.convert(hir.Const(value.type, value.loc, value.end, constant), selector.type)
    assert isinstance(converted, hir.Const)
    return converted


@checks_statement(s.Jump)
def jump_statement(c: Checker, node: s.Jump) -> list[hir.Stmt]:
    kind = node.kind
    if kind == "return":
        return [return_statement(c, node)]
    if kind == "break" and not (c.loop_depth or c.switch_depth):
        raise c.abort("'break' outside of a loop or switch", node)
    if kind == "continue" and not c.loop_depth:
        raise c.abort("'continue' outside of a loop", node)
    if kind in ("discard", "demote"):
        if c.stage != "fragment":
            raise c.abort(f"'{kind}' exists in fragment shaders only", node)
        if c.function is not None:
            c.function.uses.add(kind)
    return [hir.Jump(node.loc, kind)]


def return_statement(c: Checker, node: s.Jump) -> hir.Return:
    assert c.function is not None
    result = c.function.result
    c.returned = True
    if node.value is None:
        if result is not t.VOID:
            raise c.abort(f"'{c.function.name}' must return '{result}'", node)
        return hir.Return(node.loc, None)
    value = c.expr(node.value)
    if result is t.VOID:
        raise c.abort(f"'{c.function.name}' returns nothing", node.value)
    if (
        value.type is not result
        and not c.lang.has("420 ARB_shading_language_420pack EXT_shader_implicit_conversions")
        and not sizes_match(c, result, value.type)
    ):
        raise c.abort(f"'{c.function.name}' returns '{result}', not '{value.type}'", node.value)
    return hir.Return(node.loc, c.coerce(value, result, "return"))
