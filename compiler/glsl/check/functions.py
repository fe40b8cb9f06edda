"""Functions: prototypes, definitions, subroutines, the ban on recursion."""

from __future__ import annotations

from gallette.compiler.glsl.builtins.functions import overloads
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker, FunctionSet
from gallette.compiler.glsl.check.declaration_rules import check_declaration
from gallette.compiler.glsl.check.qualifiers import read_qualifiers
from gallette.compiler.glsl.check.types import array_of, check_precision, resolve_type
from gallette.compiler.glsl.diagnostics import Abort
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type


def function_decl(c: Checker, node: s.FunctionDecl) -> None:
    if not c.at_global_scope and node.body is not None:
        raise c.abort("functions cannot be defined inside functions", node.type)
    name_node = s.Name(node.name_loc, node.name_loc + len(node.name), node.name)
    c.check_identifier(node.name, name_node)
    try:
        if node.name == "main" and is_plain_main(node):
            function = hir.Function("main", t.VOID, [], name_node.loc, name_node.end)
        else:
            function = read_signature(c, node, name_node)
    except Abort:
        check_body_anyway(c, node)
        raise
    if function.is_subroutine_type:
        c.shader.subroutine_types[node.name] = function
        c.declare(node.name, t.subroutine(node.name), name_node)
        return
    function = enter_function(c, function, node, name_node)
    if node.body is None:
        return
    function_body(c, function, node)


def is_plain_main(node: s.FunctionDecl) -> bool:
    """Whether a declaration is `void main()`."""
    ref, quals = node.type, node.quals
    plain = ref.name == "void" and ref.struct is None and not ref.dims
    return plain and not (node.params or quals.words or quals.layout)


def check_body_anyway(c: Checker, node: s.FunctionDecl) -> None:
    """Check the body after an invalid signature, so that calls of the function are no further
    errors.
    """
    c.poison(node.name)


def read_signature(c: Checker, node: s.FunctionDecl, name_node: s.Node) -> hir.Function:
    result = resolve_type(c, node.type)
    check_declaration(c, "result", hir.Quals(), result, node.type)
    quals = read_qualifiers(c, node.quals, "function")
    check_precision(c, result, quals, node.type) if result is not t.VOID else None
    params = [parameter(c, p) for p in node.params]
    function = hir.Function(node.name, result, params, name_node.loc, name_node.end)
    function.precise_result, function.precision = quals.precise, quals.precision
    if "subroutine" in quals.flags:
        if node.quals.subroutine_types is None:
            if node.body is not None:
                raise c.abort("a subroutine definition names its types", node.quals)
            function.is_subroutine_type = True
        else:
            if node.body is None:
                c.error("a function that is a subroutine needs a body", name_node)
            mark_subroutine(c, function, node.quals.subroutine_types, quals)
    if node.name == "main":
        if result is not t.VOID:
            raise c.abort("main() must return void", node.type)
        if params:
            raise c.abort("main() takes no parameters", name_node)
    return function


def mark_subroutine(c: Checker, f: hir.Function, types: list[s.Name], quals: hir.Quals) -> None:
    for name in types:
        prototype = c.shader.subroutine_types.get(name.name)
        if prototype is None:
            raise c.abort(f"'{name.name}' is not a subroutine type", name)
        given, wanted = ([(p.type, p.quals.storage) for p in g.params] for g in (f, prototype))
        if prototype.result is not f.result or given != wanted:
            raise c.abort(f"the function does not match subroutine type '{name.name}'", name)
        f.subroutine_types.append(name.name)
    if "index" in quals.layout:
        f.subroutine_index = quals.layout["index"]


def parameter(c: Checker, p: s.Param) -> hir.Variable:
    type_ = array_of(c, resolve_type(c, p.type), p.dims, p)
    quals = read_qualifiers(c, p.quals, "param")
    check_declaration(c, "param", quals, type_, p)
    if p.name:
        c.check_identifier(p.name, p)
    check_precision(c, type_, quals, p)
    var = hir.Variable(p.name, type_, quals, p.loc, p.end, "param")
    var.read_only = quals.storage == "const" or "const_in" in quals.flags
    if quals.storage in ("", "const"):
        quals.storage = "in"
    return var


def enter_function(
    c: Checker, new: hir.Function, node: s.FunctionDecl, name_node: s.Node
) -> hir.Function:
    """Combine with an earlier prototype, or add a new overload."""
    scope = c.global_scope if c.at_global_scope else c.scopes[-1]
    symbol = scope.get(new.name)
    if c.lang.es:
        check_builtin_clash(c, new, name_node)
    if isinstance(symbol, (hir.Variable, Type)):
        if isinstance(symbol, hir.Variable) and symbol.type is t.ERROR:
            raise Abort
        raise c.abort(f"'{new.name}' is already declared", name_node)
    if not isinstance(symbol, FunctionSet):
        c.check_block_name(new.name, name_node)
        outer = c.find_function(new.name)
        symbol = FunctionSet([])
        scope[new.name] = symbol
        if isinstance(outer, FunctionSet):
            for known in outer.functions:
                symbol.add(known, known.key)
    key = new.key
    old = symbol.by_key.get(key)
    if old is not None:
        if old.result is not new.result:
            raise c.abort(f"'{new.name}' is declared again with another return type", name_node)
        if c.lang.es and old.precision != new.precision:
            raise c.abort(
                f"'{new.name}' is declared again with another precision of its result", name_node
            )
        for a, b in zip(old.params, new.params, strict=True):
            if a.quals.storage != b.quals.storage or a.read_only != b.read_only:
                raise c.abort(
                    f"'{new.name}' is declared again with other parameter qualifiers", name_node
                )
        if node.body is None:
            if c.lang.es and c.lang.version < 300 and old.body is None:
                raise c.abort(f"prototype of '{new.name}' is repeated", name_node)
            return old
        if old.body is not None:
            raise c.abort(f"'{new}' is already defined", name_node)
        old.params, old.loc, old.end = new.params, new.loc, new.end
        old.precise_result = old.precise_result or new.precise_result
        old.subroutine_types = old.subroutine_types or new.subroutine_types
        return old
    symbol.add(new, key)
    c.shader.functions.append(new)
    return new


def check_builtin_clash(c: Checker, new: hir.Function, node: s.Node) -> None:
    existing = overloads(new.name, c.lang)
    if not existing:
        return
    if c.lang.version >= 300:
        raise c.abort(f"built-in function '{new.name}' cannot be redeclared", node)
    if any(tuple(p for _, p in o.params) == tuple(p.type for p in new.params) for o in existing):
        raise c.abort(f"built-in function '{new.name}' cannot be redefined", node)


def function_body(c: Checker, function: hir.Function, node: s.FunctionDecl) -> None:
    assert node.body is not None
    c.function = function
    c.returned = False
    c.control_depth = 0
    c.push_scope()
    for var, p in zip(function.params, node.params, strict=True):
        if var.name:
            c.declare(var.name, var, p)
    # The outermost block of a body shares the parameters' scope, except in desktop GLSL, where
    # every compiler accepts a local that hides a parameter, although it is an error there, too.
    function.body = []
    function.body = c.statements(node.body.body)
    if function.result is not t.VOID and not c.returned:
        name = node.name
        c.log.error(
            f"'{name}' must return '{function.result}' but has no return statement",
            node.name_loc,
            node.name_loc + len(name),
        )
    c.pop_scope()
    c.function = None
