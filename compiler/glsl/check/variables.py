"""Declarations of variables, global and local."""

from __future__ import annotations

from gallette.compiler.glsl.availability import ARRAYS, PACK_420
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker, constant_value
from gallette.compiler.glsl.check.declaration_rules import check_declaration, per_vertex_array
from gallette.compiler.glsl.check.layout_values import (
    check_atomic_counter,
    check_image,
    check_layout_use,
    default_counter_offset,
)
from gallette.compiler.glsl.check.per_vertex import size_per_vertex
from gallette.compiler.glsl.check.qualifiers import read_qualifiers
from gallette.compiler.glsl.check.redeclarations import (
    check_in_and_out,
    redeclare_builtin,
    redeclare_variable,
    requalify,
)
from gallette.compiler.glsl.check.stage_layout import default_layout
from gallette.compiler.glsl.check.types import (
    array_of,
    check_inner_sizes,
    check_precision,
    read_initializer,
    resolve_type,
)
from gallette.compiler.glsl.diagnostics import Abort
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.typenames import TYPE_NAMES
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type


def declare(c: Checker, node: s.Declaration) -> list[hir.Stmt]:
    """Check a declaration statement; returns the code that initializes locals."""
    if node.type is None:
        if node.declarators:
            requalify(c, node)
        else:
            default_layout(c, node)
        return []
    top = len(c.scopes) == 1
    plain = plain_global(c, node) if top and node.declarators else None
    if plain is not None and plain in c.memory.declared:
        declare_known(c, node, plain[1])
        return []
    said = len(c.log.diagnostics)
    try:
        type_ = resolve_type(c, node.type)
        quals = read_qualifiers(c, node.quals, "global" if top else "local")
    except Abort:
        for d in node.declarators:
            c.poison(d.name)
        raise
    if not node.declarators:
        if quals.precision:
            check_precision(c, type_, quals, node)
        if type_ is t.ATOMIC_UINT and "offset" in quals.layout:
            default_counter_offset(c, quals, node)
        elif node.type.struct is None:
            c.warn("this declares nothing", node)
        return []
    code: list[hir.Stmt] = []
    for d in node.declarators:
        try:
            code += declare_any(c, d, type_, quals, node)
        except Abort:
            c.poison(d.name)
            if c.log.is_full:
                raise
    if plain is not None and len(c.log.diagnostics) == said:
        c.memory.declared.add(plain)
    return code


def plain_global(c: Checker, node: s.Declaration) -> tuple[str, Type] | None:
    """The qualifier and type of `uniform vec4 x;`, since all checks of it depend on these alone.

    None for other declarations, and in ES. `inout` is an output that is read, so it is not plain.
    """
    words, ref, d = node.quals.words, node.type, node.declarators[0]
    if len(words) > 1 or node.quals.layout or ref is None or ref.dims or ref.struct is not None:
        return None
    if len(node.declarators) > 1 or d.dims or d.init is not None or c.shader.layout or c.lang.es:
        return None
    name = d.name
    if name in c.global_scope or name[:3] == "gl_" or "__" in name:
        return None
    if c.shader.blocks and any(block.name == name for block in c.shader.blocks):
        return None
    word, type_ = words[0][0] if words else "", TYPE_NAMES.get(ref.name)
    return (word, type_) if type_ is not None and word != "inout" else None


def declare_known(c: Checker, node: s.Declaration, type_: Type) -> None:
    """Declare a plain global like an earlier one that passed all checks."""
    d, quals = node.declarators[0], read_qualifiers(c, node.quals, "global")
    var = hir.Variable(d.name, type_, quals, d.loc, d.end, "global")
    var.read_only = quals.storage in ("in", "uniform")
    c.shader.globals.append(var)
    c.global_scope[d.name] = var


def declare_any(
    c: Checker, d: s.Declarator, base: Type, quals: hir.Quals, node: s.Declaration
) -> list[hir.Stmt]:
    type_ = array_of(c, base, d.dims, d)
    if type_.without_array is t.VOID:
        raise c.abort(f"variable '{d.name}' cannot be void", d)
    if d.init is None:
        check_inner_sizes(c, type_, d)
    if d.name.startswith("gl_"):
        redeclare_builtin(c, d, type_, quals)
        return []
    c.check_identifier(d.name, d)
    if c.lang.es and type_.is_unsized_array and d.init is None and not per_vertex_array(c, quals):
        raise c.abort(f"the array '{d.name}' needs a size", d)
    own = hir.copy_quals(quals) if len(node.declarators) > 1 else quals
    var = hir.Variable(d.name, type_, own, d.loc, d.end)
    check_precision(c, type_, own, d)
    if c.at_global_scope:
        var.kind = "global"
        return global_variable(c, var, d)
    return local_variable(c, var, d)


def local_variable(c: Checker, var: hir.Variable, d: s.Declarator) -> list[hir.Stmt]:
    quals = var.quals
    check_declaration(c, "local", quals, var.type, d)
    code: list[hir.Stmt] = []
    value = None
    if d.init is not None:
        value = read_initializer(c, d.init, var.type, f"initializer of '{d.name}'")
        if var.type.is_array:
            var.type = value.type
        if quals.storage == "const":
            constant = constant_value(value)
            if constant is None:
                if not c.lang.has(PACK_420):
                    raise c.abort(
                        f"the initializer of constant '{d.name}' must be constant", d.init
                    )
                var.read_only = True
            var.const_value = constant
        no_array_init(c, var, d)
    elif quals.storage == "const":
        raise c.abort(f"constant '{d.name}' needs an initializer", d)
    new, var = var, declare_variable(c, var, d)
    if var is new:
        code.append(hir.Declare(d.loc, var))
    if value is not None:
        target = hir.VarRef(var.type, d.loc, d.end, var)
        var.written, var.init = True, value
        code.append(hir.Evaluate(d.loc, hir.Assign(var.type, d.loc, d.end, "", target, value)))
    return code


def no_array_init(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    if var.type.is_array:
        c.need(ARRAYS, "initializing arrays", d)


def declare_variable(c: Checker, var: hir.Variable, d: s.Node) -> hir.Variable:
    """The variable, which may have been declared before: a local array that gets its size now."""
    old = c.scopes[-1].get(var.name)
    if (
        isinstance(old, hir.Variable)
        and old.type.is_unsized_array
        and old.type.element is var.type.element
        and old.kind == var.kind == "local"
    ):
        if old.max_index >= var.type.length > 0:
            c.error(f"'{var.name}' has been indexed beyond its size {var.type.length}", d)
        old.type = var.type
        return old
    c.declare(var.name, var, d)
    return var


def global_variable(c: Checker, var: hir.Variable, d: s.Declarator) -> list[hir.Stmt]:
    storage = var.quals.storage
    existing = c.global_scope.get(var.name)
    c.check_block_name(var.name, d)
    if isinstance(existing, hir.Variable) and existing.type is not t.ERROR:
        return redeclare_variable(c, existing, var, d)
    check_global(c, var, d)
    size_per_vertex(c, var, d)
    c.shader.globals.append(var)
    if d.init is not None:
        global_initializer(c, var, d)
    elif storage == "const":
        raise c.abort(f"constant '{d.name}' needs an initializer", d)
    declare_variable(c, var, d)
    check_layout_use(c, var, d)
    return []


def check_global(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    quals, element = var.quals, var.type.without_array
    check_in_and_out(c, quals, d)
    if quals.storage == "inout":
        quals.storage = "out"
        quals.flags.add("framebuffer_fetch")
    check_declaration(c, "global", quals, var.type, d, d.name)
    var.read_only = quals.storage in ("in", "uniform")
    if quals.storage == "uniform":
        if element.is_image:
            check_image(c, var, d)
        if element.base is Base.ATOMIC_UINT:
            check_atomic_counter(c, var, d)


def global_initializer(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    assert d.init is not None
    storage = var.quals.storage
    check_declaration(c, "initialized", var.quals, var.type, d)
    value = read_initializer(c, d.init, var.type, f"initializer of '{d.name}'")
    no_array_init(c, var, d)
    if var.type.is_array:
        var.type = value.type
    constant = constant_value(value)
    if storage in ("const", "uniform"):
        if constant is None:
            raise c.abort(f"the initializer of '{d.name}' must be constant", d.init)
    elif constant is None and c.lang.es:
        raise c.abort(f"global initializers must be constant in {c.lang.name}", d.init)
    if storage == "const":
        var.const_value = constant
    var.init = value
