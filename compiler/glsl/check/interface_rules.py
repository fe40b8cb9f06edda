"""The types and qualifiers that shader inputs and outputs may have."""

from __future__ import annotations

from gallette.compiler.glsl.availability import INTEGERS
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.laxities import grant
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

__all__ = [
    "check_auxiliary",
    "check_interface",
    "check_varying",
    "per_vertex_array",
    "size_per_vertex",
]


def check_interface(c: Checker, quals: hir.Quals, type_: Type, node: s.Node, name: str) -> None:
    """Rules for global `in`, `out` and `uniform` variables and block members."""
    storage, stage = quals.storage, c.stage
    element = type_.without_array
    label = quals.legacy or storage
    if (
        storage in ("in", "out")
        and not quals.legacy
        and not c.lang.has(
            "130 es300 ARB_geometry_shader4 EXT_gpu_shader4 ARB_explicit_attrib_location"
        )
    ):
        message = f"global '{storage}' variables need GLSL 1.30"
        if c.lang.has("ARB_separate_shader_objects"):
            grant("global in and out", c.lang, c.log, message, node.loc, node.end)
        else:
            c.error(message, node)
    if storage == "inout":
        fetch = "EXT_shader_framebuffer_fetch EXT_shader_framebuffer_fetch_non_coherent"
        if stage != "fragment" or not c.lang.has(fetch) or not c.lang.has("130 es300"):
            c.error("'inout' is for parameters only", node)
        quals.storage = storage = "out"
        quals.flags.add("framebuffer_fetch")
    if storage in ("in", "out") and stage == "compute":
        c.error("compute shaders have no user-defined inputs or outputs", node)
    check_auxiliary(c, quals, storage, node)
    if storage not in ("in", "out"):
        return
    if element.is_boolean if element.is_numeric else element.contains(frozenset((Base.BOOL,))):
        c.error(f"'{label}' variables cannot be of type '{element}'", node)
    if type_.contains_opaque() and not c.lang.has("ARB_bindless_texture"):
        c.error(f"'{label}' variables cannot be of type '{element}'", node)
    if stage == "vertex" and storage == "in":
        check_attribute(c, quals, type_, node)
    elif stage == "fragment" and storage == "out":
        check_fragment_output(c, quals, type_, node)
    else:
        check_varying(c, quals, type_, node, name)


_RULES = """
interpolation: -: : '{word}' applies to inputs and outputs only
interpolation: vertex in: : vertex shader inputs are not interpolated
interpolation: fragment out: : fragment shader outputs are not interpolated
interpolation: attribute, varying: 130: '{word}' cannot be used with '{legacy}'
centroid sample patch: -: : '{word}' applies to inputs and outputs only
patch: tess_ctrl out, tess_eval in: :
patch: in, out: : 'patch' is for tessellation control outputs and evaluation inputs
centroid sample: vertex in, fragment out: : '{word}' cannot be used here
invariant: vertex in: : inputs cannot be declared invariant
invariant: in: 420 es300: inputs cannot be declared invariant
invariant: -: : only inputs and outputs can be invariant
"""
"""Qualifiers, the places that the row is for, the languages (all if empty), and the error. The
first row that fits decides; without an error the qualifier is allowed, as it is without a row. A
place is a storage qualifier, with or without a stage; `-` is any that is neither `in` nor `out`.
"""


def _rules() -> dict[str, list[tuple[frozenset[str], str, str]]]:
    table: dict[str, list[tuple[frozenset[str], str, str]]] = {}
    for line in _RULES.strip().split("\n"):
        names, places, when, message = (part.strip() for part in line.split(":", 3))
        for name in names.split():
            table.setdefault(name, []).append((frozenset(places.split(", ")), when, message))
    return table


_BY_QUALIFIER = _rules()


def check_auxiliary(c: Checker, quals: hir.Quals, storage: str, node: s.Node) -> None:
    """Check interpolation, auxiliary and invariance qualifiers against the storage qualifier."""
    places = {storage, f"{c.stage} {storage}"} if storage in ("in", "out") else {"-"}
    places.add(quals.legacy)
    for name, rows in _BY_QUALIFIER.items():
        value = getattr(quals, name)
        if not value:
            continue
        for where, when, message in rows:
            if not where.isdisjoint(places) and (not when or c.lang.has(when)):
                if message:
                    word = value if isinstance(value, str) else name
                    c.error(message.format(word=word, legacy=quals.legacy), node)
                break


def check_attribute(c: Checker, quals: hir.Quals, type_: Type, node: s.Node) -> None:
    element = type_.without_array
    if type_.is_array and (c.lang.es or not c.lang.has("150")):
        c.error(f"vertex shader inputs cannot be arrays in {c.lang.name}", node)
    if element.is_struct:
        c.error("vertex shader inputs cannot be structures", node)
    if element.is_integer and not c.lang.has(INTEGERS):
        c.error(f"vertex shader inputs cannot be integers in {c.lang.name}", node)
    if element.bit_size == 64 and not c.lang.has("410 ARB_vertex_attrib_64bit"):
        if element.is_double or not c.lang.has("ARB_vertex_attrib_64bit"):
            c.error(f"vertex shader inputs of type '{element}' need GLSL 4.10", node)


def check_fragment_output(c: Checker, quals: hir.Quals, type_: Type, node: s.Node) -> None:
    element = type_.without_array
    if element.is_struct or element.is_matrix or element.is_double:
        c.error(f"fragment shader outputs cannot be of type '{element}'", node)
    if type_.is_array and type_.element is not None and type_.element.is_array:
        c.error("fragment shader outputs cannot be arrays of arrays", node)


def check_varying(c: Checker, quals: hir.Quals, type_: Type, node: s.Node, name: str) -> None:
    element = type_.without_array
    stage, storage, lang = c.stage, quals.storage, c.lang
    if quals.legacy == "varying" and (not element.is_float or element.is_double):
        if not lang.has("130 EXT_gpu_shader4") or lang.es:
            c.error(f"varyings cannot be of type '{element}'", node)
    if element.is_struct:
        if not lang.has("150 es300 430"):
            c.error(f"varyings cannot be structures in {lang.name}", node)
        elif lang.es and any(f.type.is_array or f.type.is_struct for f in element.fields):
            if lang.version < 310:
                c.error("structures passed between stages cannot nest in GLSL ES", node)
        elif lang.es and type_.is_array and stage in ("vertex", "fragment"):
            c.error("arrays of structures cannot pass between stages in GLSL ES", node)
    if lang.es and type_.is_array and type_.element is not None:
        passed = per_vertex_array(c, quals) and (stage, storage) != ("tess_ctrl", "out")
        if type_.element.is_array and not passed:
            c.error("arrays of arrays cannot pass between stages in GLSL ES", node)
    discrete = any(leaf.is_integer or leaf.is_double for leaf in type_.leaves())
    if discrete and quals.interpolation != "flat":
        if stage == "fragment" and storage == "in":
            if lang.has(INTEGERS):
                c.error(
                    f"fragment shader inputs with integers or doubles must be flat: '{name}'",
                    node,
                    "add 'flat'",
                )
        elif stage == "vertex" and storage == "out" and lang.es and lang.version == 300:
            c.error(f"integer outputs must be flat: '{name}'", node, "add 'flat'")
    if per_vertex_array(c, quals) and not type_.is_array:
        if quals.legacy != "varying" or stage == "geometry":
            c.error(
                f"{stage.replace('_', ' ')} shader '{storage}' variables must be arrays: '{name}'",
                node,
            )


def per_vertex_array(c: Checker, quals: hir.Quals) -> bool:
    """Whether the outermost array dimension of such a variable counts vertices."""
    if quals.patch:
        return False
    return (c.stage, quals.storage) in (
        ("geometry", "in"),
        ("tess_ctrl", "in"),
        ("tess_ctrl", "out"),
        ("tess_eval", "in"),
    )


def size_per_vertex(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    """Size geometry inputs and tessellation arrays by the primitive or patch."""
    if not var.type.is_array or not per_vertex_array(c, var.quals):
        return
    if var.quals.legacy == "varying" and c.stage != "geometry":
        return
    element = var.type.element
    assert element is not None
    if c.stage == "geometry":
        length = c.shader.layout.get("vertices_in", 0)
        if var.type.length and length and var.type.length != length:
            c.error(
                f"'{d.name}' has {var.type.length} elements, the input primitive {length} vertices",
                d,
            )
        if var.type.length == 0 and length:
            var.type = t.array(element, length)
        elif var.type.length:
            c.sized_inputs.append((var, d))
    elif var.quals.storage == "in":
        limit = c.limits.max_patch_vertices
        if var.type.length and var.type.length != limit:
            c.error(f"'{d.name}' does not have gl_MaxPatchVertices ({limit}) elements", d)
        var.type = t.array(element, limit)
    else:
        length = c.shader.layout.get("vertices_out", 0)
        if var.type.length and length and var.type.length != length:
            c.error(
                f"'{d.name}' has {var.type.length} elements, the patch {length} vertices",
                d,
            )
        if length and not var.type.length:
            var.type = t.array(element, length)
