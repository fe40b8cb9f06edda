"""The state of one check, and what all rules use: messages, scopes, conversions.

The rules are functions `rule(c, node)` in the other modules of this package, with the `Checker` as
`c`. The rule of a kind of syntax node is registered with `@checks(...)`; `c.expr(node)` and
`c.statements(nodes)` find it by the node's type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from gallette.compiler.function_table import FunctionTable
from gallette.compiler.glsl.builtins import variables
from gallette.compiler.glsl.builtins.functions import Overload, builtin_names
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.conversions import can_convert
from gallette.compiler.glsl.diagnostics import Abort, Log, TooManyErrors, did_you_mean
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.parse.syntax import Node
from gallette.compiler.glsl.typenames import TYPE_NAMES
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.link.limits import Limits
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type


@lazy_dataclass(eq=False)
class FunctionSet:
    """All functions of one name, also by signature."""

    functions: list[hir.Function]
    by_key: dict[tuple[Any, ...], hir.Function] = field(default_factory=dict)

    def add(self, function: hir.Function, key: tuple[Any, ...]) -> None:
        self.functions.append(function)
        self.by_key[key] = function


Symbol = hir.Variable | Type | FunctionSet
Chosen = Overload | str | None
"""an overload, None, or a message if several fit"""


class Memory:
    """Caches of typing rules, shared by all shaders of a language and stage."""

    __slots__ = ("broken", "calls", "declared", "operators", "overloads", "qualifiers", "variables")

    def __init__(self) -> None:
        self.overloads: dict[str, tuple[Overload, ...]] = {}
        """name -> the built-in functions of that name"""
        self.calls: dict[tuple[Any, ...], Chosen] = {}
        """(name, types of arguments) -> the chosen overload"""
        self.operators: dict[tuple[str, Type, Type], tuple[Type, Base, Base] | str] = {}
        """the results of `operator_type`"""
        self.broken: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        """kind, type and qualifiers of a declaration -> the rules that it breaks"""
        self.qualifiers: dict[tuple[Any, ...], Any] = {}
        """kind of a declaration and its words -> their record, or a storage qualifier alone"""
        self.declared: set[tuple[str, Type]] = set()
        """(qualifier, type) of global variables that passed all checks without a message"""
        self.variables: dict[str, tuple[Limits, variables.BuiltinVariable | None]] = {}
        """name -> the built-in variable, under some limits"""

    @property
    def size(self) -> int:
        return len(self.calls) + len(self.operators) + len(self.broken)


_MOST_REMEMBERED = 20_000
_memories: dict[tuple[Any, ...], Memory] = {}


def _memory_of(lang: Language) -> Memory:
    key = (*lang.key, lang.stage)
    memory = _memories.get(key)
    if memory is None or memory.size > _MOST_REMEMBERED:
        if len(_memories) >= 256:
            _memories.clear()
        memory = _memories[key] = Memory()
    return memory


def constant_value(expr: hir.Expr) -> hir.Value | None:
    """The value of a constant expression, or None."""
    kind = expr.__class__
    if kind is hir.Const:
        return expr.value  # type: ignore[attr-defined, no-any-return]
    if kind is hir.VarRef:
        return expr.var.const_value  # type: ignore[attr-defined, no-any-return]
    return None


ExprRule = Callable[["Checker", Any], hir.Expr]
StmtRule = Callable[["Checker", Any], list[hir.Stmt]]
_EXPRESSIONS = FunctionTable[type[s.Expr], ExprRule]()
_STATEMENTS = FunctionTable[type[s.Stmt], StmtRule]()
checks, checks_statement = _EXPRESSIONS.entry, _STATEMENTS.entry


class Folding(Protocol):
    """What evaluates constant expressions (`lower.fold`): the front end lowers them for that, which
    the checker does not know how to do.
    """

    def unary(self, op: str, type_: Type, value: hir.Value) -> hir.Value: ...

    def binary(
        self, op: str, result: Type, ta: Type, a: hir.Value, tb: Type, b: hir.Value
    ) -> hir.Value: ...

    def convert(self, source: Type, target: Type, value: hir.Value) -> hir.Value: ...

    def equal(self, type_: Type, a: hir.Value, b: hir.Value) -> bool: ...

    def builtin(self, call: hir.BuiltinCall, values: list[hir.Value]) -> hir.Value | None: ...


class Checker:
    """State of one check: language, log, scopes, the checked shader."""

    def __init__(self, lang: Language, limits: Limits, log: Log, folding: Folding) -> None:
        self.lang = lang
        self.stage = lang.stage
        self.limits = limits
        self.log = log
        self.folding = folding
        self.memory = _memory_of(lang)
        self.shader = hir.Shader(lang.stage)
        self.builtin_scope: dict[str, Symbol] = {}
        self.global_scope: dict[str, Symbol] = {}
        self.scopes: list[dict[str, Symbol]] = [self.global_scope]
        self.function: hir.Function | None = None
        self.precisions: list[dict[str, str]] = [{}]
        self.quiet = 0
        """above 0 while an expression is the target of a write, so that it is not read"""
        self.indexing = False
        """whether the name being checked is the array of a subscript"""
        self.loop_depth = 0
        self.switch_depth = 0
        self.control_depth = 0
        self.returned = False
        """whether the current function has a return statement so far"""
        self.hidden_builtins: set[str] = set()
        """members that a redeclared gl_PerVertex omits"""
        self.per_vertex_redeclared = False
        self.counter_offsets: dict[int, int] = {}
        self.counter_ranges: dict[int, list[tuple[int, int]]] = {}
        self.sized_inputs: list[tuple[hir.Variable, s.Node]] = []
        self.block_defaults: dict[str, set[str]] = {}
        self.anonymous = 0
        """number of structures without a name so far"""

    # -- rules -------------------------------------------------------------------------------

    def expr(self, node: s.Expr) -> hir.Expr:
        """Check any expression."""
        return _EXPRESSIONS[node.__class__](self, node)

    def statements(self, body: list[s.Stmt]) -> list[hir.Stmt]:
        """Check statements; after an error, checking continues with the next one."""
        out: list[hir.Stmt] = []
        depth = len(self.scopes)  # the depth after a statement without an error
        state = self.loop_depth, self.switch_depth, self.control_depth
        for node in body:
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
        """Check one statement; a declaration may become several statements or none."""
        rule = _STATEMENTS.get(node.__class__)
        if rule is None:
            raise self.abort("this cannot stand in a function", node)
        return rule(self, node)

    # -- messages ----------------------------------------------------------------------------

    def abort(self, message: str, node: Node | hir.Expr, hint: str = "") -> Abort:
        return self.log.abort(message, node.loc, node.end, hint)

    def error(self, message: str, node: Node | hir.Expr, hint: str = "") -> None:
        self.log.error(message, node.loc, node.end, hint)

    def warn(self, message: str, node: Node | hir.Expr, hint: str = "") -> None:
        self.log.warning(message, node.loc, node.end, hint)

    def need(self, availability: str, what: str, node: Node | hir.Expr) -> None:
        """Report a feature that this language does not have."""
        if not self.lang.has(availability):
            self.error(
                f"{what} is not available in {self.lang.name}", node, self.where(availability)
            )

    def where(self, availability: str) -> str:
        """`available since GLSL 1.30 or with GL_X`, from an availability string."""
        since, extensions = [], []
        for word in availability.split():
            if "+" in word or "-" in word:
                continue
            if word.isdigit() and not self.lang.es:
                since.append(f"GLSL {int(word) // 100}.{int(word) % 100:02d}")
            elif word.startswith("es") and word[2:].isdigit() and self.lang.es:
                since.append(f"GLSL ES {int(word[2:]) // 100}.{int(word[2:]) % 100:02d}")
            elif word[:1].isupper():
                extensions.append(f"GL_{word}")
        parts = [f"since {x}" for x in since] + [f"with {e}" for e in extensions[:2]]
        return "available " + " or ".join(parts) if parts else ""

    # -- scopes ------------------------------------------------------------------------------

    def push_scope(self) -> None:
        self.scopes.append({})
        self.precisions.append({})

    def pop_scope(self) -> None:
        self.scopes.pop()
        self.precisions.pop()

    @property
    def at_global_scope(self) -> bool:
        return len(self.scopes) == 1

    def find(self, name: str) -> Symbol | None:
        """The symbol of a name, user-declared or built in."""
        for scope in reversed(self.scopes):
            symbol = scope.get(name)
            if symbol is not None:
                return symbol
        symbol = self.builtin_scope.get(name)
        if symbol is None and name.startswith("gl_"):
            symbol = self.make_builtin(name)
            if symbol is not None:
                self.builtin_scope[name] = symbol
        return symbol

    def find_function(self, name: str) -> object:
        """A function or type name; variables hide functions of outer scopes."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def make_builtin(self, name: str) -> Symbol | None:
        if name in self.hidden_builtins:
            return None
        struct = variables.STRUCTS.get(name)
        if struct is not None:
            return struct[0] if self.lang.has(struct[1]) else None
        constant = variables.constant(name, self.lang, self.limits)
        if constant is not None:
            var = hir.Variable(name, constant[0], hir.Quals("const"), kind="global")
            var.const_value = constant[1]
            var.read_only = True
            var.builtin = "const"
            return var
        if name in ("gl_in", "gl_out") and self.has_builtin_block(name):
            return self.builtin_block_instance(name)
        if name == "gl_WorkGroupSize" and self.stage == "compute":
            size = self.shader.layout.get("local_size")
            if size is None:
                return None
            var = hir.Variable(name, t.UVEC3, hir.Quals("const"), kind="global", builtin="const")
            var.const_value = tuple(size)
            return var
        known = self.memory.variables.get(name)
        if known is None or known[0] is not self.limits:
            known = self.limits, variables.lookup(name, self.lang, self.limits)
            self.memory.variables[name] = known
        found = known[1]
        if found is None:
            return None
        var = hir.Variable(name, found.type, hir.Quals(found.storage), kind="global")
        var.builtin = found.slot
        var.quals.patch = found.patch
        var.quals.precision = found.precision
        var.read_only = found.storage in ("in", "uniform", "const")
        if name == "gl_VerticesIn":
            vertices = self.shader.layout.get("vertices_in", 0)
            var.const_value = (vertices,) if vertices else None
        if found.slot in ("frag:SAMPLE_MASK", "sv:SAMPLE_MASK_IN"):
            var.type = t.array(t.INT, (self.limits.max_samples + 31) // 32)
        if found.type.is_array and self.stage == "geometry" and name.endswith("In"):
            vertices = self.shader.layout.get("vertices_in", 0)
            if vertices and found.type.element is not None:
                var.type = t.array(found.type.element, vertices)
        self.shader.builtins[name] = var
        return var

    def has_builtin_block(self, name: str) -> bool:
        if name == "gl_out":
            return self.stage == "tess_ctrl"
        if self.stage == "geometry":
            return self.lang.has("150 es310")
        return self.stage in ("tess_ctrl", "tess_eval")

    def builtin_block_instance(self, name: str) -> hir.Variable:
        """`gl_in[]` or `gl_out[]` with the members of `gl_PerVertex` in this language."""
        pairs = variables.per_vertex_fields(self.lang)
        return self.make_per_vertex(name, [f for f, _ in pairs], "in" if name == "gl_in" else "out")

    def make_per_vertex(self, name: str, fields: list[t.Field], storage: str) -> hir.Variable:
        interface = t.interface("gl_PerVertex", fields, "")
        length = self.limits.max_patch_vertices if self.stage != "geometry" else 0
        if name == "gl_in" and self.stage == "geometry":
            length = self.shader.layout.get("vertices_in", 0)
        elif name == "gl_out":
            length = self.shader.layout.get("vertices_out", 0)
        type_ = t.array(interface, length)
        var = hir.Variable(name, type_, hir.Quals(storage), kind="global", builtin="block")
        var.read_only = storage == "in"
        block = hir.Block("gl_PerVertex", var.quals, interface, var, name, [], builtin=True)
        block.member_quals = [hir.Quals(storage) for _ in fields]
        var.block = block
        self.shader.blocks.append(block)
        self.shader.builtins[name] = var
        return var

    def declare(self, name: str, symbol: Symbol, node: Node) -> None:
        """Declare a name in the current scope; a conflict is an error."""
        scope = self.scopes[-1]
        if name in scope:
            self.error(f"'{name}' is already declared in this scope", node)
        if scope is self.global_scope:
            self.check_block_name(name, node)
        scope[name] = symbol

    def check_block_name(self, name: str, node: Node) -> None:
        """Reject a global of any kind that is named like a block (section 4.3.9)."""
        if any(block.name == name for block in self.shader.blocks):
            raise self.abort(f"'{name}' is the name of a block", node)

    def poison(self, name: str) -> None:
        """Declare a name after a failed declaration, so that its uses are no further errors."""
        if name and name not in self.scopes[-1]:
            self.scopes[-1][name] = hir.Variable(name, t.ERROR, hir.Quals())

    def check_identifier(self, name: str, node: Node) -> None:
        """Reject names beginning with `gl_`, which are reserved, and warn about `__`."""
        if name.startswith("gl_"):
            raise self.abort(f"names beginning with 'gl_' are reserved: '{name}'", node)
        if len(name) > 1024 and self.lang.has("es300"):
            raise self.abort("a name of more than 1024 characters", node)
        if "__" in name:
            self.warn(f"names containing '__' are reserved: '{name}'", node)

    def suggest(self, name: str, functions: bool = False) -> str:
        def candidates() -> Iterator[str]:
            for scope in self.scopes:
                yield from scope
            if name.startswith("gl_"):
                hidden = self.hidden_builtins
                yield from (n for n in variables.names(self.lang) if n not in hidden)
            if functions:
                yield from builtin_names()
                yield from TYPE_NAMES

        return did_you_mean(name, candidates())

    # -- use of variables --------------------------------------------------------------------

    def use(self, var: hir.Variable) -> None:
        """Record that a variable is used, for active variables and the call graph."""
        var.used = True
        if var.kind == "global" and self.function is not None:
            self.function.globals.add(var)

    # -- conversions -------------------------------------------------------------------------

    def convert(self, expr: hir.Expr, type_: Type) -> hir.Expr:
        """`expr` converted to a type of the same shape, without checking that this is allowed."""
        if expr.type is type_:
            return expr
        if isinstance(expr, hir.Const):
            value = self.folding.convert(expr.type, type_, expr.value)
            return hir.Const(type_, expr.loc, expr.end, value)
        return hir.Convert(type_, expr.loc, expr.end, expr)

    def coerce(self, expr: hir.Expr, type_: Type, what: str) -> hir.Expr:
        """Convert implicitly where the language allows it; otherwise report an error."""
        if expr.type is type_:
            return expr
        if can_convert(expr.type, type_, self.lang):
            return self.convert(expr, type_)
        if (
            type_.is_array
            and expr.type.is_array
            and type_.length == 0
            and expr.type.element is type_.element
        ):
            return expr
        hint = ""
        if expr.type.is_numeric and type_.is_scalar and expr.type.is_scalar:
            hint = f"write {type_}(...) to convert"
        elif expr.type.is_vector and type_.is_numeric and expr.type.base is type_.base:
            if type_.rows < expr.type.rows and not type_.is_matrix:
                hint = f"choose components: .{'xyzw'[: type_.rows]}"
        raise self.abort(f"{what}: cannot convert '{expr.type}' to '{type_}'", expr, hint)

    def integer_constant(self, expr: hir.Expr, what: str) -> int:
        """The value of a constant integral scalar expression."""
        value = constant_value(expr)
        if value is None or not expr.type.is_scalar or expr.type.base not in (Base.INT, Base.UINT):
            raise self.abort(f"{what} must be a constant integer expression", expr)
        return int(value[0])
