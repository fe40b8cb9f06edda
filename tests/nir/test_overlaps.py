"""How the memory of two derefs relates: every pair of some, in either order."""

from __future__ import annotations

import itertools

import pytest

from gallette.compiler.nir.analysis.alias import Overlap, compare, may_alias, root_of
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.text.parser import parse

TEXT = """shader compute
type $I = struct "I" { float p; vec4 q }
type $S = struct "S" { float a; $I[4] b; $I c }
type $B = interface "B" std430 { float a (offset=0); float b (offset=4) }
var shader_temp $S s
var shader_temp $S t
var shared float m
var shared float n
var ssbo $B u (binding=1, interface=$B)
var ssbo $B w (binding=2, interface=$B)
var ssbo $B r (binding=3, interface=$B, access=4)
var ssbo $B x (binding=4, interface=$B, access=4)
function main () entry
impl main {
    32 %zero = load_const (0)
    32 %one = load_const (1)
    32 %uno = load_const (1)
    32 %i = @load_subgroup_invocation ()
    32 %j = iadd %i, %one
    64 %p64 = load_const (0x100000000)
    64 %q64 = load_const (0x200000000)
    32 %s = deref_var &s (shader_temp $S)
    32 %s_again = deref_var &s (shader_temp $S)
    32 %t = deref_var &t (shader_temp $S)
    32 %sa = deref_struct &%s.0 (shader_temp float)
    32 %sb = deref_struct &%s.1 (shader_temp $I[4])
    32 %sc = deref_struct &%s.2 (shader_temp $I)
    32 %sb0 = deref_array &%sb[%zero] (shader_temp $I)
    32 %sb1 = deref_array &%sb[%one] (shader_temp $I)
    32 %sb_uno = deref_array &%sb[%uno] (shader_temp $I)
    32 %sbi = deref_array &%sb[%i] (shader_temp $I)
    32 %sbi_again = deref_array &%sb[%i] (shader_temp $I)
    32 %sbj = deref_array &%sb[%j] (shader_temp $I)
    32 %sball = deref_array_wildcard &%sb[*] (shader_temp $I)
    32 %sball_again = deref_array_wildcard &%sb[*] (shader_temp $I)
    32 %sb1p = deref_struct &%sb1.0 (shader_temp float)
    32 %sb1q = deref_struct &%sb1.1 (shader_temp vec4)
    32 %sbip = deref_struct &%sbi.0 (shader_temp float)
    32 %sbjp = deref_struct &%sbj.0 (shader_temp float)
    32 %sbjq = deref_struct &%sbj.1 (shader_temp vec4)
    32 %m = deref_var &m (shared float)
    32 %n = deref_var &n (shared float)
    32 %u = deref_var &u (ssbo $B)
    32 %w = deref_var &w (ssbo $B)
    32 %r = deref_var &r (ssbo $B)
    32 %x = deref_var &x (ssbo $B)
    32 %ua = deref_struct &%u.0 (ssbo float)
    32 %ub = deref_struct &%u.1 (ssbo float)
    32 %wb = deref_struct &%w.1 (ssbo float)
    64 %g = deref_cast %p64 (global float[4]) stride=16
    64 %g_again = deref_cast %p64 (global float[4]) stride=16
    64 %g_wide = deref_cast %p64 (global float[4]) stride=32
    64 %g_other = deref_cast %p64 (global vec4) stride=16
    64 %h = deref_cast %q64 (global float[4]) stride=16
    64 %g0 = deref_array &%g[%zero] (global float)
    64 %g1 = deref_array &%g[%one] (global float)
    64 %g_again1 = deref_array &%g_again[%one] (global float)
    64 %gp1 = deref_ptr_as_array &%g[%one] (global float[4])
    64 %gp1_again = deref_ptr_as_array &%g_again[%one] (global float[4])
    64 %gp0 = deref_ptr_as_array &%g[%zero] (global float[4])
    64 %gp_on = deref_ptr_as_array &%gp1[%one] (global float[4])
    32 %mp = deref_cast %m (shared float) stride=4
    32 %either = deref_cast %zero (shared|shader_temp float) stride=4
}
"""
NONE, EQUAL, IN, AROUND, PART = (
    Overlap.NONE,
    Overlap.EQUAL,
    Overlap.A_IN_B,
    Overlap.B_IN_A,
    Overlap.PARTIAL,
)
PAIRS = {
    # variables, and the same one
    ("s", "s"): EQUAL, ("s", "s_again"): EQUAL, ("s", "t"): NONE, ("s", "m"): NONE,
    ("m", "n"): NONE,
    # members
    ("sa", "s"): IN, ("sa", "sb"): NONE, ("sc", "sb1"): NONE, ("sb1p", "s"): IN,
    ("sb1p", "sb1"): IN, ("sb1p", "sb1q"): NONE, ("sb1p", "sa"): NONE,
    # elements
    ("sb0", "sb1"): NONE, ("sb1", "sb_uno"): EQUAL, ("sb1", "sbi"): PART, ("sbi", "sbj"): PART,
    ("sbi", "sbi_again"): EQUAL, ("sbip", "sbi_again"): IN, ("sbip", "sbjp"): PART,
    ("sbip", "sbjq"): NONE, ("sb1q", "sbip"): NONE, ("sb1p", "sbip"): PART, ("sbip", "sb"): IN,
    ("sb0", "sb1p"): NONE,
    # all elements
    ("sball", "sball_again"): EQUAL, ("sball", "sb1"): PART, ("sball", "sb"): IN,
    # buffers may be one, unless both are said to be alone
    ("u", "w"): PART, ("ua", "wb"): PART, ("ua", "ub"): NONE, ("r", "x"): NONE, ("r", "u"): PART,
    ("u", "g"): NONE, ("u", "m"): NONE,
    # pointers
    ("g", "g_again"): EQUAL, ("g", "g_wide"): PART, ("g", "g_other"): PART, ("g", "h"): PART,
    ("g0", "g1"): NONE, ("g1", "g_again1"): EQUAL, ("g1", "g_again"): IN, ("g0", "h"): PART,
    ("gp1", "gp1_again"): EQUAL, ("gp0", "gp1"): NONE, ("gp_on", "gp1"): PART,
    ("gp_on", "gp0"): PART, ("gp1", "g0"): PART,
    # a pointer to a variable, and one that may lead anywhere
    ("mp", "n"): NONE, ("mp", "m"): IN, ("either", "m"): PART, ("either", "sa"): PART,
    ("either", "u"): NONE, ("m", "g"): NONE,
}  # fmt: skip
TURNED = {IN: AROUND, AROUND: IN}


def derefs() -> dict[str, Deref]:
    """By the names of the text."""
    lines = [line.split() for line in TEXT.splitlines() if " = deref" in line]
    names = [words[1].lstrip("%") for words in lines]
    shader = parse(TEXT)
    found = [i for i in shader.entry.first.instrs() if isinstance(i, Deref)]
    return dict(zip(names, found, strict=True))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_how_two_places_relate(a: str, b: str) -> None:
    named, wanted = derefs(), PAIRS[a, b]
    assert compare(named[a], named[b]) is wanted
    assert compare(named[b], named[a]) is TURNED.get(wanted, wanted)
    assert may_alias(named[a], named[b]) == (wanted is not NONE)


def test_a_place_is_itself_and_relations_can_be_turned() -> None:
    named = derefs()
    for a, b in itertools.product(named.values(), repeat=2):
        found = compare(a, b)
        assert compare(b, a) is TURNED.get(found, found)
        assert a is not b or found is EQUAL


def test_where_chains_begin() -> None:
    named = derefs()
    assert root_of(named["sbjq"]) is root_of(named["s"]) is named["s"].var
    assert root_of(named["g1"]) is named["g"].srcs[0].value
    assert root_of(named["mp"]) is named["m"].var
    assert root_of(named["u"]) is not root_of(named["w"])
