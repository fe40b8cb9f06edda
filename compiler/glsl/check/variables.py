"""Declarations of variables: globals, locals, redeclarations of built-ins, qualifier statements."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.base import constant_value
from gallette.compiler.glsl.check.layouts import IMAGE_FORMATS
from gallette.compiler.glsl.check.stage_layout import StageLayoutChecker
from gallette.compiler.glsl.diagnostics import Abort
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["VariableChecker"]

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


class VariableChecker(StageLayoutChecker):
    """Everything that introduces or requalifies a variable."""

    def declaration(self, node: s.Declaration) -> list[hir.Stmt]:
        """A declaration statement; answers the code that initializes locals."""
        if node.type is None:
            self.requalify(node)
            return []
        try:
            type_ = self.resolve_type(node.type)
            place = ""
            quals = self.qualifiers(node.quals, place, "local" if not self.at_global_scope else "")
        except Abort:
            for d in node.declarators:
                self.poison(d.name)
            raise
        if not node.declarators:
            if node.type.struct is None:
                self.warn("this declares nothing", node)
            elif quals.storage and not self.lang.has("420"):
                pass
            return []
        code: list[hir.Stmt] = []
        for d in node.declarators:
            try:
                code += self.variable(d, type_, quals, node)
            except Abort:
                self.poison(d.name)
                if self.log.error_count >= 20:
                    raise
        return code

    def variable(
        self, d: s.Declarator, base: Type, quals: hir.Quals, node: s.Declaration
    ) -> list[hir.Stmt]:
        type_ = self.array_of(base, d.dims, d)
        if type_.without_array is t.VOID:
            raise self.abort(f"variable '{d.name}' cannot be void", d)
        if d.name.startswith("gl_"):
            self.redeclare_builtin(d, type_, quals)
            return []
        self.check_identifier(d.name, d)
        own = self.copy_quals(quals) if len(node.declarators) > 1 else quals
        var = hir.Variable(d.name, type_, own, d.loc, d.end)
        self.check_precision(type_, own, d)
        if self.at_global_scope:
            var.kind = "global"
            return self.global_variable(var, d)
        return self.local_variable(var, d)

    def copy_quals(self, q: hir.Quals) -> hir.Quals:
        return hir.Quals(
            q.storage,
            q.interpolation,
            q.centroid,
            q.sample,
            q.patch,
            q.invariant,
            q.precise,
            q.precision,
            q.memory,
            dict(q.layout),
            set(q.flags),
            q.legacy,
        )

    # -- locals ------------------------------------------------------------------------------

    def local_variable(self, var: hir.Variable, d: s.Declarator) -> list[hir.Stmt]:
        quals = var.quals
        if quals.storage not in ("", "const"):
            raise self.abort(
                f"'{quals.legacy or quals.storage}' variables must be declared globally", d
            )
        if quals.layout or quals.flags or quals.interpolation or quals.centroid or quals.sample:
            self.error("layout and interpolation qualifiers are for globals", d)
        if quals.invariant:
            self.error("local variables cannot be invariant", d)
        if quals.memory:
            self.error("memory qualifiers are for images and buffers", d)
        if var.type.contains_opaque() and not self.lang.has("ARB_bindless_texture"):
            raise self.abort(f"variables of type '{var.type}' must be uniforms or parameters", d)
        code: list[hir.Stmt] = []
        value = None
        if d.init is not None:
            value = self.initializer(d.init, var.type, f"initializer of '{d.name}'")
            if var.type.is_array:
                var.type = value.type
            if quals.storage == "const":
                constant = constant_value(value)
                if constant is None:
                    if not self.lang.has("420 ARB_shading_language_420pack"):
                        raise self.abort(
                            f"the initializer of constant '{d.name}' must be constant", d.init
                        )
                    var.read_only = True
                var.const_value = constant
            self.no_array_init(var, d)
        elif quals.storage == "const":
            raise self.abort(f"constant '{d.name}' needs an initializer", d)
        self.declare_variable(var, d)
        code.append(hir.Declare(d.loc, var))
        if value is not None:
            target = hir.VarRef(var.type, d.loc, d.end, var)
            var.written = True
            code.append(hir.Evaluate(d.loc, hir.Assign(var.type, d.loc, d.end, "", target, value)))
        return code

    def no_array_init(self, var: hir.Variable, d: s.Declarator) -> None:
        if var.type.is_array:
            self.need("120 es300", "initializing arrays", d)

    def declare_variable(self, var: hir.Variable, d: s.Node) -> None:
        old = self.scopes[-1].get(var.name)
        if (
            isinstance(old, hir.Variable)
            and old.type.is_unsized_array
            and old.type.element is var.type.element
            and old.kind == var.kind == "local"
        ):
            self.scopes[-1][var.name] = var  # the second declaration gives the size
            return
        self.declare(var.name, var, d)

    # -- globals -----------------------------------------------------------------------------

    def global_variable(self, var: hir.Variable, d: s.Declarator) -> list[hir.Stmt]:
        quals, type_ = var.quals, var.type
        storage = quals.storage
        existing = self.global_scope.get(var.name)
        if isinstance(existing, hir.Variable) and existing.type is not t.ERROR:
            return self.redeclare(existing, var, d)
        if "const_in" in quals.flags:
            raise self.abort("only parameters can be 'const in'", d)
        if storage in ("in", "out", "inout", "uniform", "buffer", "shared"):
            self.check_global_storage(var, d)
        else:
            self.check_plain_global(var, d)
        if "subroutine" in quals.flags and storage == "uniform":
            if type_.without_array.base is not Base.SUBROUTINE:
                self.error("a subroutine uniform needs a subroutine type", d)
        self.size_per_vertex(var, d)
        self.shader.globals.append(var)
        if d.init is not None:
            self.global_initializer(var, d)
        elif storage == "const":
            raise self.abort(f"constant '{d.name}' needs an initializer", d)
        self.declare_variable(var, d)
        self.check_layout_use(var, d)
        return []

    def check_plain_global(self, var: hir.Variable, d: s.Declarator) -> None:
        quals = var.quals
        if var.type.contains_opaque() and not (self.lang.has("ARB_bindless_texture")):
            raise self.abort(f"variables of type '{var.type}' must be uniforms", d)
        if quals.layout or quals.flags - {"subroutine"}:
            self.error("layout qualifiers need in, out, uniform or buffer", d)
        if quals.interpolation:
            self.error(f"'{quals.interpolation}' applies to inputs and outputs only", d)
        if quals.invariant:
            self.error("only outputs can be declared invariant", d)
        if quals.memory:
            self.error("memory qualifiers are for images and buffers", d)
        for word in ("centroid", "sample", "patch"):
            if getattr(quals, word):
                self.error(f"'{word}' applies to inputs and outputs only", d)

    def check_global_storage(self, var: hir.Variable, d: s.Declarator) -> None:
        quals, type_, storage = var.quals, var.type, var.quals.storage
        element = type_.without_array
        if storage == "buffer":
            raise self.abort("'buffer' is for interface blocks", d)
        if storage == "shared":
            if self.stage != "compute":
                raise self.abort("shared variables exist in compute shaders only", d)
            if type_.contains_opaque():
                raise self.abort(f"shared variables cannot be of type '{element}'", d)
            return
        self.check_interface(quals, type_, d, d.name)
        if storage != "uniform":
            var.read_only = storage == "in"
            return
        var.read_only = True
        if quals.memory and not element.is_image:
            self.error("memory qualifiers are for images and buffers", d)
        if element.is_image:
            self.check_image(var, d)
        elif quals.flags & IMAGE_FORMATS:
            self.error("format qualifiers are for images", d)
        if element.base is Base.ATOMIC_UINT:
            self.check_atomic_counter(var, d)

    def size_per_vertex(self, var: hir.Variable, d: s.Declarator) -> None:
        """Geometry inputs and tessellation arrays get the length of the primitive or patch."""
        if not var.type.is_array or not self.per_vertex_array(var.quals):
            return
        if var.quals.legacy == "varying" and self.stage != "geometry":
            return
        element = var.type.element
        assert element is not None
        if self.stage == "geometry":
            length = self.shader.layout.get("vertices_in", 0)
            if var.type.length and length and var.type.length != length:
                self.error(
                    f"'{d.name}' has {var.type.length} elements, the input primitive "
                    f"{length} vertices",
                    d,
                )
            if var.type.length == 0 and length:
                var.type = t.array(element, length)
            elif var.type.length:
                self.sized_inputs.append((var, d))
        elif var.quals.storage == "in":
            limit = self.limits.max_patch_vertices
            if var.type.length and var.type.length > limit:
                self.error(f"'{d.name}' has more than gl_MaxPatchVertices elements", d)
            var.type = t.array(element, limit)
        else:
            length = self.shader.layout.get("vertices_out", 0)
            if var.type.length and length and var.type.length != length:
                self.error(
                    f"'{d.name}' has {var.type.length} elements, the patch {length} vertices",
                    d,
                )
            if length and not var.type.length:
                var.type = t.array(element, length)

    def global_initializer(self, var: hir.Variable, d: s.Declarator) -> None:
        assert d.init is not None
        storage = var.quals.storage
        if storage in ("in", "shared", "buffer") or (storage == "out" and self.lang.es):
            raise self.abort(f"'{var.quals.legacy or storage}' variables cannot be initialized", d)
        if storage == "uniform":
            if self.lang.es or not self.lang.has("120"):
                raise self.abort(f"uniforms cannot be initialized in {self.lang.name}", d)
            if var.type.contains_opaque():
                raise self.abort(f"variables of type '{var.type}' cannot be initialized", d)
        value = self.initializer(d.init, var.type, f"initializer of '{d.name}'")
        self.no_array_init(var, d)
        if var.type.is_array:
            var.type = value.type
        constant = constant_value(value)
        if storage in ("const", "uniform"):
            if constant is None:
                raise self.abort(f"the initializer of '{d.name}' must be constant", d.init)
        elif constant is None and self.lang.es:
            raise self.abort(f"global initializers must be constant in {self.lang.name}", d.init)
        if storage == "const":
            var.const_value = constant
        var.init = value

    def redeclare(self, old: hir.Variable, new: hir.Variable, d: s.Declarator) -> list[hir.Stmt]:
        """A second declaration of a global: only to give an array its size."""
        a, b = old.type, new.type
        if (
            a.is_array
            and b.is_array
            and a.element is b.element
            and a.length == 0
            and (old.quals.storage == new.quals.storage)
        ):
            if b.length and old.max_index >= b.length:
                self.error(f"'{d.name}' has been indexed beyond its size {b.length}", d)
            old.type = b
            return []
        if (
            a is b
            and old.quals.storage == new.quals.storage
            and old.block is None
            and (
                self.lang.compat
                and not self.lang.es
                and a.is_array
                and d.init is None
                and (a.length == 0)
            )
        ):
            return []
        raise self.abort(f"'{d.name}' is already declared", d)

    # -- built-ins ---------------------------------------------------------------------------

    def redeclare_builtin(self, d: s.Declarator, type_: Type, quals: hir.Quals) -> None:
        if not self.at_global_scope:
            raise self.abort(f"names beginning with 'gl_' are reserved: '{d.name}'", d)
        var = self.find(d.name)
        if not isinstance(var, hir.Variable) or d.name not in _REDECLARABLE:
            raise self.abort(f"'{d.name}' cannot be redeclared", d, self.suggest(d.name))
        if d.init is not None:
            raise self.abort(f"built-in '{d.name}' cannot be initialized", d)
        if quals.storage and quals.storage != var.quals.storage:
            raise self.abort(f"'{d.name}' is redeclared with another storage qualifier", d)
        if var.type is not type_:
            if not (
                type_.is_array
                and var.type.is_array
                and (self.sizes_match(var.type, type_) or self.sizes_match(type_, var.type))
                and (var.type.length == 0 or type_.length == 0 or d.name == "gl_FragData")
            ):
                hint = f"its type is '{var.type}'"
                raise self.abort(f"'{d.name}' is redeclared with another type", d, hint)
            self.resize_builtin(var, type_, d)
        if d.name == "gl_FragCoord":
            flags = frozenset(quals.flags)
            if var.redeclared and frozenset(var.quals.flags) != flags:
                raise self.abort("gl_FragCoord is redeclared with different layout qualifiers", d)
            if var.used and not var.redeclared:
                raise self.abort("gl_FragCoord must be redeclared before its first use", d)
            if not var.redeclared:
                var.declared_implicitly = False
        if d.name == "gl_FragDepth":
            if var.used and not var.redeclared:
                raise self.abort("gl_FragDepth must be redeclared before its first use", d)
            if var.redeclared and var.quals.flags != quals.flags:
                raise self.abort("gl_FragDepth is redeclared with another layout", d)
        if quals.interpolation:
            if d.name not in _COLORS and not var.name.startswith("gl_Tex"):
                raise self.abort(f"'{d.name}' cannot be redeclared with interpolation", d)
            var.quals.interpolation = quals.interpolation
        var.quals.flags |= quals.flags
        var.quals.layout.update(quals.layout)
        var.quals.invariant = var.quals.invariant or quals.invariant
        var.quals.precise = var.quals.precise or quals.precise
        var.quals.centroid = var.quals.centroid or quals.centroid
        var.redeclared = True

    def resize_builtin(self, var: hir.Variable, type_: Type, d: s.Node) -> None:
        limit = {
            "gl_TexCoord": self.limits.max_texture_coords,
            "gl_ClipDistance": self.limits.max_clip_distances,
            "gl_CullDistance": self.limits.max_cull_distances,
            "gl_FragData": self.limits.max_draw_buffers,
        }.get(var.name)
        if type_.length:
            if limit is not None and type_.length > limit:
                raise self.abort(f"'{var.name}' has at most {limit} elements", d)
            if var.max_index >= type_.length:
                raise self.abort(f"'{var.name}' has been indexed beyond its size {type_.length}", d)
            if var.type.length and var.type.length != type_.length and var.name != "gl_FragData":
                raise self.abort(f"'{var.name}' is redeclared with another size", d)
            var.type = type_
            var.explicit_size = True

    # -- statements without a type -----------------------------------------------------------

    def requalify(self, node: s.Declaration) -> None:
        words = [w for w, _ in node.quals.words]
        if not node.declarators:
            self.default_layout(node)
            return
        if not words or set(words) - {"invariant", "precise"} or node.quals.layout:
            raise self.abort("expected a type in this declaration", node)
        if not self.at_global_scope and "invariant" in words:
            raise self.abort("invariant declarations must be global", node)
        for d in node.declarators:
            var = self.find(d.name)
            if not isinstance(var, hir.Variable) or var.type is t.ERROR:
                if isinstance(var, hir.Variable):
                    continue
                raise self.abort(f"'{d.name}' is not declared", d, self.suggest(d.name))
            if "invariant" in words:
                self.make_invariant(var, d)
            if "precise" in words:
                if var.used and not self.lang.es:
                    self.error(f"'{d.name}' must be declared precise before it is used", d)
                var.quals.precise = True

    def make_invariant(self, var: hir.Variable, d: s.Node) -> None:
        storage = var.quals.storage
        allowed = storage == "out" or (
            storage == "in"
            and self.stage != "vertex"
            and self.lang.has("110-410 es100-es100 compat")
        )
        if var.kind != "global" or not allowed:
            raise self.abort(f"'{var.name}' cannot be invariant: it is not an output", d)
        if var.used and var.written and not self.lang.es:
            self.error(f"'{var.name}' must be declared invariant before it is used", d)
        var.quals.invariant = True
