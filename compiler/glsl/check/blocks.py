"""Interface blocks, and redeclarations of the built-in block `gl_PerVertex`."""

from __future__ import annotations

from dataclasses import replace

from gallette.compiler.glsl.builtins import variables
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.variables import VariableChecker
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Field, Type

__all__ = ["BlockChecker"]

_PACKINGS = frozenset(("std140", "std430", "shared", "packed"))


class BlockChecker(VariableChecker):
    """Checks `storage Name { members } instance;`."""

    def block(self, node: s.BlockDecl) -> None:
        quals = self.qualifiers(node.quals, "block-")
        storage = quals.storage
        if storage == "uniform":
            self.need("140 es300 ARB_uniform_buffer_object", "a uniform block", node.quals)
        elif storage == "buffer":
            self.need("430 es310 ARB_shader_storage_buffer_object", "a storage block", node.quals)
        elif storage in ("in", "out"):
            self.need(
                "150 es320 OES_shader_io_blocks EXT_shader_io_blocks",
                "an interface block",
                node.quals,
            )
            if (self.stage, storage) in (("vertex", "in"), ("fragment", "out")):
                raise self.abort(f"{self.stage} shaders have no '{storage}' blocks", node.quals)
            if self.stage == "compute":
                raise self.abort("compute shaders have no 'in' or 'out' blocks", node.quals)
        else:
            raise self.abort(f"'{storage}' cannot begin an interface block", node.quals)
        if quals.precision:
            self.error("blocks have no precision", node.quals)
        if quals.memory and storage != "buffer":
            self.error("memory qualifiers are for buffer blocks and images", node.quals)
        if quals.interpolation and storage in ("uniform", "buffer"):
            self.error(f"'{quals.interpolation}' cannot be used on this block", node.quals)
        self.check_auxiliary(quals, storage, node.quals)
        if node.name == "gl_PerVertex":
            self.per_vertex(node, quals)
            return
        self.check_identifier(node.name, node)
        if storage in ("uniform", "buffer"):
            quals.flags |= {
                f
                for f in self.block_defaults.get(storage, set())
                if not (f in _PACKINGS and quals.flags & _PACKINGS)
                and not (
                    f in ("row_major", "column_major")
                    and quals.flags & {"row_major", "column_major"}
                )
            }
        fields, member_quals = self.block_members(node, quals)
        packing = next(iter(quals.flags & _PACKINGS), "shared")
        interface = t.interface(node.name, fields, packing, "row_major" in quals.flags)
        self.finish_block(node, quals, interface, member_quals)

    def block_members(
        self, node: s.BlockDecl, quals: hir.Quals
    ) -> tuple[list[Field], list[hir.Quals]]:
        fields: list[Field] = []
        member_quals: list[hir.Quals] = []
        storage = quals.storage
        names: set[str] = set()
        for index, member in enumerate(node.members):
            assert member.type is not None
            if member.type.struct is not None:
                raise self.abort("structures cannot be defined inside blocks", member.type)
            own = self.qualifiers(member.quals, "member-", storage)
            if own.storage == "shared" and storage == "buffer":
                own.storage = ""  # accepted by every compiler and without meaning
            if own.storage and own.storage != storage:
                self.error(f"a member of this block cannot be '{own.storage}'", member.quals)
            if own.interpolation and storage in ("uniform", "buffer"):
                self.error("uniform block members are not interpolated", member.quals)
            own.storage = storage
            own.memory |= quals.memory
            own.interpolation = own.interpolation or quals.interpolation
            own.centroid = own.centroid or quals.centroid
            own.sample = own.sample or quals.sample
            own.patch = own.patch or quals.patch
            base = self.resolve_type(member.type)
            for d in member.declarators:
                type_ = self.array_of(base, d.dims, d)
                last = index == len(node.members) - 1 and d is member.declarators[-1]
                self.check_member(type_, d, own, storage, last, names)
                self.check_precision(type_, own, d)
                row_major = None
                if own.flags & {"row_major", "column_major"}:
                    row_major = "row_major" in own.flags
                elif "row_major" in quals.flags:
                    row_major = True
                fields.append(Field(d.name, type_, row_major=row_major))
                member_quals.append(self.copy_quals(own))
        self.check_member_locations(node, quals, member_quals)
        return fields, member_quals

    def check_member(
        self,
        type_: Type,
        d: s.Declarator,
        own: hir.Quals,
        storage: str,
        last: bool,
        names: set[str],
    ) -> None:
        self.check_identifier(d.name, d)
        if d.name in names:
            raise self.abort(f"member '{d.name}' is repeated", d)
        names.add(d.name)
        if type_.without_array is t.VOID:
            raise self.abort("members cannot be void", d)
        bindless = self.lang.has("ARB_bindless_texture")
        for leaf in type_.leaves():
            if leaf.base is Base.ATOMIC_UINT or (leaf.is_opaque and not bindless):
                raise self.abort(f"block members cannot be of type '{leaf}'", d)
        if type_.is_unsized_array and storage in ("uniform", "buffer"):
            if storage == "buffer" and not last:
                raise self.abort("only the last member of a storage block can lack a size", d)
            if storage == "uniform" and self.lang.es:
                raise self.abort("arrays in uniform blocks need a size", d)
        if storage in ("in", "out"):
            self.check_varying(own, type_, d, d.name) if not self.per_vertex_array(own) else None
            if any(leaf.is_boolean for leaf in type_.leaves()):
                self.error("members of this block cannot be bool", d)
        layout = own.layout
        if "offset" in layout or "align" in layout:
            align = layout.get("align", 1)
            if align < 1 or align & (align - 1):
                self.error("'align' must be a power of two", d)
        if "xfb_offset" in layout:
            unit = 8 if any(leaf.bit_size == 64 for leaf in type_.leaves()) else 4
            if layout["xfb_offset"] % unit:
                self.error(f"xfb_offset must be a multiple of {unit}", d)
        if "component" in layout:
            self.check_component(hir.Variable(d.name, type_, own), d)

    def check_member_locations(
        self, node: s.BlockDecl, quals: hir.Quals, members: list[hir.Quals]
    ) -> None:
        """Either every member has a location or none, unless the block has one."""
        if quals.storage not in ("in", "out"):
            return
        if "location" in quals.layout and not self.lang.has(
            "410 ARB_separate_shader_objects es310"
        ):
            self.error("locations of blocks need GLSL 4.10", node.quals)
        having = sum("location" in m.layout for m in members)
        if having and having < len(members) and "location" not in quals.layout:
            self.error("either all members have a location or none", node)

    def finish_block(
        self, node: s.BlockDecl, quals: hir.Quals, interface: Type, member_quals: list[hir.Quals]
    ) -> None:
        storage = quals.storage
        for other in self.shader.blocks:
            if other.name == node.name and other.quals.storage == storage:
                raise self.abort(f"block '{node.name}' is already declared", node)
        if isinstance(self.global_scope.get(node.name), hir.Variable):
            self.error(f"'{node.name}' is already declared", node)
        block = hir.Block(
            node.name, quals, interface, None, "", member_quals, [], node.loc, node.end
        )
        self.check_block_layout(block, node)
        if node.instance is not None:
            d = node.instance
            self.check_identifier(d.name, d)
            type_ = self.array_of(interface, d.dims, d)
            if d.dims and storage in ("uniform", "buffer") and any(x is None for x in d.dims):
                raise self.abort("arrays of uniform blocks need a size", d)
            if d.dims and storage == "out" and self.stage == "vertex" and self.lang.es:
                raise self.abort("arrays of output blocks are not in GLSL ES", d)
            var = hir.Variable(d.name, type_, quals, d.loc, d.end, "global")
            if not type_.is_array and self.per_vertex_array(quals):
                raise self.abort(
                    f"{self.stage.replace('_', ' ')} '{storage}' blocks must be arrays", d
                )
            self.size_per_vertex(var, d)
            block.instance, block.instance_name = var, d.name
            var.block = block
            var.read_only = storage in ("in", "uniform") or "readonly" in quals.memory
            self.declare_variable(var, d)
        else:
            if self.per_vertex_array(quals):
                raise self.abort(
                    f"{self.stage.replace('_', ' ')} '{storage}' blocks must be arrays", node
                )
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
                self.declare_variable(member, node)
        self.shader.blocks.append(block)

    def check_block_layout(self, block: hir.Block, node: s.BlockDecl) -> None:
        quals = block.quals
        if "binding" in quals.layout:
            binding = quals.layout["binding"]
            storage = quals.storage
            limit = (
                self.limits.max_uniform_buffer_bindings
                if storage == "uniform"
                else self.limits.max_shader_storage_buffer_bindings
            )
            count = 1
            if node.instance is not None and node.instance.dims:
                count = max(1, self.array_of(block.type, node.instance.dims, node).array_elements)
            if binding + count > limit:
                self.error(f"binding {binding} exceeds the limit of {limit}", node.quals)
        explicit = any("offset" in m.layout or "align" in m.layout for m in block.member_quals)
        if (explicit or "align" in quals.layout) and not quals.flags & {"std140", "std430"}:
            self.error("'offset' and 'align' need std140 or std430", node)
        align = quals.layout.get("align", 1)
        if align < 1 or align & (align - 1):
            self.error("'align' must be a power of two", node)
        if "xfb_stride" in quals.layout:
            buffer = quals.layout.get("xfb_buffer", self.shader.layout.get("default_xfb_buffer", 0))
            self.merge_xfb_stride(buffer, quals.layout["xfb_stride"], node)
        buffer = quals.layout.get("xfb_buffer", 0)
        for m in block.member_quals:
            if m.layout.get("xfb_buffer", buffer) != buffer:
                self.error("a member cannot have another xfb_buffer than its block", node)

    # -- gl_PerVertex ------------------------------------------------------------------------

    def per_vertex(self, node: s.BlockDecl, quals: hir.Quals) -> None:
        """A shader may redeclare the built-in block to use fewer of its members."""
        storage = quals.storage
        known = {f.name: f for f, _ in variables.per_vertex_fields(self.lang)}
        self.need(
            "410 150 ARB_separate_shader_objects es320 EXT_shader_io_blocks OES_shader_io_blocks",
            "redeclaring gl_PerVertex",
            node,
        )
        instance = node.instance.name if node.instance is not None else ""
        expected = {"in": "gl_in", "out": "gl_out" if self.stage == "tess_ctrl" else ""}
        if instance != expected.get(storage, ""):
            raise self.abort("gl_PerVertex is redeclared with the wrong instance name", node)
        fields: list[Field] = []
        for member in node.members:
            assert member.type is not None
            own = self.qualifiers(member.quals, "member-", storage)
            for d in member.declarators:
                field = known.get(d.name)
                if field is None:
                    raise self.abort(f"'{d.name}' is not a member of gl_PerVertex", d)
                type_ = self.array_of(self.resolve_type(member.type), d.dims, d)
                if type_ is not field.type and not (
                    type_.is_array and field.type.is_array and type_.element is field.type.element
                ):
                    raise self.abort(f"'{d.name}' is redeclared with another type", d)
                fields.append(replace(field, type=type_))
                if not instance:
                    var = self.find(d.name)
                    if isinstance(var, hir.Variable):
                        if type_.length:
                            var.type = type_
                        var.quals.interpolation = own.interpolation or var.quals.interpolation
                        var.quals.invariant = var.quals.invariant or own.invariant
                        var.quals.layout.update(own.layout)
                        var.redeclared = True
        if instance:
            old = self.builtin_scope.get(instance)
            if isinstance(old, hir.Variable) and old.used:
                raise self.abort("gl_PerVertex must be redeclared before its first use", node)
            if isinstance(old, hir.Variable) and old.block is not None:
                self.shader.blocks.remove(old.block)
            var = self.make_per_vertex(instance, fields, storage)
            var.redeclared = True
            self.builtin_scope[instance] = var
            return
        names = {f.name for f in fields}
        for name in known:
            if name not in names:
                var = self.builtin_scope.get(name)
                if isinstance(var, hir.Variable) and var.used:
                    raise self.abort("gl_PerVertex must be redeclared before its first use", node)
                self.hidden_builtins.add(name)
                self.builtin_scope.pop(name, None)
                self.shader.builtins.pop(name, None)
        if self.per_vertex_redeclared:
            raise self.abort("gl_PerVertex is redeclared twice", node)
        self.per_vertex_redeclared = True
        self.shader.layout["per_vertex_out"] = tuple(sorted(names))

    hidden_builtins: set[str]
    per_vertex_redeclared = False
