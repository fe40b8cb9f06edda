"""Where nodes and instructions stand, asked without walking through all that is around them."""

from __future__ import annotations

import random

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.cf import If, place_of
from gallette.compiler.nir.ir.instrs import Instr
from gallette.compiler.nir.ir.order import BlockOrder


def test_instructions_keep_their_order_while_others_are_inserted() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "order")
    b.imm_float(0.0)
    block, order, draw = b.impl.first, BlockOrder(), random.Random(1)
    for _ in range(300):
        known: list[Instr] = list(block.instrs())
        b.at_after(draw.choice(known))
        b.intrinsic("load_invocation_id", num_components=3)
        now: list[Instr] = list(block.instrs())
        one, other = draw.choice(now), draw.choice(now)
        assert order.comes_before(one, other) == (now.index(one) < now.index(other))


def test_there_is_always_a_number_between_two_others() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "order")
    b.imm_float(0.0)
    block, order = b.impl.first, BlockOrder()
    first = block.first
    assert first is not None
    for _ in range(200):
        b.at_after(first)
        b.intrinsic("load_invocation_id", num_components=3)
        newest = first.next
        assert newest is not None
        assert order.comes_before(first, newest)
        assert newest.next is None or order.comes_before(newest, newest.next)


def test_places_are_right_after_any_change() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "places")
    for _ in range(200):
        b.push_if(b.imm_bool(True))
        b.pop_if()
    body, draw = b.impl.body, random.Random(2)
    assert [place_of(node) for node in body] == list(range(401))
    while len(body) > 101:
        at = draw.randrange(len(body) - 1)
        removed = body[at]
        del body[at]
        with pytest.raises(ValueError, match="not in list"):
            place_of(removed)
        node = draw.choice(body)
        assert body[place_of(node)] is node
    body.insert(0, If(b.impl, body, b.imm_bool(True)))
    assert [place_of(node) for node in body] == list(range(102))
