"""The rules for qualifiers and types of declarations, read from `declarations.txt`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gallette.compiler.glsl import availability
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.qualifiers import LAYOUTS
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type
from gallette.compiler.text_tables import table_rows


@lazy_dataclass(frozen=True)
class Rule:
    """A row of the table."""

    wanted: tuple[frozenset[str], ...]
    """one word of each describes the declaration"""
    barred: frozenset[str]
    """no word of these does"""
    when: str
    """an availability: the rule applies without it, or with it"""
    applies_with: bool
    message: str
    hint: str
    stops: bool
    """whether checking the declaration ends with the error"""
    demands: bool
    """whether the message is what is not available"""

    def fits(self, words: frozenset[str]) -> bool:
        return self.barred.isdisjoint(words) and not any(w.isdisjoint(words) for w in self.wanted)


@cache
def rules() -> tuple[Rule, ...]:
    return tuple(_rules())


def _rules() -> Iterator[Rule]:
    for line in table_rows(Path(__file__).with_name("declarations.txt")):
        what, languages, message = (part.strip() for part in line.split("|", 2))
        kind, _, when = languages.partition(" ")
        when = " ".join([getattr(availability, word, word) for word in when.split()])
        message, _, hint = message.partition(" ~ ")
        yield Rule(
            tuple(frozenset(w.split(",")) for w in what.split() if w[0] != "-"),
            frozenset(w[1:] for w in what.split() if w[0] == "-"),
            when,
            kind == "if",
            message.removeprefix("!").removeprefix("needs "),
            hint,
            message.startswith("!"),
            message.startswith("needs "),
        )


def check_declaration(
    c: Checker,
    kind: str,
    quals: hir.Quals,
    type_: Type,
    node: s.Node,
    name: str = "",
    last: bool = False,
) -> None:
    """Report what the rules say of a declaration; `last` is for the last member of a block."""
    key = (
        *(kind, type_, last, quals.storage, quals.legacy, quals.interpolation, quals.patch),
        *(quals.memory, frozenset((*quals.layout, *quals.flags))),
    )
    broken = c.memory.broken.get(key)
    if broken is None:
        words = _words(c, kind, quals, type_, last)
        broken = c.memory.broken[key] = tuple(
            rule
            for rule in rules()
            if rule.fits(words) and (not rule.when or c.lang.has(rule.when) is rule.applies_with)
        )
    for rule in broken:
        message = rule.message.format(
            label=quals.legacy or quals.storage,
            storage=quals.storage,
            interpolation=quals.interpolation,
            stage=c.stage.replace("_", " "),
            type=type_,
            element=type_.without_array,
            name=name,
            language=c.lang.name,
            flag=min(quals.flags, default=""),
        )
        if rule.demands:
            c.need(rule.when, message, node)
        elif rule.stops:
            raise c.abort(message, node, rule.hint)
        else:
            c.error(message, node, rule.hint)


def _words(c: Checker, kind: str, quals: hir.Quals, type_: Type, last: bool) -> frozenset[str]:
    """The words that describe a declaration."""
    storage = quals.storage
    words = _of_type(type_) | {kind, c.stage, storage or "plain", *_of(quals)}
    if last:
        words |= {"last"}
    per_vertex = per_vertex_array(c, quals)
    if per_vertex:
        words |= {"per-vertex"}
    # An interface block for each vertex is checked as a whole, and not its members.
    if kind == "global" or (kind == "member" and not per_vertex):
        if storage in ("in", "out") and (c.stage, storage) not in _EDGES:
            words |= {"passed"}
    return words


_EDGES = (("vertex", "in"), ("fragment", "out"))


def per_vertex_array(c: Checker, quals: hir.Quals) -> bool:
    """Whether the outermost array dimension of such a variable counts vertices (section 4.3.4)."""
    return not quals.patch and (c.stage, quals.storage) in (
        ("geometry", "in"),
        ("tess_ctrl", "in"),
        ("tess_ctrl", "out"),
        ("tess_eval", "in"),
    )


def _of(quals: hir.Quals) -> Iterator[str]:
    """The words for qualifiers other than storage."""
    yield from (quals.legacy, quals.interpolation, *quals.memory)
    if quals.interpolation:
        yield "interpolated"
    if quals.memory:
        yield "memory"
    for name in (*quals.layout, *quals.flags):
        group = LAYOUTS[name][0].group if name in LAYOUTS else ""
        yield name if name == "subroutine" else f"@{group or name}"


@cache
def _of_type(type_: Type) -> frozenset[str]:
    """The words for a type."""
    element, leaves = type_.without_array, list(type_.leaves())
    is_double = element.is_double
    found = {
        "array": type_.is_array,
        "array-of-arrays": type_.element is not None and type_.element.is_array,
        "unsized": type_.is_unsized_array,
        "void": element is t.VOID,
        "struct": element.is_struct,
        "nested": any(f.type.is_array or f.type.is_struct for f in element.fields),
        "matrix": element.is_matrix,
        "integer": element.is_integer,
        "float": element.is_float and not is_double,
        "double": is_double,
        "64-bit": element.bit_size == 64,
        "image": element.is_image,
        "sampler": element.is_sampler,
        "counter": element.base is Base.ATOMIC_UINT,
        "subroutine-type": element.base is Base.SUBROUTINE,
        "opaque": type_.holds_opaque,
        "bool": any(leaf.is_boolean for leaf in leaves),
        "discrete": any(leaf.is_integer or leaf.is_double for leaf in leaves),
    }
    return frozenset(word for word, holds in found.items() if holds)
