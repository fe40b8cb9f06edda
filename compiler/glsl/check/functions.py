"""Functions: prototypes, definitions, subroutines, the ban on recursion."""

from __future__ import annotations

from abc import abstractmethod

from gallette.compiler.glsl.builtins.functions import overloads
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.base import FunctionSet
from gallette.compiler.glsl.check.blocks import BlockChecker
from gallette.compiler.glsl.diagnostics import Abort
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type

__all__ = ["FunctionChecker", "find_recursion"]


def find_recursion(functions: list[hir.Function]) -> tuple[hir.Function, int, int] | None:
    """A call that leads back to its own function, if there is one."""
    done: set[hir.Function] = set()
    for start in functions:
        if start in done:
            continue
        path: list[tuple[hir.Function, int]] = [(start, 0)]
        active = {start}
        while path:
            function, i = path[-1]
            if i >= len(function.calls):
                path.pop()
                active.discard(function)
                done.add(function)
                continue
            path[-1] = (function, i + 1)
            callee, loc, end = function.calls[i]
            if callee in active:
                return callee, loc, end
            if callee not in done:
                active.add(callee)
                path.append((callee, 0))
    return None


class FunctionChecker(BlockChecker):
    """Checks function declarations and enters their bodies."""

    @abstractmethod
    def statements(self, body: list[s.Stmt]) -> list[hir.Stmt]:
        """Check a list of statements."""

    def function_decl(self, node: s.FunctionDecl) -> None:
        if not self.at_global_scope and node.body is not None:
            raise self.abort("functions cannot be defined inside functions", node.type)
        name_node = s.Name(node.name_loc, node.name_loc + len(node.name), node.name)
        if node.name.startswith("gl_"):
            raise self.abort(f"names beginning with 'gl_' are reserved: '{node.name}'", name_node)
        if "__" in node.name:
            self.warn(f"names containing '__' are reserved: '{node.name}'", name_node)
        try:
            function = self.signature(node, name_node)
        except Abort:
            self.check_body_anyway(node)
            raise
        if function.is_subroutine_type:
            self.shader.subroutine_types[node.name] = function
            self.declare(node.name, t.subroutine(node.name), name_node)
            return
        function = self.enter_function(function, node, name_node)
        if node.body is None:
            return
        self.body(function, node)

    def check_body_anyway(self, node: s.FunctionDecl) -> None:
        """After a bad signature: calls of the function are not errors again."""
        self.poison(node.name)

    def signature(self, node: s.FunctionDecl, name_node: s.Node) -> hir.Function:
        result = self.resolve_type(node.type)
        if result.is_array:
            self.need("120 es300", "returning arrays", node.type)
            if result.is_unsized_array:
                raise self.abort("a returned array needs a size", node.type)
        if result.contains_opaque() and not self.lang.has("ARB_bindless_texture"):
            raise self.abort(f"a function cannot return '{result}'", node.type)
        quals = self.qualifiers(node.quals)
        if (
            quals.storage
            or quals.interpolation
            or quals.invariant
            or quals.centroid
            or quals.sample
            or quals.patch
            or quals.memory
            or quals.layout.keys() - {"index"}
        ):
            raise self.abort("a function cannot have this qualifier", node.quals)
        self.check_precision(result, quals, node.type) if result is not t.VOID else None
        params = [self.param(p) for p in node.params]
        function = hir.Function(node.name, result, params, name_node.loc, name_node.end)
        function.precise_result = quals.precise
        if "subroutine" in quals.flags:
            if node.quals.subroutine_types is None:
                if node.body is not None:
                    raise self.abort("a subroutine definition names its types", node.quals)
                function.is_subroutine_type = True
            else:
                self.subroutine(function, node.quals.subroutine_types, quals)
        if node.name == "main":
            if result is not t.VOID:
                raise self.abort("main() must return void", node.type)
            if params:
                raise self.abort("main() takes no parameters", name_node)
        return function

    def subroutine(self, f: hir.Function, types: list[s.Name], quals: hir.Quals) -> None:
        for name in types:
            prototype = self.shader.subroutine_types.get(name.name)
            if prototype is None:
                raise self.abort(f"'{name.name}' is not a subroutine type", name)
            same = prototype.result is f.result and [p.type for p in prototype.params] == [
                p.type for p in f.params
            ]
            if not same:
                raise self.abort(f"the function does not match subroutine type '{name.name}'", name)
            f.subroutine_types.append(name.name)
        if "index" in quals.layout:
            f.subroutine_index = quals.layout["index"]
            if f.subroutine_index >= self.limits.max_subroutines:
                self.error("the subroutine index exceeds the limit", types[0])

    def param(self, p: s.Param) -> hir.Variable:
        type_ = self.array_of(self.resolve_type(p.type), p.dims, p)
        quals = self.qualifiers(p.quals, "", "param")
        storage = quals.storage
        if quals.legacy:
            raise self.abort(f"a parameter cannot be '{quals.legacy}'", p.quals)
        if storage not in ("", "in", "out", "inout", "const"):
            raise self.abort(f"a parameter cannot be '{storage}'", p.quals)
        if quals.interpolation or quals.invariant or quals.centroid or quals.patch or quals.sample:
            raise self.abort("a parameter cannot have this qualifier", p.quals)
        if type_.without_array is t.VOID:
            raise self.abort("a parameter cannot be void", p)
        if type_.is_unsized_array:
            raise self.abort("an array parameter needs a size", p)
        if storage in ("out", "inout"):
            if type_.contains_opaque() and not self.lang.has("ARB_bindless_texture"):
                raise self.abort(f"'{storage}' parameters cannot be of type '{type_}'", p)
            if type_.is_array:
                self.need("120 es100", f"'{storage}' arrays", p)
        if quals.memory and not type_.without_array.is_image:
            self.error("memory qualifiers are for images", p.quals)
        if p.name:
            self.check_identifier(p.name, p)
        self.check_precision(type_, quals, p)
        var = hir.Variable(p.name, type_, quals, p.loc, p.end, "param")
        var.read_only = storage == "const" or "const_in" in quals.flags
        if storage in ("", "const"):
            quals.storage = "in"
        return var

    def enter_function(
        self, new: hir.Function, node: s.FunctionDecl, name_node: s.Node
    ) -> hir.Function:
        """Join with an earlier prototype, or become a new overload."""
        scope = self.global_scope if self.at_global_scope else self.scopes[-1]
        symbol = scope.get(new.name)
        if self.lang.es:
            self.check_builtin_clash(new, name_node)
        if isinstance(symbol, (hir.Variable, Type)):
            if isinstance(symbol, hir.Variable) and symbol.type is t.ERROR:
                raise Abort
            raise self.abort(f"'{new.name}' is already declared", name_node)
        if not isinstance(symbol, FunctionSet):
            symbol = FunctionSet([])
            scope[new.name] = symbol
            outer = self.find_function(new.name) if not self.at_global_scope else None
            if isinstance(outer, FunctionSet) and outer is not symbol:
                for known in outer.functions:
                    symbol.add(known)
        old = symbol.by_key.get(new.key)
        if old is not None:
            if old.result is not new.result:
                raise self.abort(
                    f"'{new.name}' is declared again with another return type", name_node
                )
            for a, b in zip(old.params, new.params, strict=True):
                if a.quals.storage != b.quals.storage:
                    raise self.abort(
                        f"'{new.name}' is declared again with other parameter qualifiers", name_node
                    )
            if node.body is None:
                if self.lang.es and self.lang.version < 300 and old.body is None:
                    raise self.abort(f"prototype of '{new.name}' is repeated", name_node)
                return old
            if old.body is not None:
                raise self.abort(f"'{new}' is already defined", name_node)
            old.params, old.loc, old.end = new.params, new.loc, new.end
            old.precise_result = old.precise_result or new.precise_result
            old.subroutine_types = old.subroutine_types or new.subroutine_types
            return old
        symbol.add(new)
        self.shader.functions.append(new)
        return new

    def check_builtin_clash(self, new: hir.Function, node: s.Node) -> None:
        existing = overloads(new.name, self.lang)
        if not existing:
            return
        if self.lang.version >= 300:
            raise self.abort(f"built-in function '{new.name}' cannot be redeclared", node)
        if any(
            tuple(p for _, p in o.params) == tuple(p.type for p in new.params) for o in existing
        ):
            raise self.abort(f"built-in function '{new.name}' cannot be redefined", node)

    def body(self, function: hir.Function, node: s.FunctionDecl) -> None:
        assert node.body is not None
        self.function = function
        self.returned = False
        self.control_depth = 0
        self.push_scope()
        for var, p in zip(function.params, node.params, strict=True):
            if var.name:
                self.declare(var.name, var, p)
        # The outermost block of a body shares the parameters' scope, except in desktop GLSL,
        # where hiding a parameter by a local is accepted by every compiler but is an error too.
        function.body = []
        function.body = self.statements(node.body.body)
        if function.result is not t.VOID and not self.returned:
            name = node.name
            self.log.error(
                f"'{name}' must return '{function.result}' but has no return statement",
                node.name_loc,
                node.name_loc + len(name),
            )
        self.pop_scope()
        self.function = None
