"""Redeclarations of built-in variables, and statements that only add a qualifier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gallette.compiler.glsl.availability import GLOBAL_IN_AND_OUT
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.types import sizes_match
from gallette.compiler.glsl.laxities import grant
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.qualifiers import LAYOUTS
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.text_tables import table_rows


@lazy_dataclass(frozen=True)
class Redeclaration:
    """How a built-in variable may be redeclared."""

    when: str
    limit: str
    """the limit on the size of an array, an attribute of `Limits`"""
    interpolated: bool
    once: bool
    layout: frozenset[str]
    """layout identifiers and groups of them that only this variable may have"""
    plain: bool
    """whether a redeclaration has no storage qualifier"""


def _read() -> Iterator[tuple[str, Redeclaration]]:
    for line in table_rows(Path(__file__).with_suffix(".txt")):
        names, when, changes = (*(cell.strip() for cell in line.split("|")), "", "")[:3]
        words = changes.split()
        limit = next((w.removeprefix("size<") for w in words if w.startswith("size<")), "")
        own = frozenset(w[1:] for w in words if w[0] == "@")
        interpolated, once, plain = (w in words for w in ("interpolation", "once", "plain"))
        row = Redeclaration(when, limit, interpolated, once, own, plain)
        yield from ((name, row) for name in names.split())


REDECLARATIONS = dict(_read())
_OWNED = frozenset().union(*(row.layout for row in REDECLARATIONS.values()))


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


def check_in_and_out(c: Checker, quals: hir.Quals, d: s.Declarator) -> None:
    """Check that the language has inputs and outputs that are not attributes or varyings."""
    if quals.storage in ("in", "out") and not quals.legacy and not c.lang.has(GLOBAL_IN_AND_OUT):
        message = f"global '{quals.storage}' variables need GLSL 1.30"
        if c.lang.has("ARB_separate_shader_objects"):
            grant("global in and out", c.lang, c.log, message, d.loc, d.end)
        else:
            c.error(message, d)


def redeclare_builtin(c: Checker, d: s.Declarator, type_: Type, quals: hir.Quals) -> None:
    if not c.at_global_scope:
        raise c.abort(f"names beginning with 'gl_' are reserved: '{d.name}'", d)
    var = c.find(d.name)
    row = REDECLARATIONS.get(d.name)
    if not isinstance(var, hir.Variable) or row is None:
        hint = c.suggest(d.name) if var is None else ""
        raise c.abort(f"'{d.name}' cannot be redeclared", d, hint)
    if row.when and not c.lang.has(row.when):
        raise c.abort(f"'{d.name}' cannot be redeclared in {c.lang.name}", d)
    if d.init is not None:
        raise c.abort(f"built-in '{d.name}' cannot be initialized", d)
    if quals.storage != ("" if row.plain else var.quals.storage):
        raise c.abort(f"'{d.name}' is redeclared with another storage qualifier", d)
    check_in_and_out(c, quals, d)
    for flag in quals.flags:
        own = LAYOUTS[flag][0].group or flag if flag in LAYOUTS else flag
        if own in _OWNED and own not in row.layout:
            raise c.abort(f"layout qualifier '{flag}' cannot be used on '{d.name}'", d)
    if var.explicit_size and type_.length:
        raise c.abort(f"'{d.name}' is already declared with a size", d)
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
    if row.once:
        if var.redeclared and var.quals.flags != quals.flags:
            raise c.abort(f"{d.name} is redeclared with different layout qualifiers", d)
        if var.used and not var.redeclared:
            raise c.abort(f"{d.name} must be redeclared before its first use", d)
    if quals.interpolation:
        given = c.stage == "vertex" and var.quals.storage == "in"
        if given or not row.interpolated:
            raise c.abort(f"'{d.name}' cannot be redeclared with interpolation", d)
        var.quals.interpolation = quals.interpolation
    var.quals.flags |= quals.flags
    var.quals.layout.update(quals.layout)
    var.quals.invariant = var.quals.invariant or quals.invariant
    var.quals.precise = var.quals.precise or quals.precise
    var.quals.centroid = var.quals.centroid or quals.centroid
    var.redeclared = True


def resize_builtin(c: Checker, var: hir.Variable, type_: Type, d: s.Node) -> None:
    if type_.length:
        check_limit(c, var.name, type_, d)
        if var.max_index >= type_.length:
            raise c.abort(f"'{var.name}' has been indexed beyond its size {type_.length}", d)
        var.type = type_
        var.explicit_size = True


def check_limit(c: Checker, name: str, type_: Type, d: s.Node) -> None:
    """Check the size of a redeclared array: of a variable, or of a member of gl_PerVertex."""
    row = REDECLARATIONS[name]
    if row.limit and type_.length > (limit := getattr(c.limits, row.limit)):
        raise c.abort(f"'{name}' has at most {limit} elements", d)


def requalify(c: Checker, node: s.Declaration) -> None:
    words = [w for w, _ in node.quals.words]
    if not words or set(words) - {"invariant", "precise"} or node.quals.layout:
        raise c.abort("expected a type in this declaration", node)
    if len(words) > len(set(words)):
        raise c.abort("a qualifier is repeated", node)
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
    if var.name == "gl_FrontFacing" and c.lang.es:
        raise c.abort("gl_FrontFacing is invariant if gl_Position is", d)
    if var.used and var.written and not c.lang.es:
        c.error(f"'{var.name}' must be declared invariant before it is used", d)
    var.quals.invariant = True
