"""What is known of a loop: how often it runs, what leaves it, what is in it."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.analysis.loops import MAX_TRIPS, LoopInfo, analyse_loop
from gallette.compiler.nir.ir import Loop
from gallette.compiler.nir.text.parser import parse

HEAD = """shader fragment "loop"
impl main {
block start:
32 %n0 = load_const (0)
32 %n1 = load_const (1)
32 %n2 = load_const (2)
32 %n10 = load_const (10)
32 %big = load_const (100000)
32x2 %pair = load_const (1, 3)
32x2 %none = load_const (0, 0)
32 %x = @load_input (%n0) (location=VARYING.VAR0)
loop {
block head:
"""
LEAVE = "if %c {\nbreak\n} else {\n}\n"
STAY = "if %c {\n} else {\nbreak\n}\n"
TAIL = "}\n@store_output (%n0, %n0) (location=FRAG.DATA0, write_mask=x)\n}\n"


def counted(first: str, step: str, condition: str, leave: str = LEAVE) -> str:
    """A counter %i, the condition %c in front of the step %k."""
    return (
        f"32 %i = phi start: {first}, next: %k\n1 %c = {condition}\n{leave}"
        f"block next:\n32 %k = {step}\n"
    )


COUNTS = {
    # code of a loop -> complete iterations
    counted("%n0", "iadd %i, %n1", "ige %i, %n10"): 10,
    counted("%n0", "iadd %i, %n1", "ilt %i, %n10", STAY): 10,
    counted("%n0", "iadd %i, %n1", "ilt %i, %n10"): 0,
    counted("%n0", "iadd %i, %n2", "ieq %i, %n10"): 5,
    counted("%n10", "isub %i, %n1", "ige %n2, %i"): 8,
    counted("%n1", "imul %i, %n2", "ige %i, %n10"): 4,
    counted("%n0", "iadd %i, %n1", "ige %i, %big"): None,  # too often
    counted("%n0", "imul %i, %n2", "ige %i, %n10"): None,  # never: it stands still
    counted("%n0", "iadd %i, %n1", "ige %i, %x"): None,  # who knows
    counted("%x", "iadd %i, %n1", "ige %i, %n10"): None,
    counted("%n0", "iadd %i, %x", "ige %i, %n10"): None,
    # a first iteration that leaves is known, whatever comes behind it
    counted("%n10", "iadd %i, %x", "ige %i, %n10"): 0,
    # the limit is reached at its step, not beside it
    counted("%n0", "iadd %i, %n1", f"ige %i, %limit{MAX_TRIPS}"): MAX_TRIPS,
    counted("%n0", "iadd %i, %n1", f"ige %i, %limit{MAX_TRIPS + 1}"): None,
    # two numbers, one of which follows the other
    "32 %i = phi start: %n0, next: %k\n32 %j = phi start: %n1, next: %i\n"
    "1 %c = ige %j, %n10\n" + LEAVE + "block next:\n32 %k = iadd %i, %n2\n": 6,
    # components
    "32x2 %i = phi start: %none, next: %k\n1 %c = ige %i.y, %n10\n" + LEAVE
    + "block next:\n32x2 %k = iadd %i, %pair\n": 4,
    "32x2 %i = phi start: %none, next: %k\n1 %c = ige %i.x, %n10\n" + LEAVE
    + "block next:\n32x2 %k = iadd %i, %pair.yx\n": 4,
    # two exits: the one that comes first
    "32 %i = phi start: %n0, next: %k\n1 %c = ige %i, %n10\n" + LEAVE
    + "block more:\n1 %d = ieq %i, %n2\nif %d {\nbreak\n} else {\n}\n"
    "block next:\n32 %k = iadd %i, %n1\n": 2,
    # an exit that nobody can compute does not hide another
    "32 %i = phi start: %n0, next: %k\n1 %c = ige %x, %n10\n" + LEAVE
    + "block more:\n1 %d = ieq %i, %n2\nif %d {\nbreak\n} else {\n}\n"
    "block next:\n32 %k = iadd %i, %n1\n": 2,
    # more than a break is no exit that is looked for
    "32 %i = phi start: %n0, next: %k\n1 %c = ige %i, %n10\n"
    "if %c {\n@store_output (%i, %n0) (location=FRAG.DATA1, write_mask=x)\nbreak\n} else {\n}\n"
    "block next:\n32 %k = iadd %i, %n1\n": None,
}  # fmt: skip


def analysed(code: str) -> LoopInfo:
    head = HEAD
    for limit in (MAX_TRIPS, MAX_TRIPS + 1):
        head = head.replace("loop {\n", f"32 %limit{limit} = load_const ({limit})\nloop {{\n")
    shader = parse(head + code + TAIL)
    return analyse_loop(next(n for n in shader.entry.body if isinstance(n, Loop)))


@pytest.mark.parametrize("code", COUNTS)
def test_how_often_a_loop_runs(code: str) -> None:
    info = analysed(code)
    assert info.trip_count == COUNTS[code]
    assert (info.exiting is not None) == (COUNTS[code] is not None)


def chain(length: int) -> str:
    """A condition that is computed in so many steps."""
    code = "32 %i = phi start: %n0, next: %k\n32 %t0 = iadd %i, %n0\n"
    for i in range(1, length):
        code += f"32 %t{i} = iadd %t{i - 1}, %n0\n"
    return f"{code}1 %c = ige %t{length - 1}, %n10\n{LEAVE}block next:\n32 %k = iadd %i, %n1\n"


def test_conditions_may_be_deep_but_not_too_deep() -> None:
    assert [analysed(chain(n)).trip_count for n in (1, 10, 24, 25, 60)] == [10, 10, 10, None, None]


BASE = counted("%n0", "iadd %i, %n1", "ige %i, %n10")
INNER = "loop {\nif %c {\nbreak\n} else {\n}\n}\n"


@pytest.mark.parametrize(
    ("more", "nested", "other", "instrs"),
    [
        ("", 0, False, 4),
        (INNER, 1, False, 5),
        (INNER + INNER, 2, False, 6),
        ("loop {\nif %c {\nreturn\n} else {\nbreak\n}\n}\n", 1, True, 6),
        ("if %c {\nif %c {\nbreak\n} else {\n}\n} else {\n}\n", 0, True, 5),
        ("if %c {\nreturn\n} else {\n}\n", 0, True, 5),
    ],
)
def test_what_is_in_a_loop(more: str, nested: int, other: bool, instrs: int) -> None:
    code = BASE
    if more:
        # The step stays in the last block, which is what the phi at the head knows.
        first, step = BASE.split("block next:\n")
        code = first + more.replace("%k", "%i") + "block next:\n" + step
    info = analysed(code)
    assert (info.nested_loops, info.has_other_exits) == (nested, other)
    assert info.instr_count == instrs
    assert len(info.header_phis) == 1
    assert len(info.terminators) == 1 and info.terminators[0].breaks_on
