"""Qualifiers: which words may stand where, in what order, with which layout."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.expressions import ExpressionChecker
from gallette.compiler.glsl.check.layouts import IMAGE_FORMATS, LAYOUTS
from gallette.compiler.glsl.diagnostics import did_you_mean
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["QualifierChecker"]

_INTERPOLATION = frozenset(("smooth", "flat", "noperspective"))
_MEMORY = frozenset(("coherent", "volatile", "restrict", "readonly", "writeonly"))
_PRECISION = frozenset(("highp", "mediump", "lowp"))
_STORAGE = frozenset(("const", "in", "out", "inout", "uniform", "buffer", "shared"))
# The order required before GLSL 4.20.
_RANK = {
    "precise": 0,
    "invariant": 1,
    "smooth": 2,
    "flat": 2,
    "noperspective": 2,
    "centroid": 3,
    "sample": 3,
    "patch": 3,
    "const": 4,
    "in": 4,
    "out": 4,
    "inout": 4,
    "uniform": 4,
    "buffer": 4,
    "shared": 4,
    "attribute": 4,
    "varying": 4,
    "highp": 6,
    "mediump": 6,
    "lowp": 6,
}


class QualifierChecker(ExpressionChecker):
    """Turns written qualifiers into `hir.Quals`."""

    def qualifiers(
        self, node: s.Qualifiers, place_prefix: str = "", storage: str = ""
    ) -> hir.Quals:
        """Check the words; `storage` is what a block passes on to its members."""
        quals = hir.Quals()
        seen: set[str] = set()
        words = [w for w, _ in node.words]
        for word, loc in node.words:
            end = loc + len(word)
            if word in seen:
                self.log.error(f"'{word}' is repeated", loc, end)
            seen.add(word)
            if word in _PRECISION:
                if quals.precision and quals.precision != word:
                    self.log.error("more than one precision qualifier", loc, end)
                quals.precision = word
            elif word in _INTERPOLATION:
                if quals.interpolation and quals.interpolation != word:
                    self.log.error("more than one interpolation qualifier", loc, end)
                quals.interpolation = word
            elif word in _MEMORY:
                quals.memory |= {word}
            elif word in ("invariant", "precise", "centroid", "sample", "patch"):
                setattr(quals, word, True)
            elif word == "subroutine":
                quals.flags.add("subroutine")
            else:
                self._storage(quals, word, loc, end, words)
        self._order(node)
        if quals.centroid and quals.sample:
            self.log.error("'centroid' and 'sample' exclude each other", node.loc, node.end)
        if node.layout:
            place = f"{place_prefix}{quals.storage or storage or 'plain'}"
            if quals.flags == {"subroutine"} and node.subroutine_types is not None:
                place = "function"
            self.layout(node, quals, place)
        return quals

    def _storage(self, quals: hir.Quals, word: str, loc: int, end: int, words: list[str]) -> None:
        new = word
        if word == "attribute":
            if self.stage != "vertex":
                self.log.error("attributes exist in vertex shaders only", loc, end)
            new, quals.legacy = "in", word
        elif word == "varying":
            if self.stage not in ("vertex", "fragment", "geometry"):
                self.log.error("'varying' exists in vertex and fragment shaders only", loc, end)
            quals.legacy = word
            if self.stage == "geometry":
                # ARB_geometry_shader4 writes `varying in` and `varying out`.
                return
            new = "out" if self.stage == "vertex" else "in"
        if quals.storage == "const" and new == "in":
            quals.flags.add("const_in")
            quals.storage = "in"
            return
        if quals.storage == "in" and new == "const":
            quals.flags.add("const_in")
            return
        if quals.storage and not (quals.legacy == "varying" and self.stage == "geometry"):
            if {quals.storage, new} == {"in", "out"}:
                quals.storage = "inout"
                return
            self.log.error(
                f"'{word}' cannot be combined with '{quals.legacy or quals.storage}'", loc, end
            )
        quals.storage = new

    def _order(self, node: s.Qualifiers) -> None:
        if len(node.words) < 2 or self.lang.has("420 ARB_shading_language_420pack es310"):
            return
        last = -1
        for word, loc in node.words:
            rank = _RANK.get(word, last)
            if rank < last:
                self.log.error(
                    f"'{word}' must come earlier in {self.lang.name}",
                    loc,
                    loc + len(word),
                    "order: precise invariant interpolation auxiliary storage precision",
                )
                return
            last = rank

    def layout(self, node: s.Qualifiers, quals: hir.Quals, place: str) -> None:
        if node.layout_groups > 1 and not self.lang.has(
            "420 ARB_shading_language_420pack es310 ARB_enhanced_layouts"
        ):
            self.error("several layout qualifiers need GLSL 4.20", node)
        seen: set[str] = set()
        for ident in node.layout:
            name = ident.name
            if not self.lang.es and name.lower() in LAYOUTS:
                name = name.lower()
            rows = LAYOUTS.get(name)
            if rows is None:
                self.error(
                    f"unknown layout qualifier '{ident.name}'", ident, did_you_mean(name, LAYOUTS)
                )
                continue
            fitting = [
                r for r in rows if place in r.places and (not r.stages or self.stage in r.stages)
            ]
            if not fitting:
                where = place.replace("-", " ") or "variable"
                self.error(
                    f"layout qualifier '{name}' cannot be used on '{where}' "
                    f"in {self.stage.replace('_', ' ')} shaders",
                    ident,
                )
                continue
            row = fitting[0]
            if not self.lang.has(row.when):
                self.need(row.when, f"layout qualifier '{name}'", ident)
            if name in seen and not self.lang.has("420 ARB_shading_language_420pack es310"):
                self.error(f"layout qualifier '{name}' is repeated", ident)
            seen.add(name)
            if row.value:
                if ident.value is None:
                    self.error(f"layout qualifier '{name}' needs a value", ident)
                    continue
                quals.layout[name] = self.layout_value(ident, name)
            elif ident.value is not None:
                self.error(f"layout qualifier '{name}' takes no value", ident)
            else:
                self.exclusive(quals, name, ident)

    def layout_value(self, ident: s.LayoutId, name: str) -> int:
        assert ident.value is not None
        if not self.lang.has("440 ARB_enhanced_layouts") and not isinstance(ident.value, s.Literal):
            raise self.abort(
                f"the value of '{name}' must be an integer literal in {self.lang.name}", ident.value
            )
        value = self.integer_constant(self.expr(ident.value), f"the value of '{name}'")
        if value < 0:
            raise self.abort(f"the value of '{name}' cannot be negative", ident.value)
        if name.startswith("local_size") and value == 0:
            raise self.abort(f"'{name}' must be at least 1", ident.value)
        if name in ("vertices", "invocations") and value == 0:
            raise self.abort(f"'{name}' must be at least 1", ident.value)
        return value

    def exclusive(self, quals: hir.Quals, name: str, ident: s.LayoutId) -> None:
        """The last of several contradicting identifiers wins, as the specification says."""
        groups = (
            {"std140", "std430", "shared", "packed"},
            {"row_major", "column_major"},
            {"depth_any", "depth_greater", "depth_less", "depth_unchanged"},
            set(IMAGE_FORMATS),
        )
        for group in groups:
            if name in group:
                clash = quals.flags & group - {name}
                if clash and not group & {"std140", "row_major"}:
                    self.error(f"'{name}' contradicts '{min(clash)}'", ident)
                quals.flags -= group
        quals.flags.add(name)

    # -- legality of the combination ---------------------------------------------------------

    def check_interface(self, quals: hir.Quals, type_: Type, node: s.Node, name: str) -> None:
        """Rules for global `in`, `out` and `uniform` variables and block members."""
        storage, stage = quals.storage, self.stage
        element = type_.without_array
        label = quals.legacy or storage
        if (
            storage in ("in", "out")
            and not quals.legacy
            and not self.lang.has("130 es300 ARB_geometry_shader4 EXT_gpu_shader4")
        ):
            self.error(f"global '{storage}' variables need GLSL 1.30", node)
        if storage == "inout":
            fetch = "EXT_shader_framebuffer_fetch EXT_shader_framebuffer_fetch_non_coherent"
            if stage != "fragment" or not self.lang.has(fetch):
                self.error("'inout' is for parameters only", node)
            quals.storage = storage = "out"
            quals.flags.add("framebuffer_fetch")
        if storage in ("in", "out") and stage == "compute":
            self.error("compute shaders have no user-defined inputs or outputs", node)
        self.check_auxiliary(quals, storage, node)
        if storage not in ("in", "out"):
            return
        if element.contains(frozenset((Base.BOOL,))):
            self.error(f"'{label}' variables cannot be of type '{element}'", node)
        if type_.contains_opaque() and not self.lang.has("ARB_bindless_texture"):
            self.error(f"'{label}' variables cannot be of type '{element}'", node)
        if stage == "vertex" and storage == "in":
            self.check_attribute(quals, type_, node)
        elif stage == "fragment" and storage == "out":
            self.check_fragment_output(quals, type_, node)
        else:
            self.check_varying(quals, type_, node, name)

    def check_auxiliary(self, quals: hir.Quals, storage: str, node: s.Node) -> None:
        stage = self.stage
        if quals.interpolation:
            if storage not in ("in", "out"):
                self.error(f"'{quals.interpolation}' applies to inputs and outputs only", node)
            elif stage == "vertex" and storage == "in":
                self.error("vertex shader inputs are not interpolated", node)
            elif stage == "fragment" and storage == "out":
                self.error("fragment shader outputs are not interpolated", node)
            elif quals.legacy and self.lang.has("130"):
                self.error(f"'{quals.interpolation}' cannot be used with '{quals.legacy}'", node)
        for word in ("centroid", "sample", "patch"):
            if not getattr(quals, word):
                continue
            if storage not in ("in", "out"):
                self.error(f"'{word}' applies to inputs and outputs only", node)
            elif word == "patch":
                if (stage, storage) not in (("tess_ctrl", "out"), ("tess_eval", "in")):
                    self.error(
                        "'patch' is for tessellation control outputs and evaluation inputs", node
                    )
            elif (stage, storage) in (("vertex", "in"), ("fragment", "out")):
                self.error(f"'{word}' cannot be used here", node)
        if quals.invariant:
            if storage == "in" and self.lang.has("420 es300"):
                self.error("inputs cannot be declared invariant", node)
            elif storage not in ("in", "out"):
                self.error("only inputs and outputs can be invariant", node)

    def check_attribute(self, quals: hir.Quals, type_: Type, node: s.Node) -> None:
        element = type_.without_array
        if type_.is_array and (self.lang.es or not self.lang.has("150")):
            self.error(f"vertex shader inputs cannot be arrays in {self.lang.name}", node)
        if element.is_struct:
            self.error("vertex shader inputs cannot be structures", node)
        if element.is_integer and not self.lang.has("130 es300 EXT_gpu_shader4"):
            self.error(f"vertex shader inputs cannot be integers in {self.lang.name}", node)
        if element.bit_size == 64 and not self.lang.has("410 ARB_vertex_attrib_64bit"):
            if element.is_double or not self.lang.has("ARB_vertex_attrib_64bit"):
                self.error(f"vertex shader inputs of type '{element}' need GLSL 4.10", node)

    def check_fragment_output(self, quals: hir.Quals, type_: Type, node: s.Node) -> None:
        element = type_.without_array
        if element.is_struct or element.is_matrix or element.is_double:
            self.error(f"fragment shader outputs cannot be of type '{element}'", node)
        if type_.is_array and type_.element is not None and type_.element.is_array:
            self.error("fragment shader outputs cannot be arrays of arrays", node)
        if self.lang.es and type_.is_array and type_.element is not None:
            if self.lang.version < 300:
                self.error("fragment shader outputs cannot be arrays", node)

    def check_varying(self, quals: hir.Quals, type_: Type, node: s.Node, name: str) -> None:
        element = type_.without_array
        stage, storage, lang = self.stage, quals.storage, self.lang
        if quals.legacy == "varying" and (not element.is_float or element.is_double):
            if not lang.has("130 EXT_gpu_shader4") or lang.es:
                self.error(f"varyings cannot be of type '{element}'", node)
        if element.is_struct:
            if not lang.has("150 es300 430"):
                self.error(f"varyings cannot be structures in {lang.name}", node)
            elif lang.es and any(f.type.is_array or f.type.is_struct for f in element.fields):
                if lang.version < 310:
                    self.error("structures passed between stages cannot nest in GLSL ES", node)
            elif lang.es and type_.is_array and stage in ("vertex", "fragment"):
                self.error("arrays of structures cannot pass between stages in GLSL ES", node)
        if lang.es and type_.is_array and type_.element is not None:
            if type_.element.is_array and not self.per_vertex_array(quals):
                self.error("arrays of arrays cannot pass between stages in GLSL ES", node)
        discrete = any(leaf.is_integer or leaf.is_double for leaf in type_.leaves())
        if discrete and quals.interpolation != "flat":
            if stage == "fragment" and storage == "in":
                if lang.has("130 es300 EXT_gpu_shader4"):
                    self.error(
                        f"fragment shader inputs with integers or doubles must be flat: '{name}'",
                        node,
                        "add 'flat'",
                    )
            elif stage == "vertex" and storage == "out" and lang.es and lang.version == 300:
                self.error(f"integer outputs must be flat: '{name}'", node, "add 'flat'")
        if self.per_vertex_array(quals) and not type_.is_array:
            if quals.legacy != "varying" or stage == "geometry":
                self.error(
                    f"{stage.replace('_', ' ')} shader '{storage}' variables must be arrays: "
                    f"'{name}'",
                    node,
                )

    def per_vertex_array(self, quals: hir.Quals) -> bool:
        """Does the outermost array dimension of such a variable count vertices?"""
        if quals.patch:
            return False
        return (self.stage, quals.storage) in (
            ("geometry", "in"),
            ("tess_ctrl", "in"),
            ("tess_ctrl", "out"),
            ("tess_eval", "in"),
        )
