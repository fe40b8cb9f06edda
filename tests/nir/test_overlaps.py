"""How the memory of two derefs relates: every pair of some, in either order."""

from __future__ import annotations

import itertools
from pathlib import Path

from gallette.compiler.nir.analysis.alias import Overlap, compare, may_alias, root_of
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.text.parser import parse
from tests.cases import Case, each, sections

FILE = Path(__file__).with_name("overlaps.txt")
TEXT = sections(FILE)["derefs"].template
TURNED = {Overlap.A_IN_B: Overlap.B_IN_A, Overlap.B_IN_A: Overlap.A_IN_B}


def derefs() -> dict[str, Deref]:
    """By the names of the text."""
    lines = [line.split() for line in TEXT.splitlines() if " = deref" in line]
    names = [words[1].lstrip("%") for words in lines]
    shader = parse(TEXT)
    found = [i for i in shader.entry.first.instrs() if isinstance(i, Deref)]
    return dict(zip(names, found, strict=True))


@each(FILE)
def test_how_two_places_relate(case: Case) -> None:
    (a, b), named, wanted = case.text.split(), derefs(), Overlap[case.answer]
    assert compare(named[a], named[b]) is wanted
    assert compare(named[b], named[a]) is TURNED.get(wanted, wanted)
    assert may_alias(named[a], named[b]) == (wanted is not Overlap.NONE)


def test_a_place_is_itself_and_relations_can_be_turned() -> None:
    named = derefs()
    for a, b in itertools.product(named.values(), repeat=2):
        found = compare(a, b)
        assert compare(b, a) is TURNED.get(found, found)
        assert a is not b or found is Overlap.EQUAL


def test_where_chains_begin() -> None:
    named = derefs()
    assert root_of(named["sbjq"]) is root_of(named["s"]) is named["s"].var
    assert root_of(named["g1"]) is named["g"].srcs[0].value
    assert root_of(named["mp"]) is named["m"].var
    assert root_of(named["u"]) is not root_of(named["w"])
