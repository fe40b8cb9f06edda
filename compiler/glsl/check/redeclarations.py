"""Redeclarations of built-in variables, and statements that only add a qualifier."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.stage_layout import default_layout
from gallette.compiler.glsl.check.types import sizes_match
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type

__all__ = ["redeclare_builtin", "redeclare_variable", "requalify"]

_REDECLARABLE = frozenset(
    [
        "gl_FragCoord",
        "gl_FragDepth",
        "gl_TexCoord",
        "gl_ClipDistance",
        "gl_CullDistance",
        "gl_FragData",
        "gl_SampleMask",
        "gl_SampleMaskIn",
        "gl_LastFragData",
        "gl_LastFragDepthARM",
        "gl_LastFragStencilARM",
        "gl_FrontColor",
        "gl_BackColor",
        "gl_Color",
        "gl_FrontSecondaryColor",
        "gl_BackSecondaryColor",
        "gl_SecondaryColor",
        "gl_Position",
        "gl_PointSize",
        "gl_ClipVertex",
        "gl_FogFragCoord",
        "gl_Layer",
        "gl_ViewportIndex",
        "gl_ViewportMask",
        "gl_FragColor",
        "gl_PositionIn",
        "gl_ClipDistanceIn",
        "gl_TexCoordIn",
        "gl_FrontColorIn",
        "gl_PointSizeIn",
        "gl_PrimitiveID",
        "gl_TessLevelOuter",
        "gl_TessLevelInner",
        "gl_SecondaryFragDataEXT",
    ]
)
_PER_VERTEX = frozenset(["gl_Position", "gl_PointSize"])
_SEPARATE = "EXT_separate_shader_objects"
_COLORS = frozenset(
    [
        "gl_FrontColor",
        "gl_BackColor",
        "gl_Color",
        "gl_FrontSecondaryColor",
        "gl_BackSecondaryColor",
        "gl_SecondaryColor",
    ]
)


def redeclare_variable(
    c: Checker, old: hir.Variable, new: hir.Variable, d: s.Declarator
) -> list[hir.Stmt]:
    """A second declaration of a global, allowed only to size an array."""
    a, b = old.type, new.type
    if (
        a.is_array
        and b.is_array
        and a.element is b.element
        and a.length == 0
        and (old.quals.storage == new.quals.storage)
    ):
        if b.length and old.max_index >= b.length:
            c.error(f"'{d.name}' has been indexed beyond its size {b.length}", d)
        old.type = b
        return []
    if (
        a is b
        and old.quals.storage == new.quals.storage
        and old.block is None
        and (c.lang.compat and not c.lang.es and a.is_array and d.init is None and (a.length == 0))
    ):
        return []
    raise c.abort(f"'{d.name}' is already declared", d)


def redeclare_builtin(c: Checker, d: s.Declarator, type_: Type, quals: hir.Quals) -> None:
    if not c.at_global_scope:
        raise c.abort(f"names beginning with 'gl_' are reserved: '{d.name}'", d)
    var = c.find(d.name)
    if not isinstance(var, hir.Variable) or d.name not in _REDECLARABLE:
        raise c.abort(f"'{d.name}' cannot be redeclared", d, c.suggest(d.name))
    if d.name in _PER_VERTEX and not c.lang.has(f"desktop es310 {_SEPARATE}"):
        raise c.abort(f"'{d.name}' cannot be redeclared in {c.lang.name}", d)
    if d.init is not None:
        raise c.abort(f"built-in '{d.name}' cannot be initialized", d)
    if quals.storage and quals.storage != var.quals.storage:
        raise c.abort(f"'{d.name}' is redeclared with another storage qualifier", d)
    if var.type is not type_:
        if not (
            type_.is_array
            and var.type.is_array
            and (sizes_match(c, var.type, type_) or sizes_match(c, type_, var.type))
            and (var.type.length == 0 or type_.length == 0 or d.name == "gl_FragData")
        ):
            hint = f"its type is '{var.type}'"
            raise c.abort(f"'{d.name}' is redeclared with another type", d, hint)
        resize_builtin(c, var, type_, d)
    if d.name == "gl_FragCoord":
        flags = frozenset(quals.flags)
        if var.redeclared and frozenset(var.quals.flags) != flags:
            raise c.abort("gl_FragCoord is redeclared with different layout qualifiers", d)
        if var.used and not var.redeclared:
            raise c.abort("gl_FragCoord must be redeclared before its first use", d)
        if not var.redeclared:
            var.declared_implicitly = False
    if d.name == "gl_FragDepth":
        if var.used and not var.redeclared:
            raise c.abort("gl_FragDepth must be redeclared before its first use", d)
        if var.redeclared and var.quals.flags != quals.flags:
            raise c.abort("gl_FragDepth is redeclared with another layout", d)
    if quals.interpolation:
        given = c.stage == "vertex" and var.quals.storage == "in"
        if given or (d.name not in _COLORS and not var.name.startswith("gl_Tex")):
            raise c.abort(f"'{d.name}' cannot be redeclared with interpolation", d)
        var.quals.interpolation = quals.interpolation
    var.quals.flags |= quals.flags
    var.quals.layout.update(quals.layout)
    var.quals.invariant = var.quals.invariant or quals.invariant
    var.quals.precise = var.quals.precise or quals.precise
    var.quals.centroid = var.quals.centroid or quals.centroid
    var.redeclared = True


def resize_builtin(c: Checker, var: hir.Variable, type_: Type, d: s.Node) -> None:
    limit = {
        "gl_TexCoord": c.limits.max_texture_coords,
        "gl_ClipDistance": c.limits.max_clip_distances,
        "gl_CullDistance": c.limits.max_cull_distances,
        "gl_FragData": c.limits.max_draw_buffers,
    }.get(var.name)
    if type_.length:
        if limit is not None and type_.length > limit:
            raise c.abort(f"'{var.name}' has at most {limit} elements", d)
        if var.max_index >= type_.length:
            raise c.abort(f"'{var.name}' has been indexed beyond its size {type_.length}", d)
        var.type = type_
        var.explicit_size = True


def requalify(c: Checker, node: s.Declaration) -> None:
    words = [w for w, _ in node.quals.words]
    if not node.declarators:
        default_layout(c, node)
        return
    if not words or set(words) - {"invariant", "precise"} or node.quals.layout:
        raise c.abort("expected a type in this declaration", node)
    if not c.at_global_scope and "invariant" in words:
        raise c.abort("invariant declarations must be global", node)
    for d in node.declarators:
        var = c.find(d.name)
        if not isinstance(var, hir.Variable) or var.type is t.ERROR:
            if isinstance(var, hir.Variable):
                continue
            raise c.abort(f"'{d.name}' is not declared", d, c.suggest(d.name))
        if "invariant" in words:
            make_invariant(c, var, d)
        if "precise" in words:
            if var.used and not c.lang.es:
                c.error(f"'{d.name}' must be declared precise before it is used", d)
            var.quals.precise = True


def make_invariant(c: Checker, var: hir.Variable, d: s.Node) -> None:
    storage = var.quals.storage
    allowed = storage == "out" or (
        storage == "in" and c.stage != "vertex" and c.lang.has("110-420 es100-es100 compat")
    )
    if var.kind != "global" or not allowed:
        raise c.abort(f"'{var.name}' cannot be invariant: it is not an output", d)
    if var.used and var.written and not c.lang.es:
        c.error(f"'{var.name}' must be declared invariant before it is used", d)
    var.quals.invariant = True
