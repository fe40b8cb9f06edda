"""What has an element for each vertex: the sizes of its arrays, and redeclaring gl_PerVertex."""

from __future__ import annotations

from dataclasses import replace

from gallette.compiler.glsl.builtins import variables
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.declaration_rules import per_vertex_array
from gallette.compiler.glsl.check.layout_values import check_captured, inherit_defaults
from gallette.compiler.glsl.check.qualifiers import read_qualifiers
from gallette.compiler.glsl.check.redeclarations import check_limit
from gallette.compiler.glsl.check.types import array_of, resolve_type
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Field


def redeclare_per_vertex(c: Checker, node: s.BlockDecl, quals: hir.Quals) -> None:
    """Redeclare the built-in block with fewer members."""
    storage = quals.storage
    known = {f.name: f for f, _ in variables.per_vertex_fields(c.lang)}
    c.need(
        "410 150 ARB_separate_shader_objects es320 EXT_shader_io_blocks OES_shader_io_blocks",
        "redeclaring gl_PerVertex",
        node,
    )
    instance = node.instance.name if node.instance is not None else ""
    expected = {"in": "gl_in", "out": "gl_out" if c.stage == "tess_ctrl" else ""}
    if instance != expected.get(storage, ""):
        raise c.abort("gl_PerVertex is redeclared with the wrong instance name", node)
    if node.instance is not None and len(node.instance.dims) != 1:
        raise c.abort(f"'{instance}' must be an array of one dimension", node.instance)
    inherit_defaults(c, quals)
    buffer = quals.layout.get("xfb_buffer", 0)
    offset = quals.layout.get("xfb_offset", -1)
    fields: list[Field] = []
    for member in node.members:
        assert member.type is not None
        own = read_qualifiers(c, member.quals, "member", storage)
        for d in member.declarators:
            field = known.get(d.name)
            if field is None:
                raise c.abort(f"'{d.name}' is not a member of gl_PerVertex", d)
            if any(f.name == d.name for f in fields):
                raise c.abort(f"member '{d.name}' is repeated", d)
            type_ = array_of(c, resolve_type(c, member.type), d.dims, d)
            if type_ is not field.type and not (
                type_.is_array and field.type.is_array and type_.element is field.type.element
            ):
                raise c.abort(f"'{d.name}' is redeclared with another type", d)
            check_limit(c, d.name, type_, d)
            fields.append(replace(field, type=type_))
            if not instance:
                var = c.find(d.name)
                if isinstance(var, hir.Variable):
                    if type_.length:
                        var.type = type_
                    var.quals.interpolation = own.interpolation or var.quals.interpolation
                    var.quals.invariant = var.quals.invariant or own.invariant
                    offset = capture_member(c, var, own, buffer, offset, d)
                    var.redeclared = True
    check_captured(c, quals.layout, t.struct("gl_PerVertex", fields), buffer, node)
    if node.instance is not None:
        old = c.builtin_scope.get(instance)
        if isinstance(old, hir.Variable) and old.used:
            raise c.abort("gl_PerVertex must be redeclared before its first use", node)
        if isinstance(old, hir.Variable) and old.redeclared:
            raise c.abort("gl_PerVertex is redeclared twice", node)
        if isinstance(old, hir.Variable) and old.block is not None:
            c.shader.blocks.remove(old.block)
        var = c.make_per_vertex(instance, fields, storage)
        var.redeclared = True
        c.builtin_scope[instance] = var
        sized = array_of(c, var.type.without_array, node.instance.dims, node.instance)
        if sized.length:
            var.type = sized
            size_per_vertex(c, var, node.instance)
        return
    names = {f.name for f in fields}
    for name in known:
        var = c.builtin_scope.get(name)
        if isinstance(var, hir.Variable) and var.used:
            raise c.abort("gl_PerVertex must be redeclared before its first use", node)
        if name not in names:
            c.hidden_builtins.add(name)
            c.builtin_scope.pop(name, None)
            c.shader.builtins.pop(name, None)
    if c.per_vertex_redeclared:
        raise c.abort("gl_PerVertex is redeclared twice", node)
    c.per_vertex_redeclared = True
    c.shader.layout["per_vertex_out"] = {f.name: f.type.length for f in fields}


def capture_member(
    c: Checker, var: hir.Variable, own: hir.Quals, buffer: int, offset: int, node: s.Node
) -> int:
    """Apply the qualifiers of a member and of its block; returns the offset of the next member, or
    -1.
    """
    layout = var.quals.layout
    layout.update(own.layout)
    check_captured(c, own.layout, var.type, buffer, node)
    if layout.setdefault("xfb_buffer", buffer) != buffer:
        c.error("a member cannot have another xfb_buffer than its block", node)
    if offset >= 0:
        place = layout.setdefault("xfb_offset", offset)
        return place + 4 * var.type.without_array.components * var.type.array_elements
    return -1


def size_per_vertex(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    """Size geometry inputs and tessellation arrays by the primitive or patch."""
    if not var.type.is_array or not per_vertex_array(c, var.quals):
        return
    if var.quals.legacy == "varying" and c.stage != "geometry":
        return
    element = var.type.element
    assert element is not None
    if c.stage == "geometry" or var.quals.storage == "out":
        if c.stage == "geometry" and var.type.length:
            for other, _ in c.sized_inputs[:1]:
                if other.type.length != var.type.length:
                    c.error(f"'{var.name}' has not as many vertices as '{other.name}'", d)
            c.sized_inputs.append((var, d))
        count = c.shader.layout.get("vertices_in" if c.stage == "geometry" else "vertices_out", 0)
        if count:
            _fit(c, var, count, d)
        return
    limit = c.limits.max_patch_vertices
    if var.type.length and var.type.length != limit:
        c.error(f"'{d.name}' does not have gl_MaxPatchVertices ({limit}) elements", d)
    var.type = t.array(element, limit)


def size_by_vertices(c: Checker, storage: str, count: int, node: s.Node) -> None:
    """Size the inputs or outputs that have an element for each vertex of a primitive or patch, and
    check those that have a size.
    """
    instances = [b.instance for b in c.shader.blocks if b.instance is not None and not b.builtin]
    for var in (*c.shader.globals, *instances, *c.shader.builtins.values()):
        if not var.type.is_array or var.quals.storage != storage or var.quals.patch:
            continue
        if storage == "in" and var.type.length:
            continue  # one of `sized_inputs`, if the shader declares it
        if var.builtin in ("", "block") or (storage == "in" and var.name.endswith("In")):
            _fit(c, var, count, node)
    for var, where in c.sized_inputs:
        _fit(c, var, count, where)


def _fit(c: Checker, var: hir.Variable, count: int, node: s.Node) -> None:
    length, element = var.type.length, var.type.element
    assert element is not None
    if length not in (0, count):
        of = "input primitive" if var.quals.storage == "in" else "output patch"
        c.error(f"'{var.name}' has {length} elements, the {of} {count} vertices", node)
    elif length == 0:
        if var.max_index >= count:
            c.error(f"'{var.name}' has been indexed beyond {count} vertices", node)
        var.type = t.array(element, count)
