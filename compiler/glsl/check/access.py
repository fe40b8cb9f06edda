"""Access to parts of values: members, swizzles, subscripts, `.length()`, with bounds checks."""

from __future__ import annotations

from functools import lru_cache

from gallette.compiler.glsl.availability import (
    ARRAYS,
    BUFFER_BLOCKS,
    GEOMETRY,
    GPU_SHADER5,
    PACK_420,
)
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker, checks, constant_value
from gallette.compiler.glsl.diagnostics import did_you_mean
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

_SWIZZLES = ("xyzw", "rgba", "stpq")


def length_call(c: Checker, node: s.Call, callee: s.Member) -> hir.Expr:
    base = callee.base
    if callee.name != "length":
        raise c.abort(f"there is no method '{callee.name}'", callee, "the only one is length()")
    if node.args:
        raise c.abort("length() takes no arguments", node)
    c.quiet += 1  # `.length()` does not read its operand
    value = c.expr(base)
    c.quiet -= 1
    type_ = value.type
    if type_.is_array:
        c.need(ARRAYS, "length()", callee)
        if type_.length:
            return hir.Const(t.INT, node.loc, node.end, (type_.length,))
        if is_runtime_array(c, value) or is_per_vertex_input(c, value):
            return hir.Length(t.INT, node.loc, node.end, value)
        if c.lang.has(BUFFER_BLOCKS):
            return hir.Length(t.INT, node.loc, node.end, value)
        raise c.abort("length() of an array without a size", callee)
    if type_.is_vector or type_.is_matrix:
        c.need(PACK_420, "length() of vectors", callee)
        return hir.Const(t.INT, node.loc, node.end, (type_.indexed_length(),))
    raise c.abort(f"'{type_}' has no length", callee)


def is_runtime_array(c: Checker, expr: hir.Expr) -> bool:
    """Whether an expression is the unsized array at the end of a storage block."""
    root, member = expr, -1
    if isinstance(expr, hir.VarRef):
        member = expr.var.member
    elif isinstance(expr, hir.FieldRef):
        root, member = expr.base, expr.index
        while isinstance(root, hir.IndexRef):
            root = root.base
    if not isinstance(root, hir.VarRef) or root.var.quals.storage != "buffer":
        return False
    return root.var.block is None or member == len(root.var.block.type.fields) - 1


def is_per_vertex_input(c: Checker, expr: hir.Expr) -> bool:
    """Whether an expression is an array of geometry inputs or tessellation outputs, sized by a
    layout.
    """
    return (
        isinstance(expr, hir.VarRef)
        and expr.var.kind == "global"
        and (
            (c.stage in ("geometry", "tess_ctrl") and expr.var.quals.storage == "in")
            or (c.stage == "tess_ctrl" and expr.var.quals.storage == "out")
            or (c.stage == "tess_eval" and expr.var.quals.storage == "in")
        )
    )


@checks(s.Member)
def member_expr(c: Checker, node: s.Member) -> hir.Expr:
    base = c.expr(node.base)
    type_ = base.type
    if type_.is_struct:
        index = type_.field_index(node.name)
        if index < 0:
            names = [f.name for f in type_.fields]
            raise c.log.abort(
                f"'{type_}' has no member '{node.name}'",
                node.name_loc,
                node.name_loc + len(node.name),
                did_you_mean(node.name, names) or f"members: {', '.join(names[:8])}",
            )
        value = constant_value(base)
        field_type = type_.fields[index].type
        if value is not None:
            return hir.Const(field_type, node.loc, node.end, value[index])
        return hir.FieldRef(field_type, node.loc, node.end, base, index)
    if type_.is_vector or type_.is_scalar:
        return swizzle_expr(c, node, base)
    if type_.is_array and node.name == "length":
        raise c.abort("length is a method", node, "write length()")
    raise c.abort(f"'{type_}' has no members", node)


@lru_cache(maxsize=1024)
def _swizzle(name: str) -> tuple[str, tuple[int, ...]]:
    """The set of letters of a swizzle (empty if it is none), and its components."""
    for letters in _SWIZZLES:
        if all(x in letters for x in name):
            return letters, tuple(letters.index(x) for x in name)
    return "", ()


def swizzle_expr(c: Checker, node: s.Member, base: hir.Expr) -> hir.Expr:
    type_, name = base.type, node.name
    end = node.name_loc + len(name)
    letters, components = _swizzle(name)
    if not letters:
        known = all(any(x in letters for letters in _SWIZZLES) for x in name)
        hint = "a swizzle takes letters of one of xyzw, rgba, stpq" if known else ""
        raise c.log.abort(f"'{type_}' has no member '{name}'", node.name_loc, end, hint)
    if type_.is_scalar:
        c.need(PACK_420, "swizzling a scalar", node)
    if len(name) > 4:
        raise c.log.abort("a swizzle has at most 4 components", node.name_loc, end)
    if max(components) >= type_.rows:
        wrong = next(k for k in components if k >= type_.rows)
        raise c.log.abort(f"'{type_}' has no component '{letters[wrong]}'", node.name_loc, end)
    result = t.vec(type_.base, len(name))
    if isinstance(base, hir.Const):
        value = tuple(base.value[k] for k in components)
        return hir.Const(result, node.loc, node.end, value)
    if isinstance(base, hir.Swizzle) and base.is_place:
        components = tuple(base.components[k] for k in components)
        return hir.Swizzle(result, node.loc, node.end, base.base, components)
    return hir.Swizzle(result, node.loc, node.end, base, components)


@checks(s.Index)
def index_expr(c: Checker, node: s.Index) -> hir.Expr:
    indexing, c.indexing = c.indexing, isinstance(node.base, s.Name)
    base = c.expr(node.base)
    c.indexing = False
    quiet, c.quiet = c.quiet, 0
    index = c.expr(node.index)
    c.quiet, c.indexing = quiet, indexing
    type_ = base.type
    if not (type_.is_array or type_.is_matrix or type_.is_vector):
        raise c.abort(f"'{type_}' cannot be subscripted", node.base)
    if not index.type.is_scalar or index.type.base not in (Base.INT, Base.UINT):
        raise c.abort(f"the index is '{index.type}', not an integer", node.index)
    value = constant_value(index)
    if isinstance(base, hir.VarRef) and type_.length and base.var.quals.storage == "uniform":
        note_element(base.var, value)
    if value is not None:
        check_constant_index(c, base, int(value[0]), node)
        whole = constant_value(base)
        if whole is not None:
            return hir.Const(
                type_.indexed().plain,
                node.loc,
                node.end,
                constant_part(c, type_, whole, int(value[0])),
            )
        if type_.is_vector:
            component = int(value[0])
            whole_vector: hir.Expr = base
            if isinstance(base, hir.Swizzle) and base.is_place:
                whole_vector, component = base.base, base.components[component]
            scalar = t.scalar(type_.base)
            return hir.Swizzle(scalar, node.loc, node.end, whole_vector, (component,))
    else:
        check_dynamic_index(c, base, node)
    result = type_.element if type_.element is not None else type_.indexed()
    return hir.IndexRef(result, node.loc, node.end, base, index)


def constant_part(c: Checker, type_: Type, whole: hir.Value, i: int) -> hir.Value:
    if type_.is_array:
        return tuple(whole[i])
    if type_.is_matrix:
        return whole[i * type_.rows : (i + 1) * type_.rows]
    return whole[i : i + 1]


def check_constant_index(c: Checker, base: hir.Expr, i: int, node: s.Index) -> None:
    length = base.type.indexed_length()
    if i < 0:
        raise c.abort(f"the index {i} is negative", node.index)
    if base.type.is_unsized_array:
        root = base
        if isinstance(root, hir.VarRef):
            root.var.max_index = max(root.var.max_index, i)
            builtin_limit = {
                "gl_TexCoord": c.limits.max_texture_coords,
                "gl_ClipDistance": c.limits.max_clip_distances,
                "gl_CullDistance": c.limits.max_cull_distances,
            }.get(root.var.name if root.var.builtin else "")
            if builtin_limit is not None and i >= builtin_limit:
                raise c.abort(f"the index {i} is out of bounds: at most {builtin_limit}", node)
        elif isinstance(root, hir.FieldRef):
            note_member_index(c, root, i)
    elif i >= length:
        raise c.abort(
            f"the index {i} is out of bounds for '{base.type}'",
            node.index,
            f"valid indices are 0 to {length - 1}",
        )


def note_element(var: hir.Variable, index: hir.Value | None) -> None:
    """Record the highest element used of a uniform array, which is its size if all indices are
    constant.
    """
    if index is None:
        var.whole = True
    else:
        var.max_index = max(var.max_index, int(index[0]))


def note_member_index(c: Checker, ref: hir.FieldRef, i: int) -> None:
    """Record the highest index of an implicitly sized member of a named block."""
    root = ref.base
    while isinstance(root, hir.IndexRef):
        root = root.base
    if isinstance(root, hir.VarRef) and root.var.block is not None:
        quals = root.var.block.member_quals[ref.index]
        quals.max_index = max(quals.max_index, i)


def check_dynamic_index(c: Checker, base: hir.Expr, node: s.Index) -> None:
    type_ = base.type
    element = type_.without_array
    # The layout gives the inputs of geometry shaders their size, and has to come first.
    sized = is_per_vertex_input(c, base) and not (c.stage == "geometry" and c.lang.has(GEOMETRY))
    if type_.is_unsized_array and not (is_runtime_array(c, base) or sized):
        whole = isinstance(base, hir.VarRef) and base.var.builtin == "block"
        if not whole:
            raise c.abort("an array without a size can only be indexed by constants", node)
    if isinstance(base, hir.VarRef):
        base.var.dynamic_index = True
    if not type_.is_array:
        return
    if element.is_sampler and not c.lang.has(
        "110-120 es100-es100 400 ARB_gpu_shader5 es320 EXT_gpu_shader5 OES_gpu_shader5 "
        "ARB_bindless_texture"
    ):
        raise c.abort(f"arrays of samplers need constant indices in {c.lang.name}", node.index)
    if element.is_image and c.lang.es:
        raise c.abort(f"arrays of images need constant indices in {c.lang.name}", node.index)
    if element.is_interface and isinstance(base, hir.VarRef):
        storage = base.var.quals.storage
        if storage == "buffer" and c.lang.es:
            raise c.abort(
                f"arrays of buffer blocks need constant indices in {c.lang.name}", node.index
            )
        if storage in ("uniform", "buffer") and not c.lang.has(GPU_SHADER5):
            raise c.abort(f"arrays of blocks need constant indices in {c.lang.name}", node.index)
    if c.lang.has("es300") and c.stage == "fragment" and isinstance(base, hir.VarRef):
        own = base.var.kind == "global" and base.var.name != "gl_SampleMask"
        if base.var.quals.storage == "out" and own:
            raise c.abort("output arrays need constant indices", node.index)
