"""Qualifiers as written, checked against the table and combined into one record."""

from __future__ import annotations

from gallette.compiler.glsl.availability import ENHANCED_LAYOUTS, REPEATED_LAYOUTS
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.diagnostics import did_you_mean
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.qualifiers import LAYOUTS, WORDS, Qualifier, fitting, purpose, spoken

_MEMORY = frozenset(("coherent", "volatile", "restrict", "readonly", "writeonly"))
_AUXILIARY = frozenset(("centroid", "sample", "patch"))
_ONE_OF = {
    **dict.fromkeys(("smooth", "flat", "noperspective"), "interpolation"),
    **dict.fromkeys(("highp", "mediump", "lowp"), "precision"),
}
_STORAGE = ("const", "in", "out", "inout", "uniform", "buffer", "shared", "attribute", "varying")
# Section 4.7 of GLSL 3.30 has this order.
_ORDER = ("precise", "invariant", "interpolation", "auxiliary", "storage", "precision")
_RANK = {
    **{word: _ORDER.index(kind) for word, kind in _ONE_OF.items()},
    **dict.fromkeys(_AUXILIARY, _ORDER.index("auxiliary")),
    **dict.fromkeys(_STORAGE, _ORDER.index("storage")),
    **{word: _ORDER.index(word) for word in ("precise", "invariant")},
}
_ANY_ORDER = "420 ARB_shading_language_420pack es310"


def read_qualifiers(c: Checker, node: s.Qualifiers, kind: str, block: str = "") -> hir.Quals:
    """Check the qualifiers of a kind of declaration: global, local, block, default, param,
    function, field or member. `block` is the storage qualifier of a member's block.
    """
    if not node.words and not node.layout:
        return hir.Quals()
    words = tuple([word for word, _ in node.words])
    key = kind, block, words, node.subroutine_types is None
    known = c.memory.qualifiers.get(key)
    if known is None:
        said = len(c.log.diagnostics)
        quals = combine(c, node, kind, block)
        if len(c.log.diagnostics) == said:
            plain = len(words) == 1 and words[0] == quals.storage
            c.memory.qualifiers[key] = quals.storage if plain else hir.copy_quals(quals)
    else:
        quals = hir.Quals(known) if known.__class__ is str else hir.copy_quals(known)
    if node.layout:
        read_layout(c, node, quals, place_of(node, kind, quals.storage or block))
    return quals


def place_of(node: s.Qualifiers, kind: str, storage: str) -> str:
    """The place of a qualifier in the table, other than one for storage."""
    if kind == "global":
        return storage or "plain"
    if kind in ("block", "default", "member") and storage:
        return f"{kind}-{storage}"
    return "subroutine" if kind == "function" and node.subroutine_types is not None else kind


def combine(c: Checker, node: s.Qualifiers, kind: str, block: str) -> hir.Quals:
    """The record of all words that may stand in this place."""
    quals = hir.Quals()
    seen: set[str] = set()
    own = f"member-{block}" if kind == "member" else kind
    for word, loc in node.words:
        if word in seen:
            c.log.error(f"'{word}' is repeated", loc, loc + len(word))
        seen.add(word)
        if word in _STORAGE:
            read_storage(c, quals, word, loc)
    if quals.storage == "inout":
        check_place(c, "inout", own, node.loc, node.end)
    else:
        for word, loc in node.words:
            if word in _STORAGE:
                check_place(c, word, own, loc, loc + len(word))
    place = place_of(node, kind, block or quals.storage)
    for word, loc in node.words:
        if word in _STORAGE or not check_place(c, word, place, loc, loc + len(word)):
            continue
        if word in _ONE_OF:
            one_of = _ONE_OF[word]
            if getattr(quals, one_of) not in ("", word):
                c.log.error(f"more than one {one_of} qualifier", loc, loc + len(word))
            setattr(quals, one_of, word)
        elif word in _MEMORY:
            quals.memory |= {word}
        elif word == "subroutine":
            quals.flags.add(word)
        else:
            setattr(quals, word, True)
    check_order(c, node)
    auxiliary = [word for word, _ in node.words if word in _AUXILIARY and getattr(quals, word)]
    if len(auxiliary) > 1:
        first, second = auxiliary[:2]
        c.log.error(f"'{first}' and '{second}' exclude each other", node.loc, node.end)
    return quals


def check_place(c: Checker, word: str, place: str, loc: int, end: int) -> bool:
    """Check that a word may stand in a place in this stage and language."""
    rows = WORDS[word]
    row = fitting(rows, place, c.stage)
    if row is None:
        message = f"'{word}' cannot be used on {spoken(rows, place, c.stage)}"
        c.log.error(message, loc, end, purpose(rows))
        return False
    if not c.lang.has(row.when):
        what = f"'{word}' on {spoken(rows, place, c.stage)}"
        c.need(row.when, what, s.Node(loc, end))
        return False
    return True


def read_storage(c: Checker, quals: hir.Quals, word: str, loc: int) -> None:
    new, end = word, loc + len(word)
    if word == "attribute":
        new, quals.legacy = "in", word
    elif word == "varying":
        quals.legacy = word
        if c.stage == "geometry":
            # ARB_geometry_shader4 writes `varying in` and `varying out`.
            return
        new = "out" if c.stage == "vertex" else "in"
    if {quals.storage, new} == {"const", "in"}:
        if new == "const" and not c.lang.has(_ANY_ORDER):
            c.log.error(f"'const' must come earlier in {c.lang.name}", loc, end)
        quals.flags.add("const_in")
        quals.storage = "in"
        return
    if quals.legacy == "varying" and c.stage == "fragment" and c.lang.has("EXT_gpu_shader4"):
        if word == "out":  # there `varying out` is an output
            quals.storage, quals.legacy = word, ""
            return
    if quals.storage and not (quals.legacy == "varying" and c.stage == "geometry"):
        if {quals.storage, word} == {"in", "out"} and not quals.legacy:
            quals.storage = "inout"
            return
        c.log.error(f"'{word}' cannot be combined with '{quals.legacy or quals.storage}'", loc, end)
    quals.storage = new


def check_order(c: Checker, node: s.Qualifiers) -> None:
    if len(node.words) < 2 or c.lang.has(_ANY_ORDER):
        return
    last = -1
    for word, loc in node.words:
        rank = _RANK.get(word, last)
        if rank < last:
            order = " ".join(_ORDER)
            message = f"'{word}' must come earlier in {c.lang.name}"
            c.log.error(message, loc, loc + len(word), f"order: {order}")
            return
        last = rank


def read_layout(c: Checker, node: s.Qualifiers, quals: hir.Quals, place: str) -> None:
    if node.layout_groups > 1 and not c.lang.has(REPEATED_LAYOUTS):
        c.error("several layout qualifiers need GLSL 4.20", node)
    if node.words and not c.lang.has(_ANY_ORDER):
        later = [loc for word, loc in node.words if _RANK.get(word, -1) >= _RANK["in"]]
        if later and node.layout[-1].loc > min(later):
            c.error(f"layout qualifiers must come earlier in {c.lang.name}", node.layout[-1])
    seen: set[str] = set()
    repeating = REPEATED_LAYOUTS if node.layout_groups > 1 else ENHANCED_LAYOUTS
    for ident in node.layout:
        name = ident.name
        if not c.lang.es and name.lower() in LAYOUTS:
            name = name.lower()
        rows = LAYOUTS.get(name)
        if rows is None:
            c.error(f"unknown layout qualifier '{ident.name}'", ident, did_you_mean(name, LAYOUTS))
            continue
        row = fitting(rows, place, c.stage)
        if row is None:
            where = spoken(rows, place, c.stage)
            c.error(f"layout qualifier '{name}' cannot be used on {where}", ident)
            continue
        if not c.lang.has(row.when):
            where = spoken(rows, place, c.stage)
            c.need(row.when, f"layout qualifier '{name}' on {where}", ident)
        if name in seen and row.least is not None and not c.lang.has(repeating):
            c.error(f"layout qualifier '{name}' is repeated", ident)
        seen.add(name)
        if row.least is not None:
            if ident.value is None:
                c.error(f"layout qualifier '{name}' needs a value", ident)
                continue
            quals.layout[name] = read_layout_value(c, ident, row, row.least)
        elif ident.value is not None:
            c.error(f"layout qualifier '{name}' takes no value", ident)
        else:
            check_exclusive(c, quals, row, ident)


def read_layout_value(c: Checker, ident: s.LayoutId, row: Qualifier, least: int) -> int:
    assert ident.value is not None
    name = row.name
    if not c.lang.has(ENHANCED_LAYOUTS) and not isinstance(ident.value, s.Literal):
        raise c.abort(
            f"the value of '{name}' must be an integer literal in {c.lang.name}", ident.value
        )
    value = c.integer_constant(c.expr(ident.value), f"the value of '{name}'")
    if value < 0:
        raise c.abort(f"the value of '{name}' cannot be negative", ident.value)
    if value < least:
        raise c.abort(f"'{name}' must be at least {least}", ident.value)
    most = row.most(c.limits) if row.limit else None
    if most is not None and value > most:
        c.error(f"'{name}' can be at most {most}", ident.value)
    if row.form == "pow2" and value & (value - 1):
        c.error(f"'{name}' must be a power of two", ident.value)
    elif row.form.startswith("x") and value % int(row.form[1:]):
        c.error(f"'{name}' must be a multiple of {row.form[1:]}", ident.value)
    return value


def check_exclusive(c: Checker, quals: hir.Quals, row: Qualifier, ident: s.LayoutId) -> None:
    """The last of several contradicting identifiers takes effect, as the specification says."""
    if row.group and not row.settles:
        others = {n for n in quals.flags if n in LAYOUTS and LAYOUTS[n][0].group == row.group}
        others.discard(row.name)
        if others and row.exclusive:
            c.error(f"'{row.name}' contradicts '{min(others)}'", ident)
        quals.flags -= others
    quals.flags.add(row.name)
