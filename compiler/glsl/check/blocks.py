"""Interface blocks."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.declaration_rules import check_declaration, per_vertex_array
from gallette.compiler.glsl.check.layout_values import (
    check_captured,
    check_component,
    inherit_defaults,
)
from gallette.compiler.glsl.check.per_vertex import redeclare_per_vertex, size_per_vertex
from gallette.compiler.glsl.check.qualifiers import read_qualifiers
from gallette.compiler.glsl.check.types import (
    array_of,
    check_inner_sizes,
    check_precision,
    resolve_type,
)
from gallette.compiler.glsl.check.variables import declare_variable
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.qualifiers import MATRIX_LAYOUTS, PACKINGS
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.layout import STD140, STD430, align, size_align
from gallette.compiler.nir.ir.types import Base, Field, Type


def block_declaration(c: Checker, node: s.BlockDecl) -> None:
    quals = read_qualifiers(c, node.quals, "block")
    storage = quals.storage
    if node.name == "gl_PerVertex" and storage in ("in", "out"):
        redeclare_per_vertex(c, node, quals)
        return
    c.check_identifier(node.name, node)
    if storage in ("uniform", "buffer"):
        defaults = c.block_defaults.get(storage, set())
        for group in (PACKINGS, MATRIX_LAYOUTS):
            if quals.flags & group:
                defaults = defaults - group
        quals.flags |= defaults
    fields, member_quals = block_members(c, node, quals)
    packing = next(iter(quals.flags & PACKINGS), "shared")
    interface = t.interface(node.name, fields, packing, "row_major" in quals.flags)
    finish_block(c, node, quals, interface, member_quals)


def block_members(
    c: Checker, node: s.BlockDecl, quals: hir.Quals
) -> tuple[list[Field], list[hir.Quals]]:
    fields: list[Field] = []
    member_quals: list[hir.Quals] = []
    storage = quals.storage
    names: set[str] = set()
    for index, member in enumerate(node.members):
        assert member.type is not None
        if member.type.struct is not None:
            raise c.abort("structures cannot be defined inside blocks", member.type)
        own = read_qualifiers(c, member.quals, "member", storage)
        own.storage = storage
        if own.patch and not quals.patch:
            c.error("only members of a 'patch' block can be 'patch'", member.quals)
        own.memory |= quals.memory
        own.patch = own.patch or quals.patch
        base = resolve_type(c, member.type)
        for d in member.declarators:
            type_ = array_of(c, base, d.dims, d)
            check_inner_sizes(c, type_, d)
            last = index == len(node.members) - 1 and d is member.declarators[-1]
            check_member(c, type_, d, own, last, "location" in quals.layout, names)
            check_precision(c, type_, own, d)
            row_major = None
            if own.flags & MATRIX_LAYOUTS:
                row_major = "row_major" in own.flags
            elif "row_major" in quals.flags:
                row_major = True
            fields.append(Field(d.name, type_, row_major=row_major))
            member_quals.append(hir.copy_quals(own))
    check_member_locations(c, node, quals, member_quals)
    return fields, member_quals


def check_member(
    c: Checker,
    type_: Type,
    d: s.Declarator,
    own: hir.Quals,
    last: bool,
    located: bool,
    names: set[str],
) -> None:
    c.check_identifier(d.name, d)
    if d.name in names:
        raise c.abort(f"member '{d.name}' is repeated", d)
    names.add(d.name)
    bindless = c.lang.has("ARB_bindless_texture")
    for leaf in type_.leaves():
        if leaf.base is Base.ATOMIC_UINT or (leaf.is_opaque and not bindless):
            raise c.abort(f"block members cannot be of type '{leaf}'", d)
    check_declaration(c, "member", own, type_, d, d.name, last)
    if "component" in own.layout:
        if not located and "location" not in own.layout:
            c.error("'component' needs a 'location'", d)
        check_component(c, hir.Variable(d.name, type_, own), d)


def check_member_locations(
    c: Checker, node: s.BlockDecl, quals: hir.Quals, members: list[hir.Quals]
) -> None:
    """Check that all members have a location or none, unless the block has one."""
    if quals.storage not in ("in", "out"):
        return
    having = sum("location" in m.layout for m in members)
    if having and having < len(members) and "location" not in quals.layout:
        c.error("either all members have a location or none", node)


def finish_block(
    c: Checker, node: s.BlockDecl, quals: hir.Quals, interface: Type, member_quals: list[hir.Quals]
) -> None:
    storage = quals.storage
    for other in c.shader.blocks:
        if other.name == node.name and other.quals.storage == storage:
            raise c.abort(f"block '{node.name}' is already declared", node)
    if node.name in c.global_scope:
        c.error(f"'{node.name}' is already declared", node)
    block = hir.Block(node.name, quals, interface, None, "", member_quals, [], node.loc, node.end)
    check_block_layout(c, block, node)
    if node.instance is not None:
        d = node.instance
        c.need("150 es300", "the name of a block's instance", d)
        c.check_identifier(d.name, d)
        type_ = array_of(c, interface, d.dims, d)
        # Locations of members say nothing of the array's other elements (section 4.4.1).
        if len(d.dims) > per_vertex_array(c, quals) and storage in ("in", "out"):
            if any("location" in m.layout for m in member_quals):
                c.error("members of an array of blocks cannot have locations", d)
        if d.dims and storage in ("uniform", "buffer") and any(x is None for x in d.dims):
            raise c.abort("arrays of uniform blocks need a size", d)
        if type_.is_unsized_array and not per_vertex_array(c, quals):
            raise c.abort(f"the array '{d.name}' needs a size", d)
        if c.lang.es and len(d.dims) > 1:
            c.error("blocks cannot be in arrays of arrays in GLSL ES", d)
        var = hir.Variable(d.name, type_, quals, d.loc, d.end, "global")
        if not type_.is_array and per_vertex_array(c, quals):
            raise c.abort(f"{c.stage.replace('_', ' ')} '{storage}' blocks must be arrays", d)
        size_per_vertex(c, var, d)
        block.instance, block.instance_name = var, d.name
        var.block = block
        var.read_only = storage in ("in", "uniform") or "readonly" in quals.memory
        declare_variable(c, var, d)
    else:
        if per_vertex_array(c, quals):
            raise c.abort(f"{c.stage.replace('_', ' ')} '{storage}' blocks must be arrays", node)
        hidden = hir.Variable(node.name, interface, quals, node.loc, node.end, "global")
        hidden.block = block
        block.instance = hidden
        for i, field in enumerate(interface.fields):
            member = hir.Variable(
                field.name, field.type, member_quals[i], node.loc, node.end, "global"
            )
            member.block, member.member = block, i
            member.read_only = storage in ("in", "uniform")
            block.members.append(member)
            declare_variable(c, member, node)
    c.shader.blocks.append(block)


def check_block_layout(c: Checker, block: hir.Block, node: s.BlockDecl) -> None:
    quals = block.quals
    inherit_defaults(c, quals)
    stream = quals.layout.get("stream", 0)
    for m in block.member_quals:
        if m.layout.get("stream", stream) != stream:
            c.error("a member cannot have another stream than its block", node)
        if stream:
            m.layout["stream"] = stream
    if "binding" in quals.layout:
        binding = quals.layout["binding"]
        storage = quals.storage
        limit = (
            c.limits.max_uniform_buffer_bindings
            if storage == "uniform"
            else c.limits.max_shader_storage_buffer_bindings
        )
        count = 1
        if node.instance is not None and node.instance.dims:
            count = max(1, array_of(c, block.type, node.instance.dims, node).array_elements)
        if binding + count > limit:
            c.error(f"binding {binding} exceeds the limit of {limit}", node.quals)
    explicit = any("offset" in m.layout or "align" in m.layout for m in block.member_quals)
    if (explicit or "align" in quals.layout) and not quals.flags & {"std140", "std430"}:
        c.error("'offset' and 'align' need std140 or std430", node)
    if explicit:
        check_offsets(c, block, node)
    buffer = quals.layout.get("xfb_buffer", 0)
    check_captured(c, quals.layout, block.type, buffer, node)
    for f, m in zip(block.type.fields, block.member_quals, strict=True):
        check_captured(c, m.layout, f.type, buffer, node)
        if m.layout.get("xfb_buffer", buffer) != buffer:
            c.error("a member cannot have another xfb_buffer than its block", node)


def check_offsets(c: Checker, block: hir.Block, node: s.BlockDecl) -> None:
    """Check that members with an offset follow the previous member, with the alignment of their
    type.
    """
    rule = STD430 if "std430" in block.quals.flags else STD140
    everywhere = block.quals.layout.get("align", 1)
    end = 0
    for f, quals in zip(block.type.fields, block.member_quals, strict=True):
        row_major = block.type.row_major if f.row_major is None else f.row_major
        sized = f.type.element if f.type.is_unsized_array and f.type.element else f.type
        size, alignment = size_align(sized, rule, row_major)
        start = quals.layout.get("offset", end)
        if "offset" in quals.layout and start % alignment:
            c.error(f"offset {start} of '{f.name}' is no multiple of {alignment}", node)
        if start < end:
            c.error(f"'{f.name}' at offset {start} overlaps the member before", node)
        start = align(start, max(alignment, quals.layout.get("align", everywhere)))
        end = start + (0 if f.type.is_unsized_array else size)
