"""The checker: statements, and `check`, which turns a syntax tree into a checked one.

Its other parts are the base classes: expressions, calls, qualifiers, types, variables, blocks and
functions. Whatever is wrong is reported to the log; checking goes on with the next statement.
"""

from __future__ import annotations

from gallette.compiler.glsl.builtins.limits import Limits
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.base import constant_value
from gallette.compiler.glsl.check.conversions import can_convert
from gallette.compiler.glsl.check.functions import FunctionChecker, find_recursion
from gallette.compiler.glsl.diagnostics import Abort, Log, TooManyErrors
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base

__all__ = ["check"]


class _Checker(FunctionChecker):
    def __init__(self, lang: Language, stage: str, limits: Limits, log: Log) -> None:
        super().__init__(lang, stage, limits, log)
        self.pending_calls = []
        self.counter_offsets = {}
        self.counter_ranges = {}
        self.sized_inputs = []
        self.block_defaults = {}
        self.hidden_builtins = set()
        self.control_depth = 0
        self.returned = False

    def make_builtin(self, name: str) -> object:  # type: ignore[override]
        if name in self.hidden_builtins:
            return None
        return super().make_builtin(name)

    # -- the unit ----------------------------------------------------------------------------

    def unit(self, unit: s.Unit) -> None:
        for node in unit.body:
            self.function = None
            del self.scopes[1:], self.precisions[1:]
            try:
                self.top(node)
            except TooManyErrors:
                raise
            except Abort:
                continue
        found = find_recursion(self.shader.functions)
        if found is not None:
            function, loc, end = found
            self.log.error(
                f"function '{function.name}' calls itself", loc, end, "GLSL has no recursion"
            )
        self.finish()

    def top(self, node: s.Stmt) -> None:
        if isinstance(node, s.Declaration):
            self.declaration(node)
        elif isinstance(node, s.FunctionDecl):
            self.function_decl(node)
        elif isinstance(node, s.BlockDecl):
            self.block(node)
        elif isinstance(node, s.Precision):
            self.precision_statement(node)
        else:
            raise self.abort("expected a declaration", node)

    def finish(self) -> None:
        """Rules that need the whole shader."""
        written = {n for n, v in self.shader.builtins.items() if v.written}
        if self.stage == "fragment":
            user = [v for v in self.shader.globals if v.quals.storage == "out" and v.written]
            if {"gl_FragColor", "gl_FragData"} <= written:
                var = self.shader.builtins["gl_FragData"]
                self.log.error("gl_FragColor and gl_FragData cannot both be written", var.loc)
            for name in ("gl_FragColor", "gl_FragData"):
                if name in written and user and not self.lang.has("EXT_blend_func_extended"):
                    self.log.error(
                        f"{name} and user-defined output '{user[0].name}' cannot both be written",
                        user[0].loc,
                        user[0].end,
                    )
        if {"gl_ClipVertex", "gl_ClipDistance"} <= written:
            self.log.error("gl_ClipVertex and gl_ClipDistance cannot both be written", 0)
        if {"gl_ClipVertex", "gl_CullDistance"} <= written:
            self.log.error("gl_ClipVertex and gl_CullDistance cannot both be written", 0)
        if self.lang.es:
            self.check_es_outputs()

    def check_es_outputs(self) -> None:
        outputs = [
            v for v in self.shader.globals if v.quals.storage == "out" and self.stage == "fragment"
        ]
        missing = [v for v in outputs if "location" not in v.quals.layout]
        if len(outputs) > 1 and missing and not self.lang.has("EXT_blend_func_extended"):
            self.log.error(
                f"output '{missing[0].name}' needs a location: there are several outputs",
                missing[0].loc,
                missing[0].end,
            )

    # -- statements --------------------------------------------------------------------------

    def statements(self, body: list[s.Stmt]) -> list[hir.Stmt]:
        out: list[hir.Stmt] = []
        for node in body:
            depth = len(self.scopes)
            state = self.loop_depth, self.switch_depth, self.control_depth
            try:
                out += self.statement(node)
            except TooManyErrors:
                raise
            except Abort:
                self.quiet = 0
                del self.scopes[depth:], self.precisions[depth:]
                self.loop_depth, self.switch_depth, self.control_depth = state
        return out

    def statement(self, node: s.Stmt) -> list[hir.Stmt]:
        match node:
            case s.ExprStmt():
                if node.expr is None:
                    return []
                return [hir.Evaluate(node.loc, self.expr(node.expr))]
            case s.Declaration():
                return self.declaration(node)
            case s.Compound():
                self.push_scope()
                body = self.statements(node.body)
                self.pop_scope()
                return [hir.Compound(node.loc, body)]
            case s.If():
                return [self.if_statement(node)]
            case s.For() | s.While() | s.DoWhile():
                return [self.loop(node)]
            case s.Switch():
                return [self.switch(node)]
            case s.Jump():
                return [self.jump(node)]
            case s.Case():
                label = "case" if node.value is not None else "default"
                raise self.abort(f"'{label}' outside of a switch", node)
            case s.Precision():
                self.precision_statement(node)
                return []
            case s.FunctionDecl():
                self.function_decl(node)
                return []
        raise self.abort("this cannot stand in a function", node)

    def scoped(self, node: s.Stmt) -> list[hir.Stmt]:
        """A branch or loop body: one scope, whether or not it is written with braces."""
        self.push_scope()
        self.control_depth += 1
        body = self.statements(node.body if isinstance(node, s.Compound) else [node])
        self.control_depth -= 1
        self.pop_scope()
        return body

    def boolean(self, node: s.Expr) -> hir.Expr:
        value = self.expr(node)
        if value.type is not t.BOOL:
            hint = "write 'x != 0'" if value.type.is_scalar and value.type.is_numeric else ""
            if isinstance(node, s.Assign) and node.op == "=":
                hint = "did you mean '=='?"
            raise self.abort(f"the condition is '{value.type}', not bool", node, hint)
        return value

    def if_statement(self, node: s.If) -> hir.If:
        try:
            condition: hir.Expr = self.boolean(node.condition)
        except TooManyErrors:
            raise
        except Abort:
            condition = hir.Const(t.BOOL, node.loc, node.end, (True,))
        known = condition.value[0] if isinstance(condition, hir.Const) else None
        then = self.branch(node.then, known is False)
        otherwise = []
        if node.otherwise is not None:
            otherwise = self.branch(node.otherwise, known is True)
        return hir.If(node.loc, condition, then, otherwise)

    def branch(self, node: s.Stmt, dead: bool) -> list[hir.Stmt]:
        """A branch of an if; calls in one that can never run need no definition."""
        if not dead or self.function is None:
            return self.scoped(node)
        calls = len(self.function.calls)
        body = self.scoped(node)
        del self.function.calls[calls:]
        return body

    def loop(self, node: s.For | s.While | s.DoWhile) -> hir.Loop:
        self.push_scope()
        self.loop_depth += 1
        self.control_depth += 1
        switch_depth, self.switch_depth = self.switch_depth, 0
        init: list[hir.Stmt] = []
        condition: hir.Expr | None = None
        var: hir.Variable | None = None
        step: hir.Expr | None = None
        if isinstance(node, s.For) and node.init is not None:
            init = self.statement(node.init)
        if isinstance(node, s.DoWhile):
            body = self.scoped(node.body)
            condition = self.boolean(node.condition)
        else:
            if isinstance(node.condition, s.Declaration):
                condition, var = self.declared_condition(node.condition)
            elif node.condition is not None:
                condition = self.boolean(node.condition)
            if isinstance(node, s.For) and node.step is not None:
                step = self.expr(node.step)
            body = self.scoped(node.body)
        self.switch_depth = switch_depth
        self.control_depth -= 1
        self.loop_depth -= 1
        self.pop_scope()
        first = not isinstance(node, s.DoWhile)
        return hir.Loop(node.loc, init, condition, var, step, body, first)

    def declared_condition(self, node: s.Declaration) -> tuple[hir.Expr, hir.Variable]:
        assert node.type is not None
        d = node.declarators[0]
        type_ = self.resolve_type(node.type)
        if type_ is not t.BOOL or d.dims:
            raise self.abort(f"the condition is '{type_}', not bool", node.type)
        assert d.init is not None
        value = self.coerce(self.expr(d.init), type_, f"initializer of '{d.name}'")
        var = hir.Variable(d.name, type_, self.qualifiers(node.quals), d.loc, d.end)
        var.written = True
        self.declare_variable(var, d)
        return value, var

    def switch(self, node: s.Switch) -> hir.Switch:
        selector = self.expr(node.selector)
        if not selector.type.is_scalar or not selector.type.is_integer:
            raise self.abort(f"the selector is '{selector.type}', not an integer", node.selector)
        groups: list[tuple[list[hir.Const], bool, list[hir.Stmt]]] = []
        seen: set[int] = set()
        has_default = False
        self.push_scope()
        self.switch_depth += 1
        self.control_depth += 1
        pending: list[s.Stmt] = []
        labels: list[hir.Const] = []
        is_default = False
        started = False

        def flush() -> None:
            nonlocal labels, is_default, pending
            groups.append((labels, is_default, self.statements(pending)))
            labels, is_default, pending = [], False, []

        for item in node.body:
            if not isinstance(item, s.Case):
                if not started:
                    raise self.abort("a switch begins with 'case' or 'default'", item)
                pending.append(item)
                continue
            if pending:
                flush()
            started = True
            if item.value is None:
                if has_default:
                    self.error("'default' is repeated", item)
                has_default = is_default = True
                continue
            value = self.case_value(item, selector)
            if value.value[0] in seen:
                self.error(f"case {value.value[0]} is repeated", item)
            seen.add(value.value[0])
            labels.append(value)
        if labels or is_default:
            if not pending and self.lang.es and self.lang.version >= 300:
                self.error("a label must be followed by a statement", node.body[-1])
            flush()
        self.control_depth -= 1
        self.switch_depth -= 1
        self.pop_scope()
        return hir.Switch(node.loc, selector, groups)

    def case_value(self, item: s.Case, selector: hir.Expr) -> hir.Const:
        assert item.value is not None
        value = self.expr(item.value)
        constant = constant_value(value)
        if constant is None or not value.type.is_scalar:
            raise self.abort("a case label must be a constant scalar", item.value)
        if value.type is not selector.type:
            if {value.type.base, selector.type.base} <= {Base.INT, Base.UINT}:
                if not (
                    can_convert(value.type, selector.type, self.lang)
                    or can_convert(selector.type, value.type, self.lang)
                ):
                    raise self.abort(
                        f"the label is '{value.type}', the selector '{selector.type}'", item.value
                    )
            else:
                raise self.abort(
                    f"the label is '{value.type}', the selector '{selector.type}'", item.value
                )
        converted = self.convert(
            hir.Const(value.type, value.loc, value.end, constant), selector.type
        )
        assert isinstance(converted, hir.Const)
        return converted

    def jump(self, node: s.Jump) -> hir.Stmt:
        kind = node.kind
        if kind == "return":
            return self.return_statement(node)
        if kind == "break" and not (self.loop_depth or self.switch_depth):
            raise self.abort("'break' outside of a loop or switch", node)
        if kind == "continue" and not self.loop_depth:
            raise self.abort("'continue' outside of a loop", node)
        if kind in ("discard", "demote"):
            if self.stage != "fragment":
                raise self.abort(f"'{kind}' exists in fragment shaders only", node)
            if self.function is not None:
                self.function.uses.add(kind)
        return hir.Jump(node.loc, kind)

    def return_statement(self, node: s.Jump) -> hir.Return:
        assert self.function is not None
        result = self.function.result
        self.returned = True
        if node.value is None:
            if result is not t.VOID:
                raise self.abort(f"'{self.function.name}' must return '{result}'", node)
            return hir.Return(node.loc, None)
        value = self.expr(node.value)
        if result is t.VOID:
            if value.type is t.VOID and not self.lang.es and self.lang.has("420"):
                return hir.Return(node.loc, value)
            raise self.abort(f"'{self.function.name}' returns nothing", node.value)
        if (
            value.type is not result
            and not self.lang.has(
                "420 ARB_shading_language_420pack EXT_shader_implicit_conversions"
            )
            and not self.sizes_match(result, value.type)
        ):
            raise self.abort(
                f"'{self.function.name}' returns '{result}', not '{value.type}'", node.value
            )
        return hir.Return(node.loc, self.coerce(value, result, "return"))


def check(unit: s.Unit, lang: Language, limits: Limits, log: Log) -> hir.Shader:
    """Check a whole shader; the result is meaningful only if `log` has no errors."""
    checker = _Checker(lang, lang.stage, limits, log)
    checker.unit(unit)
    return checker.shader
