"""Qualifiers as written, checked against each other and combined into one record."""

from __future__ import annotations

from gallette.compiler.glsl.availability import ENHANCED_LAYOUTS
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.layouts import LAYOUTS, Layout
from gallette.compiler.glsl.diagnostics import did_you_mean
from gallette.compiler.glsl.parse import syntax as s

__all__ = ["read_qualifiers"]

_INTERPOLATION = frozenset(("smooth", "flat", "noperspective"))
_MEMORY = frozenset(("coherent", "volatile", "restrict", "readonly", "writeonly"))
_PRECISION = frozenset(("highp", "mediump", "lowp"))
_PLAIN = frozenset(("const", "in", "out", "inout", "uniform", "buffer", "shared"))
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


def read_qualifiers(
    c: Checker, node: s.Qualifiers, place_prefix: str = "", storage: str = ""
) -> hir.Quals:
    """Check the qualifier words; `storage` is inherited from a block."""
    if not node.layout and len(node.words) < 2:  # the usual case
        if not node.words:
            return hir.Quals()
        if node.words[0][0] in _PLAIN:
            return hir.Quals(node.words[0][0])
    quals = hir.Quals()
    seen: set[str] = set()
    words = [w for w, _ in node.words]
    for word, loc in node.words:
        end = loc + len(word)
        if word in seen:
            c.log.error(f"'{word}' is repeated", loc, end)
        seen.add(word)
        if word in _PRECISION:
            if quals.precision and quals.precision != word:
                c.log.error("more than one precision qualifier", loc, end)
            quals.precision = word
        elif word in _INTERPOLATION:
            if quals.interpolation and quals.interpolation != word:
                c.log.error("more than one interpolation qualifier", loc, end)
            quals.interpolation = word
        elif word in _MEMORY:
            quals.memory |= {word}
        elif word in ("invariant", "precise", "centroid", "sample", "patch"):
            setattr(quals, word, True)
        elif word == "subroutine":
            quals.flags.add("subroutine")
        else:
            read_storage(c, quals, word, loc, end, words)
    check_order(c, node)
    auxiliary = [word for word in ("centroid", "sample", "patch") if getattr(quals, word)]
    if len(auxiliary) > 1:
        first, second = auxiliary[:2]
        c.log.error(f"'{first}' and '{second}' exclude each other", node.loc, node.end)
    if node.layout:
        place = f"{place_prefix}{quals.storage or storage or 'plain'}"
        if quals.flags == {"subroutine"} and node.subroutine_types is not None:
            place = "function"
        read_layout(c, node, quals, place)
    return quals


def read_storage(
    c: Checker, quals: hir.Quals, word: str, loc: int, end: int, words: list[str]
) -> None:
    new = word
    if word == "attribute":
        if c.stage != "vertex":
            c.log.error("attributes exist in vertex shaders only", loc, end)
        new, quals.legacy = "in", word
    elif word == "varying":
        if c.stage not in ("vertex", "fragment", "geometry"):
            c.log.error("'varying' exists in vertex and fragment shaders only", loc, end)
        quals.legacy = word
        if c.stage == "geometry":
            # ARB_geometry_shader4 writes `varying in` and `varying out`.
            return
        new = "out" if c.stage == "vertex" else "in"
    if quals.storage == "const" and new == "in":
        quals.flags.add("const_in")
        quals.storage = "in"
        return
    if quals.storage == "in" and new == "const":
        if c.lang.has("es100-es300"):
            c.log.error(f"'const' must come earlier in {c.lang.name}", loc, end)
        quals.flags.add("const_in")
        return
    if quals.storage and not (quals.legacy == "varying" and c.stage == "geometry"):
        if {quals.storage, new} == {"in", "out"}:
            quals.storage = "inout"
            return
        c.log.error(f"'{word}' cannot be combined with '{quals.legacy or quals.storage}'", loc, end)
    quals.storage = new


def check_order(c: Checker, node: s.Qualifiers) -> None:
    if len(node.words) < 2 or c.lang.has("420 ARB_shading_language_420pack es310"):
        return
    last = -1
    for word, loc in node.words:
        rank = _RANK.get(word, last)
        if rank < last:
            c.log.error(
                f"'{word}' must come earlier in {c.lang.name}",
                loc,
                loc + len(word),
                "order: precise invariant interpolation auxiliary storage precision",
            )
            return
        last = rank


# A name with a value may occur in several layout qualifiers, and in later versions several times
# in one of them.
_REPEATED_IN_GROUPS = "420 ARB_shading_language_420pack es310 ARB_enhanced_layouts"
_REPEATED = "440 ARB_enhanced_layouts"


def read_layout(c: Checker, node: s.Qualifiers, quals: hir.Quals, place: str) -> None:
    if node.layout_groups > 1 and not c.lang.has(_REPEATED_IN_GROUPS):
        c.error("several layout qualifiers need GLSL 4.20", node)
    seen: set[str] = set()
    repeating = _REPEATED_IN_GROUPS if node.layout_groups > 1 else _REPEATED
    for ident in node.layout:
        name = ident.name
        if not c.lang.es and name.lower() in LAYOUTS:
            name = name.lower()
        rows = LAYOUTS.get(name)
        if rows is None:
            c.error(f"unknown layout qualifier '{ident.name}'", ident, did_you_mean(name, LAYOUTS))
            continue
        fitting = [r for r in rows if place in r.places and (not r.stages or c.stage in r.stages)]
        if not fitting:
            where = place.replace("-", " ") or "variable"
            c.error(
                f"layout qualifier '{name}' cannot be used on '{where}' "
                f"in {c.stage.replace('_', ' ')} shaders",
                ident,
            )
            continue
        row = fitting[0]
        if not c.lang.has(row.when):
            c.need(row.when, f"layout qualifier '{name}'", ident)
        if name in seen and row.least is not None and not c.lang.has(repeating):
            c.error(f"layout qualifier '{name}' is repeated", ident)
        seen.add(name)
        if row.least is not None:
            if ident.value is None:
                c.error(f"layout qualifier '{name}' needs a value", ident)
                continue
            quals.layout[name] = read_layout_value(c, ident, name, row.least)
        elif ident.value is not None:
            c.error(f"layout qualifier '{name}' takes no value", ident)
        else:
            check_exclusive(c, quals, row, ident)


def read_layout_value(c: Checker, ident: s.LayoutId, name: str, least: int) -> int:
    assert ident.value is not None
    if not c.lang.has(ENHANCED_LAYOUTS) and not isinstance(ident.value, s.Literal):
        raise c.abort(
            f"the value of '{name}' must be an integer literal in {c.lang.name}", ident.value
        )
    value = c.integer_constant(c.expr(ident.value), f"the value of '{name}'")
    if value < 0:
        raise c.abort(f"the value of '{name}' cannot be negative", ident.value)
    if value < least:
        raise c.abort(f"'{name}' must be at least {least}", ident.value)
    return value


def check_exclusive(c: Checker, quals: hir.Quals, row: Layout, ident: s.LayoutId) -> None:
    """The last of several contradicting identifiers takes effect, as the specification says."""
    if row.group:
        others = {n for n in quals.flags if n in LAYOUTS and LAYOUTS[n][0].group == row.group}
        others.discard(row.name)
        if others and row.group.endswith("!"):
            c.error(f"'{row.name}' contradicts '{min(others)}'", ident)
        quals.flags -= others
    quals.flags.add(row.name)
