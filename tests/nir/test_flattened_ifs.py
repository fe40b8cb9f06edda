"""Which ifs become selections: what each instruction in a branch costs, and what may not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.cf import If
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.passes.opt.peephole_select import peephole_select

X = Callable[[Builder, Any], object]
# An instruction that reads %x, what it costs (None: it must not run), and with which options.
PRICES: dict[str, tuple[X, int | None, dict[str, bool]]] = {
    "constant": (lambda b, x: b.imm_float(3.0), 0, {}),
    "undefined": (lambda b, x: b.undef(1, 32), 0, {}),
    "place": (lambda b, x: b.deref_var(b.impl.locals[0]), 0, {}),
    "naming": (lambda b, x: b.vec2(x, x), 0, {}),
    "modifier": (lambda b, x: b.fneg(x), 0, {}),
    "sum": (lambda b, x: b.fadd(x, x), 1, {}),
    "read": (lambda b, x: b.load_deref(b.deref_var(b.impl.locals[0])), None, {}),
    "load": (lambda b, x: b.intrinsic("load_ubo", [x, x], num_components=1, bit_size=32), 1, {}),
    "root": (lambda b, x: b.fsqrt(x), None, {}),
    "root that is cheap": (lambda b, x: b.fsqrt(x), 4, {"expensive_ok": True}),
    "derivative": (lambda b, x: b.fddx(x), None, {"expensive_ok": True}),
    "texel": (lambda b, x: texel(b, x, "txl"), None, {"expensive_ok": True}),
    "texel that is cheap": (lambda b, x: texel(b, x, "txl"), 4, {"tex_ok": True}),
    "texel of derivatives": (lambda b, x: texel(b, x, "tex"), None, {"tex_ok": True}),
    "end": (lambda b, x: b.intrinsic("discard"), None, {"expensive_ok": True, "tex_ok": True}),
}


def texel(b: Builder, x: Any, op: str) -> object:
    srcs = [("coord", x)] + ([("lod", x)] if op == "txl" else [])
    return b.tex(op, srcs, Dim.D1)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", PRICES)
def test_a_branch_may_cost_as_much_as_the_limit(name: str, both: bool) -> None:
    make, price, options = PRICES[name]

    def becomes_a_selection(limit: int) -> bool:
        b = Builder.shader_main(Stage.FRAGMENT)
        b.impl.add_local("a", t.FLOAT)
        x = b.undef(1, 32)
        b.push_if(b.undef(1, 1))
        make(b, x)
        b.push_else()
        if both:
            make(b, x)
        b.pop_if()
        progress = bool(peephole_select(b.shader, limit=limit, **options))
        assert progress != any(isinstance(node, If) for node in b.impl.body)
        return progress

    if price is None:
        assert not becomes_a_selection(100)
        return
    total = price * (2 if both else 1)
    assert becomes_a_selection(total)
    assert total == 0 or not becomes_a_selection(total - 1)
